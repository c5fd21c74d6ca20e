package runfile

import (
	"errors"
	"io"
	"io/fs"
	"time"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/table"
)

// TableRows reads the rows of one file of a table, one row ahead.
type TableRows struct {
	path   string
	table  *schema.Table
	file   *checkedFile
	reader *table.Reader
	Row    []any // the next row; nil at the end
}

// OpenRows opens a file of a table. The error wraps table.ErrNewer if the file has unknown columns, which would get lost.
func OpenRows(f fs.FS, name string, t *schema.Table) (*TableRows, error) {
	file, content, size, err := schema.OpenAt(f, name)
	if err != nil {
		return nil, err
	}
	c := checkedFile{name, content, size, file}
	return c.rows(t)
}

// rows reads the rows of a file of a table, and closes it if that fails.
func (c *checkedFile) rows(t *schema.Table) (*TableRows, error) {
	opened, err := c.table(t)
	if err == nil {
		err = InFile(c.name, opened.Newer())
	}
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	r := &TableRows{path: c.name, table: t, file: c, reader: opened.Reader()}
	if err := r.Advance(); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// Close closes the file.
func (r *TableRows) Close() {
	_ = r.reader.Close()
	_ = r.file.close()
}

// RunID returns the run of the next row, or an empty text at the end.
func (r *TableRows) RunID() string {
	if r.Row == nil {
		return ""
	}
	id, _ := r.Row[RunIDPlace].(string)
	return id
}

// Advance reads the next row, which must come after the last one in the order of the format.
func (r *TableRows) Advance() error {
	last := r.Row
	row, err := r.reader.Read()
	if errors.Is(err, io.EOF) {
		r.Row = nil
		return nil
	}
	if err != nil {
		return InFile(r.path, err)
	}
	r.Row = row
	if last == nil {
		return nil
	}
	before, after := last[RunIDPlace].(string), r.RunID()
	if before < after || before == after && r.table != schema.Runs && lessKey(last[1], row[1]) {
		return nil
	}
	return Damagedf(r.path, "the row of run %q is out of order", after)
}

// lessKey orders the keys of the rows of a run, which are never NULL: names of metrics or indices of ops.
func lessKey(a, b any) bool {
	if a, ok := a.(string); ok {
		b, ok := b.(string)
		return ok && a < b
	}
	m, ok := a.(int64)
	n, also := b.(int64)
	return ok && also && m < n
}

// of returns the rows of a run. It fails if there are rows of an earlier run, because that run is not in the file of runs.
func (r *TableRows) of(run string) ([][]any, error) {
	if r == nil {
		return nil, nil
	}
	var rows [][]any
	for r.Row != nil && r.RunID() == run {
		rows = append(rows, r.Row)
		if err := r.Advance(); err != nil {
			return nil, err
		}
	}
	if r.Row != nil && r.RunID() < run {
		return nil, Damagedf(r.path, "it has a row of run %q, which is not in the file of runs", r.RunID())
	}
	return rows, nil
}

// OpenTable opens the file of a table. Errors about its content name it.
func OpenTable(f fs.FS, name string, t *schema.Table) (*table.File, io.Closer, error) {
	closer, content, size, err := schema.OpenAt(f, name)
	if err != nil {
		return nil, nil, err
	}
	file, err := table.Open(content, size, t)
	if err != nil {
		_ = closer.Close()
		return nil, nil, InFile(name, err)
	}
	return file, closer, nil
}

// IDBound is not larger than any run id with that time.
func IDBound(ms int64) string { return schema.ULIDFrom(time.UnixMilli(ms), [10]byte{}).String() }
