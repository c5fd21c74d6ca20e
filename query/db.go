package query

import (
	"context"

	"github.com/neurolens/neurolens/query/internal/scan"
)

// Options of a DB.
type Options struct {
	// MemoryLimit is the number of bytes that DuckDB may use for SQL of users, and for other questions that need more than the
	// usual amount; 0: DuckDB's default, 80 % of the machine.
	MemoryLimit int64
	// Remark receives notes for the user that are not errors: why a filter matches nothing, or that the last session has a start
	// in the future. The same note may be repeated. Nil: notes are dropped.
	Remark func(text string)
	// TempDir is a directory for temporary files; empty: the default of the system.
	TempDir string
}

// DB answers questions about one or more stores. Every call lists the files of the stores again. It is safe for concurrent use.
type DB struct {
	stores *scan.Stores
}

// Open reads the headers of the stores. An error is an ErrStore that names the store and wraps schema.ErrNoStore, schema.ErrFormat,
// schema.ErrDamaged or an error of the file system; it wraps none of them if DuckDB cannot read the path. An empty list and an empty
// name are an ErrInput.
func Open(ctx context.Context, dirs []string, opts Options) (*DB, error) {
	stores, err := scan.Open(ctx, dirs, scan.Options(opts))
	if err != nil {
		return nil, err
	}
	return &DB{stores}, nil
}

// WithoutWarnings returns the same DB without remarks, for questions that the user did not ask.
func (db *DB) WithoutWarnings() *DB { return &DB{db.stores.WithoutWarnings()} }

// Snapshot returns the same DB with a fixed list of files, made by its first question. So the answers of several questions are
// consistent, but do not include later runs.
func (db *DB) Snapshot() *DB { return &DB{db.stores.Snapshot()} }

// Close releases DuckDB. Nothing else may be called during or after it.
func (db *DB) Close() error { return db.stores.Close() }

// Beside returns the stores of db if it is another DB than other; nil if it is the same, or nil.
func (db *DB) Beside(other *DB) *scan.Stores {
	if db == nil || db == other {
		return nil
	}
	return db.stores
}

// Stores returns the stores of the DB, for the subpackages of query.
func (db *DB) Stores() *scan.Stores { return db.stores }
