package runfile

import (
	"cmp"
	"errors"
	"hash"
	"io/fs"
	"path"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/table"
)

// Tables are the tables of a sealed file in the order in which they are linked: when a run is in the table of runs, the rest of it
// exists.
var Tables = [...]*schema.Table{schema.Samples, schema.Ops, schema.Runs}

// Set is a set of files that become one sealed file, while they are written: one for each table that has rows.
type Set struct {
	files   disk.Files
	version string                       // of this program
	Name    func(t *schema.Table) string // name of the file of a table until it is linked
	outs    map[*schema.Table]*sealedOut
}

// sealedOut is the file of one table.
type sealedOut struct {
	file   disk.File
	writer *table.Writer
}

// NewSet creates the files of a sealed file, with names from the function name. version is the version of the program.
func NewSet(f disk.Files, version string, name func(t *schema.Table) string) *Set {
	return &Set{f, version, name, map[*schema.Table]*sealedOut{}}
}

// Write adds a row to the file of a table. If the file exists already, the error wraps fs.ErrExist.
func (s *Set) Write(t *schema.Table, row []any) error {
	w, err := s.Writer(t)
	if err != nil {
		return err
	}
	return w.Write(row)
}

// Writer returns the writer of the file of a table, for rows that are not values yet; see Write.
func (s *Set) Writer(t *schema.Table) (*table.Writer, error) {
	if out := s.outs[t]; out != nil {
		return out.writer, nil
	}
	opened, err := s.files.Create(s.Name(t))
	if err != nil {
		return nil, err
	}
	out := &sealedOut{opened, table.NewWriter(opened, t, s.version, nil)}
	s.outs[t] = out
	return out.writer, nil
}

// Finish completes the files and fsyncs them. Link them only after that.
func (s *Set) Finish() error {
	for t := range s.outs {
		if err := s.FinishTable(t); err != nil {
			return err
		}
	}
	return nil
}

// FinishTable finishes the file of one table, as Finish does. Files of several tables may be written and finished at the same time, once
// each has its Writer.
func (s *Set) FinishTable(t *schema.Table) error {
	out := s.outs[t]
	err := out.writer.Close()
	if err == nil {
		err = out.file.Sync()
	}
	err = cmp.Or(err, out.file.Close())
	out.file = nil
	return err
}

// Publish names the files in the store and makes them durable, the file of runs last: this is the commit. If a name exists, it was
// committed before. If a file is gone, the error wraps fs.ErrNotExist.
func (s *Set) Publish(f schema.SealedFile) error {
	for _, t := range Tables {
		if s.outs[t] == nil {
			continue
		}
		name := f.Path(schema.TableFolders[t])
		if err := disk.MakeDirs(s.files, path.Dir(name)); err != nil {
			return err
		}
		if err := disk.Place(s.files, s.Name(t), name); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := disk.SyncDir(s.files, path.Dir(name)); err != nil {
			return err
		}
	}
	return nil
}

// Has reports whether there are rows of a table.
func (s *Set) Has(t *schema.Table) bool { return s.outs[t] != nil }

// Remove closes the files and removes their temporary names. Files that were linked stay.
func (s *Set) Remove() {
	for t, out := range s.outs {
		if out.file != nil {
			_ = out.file.Close()
		}
		_ = s.files.Remove(s.Name(t))
	}
	clear(s.outs)
}

// SyncSealed makes the names of a sealed file durable.
func SyncSealed(f disk.Files, sealed schema.SealedFile) error {
	for _, t := range Tables {
		err := disk.SyncDir(f, path.Dir(sealed.Path(schema.TableFolders[t])))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// WriteRun adds the rows of a run.
func (s *Set) WriteRun(live *table.Live) error {
	if err := s.Write(schema.Runs, live.Run); err != nil {
		return err
	}
	return s.WriteParts(live)
}

// WriteParts adds the samples and ops of a run.
func (s *Set) WriteParts(live *table.Live) error {
	for _, row := range live.Samples {
		if err := s.Write(schema.Samples, row); err != nil {
			return err
		}
	}
	for _, row := range live.Ops {
		if err := s.Write(schema.Ops, row); err != nil {
			return err
		}
	}
	return nil
}

// Exchange replaces the files of samples and ops of a sealed file by the finished ones. At any moment, a reader finds
// either the old or the new file.
func (s *Set) Exchange(f schema.SealedFile) error {
	for _, t := range []*schema.Table{schema.Samples, schema.Ops} {
		if s.outs[t] == nil {
			continue
		}
		name := f.Path(schema.TableFolders[t])
		if err := disk.MakeDirs(s.files, path.Dir(name)); err != nil {
			return err
		}
		if err := s.files.Rename(s.Name(t), name); err != nil {
			return err
		}
		if err := disk.SyncDir(s.files, path.Dir(name)); err != nil {
			return err
		}
	}
	return nil
}

// ContentID returns the id of a sealed file that comes from no claim. It has the time of the file's last run. The same runs
// give the same id, so an interrupted import that is repeated does not add them twice. sum is the hash over the ids and
// digests of the runs, in order.
func ContentID(last time.Time, sum hash.Hash) schema.ULID {
	return schema.ULIDFrom(last, [10]byte(sum.Sum(nil)))
}
