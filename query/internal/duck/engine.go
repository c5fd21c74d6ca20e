package duck

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
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// OwnMemory is what DuckDB may use for a statement of query's own before it spills, or is given more: a machine that
// measures keeps its memory.
const OwnMemory = 80 << 20

// Engine is a DuckDB in memory. It is safe for concurrent use; a connection of it is not.
type Engine struct {
	connector *duckdb.Connector
}

// Open starts a DuckDB with settings that cost nothing: they are given before it starts. It spills into a
// directory of its own in tempDir, which it makes when it has to and removes at the end. A memoryLimit of 0 bytes is
// DuckDB's own.
func Open(memoryLimit int64, tempDir string) (*Engine, error) {
	keepMemory()
	spill := filepath.Join(tempDir, "neurolens-"+schema.NewULID(time.Now()).String())
	settings := url.Values{
		// More threads than cores make the reading of many small files several times slower.
		"threads":                      {strconv.Itoa(runtime.GOMAXPROCS(0))},
		"temp_directory":               {spill},
		"autoinstall_known_extensions": {"false"},
		"autoload_known_extensions":    {"false"},
	}
	if memoryLimit > 0 {
		settings.Set("memory_limit", strconv.FormatInt(memoryLimit, 10)+"B")
	}
	connector, err := duckdb.NewConnector(":memory:?"+settings.Encode(), nil)
	if err != nil {
		return nil, fmt.Errorf("starting DuckDB: %w", err)
	}
	return &Engine{connector}, nil
}

// smallFiles are settings for reading many small files: each is read whole, once, and nothing of it is kept. Kept, a
// thousand files cost a gigabyte.
var smallFiles = []string{
	"SET prefetch_all_parquet_files = true",
	"SET enable_external_file_cache = false",
	"SET preserve_insertion_order = false",
}

// Close ends it, and removes what it spilled.
func (e *Engine) Close() error {
	return e.connector.Close()
}

// Connect opens a connection. Its caller closes it.
func (e *Engine) Connect(ctx context.Context) (*Conn, error) {
	c, err := e.connector.Connect(ctx)
	if err != nil {
		return nil, Translate(ctx, err)
	}
	both, ok := c.(connection)
	if !ok {
		return nil, errors.Join(fmt.Errorf("starting DuckDB: its driver lacks QueryContext"), c.Close())
	}
	conn := &Conn{connection: both}
	for _, setting := range smallFiles {
		if _, err := conn.Exec(ctx, setting); err != nil {
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

// Conn is a connection, used below database/sql because that takes three times as long to hand out the rows.
type Conn struct {
	connection
	Remark func(string) // is told what people should know of an answer; nil: nobody wants to know
}

// Exec runs a statement of query's own, never a user's.
func (c *Conn) Exec(ctx context.Context, statement string, args ...any) (int64, error) {
	result, err := c.ExecContext(ctx, statement, named(args))
	if err != nil {
		return 0, Translate(ctx, err)
	}
	n, err := result.RowsAffected()
	return n, Translate(ctx, err)
}

// Query runs a statement and hands each row to each; the row is only valid during the call.
func (c *Conn) Query(ctx context.Context, q Statement, each func(row []driver.Value) error) error {
	rows, err := c.Run(ctx, q)
	if err != nil {
		return err
	}
	return Translate(ctx, errors.Join(EachRow(rows, each), rows.Close()))
}

// Run runs a statement. DuckDB is done with it then: the rows can be read while the connection runs the next one.
func (c *Conn) Run(ctx context.Context, q Statement) (driver.Rows, error) {
	rows, err := c.QueryContext(ctx, q.SQL, named(q.Args))
	return rows, Translate(ctx, err)
}

// EachRow hands each row to each; the row is only valid during the call.
func EachRow(rows driver.Rows, each func(row []driver.Value) error) error {
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

// Table runs a statement and keeps its result.
func (c *Conn) Table(ctx context.Context, q Statement) (answer.Table, error) {
	return c.TableAtMost(ctx, q, math.MaxInt)
}

// TableAtMost refuses a result of more values than that.
func (c *Conn) TableAtMost(ctx context.Context, q Statement, most int) (answer.Table, error) {
	rows, err := c.QueryContext(ctx, q.SQL, named(q.Args))
	if err != nil {
		return answer.Table{}, Translate(ctx, err)
	}
	t, err := readTable(rows, most)
	return t, Translate(ctx, errors.Join(err, rows.Close()))
}

// Raise lets the engine use as much memory as that: for what does not fit in less, as a run of millions of
// samples. 0 is DuckDB's own default.
func (c *Conn) Raise(ctx context.Context, limit int64) error {
	text := fmt.Sprintf("%dB", limit)
	if limit == 0 { // RESET only changes what is said of the limit
		if _, err := c.Exec(ctx, "RESET memory_limit"); err != nil {
			return err
		}
		row, err := c.One(ctx, Statement{SQL: "SELECT current_setting('memory_limit')"})
		if err != nil {
			return err
		}
		text, _ = row[0].(string)
	}
	_, err := c.Exec(ctx, "SET memory_limit = "+Literal(text))
	return err
}

// One keeps the only row of a result.
func (c *Conn) One(ctx context.Context, q Statement) ([]driver.Value, error) {
	var row []driver.Value
	err := c.Query(ctx, q, func(r []driver.Value) error {
		row = append(row[:0], r...)
		return nil
	})
	return row, err
}

// Statement is SQL with the values of its parameters $1, $2 and so on.
type Statement struct {
	SQL  string
	Args []any
}

func named(args []any) []driver.NamedValue {
	values := make([]driver.NamedValue, len(args))
	for i, a := range args {
		values[i] = driver.NamedValue{Ordinal: i + 1, Value: a}
	}
	return values
}
