package query

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/neurolens/neurolens/schema"
)

// ownMemory is what DuckDB may use for a statement of this package before it spills, or is given more: a machine that
// measures keeps its memory.
const ownMemory = 80 << 20

// engine is a DuckDB in memory. It is safe for concurrent use; a connection of it is not.
type engine struct {
	connector *duckdb.Connector
}

// openEngine starts a DuckDB with settings that cost nothing: they are given before it starts. It spills into a
// directory of its own in the one for temporary files, which it makes when it has to and removes at the end.
func openEngine(o Options) (*engine, error) {
	keepMemory()
	spill := filepath.Join(o.TempDir, "neurolens-"+schema.NewULID(time.Now()).String())
	settings := url.Values{
		// More threads than cores make the reading of many small files several times slower.
		"threads":                      {strconv.Itoa(runtime.GOMAXPROCS(0))},
		"temp_directory":               {spill},
		"autoinstall_known_extensions": {"false"},
		"autoload_known_extensions":    {"false"},
	}
	if o.MemoryLimit > 0 {
		settings.Set("memory_limit", strconv.FormatInt(o.MemoryLimit, 10)+"B")
	}
	connector, err := duckdb.NewConnector(":memory:?"+settings.Encode(), nil)
	if err != nil {
		return nil, fmt.Errorf("starting DuckDB: %w", err)
	}
	return &engine{connector}, nil
}

// smallFiles are settings for reading many small files: each is read whole, once, and nothing of it is kept. Kept, a
// thousand files cost a gigabyte.
var smallFiles = []string{
	"SET prefetch_all_parquet_files = true",
	"SET enable_external_file_cache = false",
	"SET preserve_insertion_order = false",
}

func (e *engine) close() error {
	return e.connector.Close()
}

// connect opens a connection. Its caller closes it.
func (e *engine) connect(ctx context.Context) (*conn, error) {
	c, err := e.connector.Connect(ctx)
	if err != nil {
		return nil, engineError(ctx, err)
	}
	both, ok := c.(connection)
	if !ok {
		return nil, errors.Join(fmt.Errorf("starting DuckDB: its driver lacks QueryContext"), c.Close())
	}
	conn := &conn{connection: both}
	for _, setting := range smallFiles {
		if _, err := conn.exec(ctx, setting); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return conn, nil
}

type connection interface {
	driver.Conn
	driver.QueryerContext
	driver.ExecerContext
}

// conn is a connection, used below database/sql because that takes three times as long to hand out the rows.
type conn struct {
	connection
	remark func(string) // see Options.Remark; nil: nobody wants to know
}

// exec runs a statement of this package's own.
func (c *conn) exec(ctx context.Context, statement string, args ...any) (int64, error) {
	result, err := c.ExecContext(ctx, statement, named(args))
	if err != nil {
		return 0, engineError(ctx, err)
	}
	n, err := result.RowsAffected()
	return n, engineError(ctx, err)
}

// query runs a statement and hands each row to each; the row is only valid during the call.
func (c *conn) query(ctx context.Context, q statement, each func(row []driver.Value) error) error {
	rows, err := c.run(ctx, q)
	if err != nil {
		return err
	}
	return engineError(ctx, errors.Join(eachRow(rows, each), rows.Close()))
}

// run runs a statement. DuckDB is done with it then: the rows can be read while the connection runs the next one.
func (c *conn) run(ctx context.Context, q statement) (driver.Rows, error) {
	rows, err := c.QueryContext(ctx, q.text, named(q.args))
	return rows, engineError(ctx, err)
}

// eachRow hands each row to each; the row is only valid during the call.
func eachRow(rows driver.Rows, each func(row []driver.Value) error) error {
	row := make([]driver.Value, len(rows.Columns()))
	for {
		if err := rows.Next(row); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := each(row); err != nil {
			return err
		}
	}
}

// table runs a statement and keeps its result.
func (c *conn) table(ctx context.Context, q statement) (Table, error) {
	return c.tableAtMost(ctx, q, math.MaxInt)
}

// tableAtMost refuses a result of more values than that.
func (c *conn) tableAtMost(ctx context.Context, q statement, most int) (Table, error) {
	rows, err := c.QueryContext(ctx, q.text, named(q.args))
	if err != nil {
		return Table{}, engineError(ctx, err)
	}
	t, err := readTable(rows, most)
	return t, engineError(ctx, errors.Join(err, rows.Close()))
}

// statement is SQL with the values of its parameters $1, $2 and so on.
type statement struct {
	text string
	args []any
}

func named(args []any) []driver.NamedValue {
	values := make([]driver.NamedValue, len(args))
	for i, a := range args {
		values[i] = driver.NamedValue{Ordinal: i + 1, Value: a}
	}
	return values
}
