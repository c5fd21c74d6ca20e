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

// Trap is an SQL function that replaces a MAP(VARCHAR, VARCHAR) which is costly to make. It returns no value: a call ends the statement
// with an error, and the Trap remembers the call. The engine calls it only for rows whose value matters, and cannot assume anything
// about the value. So the result of a statement that did not call it does not depend on the value.
type Trap struct {
	sprung atomic.Bool
}

// errSprung ends a statement that calls a trap.
var errSprung = errors.New("a trap was called")

// Sprung reports whether a statement called the function; false for nil. That statement may have succeeded nevertheless: SQL can catch
// errors.
func (t *Trap) Sprung() bool { return t != nil && t.sprung.Load() }

// Config returns the parameter and result types of the function. It is called for NULL too; otherwise the engine would return NULL
// without a call.
func (t *Trap) Config() duckdb.ScalarFuncConfig {
	text, err := duckdb.NewTypeInfo(duckdb.TYPE_VARCHAR)
	entries, errMap := duckdb.NewMapInfo(text, text)
	if errors.Join(err, errMap) != nil {
		return duckdb.ScalarFuncConfig{} // the engine refuses it
	}
	return duckdb.ScalarFuncConfig{InputTypeInfos: []duckdb.TypeInfo{text}, ResultTypeInfo: entries, SpecialNullHandling: true}
}

// Executor returns the implementation of the function. It takes no context: the context of the engine's library is a race if several
// threads call the function.
func (t *Trap) Executor() duckdb.ScalarFuncExecutor {
	return duckdb.ScalarFuncExecutor{RowExecutor: func([]driver.Value) (any, error) {
		t.sprung.Store(true)
		return nil, errSprung
	}}
}

// Set adds a trap to the functions of the engine.
func (e *Engine) Set(ctx context.Context, name string, t *Trap) error { return e.define(ctx, name, t) }

// define adds a function to the engine.
func (e *Engine) define(ctx context.Context, name string, f duckdb.ScalarFunc) error {
	db := sql.OpenDB(struct{ driver.Connector }{e.connector}) // without Close, which would end the engine
	c, err := db.Conn(ctx)
	if err == nil {
		err = errors.Join(duckdb.RegisterScalarUDF(c, name, f), c.Close())
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return fmt.Errorf("defining %s: %w", name, err)
	}
	return nil
}
