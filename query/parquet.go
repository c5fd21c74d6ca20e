package query

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// ReadParquet reads runs that another engine has written as Parquet, such as a selection of a store that Spark keeps. Below dir are the
// folders runs, samples and ops; samples and ops may be missing. Their files have the columns of these tables by name, in any order, and
// their rows in any order; a column that is missing is NULL, and other columns are ignored. ReadParquet calls each with every run, whole
// and in the order of the ids, and with the digest in its row: whether the engine kept all of the run is known by schema.DigestOf. Of rows
// with equal keys the first counts, and rows of samples and ops without a run are ignored. A file that is no Parquet, or a column of another type, is an ErrInput.
func ReadParquet(ctx context.Context, dir string, o Options, each func(r schema.Run, digest string) error) (err error) {
	engine, err := duck.Open(o.MemoryLimit, o.TempDir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	runs, err := openParquet(ctx, engine, dir, schema.Runs, "run_id")
	if err != nil {
		return err
	}
	defer runs.close()
	samples, err := openParquet(ctx, engine, dir, schema.Samples, "run_id, metric")
	if err != nil {
		return err
	}
	defer samples.close()
	ops, err := openParquet(ctx, engine, dir, schema.Ops, "run_id, op")
	if err != nil {
		return err
	}
	defer ops.close()
	for last := ""; runs.id != ""; {
		id := runs.id
		r, digest := schema.StoredRunOf(runs.row)
		r.Metrics = nil
		if err := runs.next(ctx); err != nil {
			return err
		}
		if id == last {
			continue
		}
		last = id
		if err := samples.take(ctx, id, func(row []any) { r.Metrics = append(r.Metrics, schema.MetricOf(row)) }); err != nil {
			return err
		}
		if err := ops.take(ctx, id, func(row []any) { r.Ops = append(r.Ops, schema.OpOf(row)) }); err != nil {
			return err
		}
		if err := each(r, digest); err != nil {
			return err
		}
	}
	return nil
}

// parquetRows are the rows of a table in the order of the ids of their runs.
type parquetRows struct {
	conn   *duck.Conn
	rows   driver.Rows // nil: there are none
	stored *scan.StoredRows
	values []driver.Value
	row    []any  // the next row
	id     string // of its run; empty at the end
}

// openParquet reads the files of a table below a folder.
func openParquet(ctx context.Context, engine *duck.Engine, dir string, t *schema.Table, order string) (*parquetRows, error) {
	folder := filepath.Join(dir, t.Name)
	files, err := parquetFiles(folder)
	if err != nil && (t == schema.Runs || !errors.Is(err, fs.ErrNotExist)) {
		return nil, answer.InputError("%v", err)
	}
	if len(files) == 0 {
		if t == schema.Runs {
			return nil, answer.InputError("%s: no Parquet files", folder)
		}
		return &parquetRows{}, nil
	}
	p := &parquetRows{stored: scan.NewStoredRows(t, t.Columns), values: make([]driver.Value, len(t.Columns))}
	if p.conn, err = engine.Connect(ctx); err != nil {
		return nil, err
	}
	if err = p.open(ctx, t, files, order); err == nil {
		err = p.next(ctx)
	}
	if err != nil {
		p.close()
		return nil, answer.InputError("%s: %v", folder, err)
	}
	return p, nil
}

// parquetFiles lists the files of a folder and of the folders in it, without those that engines hide.
func parquetFiles(folder string) (files []string, err error) {
	err = filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch hidden := strings.HasPrefix(e.Name(), "_") || strings.HasPrefix(e.Name(), "."); {
		case hidden && e.IsDir() && path != folder:
			return fs.SkipDir
		case !hidden && e.Type().IsRegular():
			files = append(files, path)
		}
		return nil
	})
	return files, err
}

// open starts to read. Every column has the type of the store: engines write times, lists and whole numbers in several ways.
func (p *parquetRows) open(ctx context.Context, t *schema.Table, files []string, order string) error {
	from := "read_parquet(" + duck.TextList(duck.Patterns(files)) + ", union_by_name = true, hive_partitioning = false)"
	has := map[string]bool{}
	err := p.conn.Query(ctx, duck.Statement{SQL: "SELECT column_name FROM (DESCRIBE SELECT * FROM " + from + ")"}, func(row []driver.Value) error {
		name, _ := row[0].(string)
		has[strings.ToLower(name)] = true
		return nil
	})
	if err != nil {
		return err
	}
	columns := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		name := "NULL"
		if has[c.Name] {
			name = duck.Identifier(c.Name)
		} else if c.Required || c.Name == "digest" {
			return fmt.Errorf("no column %s", c.Name)
		}
		if c.Kind == schema.KindTime && has[c.Name] { // engines write times with and without a zone: both are UTC
			name = "make_timestamptz(epoch_us(" + name + "))"
		}
		columns[i] = "CAST(" + name + " AS " + c.SQLType() + ") AS " + duck.Identifier(c.Name)
	}
	p.rows, err = p.conn.Run(ctx, duck.Statement{SQL: "SELECT " + strings.Join(columns, ", ") + " FROM " + from + " ORDER BY " + order})
	return err
}

// next reads the next row.
func (p *parquetRows) next(ctx context.Context) error {
	if p.id = ""; p.rows == nil {
		return nil
	}
	switch err := p.rows.Next(p.values); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return duck.Translate(ctx, err)
	}
	values := make([]any, len(p.values))
	for i, v := range p.values {
		values[i] = duck.Plain(v)
	}
	p.row = p.stored.Row(values)
	if p.id, _ = p.row[0].(string); p.id == "" {
		return errors.New("a row without run_id")
	}
	return nil
}

// take passes the rows of a run, without its id, and skips the rows before them. The second column is a key: of equal ones, the first counts.
func (p *parquetRows) take(ctx context.Context, id string, each func(row []any)) error {
	var last any
	for p.id != "" && p.id <= id {
		if key := p.row[1]; p.id == id && key != last {
			each(p.row[1:])
			last = key
		}
		if err := p.next(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (p *parquetRows) close() {
	if p.rows != nil {
		_ = p.rows.Close() // all rows that were wanted have been read
	}
	if p.conn != nil {
		_ = p.conn.Close()
	}
}
