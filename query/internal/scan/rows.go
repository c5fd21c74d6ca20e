package scan

import (
	"context"
	"slices"

	"github.com/duckdb/duckdb-go/v2"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema"
)

// PageRows is the maximum number of rows in memory of an answer that may be longer.
const PageRows = 4096

// Rows reads columns of runs: one row per id, in the order of the ids.
func (r *Reader) Rows(ctx context.Context, ids []schema.ULID, columns []*schema.Column) (answer.Table, error) {
	read := WithRunID(columns)
	t, err := (&Reader{r.Conn, r.Src.Of(ids)}).rowsOf(ctx, ids, read)
	if err != nil {
		return answer.Table{}, err
	}
	return ArrangeRows(&t, ids, columns)
}

// rowsOf reads columns, including run_id, of the runs with these ids, in any order; ids nil: of all runs. Rows of other runs may be
// among them.
func (r *Reader) rowsOf(ctx context.Context, ids []schema.ULID, columns []*schema.Column) (answer.Table, error) {
	if t, ok, err := r.Src.direct(ids, columns); ok || err != nil {
		return t, err
	}
	if err := r.applyEvents(ctx, columns); err != nil {
		return answer.Table{}, err
	}
	return r.Conn.Table(ctx, r.Src.scanSome(ids, columns))
}

// Some returns the statement that reads columns of runs, in any order.
func (r *Reader) Some(ctx context.Context, ids []schema.ULID, columns []*schema.Column) (duck.Statement, error) {
	some := &Reader{r.Conn, r.Src.Of(ids)}
	if err := some.applyEvents(ctx, columns); err != nil {
		return duck.Statement{}, err
	}
	return some.Src.scanSome(ids, columns), nil
}

// scanSome returns the statement that reads columns of runs whose sources these are.
func (s *Sources) scanSome(ids []schema.ULID, columns []*schema.Column) duck.Statement {
	if len(ids) == 0 || len(s.Read) == 0 && !s.loaded { // the live files are those of the ids
		return duck.Statement{SQL: "SELECT * FROM " + s.Scan(columns, "")}
	}
	first, last := slices.MinFunc(ids, CompareIDs).String(), slices.MaxFunc(ids, CompareIDs).String()
	return duck.Statement{
		SQL: "SELECT * FROM " + s.Scan(columns, "run_id BETWEEN $1::VARCHAR AND $2::VARCHAR") +
			" SEMI JOIN (SELECT unnest($3::VARCHAR[]) AS run_id) USING (run_id)",
		Args: []any{first, last, IDTexts(ids)},
	}
}

// CompareIDs orders ids by time.
func CompareIDs(a, b schema.ULID) int { return slices.Compare(a[:], b[:]) }

// ArrangeRows is answer.Table.Arranged. A row that is missing is an error of the file.
func ArrangeRows(t *answer.Table, ids []schema.ULID, columns []*schema.Column) (answer.Table, error) {
	arranged, err := t.Arranged(ids, columns)
	if err != nil {
		return answer.Table{}, &duck.Error{Message: err.Error(), Kind: duckdb.ErrorTypeIO}
	}
	return arranged, nil
}

// RunColumns finds columns of runs by name; nil: all. An unknown name is an ErrInput.
func RunColumns(names []string) ([]*schema.Column, error) {
	if names == nil {
		return schema.Runs.Columns, nil
	}
	columns := make([]*schema.Column, len(names))
	for i, name := range names {
		c, ok := schema.Runs.Column(name)
		if !ok {
			return nil, answer.InputError("columns: runs has no column %q", answer.Brief(name))
		}
		columns[i] = c
	}
	return columns, nil
}

// StoredRows converts rows of an answer, which have some columns of a table, to the rows that schema.RunOf and schema.MetricOf take.
type StoredRows struct {
	columns []*schema.Column
	places  []int
	row     []any
}

// NewStoredRows makes a converter for rows with these columns of a table. Other columns are NULL.
func NewStoredRows(t *schema.Table, columns []*schema.Column) *StoredRows {
	s := &StoredRows{columns: columns, row: make([]any, len(t.Columns))}
	for _, c := range columns {
		s.places = append(s.places, slices.Index(t.Columns, c))
	}
	return s
}

// Row converts a row. The result is valid until the next call.
func (s *StoredRows) Row(values []any) []any {
	for i, c := range s.columns {
		s.row[s.places[i]] = valueOf(c, values[i])
	}
	return s.row
}

// Run converts a row of the table runs to a run.
func (s *StoredRows) Run(values []any) schema.Run {
	r, _ := schema.StoredRunOf(s.Row(values))
	return r
}

// valueOf converts a value to the Go type of schema.Kind. Entries of maps and lists without a value are left out.
func valueOf(c *schema.Column, value any) any {
	switch value := value.(type) {
	case map[string]any:
		if c.Children[1].Kind == schema.KindReal {
			return mapOf[float64](value)
		}
		return mapOf[string](value)
	case []any:
		switch element := c.Children[0]; element.Kind {
		case schema.KindInt:
			return listOf[int64](value)
		case schema.KindReal:
			return listOf[float64](value)
		case schema.KindStruct:
			return structsOf(element, value)
		default:
			return listOf[string](value)
		}
	}
	return value
}

func mapOf[T any](entries map[string]any) map[string]T {
	m := make(map[string]T, len(entries))
	for key, entry := range entries {
		if value, ok := entry.(T); ok {
			m[key] = value
		}
	}
	return m
}

func listOf[T any](elements []any) []T {
	list := make([]T, 0, len(elements))
	for _, element := range elements {
		if value, ok := element.(T); ok {
			list = append(list, value)
		}
	}
	return list
}

// structsOf returns structs as rows, with a value for each field.
func structsOf(c *schema.Column, elements []any) [][]any {
	rows := make([][]any, len(elements))
	for i, element := range elements {
		fields, _ := element.(map[string]any)
		for _, field := range c.Children {
			rows[i] = append(rows[i], fields[field.Name])
		}
	}
	return rows
}
