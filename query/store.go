package query

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/neurolens/neurolens/schema"
)

// Options of a DB.
type Options struct {
	MemoryLimit int64 // bytes that DuckDB may use; 0 is its own default, 80 % of the machine
}

// DB answers questions about one or more stores. Every call lists the stores anew. It is safe for concurrent use.
type DB struct {
	stores []store
	opts   Options
	engine func() (*engine, error) // for statements of this package, started at first use
	closed func() error
}

// store is a directory: dir as it was given, path absolute and without symbolic links.
type store struct {
	dir, path string
}

// file is a live file of one of the stores.
type file struct {
	store int
	run   schema.ULID
	path  string
}

// Open reads the headers of the stores. Errors are an ErrStore that names the store and wraps schema.ErrNoStore,
// schema.ErrFormat, schema.ErrDamaged or an error of the file system, or wraps none of them where the path is one that
// DuckDB cannot be given. No store at all and an empty name are an ErrInput.
func Open(ctx context.Context, stores []string, opts Options) (*DB, error) {
	if len(stores) == 0 {
		return nil, input("no store is named")
	}
	db := &DB{opts: opts}
	for _, dir := range stores {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if dir == "" {
			return nil, input("the name of a store is empty")
		}
		if _, err := schema.ReadHeader(os.DirFS(dir)); err != nil {
			return nil, storeError(dir, err)
		}
		path, err := realPath(dir)
		if err == nil {
			err = checkPath(path)
		}
		if err != nil {
			return nil, storeError(dir, err)
		}
		db.stores = append(db.stores, store{dir, path})
	}
	var started *engine
	db.engine = sync.OnceValues(func() (*engine, error) {
		var err error
		started, err = openEngine(opts)
		return started, err
	})
	db.closed = sync.OnceValue(func() error {
		if started == nil {
			return nil
		}
		return started.close()
	})
	return db, nil
}

// Close releases DuckDB. Nothing else may be called during or after it.
func (db *DB) Close() error { return db.closed() }

func realPath(dir string) (string, error) {
	path, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// list names the files of all runs, newest first. A run that several stores hold counts once, in the first of them.
func (db *DB) list() ([]file, error) {
	var all []file
	for i, s := range db.stores {
		live, err := schema.List(os.DirFS(s.path))
		if err != nil {
			return nil, storeError(s.dir, err)
		}
		for _, f := range live {
			all = append(all, file{i, f.Run, s.path + "/" + f.Path()})
		}
	}
	if len(db.stores) == 1 {
		return all, nil
	}
	slices.SortStableFunc(all, func(a, b file) int { return slices.Compare(b.run[:], a.run[:]) })
	return slices.CompactFunc(all, func(a, b file) bool { return a.run == b.run }), nil
}

// within keeps the files of runs that started in [since, until), both cut to milliseconds as in the run's id. A zero
// bound is none; a run without a start is within no bounds.
func within(files []file, since, until time.Time) []file {
	if since.IsZero() && until.IsZero() {
		return files
	}
	return slices.DeleteFunc(slices.Clone(files), func(f file) bool {
		ms := f.run.Time().UnixMilli()
		return ms == 0 || !since.IsZero() && ms < since.UnixMilli() || !until.IsZero() && ms >= until.UnixMilli()
	})
}

// attempts is how often a question is asked anew because a file went away after it was listed.
const attempts = 5

// ask lists the files and calls do with a connection, again if one of the files went away meanwhile.
func (db *DB) ask(ctx context.Context, do func(c *conn, files []file) error) error {
	list := db.listAhead()
	c, err := db.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // in memory: there is nothing to lose
	return db.retry(ctx, list, func(files []file) error { return do(c, files) })
}

// listAhead begins to list at once, while DuckDB starts. The first call of what it returns gives that listing, later
// calls list anew.
func (db *DB) listAhead() func() ([]file, error) {
	type listing struct {
		files []file
		err   error
	}
	ahead := make(chan listing, 1)
	go func() {
		defer close(ahead)
		files, err := db.list()
		ahead <- listing{files, err}
	}()
	return func() ([]file, error) {
		if l, ok := <-ahead; ok {
			return l.files, l.err
		}
		return db.list()
	}
}

// connect opens a connection to the engine for statements of this package.
func (db *DB) connect(ctx context.Context) (*conn, error) {
	e, err := db.engine()
	if err != nil {
		return nil, err
	}
	return e.connect(ctx)
}

// neverOfFiles are the classes of DuckDB's errors that have nothing to do with the files.
var neverOfFiles = []duckdb.ErrorType{
	duckdb.ErrorTypeParser, duckdb.ErrorTypeSyntax, duckdb.ErrorTypeBinder, duckdb.ErrorTypeCatalog, duckdb.ErrorTypePermission,
	duckdb.ErrorTypeConversion, duckdb.ErrorTypeDivideByZero,
}

// retry calls do with the files that list gives, again if one of them went away meanwhile. Errors of DuckDB about a file become
// ones about the store.
func (db *DB) retry(ctx context.Context, list func() ([]file, error), do func(files []file) error) error {
	var err error
	for range attempts {
		var files []file
		if files, err = list(); err != nil {
			return err
		}
		if err = do(files); err == nil {
			return nil
		}
		var engine *engineErr
		if !errors.As(err, &engine) || slices.Contains(neverOfFiles, engine.kind) {
			return err
		}
		if gone, ok := vanished(files); !ok {
			return db.blame(ctx, err, files)
		} else {
			err = storeError(db.stores[gone.store].dir, fmt.Errorf("%s: %w", gone.path, fs.ErrNotExist))
		}
	}
	return err
}
