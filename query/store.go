package query

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/fault"
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

	// TempDir is a directory for temporary files; empty is the system's.
	TempDir string
}

// DB answers questions about one or more stores. Every call lists the stores anew. It is safe for concurrent use.
type DB struct {
	stores      []store
	opts        Options
	engine      func() (*duck.Engine, error) // for statements of this package, started at first use
	closed      func() error
	closing     *closing
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
		return nil, fault.Input("no store is named")
	}
	opts.TempDir = cmp.Or(opts.TempDir, os.TempDir())
	db := &DB{opts: opts, closing: &closing{}}
	for _, dir := range stores {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if dir == "" {
			return nil, fault.Input("the name of a store is empty")
		}
		if _, err := schema.ReadHeader(schema.Dir(dir)); err != nil {
			return nil, fault.Store(dir, err)
		}
		path, err := realPath(dir)
		if err == nil {
			err = checkPath(path)
		}
		if err != nil {
			return nil, fault.Store(dir, err)
		}
		db.stores = append(db.stores, store{dir, path})
	}
	var started *duck.Engine
	db.engine = sync.OnceValues(func() (*duck.Engine, error) {
		var err error
		started, err = duck.Open(duck.OwnMemory, db.opts.TempDir)
		return started, err
	})
	db.closed = sync.OnceValue(func() error {
		if started != nil {
			db.closing.close(started)
		}
		return db.closing.wait()
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

// closing are engines that are being closed, which takes as long as many an answer takes to print.
type closing struct {
	each sync.WaitGroup
	mu   sync.Mutex
	err  error
}

// close begins to close an engine.
func (c *closing) close(e *duck.Engine) {
	c.each.Go(func() {
		err := e.Close()
		c.mu.Lock()
		defer c.mu.Unlock()
		c.err = errors.Join(c.err, err)
	})
}

// wait waits for the end.
func (c *closing) wait() error {
	c.each.Wait()
	return c.err
}

func realPath(dir string) (string, error) {
	path, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}
