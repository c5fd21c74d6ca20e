package layout

import (
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/neurolens/neurolens/schema"
)

// Walk calls each for every file of a store, zone by zone. A directory that no store has is given itself, as
// foreign, and not looked into, but for what ends like a file of a table. What goes away meanwhile is passed over.
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
		if !ok || e.Name() == schema.IgnoreFile { // nobody opens it but git
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

// walkFolder calls each for what is in a directory that a store can have.
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

// walkForeign calls each for what a glob over the tables finds in a directory that no store has. It follows no links:
// they may lead back.
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

// look tells what an entry of a directory is. No link is followed: where a store has a directory or a file, a link is
// neither, whatever it leads to.
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

// as is the same entry of a kind that says nothing more of it.
func (s *File) as(k Kind) File {
	return File{Path: s.Path, Zone: s.Zone, Kind: k, Entry: s.Entry, Linked: s.Linked}
}

// isZone tells whether it has the name of a directory of a store.
func (s *File) isZone() bool { return slices.Contains(Zones, s.Path) }

// expected tells whether readers take what has that name for a directory or a file of the store.
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

// IsOfTable tells whether the files of a zone are those of a table, which notebooks read with a plain glob.
func IsOfTable(zone string) bool {
	return zone == schema.RunsDir || zone == schema.SamplesDir || zone == schema.OpsDir
}

// IsParquet tells whether a name ends like that of a sealed file.
func IsParquet(name string) bool { return path.Ext(name) == path.Ext(schema.SealedFile{}.Name()) }
