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

// OwnMemory is the number of bytes that DuckDB may use for our own statements, so that a measuring machine keeps its memory. Beyond that it
// spills to disk, or gets more (Raise).
const OwnMemory = 80 << 20

// Engine is a DuckDB in memory. It is safe for concurrent use; a connection of it is not.
type Engine struct {
	connector *duckdb.Connector
	lists     lists // of the function of Among
}

// Open starts a DuckDB. It spills to a directory in tempDir, which it makes if necessary and removes at the end. memoryLimit is in bytes;
// 0: DuckDB's default.
func Open(memoryLimit int64, tempDir string) (*Engine, error) {
	spill := filepath.Join(tempDir, "neurolens-"+schema.NewULID(time.Now()).String())
	settings := url.Values{
		// With more threads than cores, reading many small files is several times slower.
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
	return &Engine{connector: connector}, nil
}

// smallFiles are settings for many small files: each is read as a whole, once, and not cached. Caching would take a gigabyte per thousand
// files.
var smallFiles = []string{
	"SET prefetch_all_parquet_files = true",
	"SET enable_external_file_cache = false",
	"SET preserve_insertion_order = false",
}

// Close ends the engine and removes its temporary files.
func (e *Engine) Close() error {
	return e.connector.Close()
}

// Connect opens a connection. The caller closes it.
func (e *Engine) Connect(ctx context.Context) (*Conn, error) {
	c, err := e.connector.Connect(ctx)
	if err != nil {
		return nil, Translate(ctx, err)
	}
	both, ok := c.(connection)
	if !ok {
		return nil, errors.Join(fmt.Errorf("starting DuckDB: its driver lacks contexts"), c.Close())
	}
	conn := &Conn{opened: both, engine: e}
	for _, setting := range smallFiles {
		if _, err := conn.Exec(ctx, setting); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return conn, nil
}

type connection interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.QueryerContext
	driver.ExecerContext
}

// Later returns a connection that starts an engine and connects to it at first use. Like any connection, it is for one goroutine at a
// time. The caller closes it.
func Later(start func() (*Engine, error)) *Conn { return &Conn{start: start} }

// Conn is a connection. It does not use database/sql, which takes three times as long to return the rows.
type Conn struct {
	Remark func(string) // receives notes for the user; nil: dropped
	start  func() (*Engine, error)
	opened connection // nil until a connection of Later is used
	engine *Engine    // nil until the engine is started
	limit  string     // the memory limit that Raise set; empty: none
	lists  []int64    // of Among
}

// Start opens a connection of Later, unless it is open.
func (c *Conn) Start(ctx context.Context) error {
	if c.opened != nil {
		return nil
	}
	e, err := c.start()
	if err != nil {
		return err
	}
	made, err := e.Connect(ctx)
	if err != nil {
		return err
	}
	c.opened, c.engine = made.opened, made.engine
	return nil
}

// Prepare prepares a statement.
func (c *Conn) Prepare(ctx context.Context, statement string) (driver.Stmt, error) {
	if err := c.Start(ctx); err != nil {
		return nil, err
	}
	return c.opened.PrepareContext(ctx, statement)
}

// Exec runs a statement of our own, never of a user, and returns the number of affected rows.
func (c *Conn) Exec(ctx context.Context, statement string, args ...any) (int64, error) {
	if err := c.Start(ctx); err != nil {
		return 0, err
	}
	result, err := c.opened.ExecContext(ctx, statement, named(args))
	if err != nil {
		return 0, Translate(ctx, err)
	}
	n, err := result.RowsAffected()
	return n, Translate(ctx, err)
}

// Query runs a statement and calls each with every row. A row is only valid during the call.
func (c *Conn) Query(ctx context.Context, q Statement, each func(row []driver.Value) error) error {
	rows, err := c.Run(ctx, q)
	if err != nil {
		return err
	}
	return UseRows(ctx, rows, each)
}

// UseRows calls each with every row of a result of Run, and closes it. A row is only valid during the call.
func UseRows(ctx context.Context, rows driver.Rows, each func(row []driver.Value) error) error {
	return Translate(ctx, errors.Join(EachRow(rows, each), rows.Close()))
}

// Run runs a statement to its end. Its rows can be read while the connection runs the next statement.
func (c *Conn) Run(ctx context.Context, q Statement) (driver.Rows, error) {
	if err := c.Start(ctx); err != nil {
		return nil, err
	}
	rows, err := c.opened.QueryContext(ctx, q.SQL, named(q.Args))
	return rows, Translate(ctx, err)
}

// EachRow calls each with every row. A row is only valid during the call.
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

// Table runs a statement and returns its result.
func (c *Conn) Table(ctx context.Context, q Statement) (answer.Table, error) {
	return c.TableAtMost(ctx, q, math.MaxInt)
}

// TableAtMost is Table; a result with more than maxValues values is an ErrInput.
func (c *Conn) TableAtMost(ctx context.Context, q Statement, maxValues int) (answer.Table, error) {
	rows, err := c.Run(ctx, q)
	if err != nil {
		return answer.Table{}, err
	}
	t, err := readTable(rows, maxValues)
	return t, Translate(ctx, errors.Join(err, rows.Close()))
}

// Raise sets the memory limit of the engine in bytes, for questions that do not fit into OwnMemory, such as a run with millions of samples.
// 0: DuckDB's default.
func (c *Conn) Raise(ctx context.Context, limit int64) error {
	text := fmt.Sprintf("%dB", limit)
	if limit == 0 { // RESET alone only changes the displayed limit
		if _, err := c.Exec(ctx, "RESET memory_limit"); err != nil {
			return err
		}
		row, err := c.One(ctx, Statement{SQL: "SELECT current_setting('memory_limit')"})
		if err != nil {
			return err
		}
		text, _ = row[0].(string)
	}
	c.limit = text
	return c.Trim(ctx)
}

// Trim returns memory that DuckDB no longer needs to the system. DuckDB's allocator keeps memory that ended statements freed until the
// memory limit is set, even if it is set to the same number of bytes. Without Raise only the memory of the C library is returned.
func (c *Conn) Trim(ctx context.Context) error {
	trimMemory()
	if c.limit == "" {
		return nil
	}
	_, err := c.Exec(ctx, "SET memory_limit = "+Literal(c.limit))
	return err
}

// One returns the only row of a result.
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
