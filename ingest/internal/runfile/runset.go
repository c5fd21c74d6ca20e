package runfile

import (
	"io/fs"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/table"
)

// Input is a sealed file, or the temporary files of one.
type Input struct {
	FS     fs.FS                        // file system of the files
	Sealed schema.SealedFile            // for temporary files, only the time range and the number of rows
	Name   func(t *schema.Table) string // path of the file of a table
}

// InputOf returns a sealed file of a store.
func InputOf(f fs.FS, sealed schema.SealedFile) Input {
	return Input{f, sealed, zoneName(sealed)}
}

// zoneName names the files of a sealed file by table.
func zoneName(f schema.SealedFile) func(t *schema.Table) string {
	return func(t *schema.Table) string { return f.Path(schema.TableFolders[t]) }
}

// RunSet is a set of temporary files that become one sealed file. It is written run by run, in ascending order.
type RunSet struct {
	*Set
	first, Last schema.ULID // of the runs
	Rows        int         // of runs
}

// NewRunSet begins files in TmpDir.
func NewRunSet(f disk.Files, version string) (*RunSet, error) {
	if err := disk.MakeDirs(f, schema.TmpDir); err != nil {
		return nil, err
	}
	names := map[*schema.Table]string{}
	for _, t := range Tables {
		names[t] = disk.TempName()
	}
	return &RunSet{Set: NewSet(f, version, func(t *schema.Table) string { return names[t] })}, nil
}

// Names returns the names of the temporary files, whether or not they exist.
func (s *RunSet) Names() []string {
	var all []string
	for _, t := range Tables {
		all = append(all, s.Name(t))
	}
	return all
}

// Write adds a run with its rows.
func (s *RunSet) Write(live *table.Live) error {
	id, err := schema.ParseULID(live.RunID)
	if err != nil {
		return err
	}
	if s.Rows == 0 {
		s.first = id
	}
	s.Last = id
	s.Rows++
	return s.WriteRun(live)
}

// SealedFile returns the name of the sealed file that the set becomes.
func (s *RunSet) SealedFile(id schema.ULID) schema.SealedFile {
	return schema.SealedFile{ID: id, First: s.first.Time().UnixMilli(), Last: s.Last.Time().UnixMilli(), Rows: s.Rows}
}
