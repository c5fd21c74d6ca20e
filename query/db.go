package query

import (
	"context"

	"github.com/neurolens/neurolens/query/internal/scan"
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
	stores *scan.Stores
}

// Open reads the headers of the stores. Errors are an ErrStore that names the store and wraps schema.ErrNoStore,
// schema.ErrFormat, schema.ErrDamaged or an error of the file system, or wraps none of them where the path is one that
// DuckDB cannot be given. No store at all and an empty name are an ErrInput.
func Open(ctx context.Context, dirs []string, opts Options) (*DB, error) {
	stores, err := scan.Open(ctx, dirs, scan.Options(opts))
	if err != nil {
		return nil, err
	}
	return &DB{stores}, nil
}

// Quiet is the same DB without remarks, for questions that are nobody's own.
func (db *DB) Quiet() *DB { return &DB{db.stores.Quiet()} }

// Kept is the same DB, whose answers are of the files that are there at its first question, so that they hold together. It is for a few questions at a
// time: what comes later is not seen.
func (db *DB) Kept() *DB { return &DB{db.stores.Kept()} }

// Close releases DuckDB. Nothing else may be called during or after it.
func (db *DB) Close() error { return db.stores.Close() }

// Beside are these stores where they are not those of another DB; nil where they are, or db is.
func (db *DB) Beside(other *DB) *scan.Stores {
	if db == nil || db == other {
		return nil
	}
	return db.stores
}

// Stores are what the questions are asked of, for the packages below this one that ask more of them.
func (db *DB) Stores() *scan.Stores { return db.stores }
