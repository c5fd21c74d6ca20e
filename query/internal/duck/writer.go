package duck

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/duckdb/duckdb-go/v2"
)

// ArrowBatchBytes is the approximate size of a record batch.
const ArrowBatchBytes = 8 << 20

// ArrowWriter writes rows as record batches of limited size.
type ArrowWriter struct {
	out interface {
		Write(arrow.RecordBatch) error
		Close() error
	}
	batch  *array.RecordBuilder
	size   int   // approximate size of batch in bytes
	Rows   int64 // number of rows of all batches
	Bytes  int64 // approximate size of all batches in bytes
	failed error // error of writing, or of a value that does not have its column's type
}

// NewArrowStream writes a stream. It is complete only after Close.
func NewArrowStream(w io.Writer, fields []arrow.Field) *ArrowWriter {
	s := arrow.NewSchema(fields, nil)
	return &ArrowWriter{out: ipc.NewWriter(w, ipc.WithSchema(s)), batch: array.NewRecordBuilder(memory.DefaultAllocator, s)}
}

// NewArrowFile writes a file that readers can map into memory.
func NewArrowFile(w io.Writer, fields []arrow.Field) (*ArrowWriter, error) {
	s := arrow.NewSchema(fields, nil)
	out, err := ipc.NewFileWriter(w, ipc.WithSchema(s))
	if err != nil {
		return nil, err
	}
	return &ArrowWriter{out: out, batch: array.NewRecordBuilder(memory.DefaultAllocator, s)}, nil
}

// Query adds the rows of a statement's result.
func (w *ArrowWriter) Query(ctx context.Context, c *Conn, q Statement) error {
	err := c.Query(ctx, q, w.add)
	if w.failed != nil {
		return w.failed
	}
	return err
}

// add adds a row of the driver.
func (w *ArrowWriter) add(row []driver.Value) error {
	for i, v := range row {
		size, err := appendValue(w.batch.Field(i), v)
		if err != nil {
			w.failed = fmt.Errorf("column %s: %w", w.batch.Schema().Field(i).Name, err)
			return w.failed
		}
		w.size += size
	}
	w.Rows++
	if w.size >= ArrowBatchBytes {
		w.failed = w.flush()
	}
	return w.failed
}

// flush writes the current batch.
func (w *ArrowWriter) flush() error {
	w.Bytes += int64(w.size)
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

// Close writes the end.
func (w *ArrowWriter) Close() error {
	defer w.batch.Release()
	if err := w.flush(); err != nil {
		return err
	}
	if err := w.out.Close(); err != nil {
		return fmt.Errorf("writing Arrow: %w", err)
	}
	return nil
}

// appendValue appends a value of the driver, and returns its approximate size in bytes.
func appendValue(b array.Builder, value any) (int, error) {
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
		return 0, fmt.Errorf("unexpected type %T from the driver", value)
	}
	return size, nil
}

// appendAs calls add if the value has the type.
func appendAs[T any](value any, add func(T)) bool {
	v, ok := value.(T)
	if ok {
		add(v)
	}
	return ok
}

// appendNested is appendValue for lists, maps and structs.
func appendNested(b array.Builder, value any) (int, error) {
	size := 8
	child := func(b array.Builder, v any) error {
		n, err := appendValue(b, v)
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
	return 0, fmt.Errorf("unexpected type %T from the driver", value)
}
