package runfile

import (
	"cmp"
	"errors"
	"io"
	"io/fs"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/table"
)

// salvagePart is one file of the sealed file.
type salvagePart struct {
	path   string
	table  *schema.Table
	absent bool
	damage error        // why rows may be missing; nil if the file matches its hash
	close  func() error // closes the file
	rows   rowSource    // nil if there are none
	row    []any        // the next one; nil at the end
}

// rowSource gives rows in order, and io.EOF after the last.
type rowSource interface {
	Read() ([]any, error)
	Close() error
}

// openPart opens the file of a table, even if it is damaged.
func openPart(f fs.FS, name string, t *schema.Table) (*salvagePart, error) {
	p := &salvagePart{path: name, table: t}
	whole, err := openChecked(f, name)
	if err == nil {
		var opened *table.File
		if opened, err = whole.table(t); err == nil {
			if err := opened.Newer(); err != nil {
				return nil, errors.Join(InFile(name, err), whole.close())
			}
			p.close, p.rows = whole.close, opened.Reader()
			return p, nil
		}
		err = errors.Join(err, whole.close())
	}
	if t != schema.Runs && errors.Is(err, fs.ErrNotExist) {
		p.absent = true
		return p, nil
	}
	if at, ok := errors.AsType[*fs.PathError](err); !errors.Is(err, schema.ErrDamaged) || ok && at.Path != name { // a directory that is none
		return nil, InFile(name, err)
	}
	p.damage = InFile(name, err)
	file, content, size, err := disk.OpenAt(f, name)
	if errors.Is(err, schema.ErrDamaged) { // no plain file
		return p, nil
	}
	if err != nil {
		return nil, InFile(name, err)
	}
	rows, err := table.OpenSalvage(content, size, t)
	if err != nil {
		err = cmp.Or(err, file.Close())
		if errors.Is(err, schema.ErrDamaged) {
			return p, nil
		}
		return nil, InFile(name, err)
	}
	p.close, p.rows = file.Close, rows
	return p, nil
}

// advance reads the next row that comes after the one before it. Rows that are out of order are skipped.
func (p *salvagePart) advance() error {
	for p.rows != nil {
		row, err := p.rows.Read()
		switch {
		case errors.Is(err, io.EOF):
			p.row = nil
			return p.end()
		case errors.Is(err, schema.ErrDamaged):
			p.damage, p.row = cmp.Or(p.damage, InFile(p.path, err)), nil
			return p.end()
		case err != nil:
			return InFile(p.path, err)
		case p.follows(row):
			p.row = row
			return nil
		}
		p.damage = cmp.Or(p.damage, Damagedf(p.path, "the row of run %q is out of order", row[RunIDPlace]))
	}
	return nil
}

// follows reports whether a row comes after the last one in the order of the format.
func (p *salvagePart) follows(row []any) bool {
	id, _ := row[RunIDPlace].(string)
	if _, err := schema.ParseULID(id); err != nil {
		return false
	}
	if p.row == nil {
		return true
	}
	before, _ := p.row[RunIDPlace].(string)
	return before < id || before == id && p.table != schema.Runs && lessKey(p.row[1], row[1])
}

func (p *salvagePart) runID() string {
	if p.row == nil {
		return ""
	}
	id, _ := p.row[RunIDPlace].(string)
	return id
}

// of gives the rows of a run, and skips those of earlier runs.
func (p *salvagePart) of(run string) (rows [][]any, err error) {
	for p.row != nil && p.runID() <= run {
		if p.runID() == run {
			rows = append(rows, p.row)
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

func (p *salvagePart) end() error {
	if p.rows == nil {
		return nil
	}
	err := errors.Join(p.rows.Close(), p.close())
	p.rows = nil
	return err
}
