package query

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/duckdb/duckdb-go/v2"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/fault"
	"github.com/neurolens/neurolens/schema"
)

// arrowBatchBytes is about how large a record batch gets.
const arrowBatchBytes = 8 << 20

// arrowShape is how values of a type of DuckDB stand in Arrow, and the type that they are cast to before. Integers are
// 64 bits, reals DOUBLE, times microseconds in UTC, as the columns of a store are; what Arrow has no plain type for is
// text, as in the other formats.
func arrowShape(info duckdb.TypeInfo) (cast string, t arrow.DataType) {
	switch details := info.Details().(type) {
	case *duckdb.ListDetails:
		cast, t = arrowShape(details.Child)
		return cast + "[]", arrow.ListOf(t)
	case *duckdb.ArrayDetails:
		cast, t = arrowShape(details.Child)
		return cast + "[]", arrow.ListOf(t)
	case *duckdb.MapDetails:
		key, k := arrowShape(details.Key)
		value, v := arrowShape(details.Value)
		return "MAP(" + key + ", " + value + ")", arrow.MapOf(k, v)
	case *duckdb.StructDetails:
		casts, fields := make([]string, len(details.Entries)), make([]arrow.Field, len(details.Entries))
		for i, entry := range details.Entries {
			cast, t := arrowShape(entry.Info())
			casts[i] = duck.Identifier(entry.Name()) + " " + cast
			fields[i] = arrow.Field{Name: entry.Name(), Type: t, Nullable: true}
		}
		return "STRUCT(" + strings.Join(casts, ", ") + ")", arrow.StructOf(fields...)
	}
	switch info.InternalType() {
	case duckdb.TYPE_BOOLEAN:
		return "BOOLEAN", arrow.FixedWidthTypes.Boolean
	case duckdb.TYPE_TINYINT, duckdb.TYPE_SMALLINT, duckdb.TYPE_INTEGER, duckdb.TYPE_BIGINT, duckdb.TYPE_HUGEINT, duckdb.TYPE_BIGNUM,
		duckdb.TYPE_UTINYINT, duckdb.TYPE_USMALLINT, duckdb.TYPE_UINTEGER, duckdb.TYPE_UBIGINT, duckdb.TYPE_UHUGEINT:
		return "BIGINT", arrow.PrimitiveTypes.Int64
	case duckdb.TYPE_FLOAT, duckdb.TYPE_DOUBLE, duckdb.TYPE_DECIMAL:
		return "DOUBLE", arrow.PrimitiveTypes.Float64
	case duckdb.TYPE_DATE:
		return "DATE", arrow.FixedWidthTypes.Date32
	case duckdb.TYPE_TIMESTAMP, duckdb.TYPE_TIMESTAMP_S, duckdb.TYPE_TIMESTAMP_MS, duckdb.TYPE_TIMESTAMP_NS, duckdb.TYPE_TIMESTAMP_TZ:
		return "TIMESTAMPTZ", &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}
	case duckdb.TYPE_BLOB:
		return "BLOB", arrow.BinaryTypes.Binary
	default:
		return "VARCHAR", arrow.BinaryTypes.String
	}
}

// arrowColumns prepares a statement and gives for each column of its result the cast and the field.
func arrowColumns(c *duck.Conn, text string) (casts []string, fields []arrow.Field, err error) {
	prepared, err := c.Prepare(text)
	if err != nil {
		return nil, nil, &duck.Error{Message: duck.OneLine(err.Error()), Kind: duck.KindOf(err), Cause: err}
	}
	defer func() { _ = prepared.Close() }() // it was not run
	s, ok := prepared.(*duckdb.Stmt)
	if !ok {
		return nil, nil, fmt.Errorf("preparing a statement: the driver gives a %T", prepared)
	}
	n, err := s.ColumnCount()
	if err != nil {
		return nil, nil, fmt.Errorf("preparing a statement: %w", err)
	}
	for i := range n {
		name, err := s.ColumnName(i)
		if err != nil {
			return nil, nil, fmt.Errorf("preparing a statement: %w", err)
		}
		info, err := s.ColumnTypeInfo(i)
		if err != nil { // a struct whose fields have no names
			return nil, nil, fault.Input("query: column %s is of a type that Arrow has not: cast it, to VARCHAR for example", fault.Brief(name))
		}
		cast, t := arrowShape(info)
		casts, fields = append(casts, cast), append(fields, arrow.Field{Name: name, Type: t, Nullable: true})
	}
	return casts, fields, nil
}

// withUnits notes in the metadata of fields their stored unit, as `unit`, where a column of the views has one. renamed
// is as in setUnits.
func withUnits(fields []arrow.Field, renamed map[string]bool) []arrow.Field {
	var t answer.Table
	for _, f := range fields {
		t.Columns = append(t.Columns, answer.Column{Name: f.Name})
	}
	t.SetUnits(renamed)
	for i, c := range t.Columns {
		if c.Unit != "" && c.Unit != schema.UnitOfRow {
			fields[i].Metadata = arrow.NewMetadata([]string{"unit"}, []string{c.Unit})
		}
	}
	return fields
}

// arrowWriter makes record batches of rows, of bounded size.
type arrowWriter struct {
	out interface {
		Write(arrow.RecordBatch) error
		Close() error
	}
	batch  *array.RecordBuilder
	size   int   // of what is in batch, roughly, in bytes
	rows   int64 // of all batches
	bytes  int64 // of all batches, roughly
	failed error // of writing, or of a value that is not of its column's type
}

// newArrowStream writes a stream, which is whole only when close was called.
func newArrowStream(w io.Writer, fields []arrow.Field) *arrowWriter {
	s := arrow.NewSchema(fields, nil)
	return &arrowWriter{out: ipc.NewWriter(w, ipc.WithSchema(s)), batch: array.NewRecordBuilder(memory.DefaultAllocator, s)}
}

// newArrowFile writes a file that readers can map into memory.
func newArrowFile(w io.Writer, fields []arrow.Field) (*arrowWriter, error) {
	s := arrow.NewSchema(fields, nil)
	out, err := ipc.NewFileWriter(w, ipc.WithSchema(s))
	if err != nil {
		return nil, err
	}
	return &arrowWriter{out: out, batch: array.NewRecordBuilder(memory.DefaultAllocator, s)}, nil
}

// query adds the rows of a statement's result.
func (w *arrowWriter) query(ctx context.Context, c *duck.Conn, q duck.Statement) error {
	err := c.Query(ctx, q, w.add)
	if w.failed != nil {
		return w.failed
	}
	return err
}

// add takes a row of the driver.
func (w *arrowWriter) add(row []driver.Value) error {
	for i, v := range row {
		size, err := appendArrow(w.batch.Field(i), v)
		if err != nil {
			w.failed = fmt.Errorf("column %s: %w", w.batch.Schema().Field(i).Name, err)
			return w.failed
		}
		w.size += size
	}
	w.rows++
	if w.size >= arrowBatchBytes {
		w.failed = w.flush()
	}
	return w.failed
}

// flush writes what is left as a batch.
func (w *arrowWriter) flush() error {
	w.bytes += int64(w.size)
	w.size = 0
	batch := w.batch.NewRecordBatch()
	defer batch.Release()
	if batch.NumRows() == 0 {
		return nil
	}
	if err := w.out.Write(batch); err != nil {
		return fmt.Errorf("writing Arrow: %w", err)
	}
	return nil
}

// close writes the end.
func (w *arrowWriter) close() error {
	defer w.batch.Release()
	if err := w.flush(); err != nil {
		return err
	}
	if err := w.out.Close(); err != nil {
		return fmt.Errorf("writing Arrow: %w", err)
	}
	return nil
}

// appendArrow appends a value of the driver, and gives its size, roughly, in bytes.
func appendArrow(b array.Builder, value any) (int, error) {
	if value == nil {
		b.AppendNull()
		return 8, nil
	}
	size := 8
	ok := true
	switch b := b.(type) {
	case *array.Int64Builder:
		ok = appendAs(value, b.Append)
	case *array.Float64Builder:
		ok = appendAs(value, b.Append)
	case *array.BooleanBuilder:
		ok = appendAs(value, b.Append)
	case *array.StringBuilder:
		ok = appendAs(value, func(s string) { b.Append(s); size += len(s) })
	case *array.BinaryBuilder:
		ok = appendAs(value, func(p []byte) { b.Append(p); size += len(p) })
	case *array.TimestampBuilder:
		ok = appendAs(value, func(t time.Time) { b.Append(arrow.Timestamp(t.UnixMicro())) })
	case *array.Date32Builder:
		ok = appendAs(value, func(t time.Time) { b.Append(arrow.Date32FromTime(t)) })
	default:
		return appendNested(b, value)
	}
	if !ok {
		return 0, fmt.Errorf("the driver gives a %T", value)
	}
	return size, nil
}

// appendAs hands a value over if it is of the type.
func appendAs[T any](value any, add func(T)) bool {
	v, ok := value.(T)
	if ok {
		add(v)
	}
	return ok
}

// appendNested is appendArrow for lists, maps and structs.
func appendNested(b array.Builder, value any) (int, error) {
	size := 8
	child := func(b array.Builder, v any) error {
		n, err := appendArrow(b, v)
		size += n
		return err
	}
	switch b := b.(type) {
	case *array.ListBuilder:
		list, ok := value.([]any)
		if !ok {
			break
		}
		b.Append(true)
		for _, v := range list {
			if err := child(b.ValueBuilder(), v); err != nil {
				return 0, err
			}
		}
		return size, nil
	case *array.MapBuilder:
		m, ok := value.(duckdb.OrderedMap)
		if !ok {
			break
		}
		b.Append(true)
		keys, values := m.Keys(), m.Values()
		for i := range keys {
			if err := child(b.KeyBuilder(), keys[i]); err != nil {
				return 0, err
			}
			if err := child(b.ItemBuilder(), values[i]); err != nil {
				return 0, err
			}
		}
		return size, nil
	case *array.StructBuilder:
		fields, ok := value.(map[string]any)
		if !ok {
			break
		}
		b.Append(true)
		for i, f := range b.Type().(*arrow.StructType).Fields() {
			if err := child(b.FieldBuilder(i), fields[f.Name]); err != nil {
				return 0, err
			}
		}
		return size, nil
	}
	return 0, fmt.Errorf("the driver gives a %T", value)
}
