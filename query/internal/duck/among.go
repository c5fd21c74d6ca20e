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

// amongName is the SQL function that reports whether a numbered list contains a run id.
const amongName = "neurolens_among"

// lists are ascending lists of ids of runs, by the numbers that SQL has for them. They are safe for concurrent use.
type lists struct {
	defined sync.Once // the function
	failed  error

	mu   sync.RWMutex
	last int64
	all  map[int64][]schema.ULID
}

// Among returns SQL that reports whether the run id of a row is one of very many ascending ids. It takes a fraction of the time and of
// the memory of a join, which needs a table of the ids first. The function is not called for rows before the first and after the last
// id. There must be at least one id. The SQL is valid for this connection until it is closed. It is false for NULL.
func (c *Conn) Among(ctx context.Context, ids []schema.ULID) (string, error) {
	if err := c.Start(ctx); err != nil {
		return "", err
	}
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
	first, last := Literal(ids[0].String()), Literal(ids[len(ids)-1].String())
	// A CASE, because DuckDB computes every part of an AND for every row.
	return fmt.Sprintf("CASE WHEN run_id BETWEEN %s AND %s THEN %s(%d, run_id) ELSE false END", first, last, amongName, l.last), nil
}

// Close closes the connection, and forgets the lists of Among.
func (c *Conn) Close() error {
	if c.opened == nil {
		return nil
	}
	l := &c.engine.lists
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, list := range c.lists {
		delete(l.all, list)
	}
	return c.opened.Close()
}

// Config returns the parameter and result types of the function.
func (l *lists) Config() duckdb.ScalarFuncConfig {
	number, err := duckdb.NewTypeInfo(duckdb.TYPE_BIGINT)
	if err != nil {
		return duckdb.ScalarFuncConfig{} // the engine refuses it
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

// Executor returns the implementation of the function, which handles rows one after the other. It takes no context, for the reason given
// at Trap.Executor.
func (l *lists) Executor() duckdb.ScalarFuncExecutor {
	var in ascending
	return duckdb.ScalarFuncExecutor{RowExecutor: func(row []driver.Value) (any, error) {
		if in.ids == nil {
			number, _ := row[0].(int64)
			l.mu.RLock()
			in.ids = l.all[number]
			l.mu.RUnlock()
		}
		text, _ := row[1].(string)
		id, err := schema.ParseULID(text)
		if err != nil {
			return false, nil // not a ULID, so not in the list; other code reports the error
		}
		return in.has(id), nil
	}}
}

// ascending are sorted ids in which others are looked up, mostly in ascending order too.
type ascending struct {
	ids []schema.ULID
	at  int // index of the last id that was looked up, or where it would be
}

// has reports whether the ids contain one. It is mostly at the index of the previous one, or at the next.
func (a *ascending) has(id schema.ULID) bool {
	for range 2 { // that place, and the next
		if a.at == len(a.ids) {
			break
		}
		switch c := id.Compare(a.ids[a.at]); {
		case c == 0:
			return true
		case c < 0 && (a.at == 0 || id.Compare(a.ids[a.at-1]) > 0):
			return false
		case c < 0:
			return a.search(id)
		}
		a.at++
	}
	return a.search(id)
}

// search is has for an id that may be anywhere.
func (a *ascending) search(id schema.ULID) (is bool) {
	a.at, is = slices.BinarySearchFunc(a.ids, id, schema.ULID.Compare)
	return is
}
