package duck

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"sync"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/neurolens/neurolens/schema"
)

// amongName is the SQL function of the number of a list and of a run id: whether the list has it.
const amongName = "neurolens_among"

// lists are ids of runs, ascending, by the numbers that SQL has for them. They are safe for concurrent use.
type lists struct {
	defined sync.Once // the function
	failed  error

	mu   sync.RWMutex
	last int64
	all  map[int64][]schema.ULID
}

// Among gives the SQL of whether the run id of a row is one of very many, which are ascending. It takes a fraction of the time and of the
// memory of a join, which needs a table of them first. The SQL is for this connection, and until it is closed. It is false for NULL.
func (c *Conn) Among(ctx context.Context, ids []schema.ULID) (string, error) {
	l := &c.engine.lists
	if l.defined.Do(func() { l.failed = c.engine.define(ctx, amongName, l) }); l.failed != nil {
		return "", l.failed
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = map[int64][]schema.ULID{}
	}
	l.last++
	l.all[l.last], c.lists = ids, append(c.lists, l.last)
	return fmt.Sprintf("coalesce(%s(%d, run_id), false)", amongName, l.last), nil
}

// Close closes the connection, and forgets the lists of Among.
func (c *Conn) Close() error {
	l := &c.engine.lists
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, list := range c.lists {
		delete(l.all, list)
	}
	return c.connection.Close()
}

// Config is that of the function.
func (l *lists) Config() duckdb.ScalarFuncConfig {
	number, err := duckdb.NewTypeInfo(duckdb.TYPE_BIGINT)
	if err != nil {
		return duckdb.ScalarFuncConfig{} // which the engine refuses
	}
	text, err := duckdb.NewTypeInfo(duckdb.TYPE_VARCHAR)
	if err != nil {
		return duckdb.ScalarFuncConfig{}
	}
	truth, err := duckdb.NewTypeInfo(duckdb.TYPE_BOOLEAN)
	if err != nil {
		return duckdb.ScalarFuncConfig{}
	}
	return duckdb.ScalarFuncConfig{InputTypeInfos: []duckdb.TypeInfo{number, text}, ResultTypeInfo: truth}
}

// Executor is what the function does with some rows, one after the other. It takes no context, like that of a Trap.
func (l *lists) Executor() duckdb.ScalarFuncExecutor {
	var ids []schema.ULID
	next := 0 // the place after the last id that was found: rows are mostly in the order of their ids
	return duckdb.ScalarFuncExecutor{RowExecutor: func(row []driver.Value) (any, error) {
		if ids == nil {
			number, _ := row[0].(int64)
			l.mu.RLock()
			ids = l.all[number]
			l.mu.RUnlock()
		}
		text, _ := row[1].(string)
		id, err := schema.ParseULID(text)
		if err != nil {
			return false, nil // it is not one of them, and elsewhere an error
		}
		if next < len(ids) && ids[next] == id {
			next++
			return true, nil
		}
		at, is := slices.BinarySearchFunc(ids, id, schema.ULID.Compare)
		if is {
			next = at + 1
		}
		return is, nil
	}}
}
