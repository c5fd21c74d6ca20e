package table

import (
	"maps"
	"slices"
	"time"

	"github.com/parquet-go/parquet-go"
)

// level says where a value is within lists and optional columns, in the terms of Dremel (Melnik and others, VLDB 2010),
// which Parquet uses.
type level struct {
	repetition int // which of the surrounding lists this value continues; 0 means a new row
	definition int // how many of the surrounding optional and repeated columns are not NULL
	depth      int // number of surrounding lists
}

// leaves are the values of one row, leaf by leaf.
type leaves [][]parquet.Value

func newLeaves(fields []*field) leaves {
	last := fields[len(fields)-1]
	return make(leaves, last.leaf+last.leaves)
}

// reset clears the values and keeps the memory for the next row.
func (v leaves) reset() {
	for i := range v {
		v[i] = v[i][:0]
	}
}

// put adds the value of a column, which has one of the types that schema.Kind names.
func (v leaves) put(f *field, value any, l level) {
	if value == nil {
		v.null(f, l)
		return
	}
	if f.fields == nil {
		v.leaf(f, leafValue(value), l)
		return
	}
	if !f.Required {
		l.definition++
	}
	switch value := value.(type) {
	case []any:
		for _, part := range f.fields {
			v.put(part, value[part.place], l)
		}
	case [][]any:
		v.repeated(f, len(value), l, func(i int, l level) { v.put(f.fields[0], value[i], l) })
	case []string:
		v.repeated(f, len(value), l, func(i int, l level) { v.leaf(f.fields[0], parquet.ValueOf(value[i]), l) })
	case []int64:
		putNumbers(v, f, value, l, parquet.Int64Value)
	case []float64:
		putNumbers(v, f, value, l, parquet.DoubleValue)
	case map[string]string:
		putMap(v, f, value, l)
	case map[string]float64:
		putMap(v, f, value, l)
	}
}

// putNumbers adds the elements of a list, which may be a million samples.
func putNumbers[T any](v leaves, f *field, list []T, l level, convert func(T) parquet.Value) {
	if len(list) == 0 {
		v.null(f, l)
		return
	}
	leaf, definition := f.leaf, l.definition+1
	if !f.fields[0].Required {
		definition++
	}
	values := slices.Grow(v[leaf], len(list))
	repetition := l.repetition
	for _, number := range list {
		values = append(values, convert(number).Level(repetition, definition, leaf))
		repetition = l.depth + 1
	}
	v[leaf] = values
}

// putMap adds the entries in order of their keys, so that equal runs give equal files.
func putMap[T any](v leaves, f *field, m map[string]T, l level) {
	keys := slices.Sorted(maps.Keys(m))
	v.repeated(f, len(keys), l, func(i int, l level) {
		v.leaf(f.fields[0], parquet.ValueOf(keys[i]), l)
		v.leaf(f.fields[1], leafValue(m[keys[i]]), l)
	})
}

// repeated calls put for each of n entries of a list or map with the level of the entry.
func (v leaves) repeated(f *field, n int, l level, put func(i int, l level)) {
	if n == 0 {
		v.null(f, l) // empty but not NULL, which the definition level shows
		return
	}
	entry := level{l.repetition, l.definition + 1, l.depth + 1}
	for i := range n {
		put(i, entry)
		entry.repetition = entry.depth
	}
}

func (v leaves) leaf(f *field, value parquet.Value, l level) {
	if !f.Required {
		l.definition++
	}
	v[f.leaf] = append(v[f.leaf], value.Level(l.repetition, l.definition, f.leaf))
}

// null adds, to each of its leaves, the value for a column that ends at this level.
func (v leaves) null(f *field, l level) {
	for leaf := f.leaf; leaf < f.leaf+f.leaves; leaf++ {
		v[leaf] = append(v[leaf], parquet.NullValue().Level(l.repetition, l.definition, leaf))
	}
}

func leafValue(value any) parquet.Value {
	if t, ok := value.(time.Time); ok {
		return parquet.Int64Value(t.UnixMicro())
	}
	return parquet.ValueOf(value)
}

// count is the number of values in all leaves.
func (v leaves) count() int {
	n := 0
	for i := range v {
		n += len(v[i])
	}
	return n
}
