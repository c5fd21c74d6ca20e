package sql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/duckdb/duckdb-go/v2"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
)

// SelectArrow runs a SELECT, as Select does, and writes the result as an Arrow IPC stream of any length; it goes through a temporary
// file. Integers are int64, reals float64, times timestamp[us, UTC], dates date32; lists, maps and structs keep their types, and
// everything else is text. The metadata of a field has its stored unit. An integer of more than 64 bits is an ErrInput.
//
// Nothing is written before the answer is complete. If writing fails, the stream ends such that readers reject it.
func SelectArrow(ctx context.Context, db *query.DB, text string, w io.Writer) (err error) {
	dir, err := os.MkdirTemp(db.Stores().TempDir, "neurolens-query-")
	if err != nil {
		return fmt.Errorf("query: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var a *arrowAnswer
	err = answered(ctx, db, func(s *scan.Sources, tags bool) error {
		var err error
		a, err = newArrowAnswer(ctx, db, question{s, text, tags}, filepath.Join(dir, "answer.parquet"))
		return err
	})
	if err != nil {
		return queryError(err)
	}
	defer func() { err = errors.Join(err, a.close()) }()
	if err = a.stream(ctx, w); err != nil {
		breakStream(w)
		return queryError(err)
	}
	return nil
}

// breakStream makes sure that an incomplete stream is not read as a complete one: it starts a message of 64 bytes.
func breakStream(w io.Writer) {
	_, _ = w.Write([]byte{0xff, 0xff, 0xff, 0xff, 64, 0, 0, 0, 0}) // the caller already has an error to return
}

// arrowAnswer is the result of a text in a temporary Parquet file with the columns c0, c1 ...
type arrowAnswer struct {
	engine *duck.Engine
	conn   *duck.Conn
	path   string
	fields []arrow.Field
}

func (a *arrowAnswer) close() error {
	return errors.Join(a.conn.Close(), a.engine.Close())
}

// newArrowAnswer runs a text in its own engine, which the answer closes.
func newArrowAnswer(ctx context.Context, db *query.DB, q question, path string) (a *arrowAnswer, err error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) { // left by an earlier attempt
		return nil, fmt.Errorf("query: %w", err)
	}
	e, err := duck.Open(db.Stores().MemoryLimit, db.Stores().TempDir)
	if err != nil {
		return nil, err
	}
	c, sel, err := sandboxed(ctx, e, q, path)
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	a = &arrowAnswer{engine: e, conn: c, path: path}
	err = a.store(ctx, q.text, sel)
	if sel.tags.Sprung() {
		err = errTags
	}
	if err != nil {
		return nil, errors.Join(err, a.close())
	}
	return a, nil
}

// store has DuckDB write the result of a text.
func (a *arrowAnswer) store(ctx context.Context, text string, sel checked) error {
	const view = annotations + ".answer"
	_, err := a.conn.Exec(ctx, "CREATE VIEW "+view+" AS "+text)
	if engine, ok := errors.AsType[*duck.Error](err); ok && engine.Kind == duckdb.ErrorTypeParser {
		return answer.InputError("query: Arrow needs a SELECT, and this is %s: write FROM (%s ...)", statementWord(text), statementWord(text))
	}
	if err != nil {
		return err
	}
	casts, fields, err := duck.ArrowColumns(ctx, a.conn, "SELECT * FROM "+view)
	if err != nil {
		return err
	}
	columns := make([]string, len(fields))
	for i, f := range fields {
		columns[i] = fmt.Sprintf("%s::%s AS c%d", duck.Identifier(f.Name), casts[i], i)
	}
	a.fields = duck.WithArrowUnits(fields, sel.renamed)
	_, err = a.conn.Exec(ctx, fmt.Sprintf("COPY (SELECT %s FROM %s) TO %s (FORMAT parquet, COMPRESSION lz4, ROW_GROUP_SIZE %d, USE_TMP_FILE false)",
		strings.Join(columns, ", "), view, duck.Literal(a.path), rowGroupOf(fields)))
	return err
}

// rowGroupOf returns the number of rows per row group of the temporary file: small if a row may have many values, but large enough that the
// file does not mainly consist of metadata.
func rowGroupOf(fields []arrow.Field) int {
	rows := 122_880
	for _, f := range fields {
		list, ok := f.Type.(*arrow.ListType)
		switch {
		case ok && arrow.IsPrimitive(list.Elem().ID()):
			return 2048
		case arrow.IsNested(f.Type.ID()):
			rows = 8192
		}
	}
	return rows
}

// stream reads the result back, one row group at a time, because DuckDB keeps whole results in memory.
func (a *arrowAnswer) stream(ctx context.Context, w io.Writer) error {
	groups, err := a.rowGroups(ctx)
	if err != nil {
		return err
	}
	columns := make([]string, len(a.fields))
	for i := range columns {
		columns[i] = fmt.Sprintf("c%d", i)
	}
	text := "SELECT " + strings.Join(columns, ", ") + " FROM read_parquet(" + duck.TextList(duck.Patterns([]string{a.path})) +
		", file_row_number = true) WHERE file_row_number >= $1::BIGINT AND file_row_number < $2::BIGINT"
	out := duck.NewArrowStream(w, a.fields)
	begin := int64(0)
	for _, rows := range groups {
		if err := out.Query(ctx, a.conn, duck.Statement{SQL: text, Args: []any{begin, begin + rows}}); err != nil {
			return err
		}
		begin += rows
	}
	if out.Rows != begin {
		return &duck.Error{Message: fmt.Sprintf("%d rows of %d in the temporary file", out.Rows, begin), Kind: duckdb.ErrorTypeIO}
	}
	return out.Close()
}

// rowGroups returns the numbers of rows of the row groups of the file, in order.
func (a *arrowAnswer) rowGroups(ctx context.Context) ([]int64, error) {
	var groups []int64
	text := "SELECT any_value(row_group_num_rows) FROM parquet_metadata(" + duck.Literal(a.path) + ") GROUP BY row_group_id ORDER BY row_group_id"
	err := a.conn.Query(ctx, duck.Statement{SQL: text}, func(row []driver.Value) error {
		n, ok := row[0].(int64)
		if !ok {
			return fmt.Errorf("reading the temporary file: a row group of %v rows", row[0])
		}
		groups = append(groups, n)
		return nil
	})
	return groups, err
}
