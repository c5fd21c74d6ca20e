package disk

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/neurolens/neurolens/schema"
)

// Walk calls each for every file of a store, zone by zone. A directory that does not belong to a store is passed as
// foreign, and not entered, except for files that end like those of a table. Files that disappear in the meantime are
// skipped.
func Walk(f fs.FS, each func(StoreFile) error) error { return walker{files: f, each: each}.walk() }

// WalkAtOnce walks a store as Walk does, with several folders of a zone at the same time, each by one of the workers, numbered from 0.
// It does not enter folders that are known. It is faster if most of the time is spent in the file system, and follows no order.
func WalkAtOnce(f fs.FS, workers int, known func(worker int, dir StoreFile) bool, each func(worker int, file StoreFile) error) error {
	var folders []StoreFile
	w := walker{f, func(file StoreFile) error { return each(0, file) }, func(dir StoreFile) error {
		folders = append(folders, dir)
		return nil
	}}
	if err := w.walk(); err != nil {
		return err
	}
	errs := make([]error, len(folders))
	var next atomic.Int64
	var walking sync.WaitGroup
	for worker := range min(workers, len(folders)) {
		walking.Go(func() {
			own := walker{files: f, each: func(file StoreFile) error { return each(worker, file) }}
			for i := int(next.Add(1)) - 1; i < len(folders); i = int(next.Add(1)) - 1 {
				if !known(worker, folders[i]) {
					errs[i] = own.folder(folders[i])
				}
			}
		})
	}
	walking.Wait()
	return cmp.Or(errs...)
}

// walker calls each for files of a store.
type walker struct {
	files fs.FS
	each  func(StoreFile) error
	later func(dir StoreFile) error // receives the folders of zones instead of entering them; nil: they are entered
}

func (w walker) walk() error {
	entries, err := fs.ReadDir(w.files, ".")
	if err != nil {
		return err
	}
	there := map[string]StoreFile{}
	for _, e := range entries {
		there[e.Name()] = look(e.Name(), e)
	}
	for _, zone := range Zones {
		if s, ok := there[zone]; !ok || !s.Entry.IsDir() {
			continue
		}
		delete(there, zone)
		if err := w.zone(zone); err != nil {
			return err
		}
	}
	for _, e := range entries {
		s, ok := there[e.Name()]
		if !ok || e.Name() == schema.IgnoreFile { // only git opens it
			continue
		}
		if err := w.each(s); err != nil {
			return err
		}
	}
	return nil
}

// WalkZone walks one directory of a store as Walk does.
func WalkZone(f fs.FS, zone string, each func(StoreFile) error) error {
	return walker{files: f, each: each}.zone(zone)
}

func (w walker) zone(name string) error { return w.folder(StoreFile{Path: name, Zone: name}) }

// folder calls each for the content of a directory that a store can have.
func (w walker) folder(dir StoreFile) error {
	entries, err := fs.ReadDir(w.files, dir.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		s := look(path.Join(dir.Path, e.Name()), e)
		switch {
		case s.Entry.IsDir() && IsFolder(s.Path) && w.later != nil:
			err = w.later(s)
		case s.Entry.IsDir() && IsFolder(s.Path):
			err = w.folder(s)
		case s.Entry.IsDir() && IsOfTable(s.Zone) && !IsParquet(s.Path):
			if err = w.each(s); err == nil {
				err = w.foreign(s)
			}
		default:
			err = w.each(s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// foreign calls each for files that a glob over the tables finds in a directory that does not belong to a store. It
// follows no links, because they may lead back.
func (w walker) foreign(dir StoreFile) error {
	return fs.WalkDir(w.files, dir.Path, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !IsParquet(name) {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		return w.each(StoreFile{Path: name, Zone: dir.Zone, Entry: e, Linked: isLink(e)})
	})
}

// look classifies an entry of a directory. No link is followed: a link is neither a directory nor a file of a store,
// whatever it points to.
func look(name string, e fs.DirEntry) StoreFile {
	s := Classify(name)
	s.Entry, s.Linked = e, isLink(e)
	folder := s.Kind == KindForeign || s.Kind == KindAside
	switch {
	case s.Kind == KindAside && !s.isZone():
		return s
	case !s.expected():
		return s.as(KindForeign)
	case folder && !e.IsDir() || !folder && !e.Type().IsRegular():
		return s.as(KindBroken)
	}
	return s
}

// as returns the same entry, with another kind.
func (s *StoreFile) as(k Kind) StoreFile {
	return StoreFile{Path: s.Path, Zone: s.Zone, Kind: k, Entry: s.Entry, Linked: s.Linked}
}

// isZone reports whether it has the name of a directory of a store.
func (s *StoreFile) isZone() bool { return slices.Contains(Zones, s.Path) }

// expected reports whether readers treat a file of that name as a part of the store.
func (s *StoreFile) expected() bool {
	switch s.Kind {
	case KindTemp:
		return s.Entry.Type().IsRegular()
	case KindForeign, KindAside:
		return s.isZone() || s.Path != s.Zone && s.Kind != KindAside && IsFolder(s.Path)
	}
	return true
}

func isLink(e fs.DirEntry) bool { return e.Type()&fs.ModeSymlink != 0 }

// IsOfTable reports whether the files of a zone are files of a table, which notebooks read with a glob.
func IsOfTable(zone string) bool {
	return zone == schema.RunsDir || zone == schema.SamplesDir || zone == schema.OpsDir
}

// IsParquet reports whether a name ends like that of a sealed file.
func IsParquet(name string) bool { return path.Ext(name) == path.Ext(schema.SealedFile{}.Name()) }
