package layout

import (
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/neurolens/neurolens/schema"
)

// Walk calls each for every file of a store, zone by zone. A directory that does not belong to a store is passed as
// foreign, and not entered, except for files that end like those of a table. Files that disappear in the meantime are
// skipped.
func Walk(f fs.FS, each func(File) error) error {
	entries, err := fs.ReadDir(f, ".")
	if err != nil {
		return err
	}
	there := map[string]File{}
	for _, e := range entries {
		there[e.Name()] = look(e.Name(), e)
	}
	for _, zone := range Zones {
		if s, ok := there[zone]; !ok || !s.Entry.IsDir() {
			continue
		}
		delete(there, zone)
		if err := WalkZone(f, zone, each); err != nil {
			return err
		}
	}
	for _, e := range entries {
		s, ok := there[e.Name()]
		if !ok || e.Name() == schema.IgnoreFile { // only git opens it
			continue
		}
		if err := each(s); err != nil {
			return err
		}
	}
	return nil
}

// WalkZone is Walk of one directory of a store.
func WalkZone(f fs.FS, zone string, each func(File) error) error {
	return walkFolder(f, File{Path: zone, Zone: zone}, each)
}

// walkFolder calls each for the content of a directory that a store can have.
func walkFolder(f fs.FS, dir File, each func(File) error) error {
	entries, err := fs.ReadDir(f, dir.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		s := look(path.Join(dir.Path, e.Name()), e)
		switch {
		case s.Entry.IsDir() && IsFolder(s.Path):
			err = walkFolder(f, s, each)
		case s.Entry.IsDir() && IsOfTable(s.Zone) && !IsParquet(s.Path):
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

// walkForeign calls each for files that a glob over the tables finds in a directory that does not belong to a store. It
// follows no links, because they may lead back.
func walkForeign(f fs.FS, dir File, each func(File) error) error {
	return fs.WalkDir(f, dir.Path, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !IsParquet(name) {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		return each(File{Path: name, Zone: dir.Zone, Entry: e, Linked: isLink(e)})
	})
}

// look classifies an entry of a directory. No link is followed: a link is neither a directory nor a file of a store,
// whatever it points to.
func look(name string, e fs.DirEntry) File {
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

// as is the same entry, with another kind.
func (s *File) as(k Kind) File {
	return File{Path: s.Path, Zone: s.Zone, Kind: k, Entry: s.Entry, Linked: s.Linked}
}

// isZone reports whether it has the name of a directory of a store.
func (s *File) isZone() bool { return slices.Contains(Zones, s.Path) }

// expected reports whether readers take a file of that name for a part of the store.
func (s *File) expected() bool {
	switch s.Kind {
	case KindTemp:
		return s.Entry.Type().IsRegular()
	case KindForeign, KindAside:
		return s.isZone() || s.Path != s.Zone && s.Kind != KindAside && IsFolder(s.Path)
	}
	return true
}

func isLink(e fs.DirEntry) bool { return e.Type()&fs.ModeSymlink != 0 }

// IsOfTable reports whether the files of a zone are those of a table, which notebooks read with a glob.
func IsOfTable(zone string) bool {
	return zone == schema.RunsDir || zone == schema.SamplesDir || zone == schema.OpsDir
}

// IsParquet reports whether a name ends like that of a sealed file.
func IsParquet(name string) bool { return path.Ext(name) == path.Ext(schema.SealedFile{}.Name()) }
