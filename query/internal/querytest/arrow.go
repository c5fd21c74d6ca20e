package querytest

import (
	"context"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// ArrowTable is a stream that was read to its end.
type ArrowTable struct {
	Schema *arrow.Schema
	Rows   [][]any // with the Go types of answer.Type
	Most   int     // rows of the longest batch
}

func ReadArrow(t testing.TB, r io.Reader) (ArrowTable, error) {
	t.Helper()
	reader, err := ipc.NewReader(r)
	if err != nil {
		return ArrowTable{}, err
	}
	defer reader.Release()
	all := ArrowTable{Schema: reader.Schema()}
	for reader.Next() {
		all.add(t, reader.RecordBatch())
	}
	return all, reader.Err()
}

// arrowValue returns a value of an array, of the Go type that answer.Type names; text for a date.
func arrowValue(t testing.TB, values arrow.Array, i int) any {
	t.Helper()
	if values.IsNull(i) {
		return nil
	}
	switch values := values.(type) {
	case *array.Int64:
		return values.Value(i)
	case *array.Float64:
		return values.Value(i)
	case *array.Boolean:
		return values.Value(i)
	case *array.String:
		return strings.Clone(values.Value(i))
	case *array.Binary:
		return strings.ToLower(string(values.Value(i)))
	case *array.Date32:
		return values.Value(i).ToTime().Format(time.DateOnly)
	case *array.Timestamp:
		return values.Value(i).ToTime(arrow.Microsecond).UTC()
	case *array.Map:
		m := map[string]any{}
		first, last := values.ValueOffsets(i)
		for k := first; k < last; k++ {
			m[arrowValue(t, values.Keys(), int(k)).(string)] = arrowValue(t, values.Items(), int(k))
		}
		return m
	case *array.List:
		list := []any{}
		first, last := values.ValueOffsets(i)
		for k := first; k < last; k++ {
			list = append(list, arrowValue(t, values.ListValues(), int(k)))
		}
		return list
	case *array.Struct:
		m := map[string]any{}
		for k, f := range values.DataType().(*arrow.StructType).Fields() {
			m[f.Name] = arrowValue(t, values.Field(k), i)
		}
		return m
	}
	t.Fatalf("an array of %T", values)
	return nil
}

// MixedStore returns a store of runs with every value, some of them sealed.
func MixedStore(t testing.TB) string {
	t.Helper()
	sweep := runtest.NewSweep(1, 20)
	store := NewStore(t, runtest.Full(), runtest.Small())
	s := valuetest.Must(ingest.Open(store, "test"))
	for range 50 {
		valuetest.OK(t, s.Append(sweep.Next()))
	}
	valuetest.Must(s.Seal(context.Background()))
	valuetest.OK(t, s.Close())
	Append(t, store, runtest.Full())
	return store
}

// EqualValues compares values to the bit.
func EqualValues(a, b any) bool {
	x, isReal := a.(float64)
	y, both := b.(float64)
	if isReal && both {
		return x == y || x != x && y != y
	}
	if list, ok := a.([]any); ok {
		other, ok := b.([]any)
		if !ok || len(list) != len(other) {
			return false
		}
		for i := range list {
			if !EqualValues(list[i], other[i]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a, b)
}

func (a *ArrowTable) add(t testing.TB, batch arrow.RecordBatch) {
	t.Helper()
	a.Most = max(a.Most, int(batch.NumRows()))
	for i := range int(batch.NumRows()) {
		row := make([]any, batch.NumCols())
		for j := range row {
			row[j] = arrowValue(t, batch.Column(j), i)
		}
		a.Rows = append(a.Rows, row)
	}
}
