package formats

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	_ "modernc.org/sqlite" // the driver
	"modernc.org/sqlite/vfs"

	"github.com/neurolens/neurolens/ingest/foreign"
)

// maxCopied limits the temporary copy of a database that cannot be read in place, because it is compressed or comes from
// a pipe.
const maxCopied = 4 << 30

// sqliteMagic begins a database.
const sqliteMagic = "SQLite format 3\x00"

// database is a SQLite database that is only read.
type database struct {
	db     *sql.DB
	size   int64
	tables map[string][]string // columns that hold values, by table; neither views nor virtual tables
	closed []func() error      // functions for Close, called in reverse order
}

// openDatabase opens the database of an input.
func openDatabase(in *foreign.Input) (*database, error) {
	d := &database{}
	err := d.open(in)
	if err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

func (d *database) close() error {
	var errs []error
	for _, f := range slices.Backward(d.closed) {
		errs = append(errs, f())
	}
	return errors.Join(errs...)
}

func (d *database) open(in *foreign.Input) error {
	file := one{in.Folder, in.Path}
	if !file.readable() {
		var err error
		if file, err = d.copied(in.Text()); err != nil {
			return err
		}
	}
	info, err := fs.Stat(file, one{}.name())
	if err != nil {
		return err
	}
	d.size = info.Size()
	name, system, err := vfs.New(file)
	if err != nil {
		return err
	}
	d.closed = append(d.closed, system.Close)
	// The schema comes from the file, so SQLite must not trust the functions in it, and checks the sizes of cells.
	pragmas := "&_pragma=trusted_schema(0)&_pragma=cell_size_check(1)&_pragma=temp_store(2)&_query_only=1"
	db, err := sql.Open("sqlite", "file:"+one{}.name()+"?vfs="+name+"&mode=ro&immutable=1"+pragmas)
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	d.db, d.closed = db, append(d.closed, db.Close)
	return d.describe()
}

// copied is a file with the content, which is removed with the database.
func (d *database) copied(content io.Reader) (one, error) {
	dir, err := os.MkdirTemp("", "neurolens-ingest-")
	if err != nil {
		return one{}, err
	}
	d.closed = append(d.closed, func() error { return os.RemoveAll(dir) })
	f, err := os.Create(dir + "/copy")
	if err != nil {
		return one{}, err
	}
	n, err := io.Copy(f, io.LimitReader(content, maxCopied+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return one{}, fmt.Errorf("copying the database: %w", err)
	}
	if n > maxCopied {
		return one{}, fmt.Errorf("a database of more than %d GiB that is compressed or a stream: name the uncompressed file", maxCopied>>30)
	}
	return one{os.DirFS(dir), "copy"}, nil
}

// describe finds the tables and their columns. A table that computes its values is left out, because the author of the
// file could make it compute without end.
func (d *database) describe() error {
	d.tables = map[string][]string{}
	return d.each(`SELECT CAST(m.name AS BLOB), CAST(c.name AS BLOB) FROM sqlite_master m, pragma_table_xinfo(m.name) c
		WHERE m.type = 'table' AND m.rootpage > 0 AND c.hidden = 0`, func(row []any) error {
		table := text(row[0])
		d.tables[table] = append(d.tables[table], text(row[1]))
		return nil
	})
}

// has reports whether there is a table with all of the columns.
func (d *database) has(table string, columns ...string) bool {
	there, ok := d.tables[table]
	for _, c := range columns {
		ok = ok && slices.Contains(there, c)
	}
	return ok
}

// first is the first of the columns that a table has, quoted for SQL; NULL if it has none of them.
func (d *database) first(table string, columns ...string) string {
	for _, c := range columns {
		if slices.Contains(d.tables[table], c) {
			return `"` + c + `"`
		}
	}
	return "NULL"
}

// each gives the rows of a query: integers, and the bytes of texts that are cast to BLOB.
func (d *database) each(query string, f func(row []any) error) error {
	rows, err := d.db.QueryContext(context.Background(), query)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	row, to := make([]any, len(columns)), make([]any, len(columns))
	for i := range row {
		to[i] = &row[i]
	}
	for n := int64(0); rows.Next(); n++ {
		if n > d.size { // a row takes more than a byte; in a damaged file, pages can be read many times
			return fmt.Errorf("it has more rows than fit into the file")
		}
		if err := rows.Scan(to...); err != nil {
			return err
		}
		if err := f(row); err != nil {
			return err
		}
	}
	return rows.Err()
}

// text is a value that was cast to BLOB, or is a text; what is no UTF-8 is replaced.
func text(value any) string {
	switch v := value.(type) {
	case []byte:
		return strings.ToValidUTF8(string(v), "�")
	case string:
		return strings.ToValidUTF8(v, "�")
	}
	return ""
}

// one is a file system with one file, which has the same name wherever it is.
type one struct {
	folder fs.FS
	path   string
}

func (one) name() string { return "database" }

// Open opens the file.
func (o one) Open(name string) (fs.File, error) {
	if name != o.name() || o.folder == nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return o.folder.Open(o.path)
}

// readable reports whether the file is a database that can be read in place.
func (o one) readable() bool {
	f, err := o.Open(o.name())
	if err != nil {
		return false
	}
	defer f.Close()
	_, seeks := f.(io.Seeker)
	start := make([]byte, len(sqliteMagic))
	_, err = io.ReadFull(f, start)
	return err == nil && seeks && string(start) == sqliteMagic
}
