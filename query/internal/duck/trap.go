package duck

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/duckdb/duckdb-go/v2"
)

// Trap is an SQL function of a text that stands in for a MAP(VARCHAR, VARCHAR) which is costly to make. It has no value: it ends a statement
// that calls it, and remembers the call. The engine calls it for rows alone whose value matters, and knows nothing about the value. So the
// result of a statement that did not call it does not depend on the value.
type Trap struct {
	sprung atomic.Bool
}

// errSprung ends a statement that calls a trap.
var errSprung = errors.New("a trap was called")

// Sprung reports whether a statement called the function; false for nil. That statement may have succeeded nevertheless: SQL can catch errors.
func (t *Trap) Sprung() bool { return t != nil && t.sprung.Load() }

// Config is that of the function. It is called for NULL too, or the engine would take NULL as its value.
func (t *Trap) Config() duckdb.ScalarFuncConfig {
	text, err := duckdb.NewTypeInfo(duckdb.TYPE_VARCHAR)
	entries, errMap := duckdb.NewMapInfo(text, text)
	if errors.Join(err, errMap) != nil {
		return duckdb.ScalarFuncConfig{} // which the engine refuses
	}
	return duckdb.ScalarFuncConfig{InputTypeInfos: []duckdb.TypeInfo{text}, ResultTypeInfo: entries, SpecialNullHandling: true}
}

// Executor returns what the function does. It takes no context: that of the engine's library is a race where several threads call the
// function.
func (t *Trap) Executor() duckdb.ScalarFuncExecutor {
	return duckdb.ScalarFuncExecutor{RowExecutor: func([]driver.Value) (any, error) {
		t.sprung.Store(true)
		return nil, errSprung
	}}
}

// Set adds a trap to the functions of the engine.
func (e *Engine) Set(ctx context.Context, name string, t *Trap) error { return e.define(ctx, name, t) }

// define adds a function to those of the engine.
func (e *Engine) define(ctx context.Context, name string, f duckdb.ScalarFunc) error {
	db := sql.OpenDB(struct{ driver.Connector }{e.connector}) // without its Close, which would end the engine
	c, err := db.Conn(ctx)
	if err == nil {
		err = errors.Join(duckdb.RegisterScalarUDF(c, name, f), c.Close())
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return fmt.Errorf("defining %s: %w", name, err)
	}
	return nil
}
