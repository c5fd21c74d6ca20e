package ingest

import (
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/neurolens/neurolens/schema"
)

// walkStore calls each for every file of a store, zone by zone. A directory that no store has is given itself, as
// foreign, and not looked into, but for what ends like a file of a table. What goes away meanwhile is passed over.
func walkStore(f fs.FS, each func(stored) error) error {
	entries, err := fs.ReadDir(f, ".")
	if err != nil {
		return err
	}
	there := map[string]stored{}
	for _, e := range entries {
		there[e.Name()] = look(e.Name(), e)
	}
	for _, zone := range zones {
		if s, ok := there[zone]; !ok || !s.entry.IsDir() {
			continue
		}
		delete(there, zone)
		if err := walkZone(f, zone, each); err != nil {
			return err
		}
	}
	for _, e := range entries {
		s, ok := there[e.Name()]
		if !ok || e.Name() == schema.IgnoreFile { // nobody opens it but git
			continue
		}
		if err := each(s); err != nil {
			return err
		}
	}
	return nil
}

func walkZone(f fs.FS, zone string, each func(stored) error) error {
	return walkFolder(f, stored{path: zone, zone: zone}, each)
}

// walkFolder calls each for what is in a directory that a store can have.
func walkFolder(f fs.FS, dir stored, each func(stored) error) error {
	entries, err := fs.ReadDir(f, dir.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		s := look(path.Join(dir.path, e.Name()), e)
		switch {
		case s.entry.IsDir() && isFolder(s.path):
			err = walkFolder(f, s, each)
		case s.entry.IsDir() && isOfTable(s.zone) && !isParquet(s.path):
			if err = each(s); err == nil {
				err = walkForeign(f, s, each)
			}
		default:
			err = each(s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// walkForeign calls each for what a glob over the tables finds in a directory that no store has. It follows no links:
// they may lead back.
func walkForeign(f fs.FS, dir stored, each func(stored) error) error {
	return fs.WalkDir(f, dir.path, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !isParquet(name) {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		return each(stored{path: name, zone: dir.zone, entry: e, linked: isLink(e)})
	})
}

// look tells what an entry of a directory is. No link is followed: where a store has a directory or a file, a link is
// neither, whatever it leads to.
func look(name string, e fs.DirEntry) stored {
	s := classify(name)
	s.entry, s.linked = e, isLink(e)
	folder := s.kind == kindForeign || s.kind == kindAside
	switch {
	case s.kind == kindAside && !s.isZone():
		return s
	case !s.expected():
		return s.as(kindForeign)
	case folder && !e.IsDir() || !folder && !e.Type().IsRegular():
		return s.as(kindBroken)
	}
	return s
}

// as is the same entry of a kind that says nothing more of it.
func (s *stored) as(k kind) stored {
	return stored{path: s.path, zone: s.zone, kind: k, entry: s.entry, linked: s.linked}
}

// isZone tells whether it has the name of a directory of a store.
func (s *stored) isZone() bool { return slices.Contains(zones, s.path) }

// expected tells whether readers take what has that name for a directory or a file of the store.
func (s *stored) expected() bool {
	switch s.kind {
	case kindTemp:
		return s.entry.Type().IsRegular()
	case kindForeign, kindAside:
		return s.isZone() || s.path != s.zone && s.kind != kindAside && isFolder(s.path)
	}
	return true
}

func isLink(e fs.DirEntry) bool { return e.Type()&fs.ModeSymlink != 0 }

// isOfTable tells whether the files of a zone are those of a table, which notebooks read with a plain glob.
func isOfTable(zone string) bool {
	return zone == schema.RunsDir || zone == schema.SamplesDir || zone == schema.OpsDir
}

// isParquet tells whether a name ends like that of a sealed file.
func isParquet(name string) bool { return path.Ext(name) == path.Ext(schema.SealedFile{}.Name()) }
