package ingest

import (
	"cmp"
	"errors"
	"io/fs"
	"path"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/table"
	"github.com/neurolens/neurolens/schema"
)

// sealedTables are the tables of a sealed file in the order in which they are linked: that a run is in the table of
// runs says that the rest of it is there.
var sealedTables = [...]*schema.Table{schema.Samples, schema.Ops, schema.Runs}

// sealedSet are the files that become one sealed file, while they are written: one for each table that has rows.
type sealedSet struct {
	files   disk.Files
	version string                       // of this program
	name    func(t *schema.Table) string // what the file of a table is called until it is linked
	outs    map[*schema.Table]*sealedOut
}

// sealedOut is the file of one table.
type sealedOut struct {
	file   disk.File
	writer *table.Writer
}

func newSealedSet(f disk.Files, version string, name func(t *schema.Table) string) *sealedSet {
	return &sealedSet{f, version, name, map[*schema.Table]*sealedOut{}}
}

// write adds a row to the file of a table. The error of a file that is there already wraps fs.ErrExist.
func (s *sealedSet) write(t *schema.Table, row []any) error {
	out := s.outs[t]
	if out == nil {
		opened, err := s.files.Create(s.name(t))
		if err != nil {
			return err
		}
		out = &sealedOut{opened, table.NewWriter(opened, t, s.version, nil)}
		s.outs[t] = out
	}
	return out.writer.Write(row)
}

// finish completes the files and fsyncs them. Only then may they be linked.
func (s *sealedSet) finish() error {
	for _, out := range s.outs {
		err := out.writer.Close()
		if err == nil {
			err = out.file.Sync()
		}
		err = cmp.Or(err, out.file.Close())
		out.file = nil
		if err != nil {
			return err
		}
	}
	return nil
}

// link gives the files their names in the store and makes them durable, those of runs last: this is the commit. A name
// that is there already was committed before. The error of a file that is not there any more wraps fs.ErrNotExist.
func (s *sealedSet) link(f schema.SealedFile) error {
	for _, t := range sealedTables {
		if s.outs[t] == nil {
			continue
		}
		name := f.Path(schema.TableZones[t])
		if err := disk.MakeDirs(s.files, path.Dir(name)); err != nil {
			return err
		}
		if err := disk.Place(s.files, s.name(t), name); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := disk.SyncDir(s.files, path.Dir(name)); err != nil {
			return err
		}
	}
	return nil
}

// remove closes the files and removes their first names. Those that were linked stay.
func (s *sealedSet) remove() {
	for t, out := range s.outs {
		if out.file != nil {
			_ = out.file.Close()
		}
		_ = s.files.Remove(s.name(t))
	}
	clear(s.outs)
}
