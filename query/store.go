package query

import (
	"context"
	"path/filepath"
	"sync"

	"github.com/neurolens/neurolens/schema"
)

// Options of a DB.
type Options struct {
	// MemoryLimit is how many bytes DuckDB may use for a text of SQL, and for other questions where they do not do with
	// little; 0 is its own default, 80 % of the machine.
	MemoryLimit int64

	// Remark is told what people should know of an answer that is no error: why a filter matches nothing, and that the
	// last session is one of the future. It may be told the same again. Nil: nobody wants to know.
	Remark func(text string)
}

// DB answers questions about one or more stores. Every call lists the stores anew. It is safe for concurrent use.
type DB struct {
	stores      []store
	opts        Options
	engine      func() (*engine, error) // for statements of this package, started at first use
	closed      func() error
	withRemoved bool // runs that were removed are there
}

// store is a directory: dir as it was given, path absolute and without symbolic links.
type store struct {
	dir, path string
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
		if _, err := schema.ReadHeader(schema.Dir(dir)); err != nil {
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
		started, err = openEngine(ownMemory)
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

// Quiet is the same DB without remarks, for questions that are nobody's own.
func (db *DB) Quiet() *DB {
	quiet := *db
	quiet.opts.Remark = nil
	return &quiet
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
