package table

import (
	"maps"
	"slices"
	"time"

	"github.com/parquet-go/parquet-go"
)

// level is the position of a value within lists and optional columns: the repetition and definition levels of Dremel (Melnik and others,
// VLDB 2010), which Parquet uses.
type level struct {
	repetition int // which of the surrounding lists this value continues; 0 means a new row
	definition int // how many of the surrounding optional and repeated columns are not NULL
	depth      int // number of surrounding lists
}

// leafValues takes the values of rows, leaf by leaf. A leaf is given by its index in the file.
type leafValues interface {
	null(leaf int, l level)
	text(leaf int, value string, l level)
	integer(leaf int, value int64, l level)
	real(leaf int, value float64, l level)
	boolean(leaf int, value bool, l level)

	// integers and reals take the elements of a list, which may be a million samples. l is the level of the first one; the others
	// continue the list.
	integers(leaf int, list []int64, l level)
	reals(leaf int, list []float64, l level)
}

// put adds the value of a column, which has one of the types that schema.Kind names, or a pointer to it.
func put(to leafValues, f *field, value any, l level) {
	if value == nil {
		putNull(to, f, l)
		return
	}
	if f.fields == nil {
		putLeaf(to, f, value, l)
		return
	}
	if !f.Required {
		l.definition++
	}
	switch value := value.(type) {
	case []any:
		for _, part := range f.fields {
			put(to, part, value[part.place], l)
		}
	case [][]any:
		putStructs(to, f, value, l)
	case *[][]any:
		putStructs(to, f, *value, l)
	case []string:
		putTexts(to, f, value, l)
	case *[]string:
		putTexts(to, f, *value, l)
	case []int64:
		putIntegers(to, f, value, l)
	case *[]int64:
		putIntegers(to, f, *value, l)
	case []float64:
		putReals(to, f, value, l)
	case *[]float64:
		putReals(to, f, *value, l)
	case map[string]string:
		putMap(to, f, value, l, putText)
	case *map[string]string:
		putMap(to, f, *value, l, putText)
	case map[string]float64:
		putMap(to, f, value, l, putReal)
	case *map[string]float64:
		putMap(to, f, *value, l, putReal)
	}
}

func putStructs(to leafValues, f *field, rows [][]any, l level) {
	putEntries(to, f, len(rows), l, func(i int, l level) { put(to, f.fields[0], rows[i], l) })
}

func putTexts(to leafValues, f *field, list []string, l level) {
	putEntries(to, f, len(list), l, func(i int, l level) { putText(to, f.fields[0], list[i], l) })
}

func putIntegers(to leafValues, f *field, list []int64, l level) {
	if first, ok := beginList(to, f, len(list), l); ok {
		to.integers(f.leaf, list, first)
	}
}

func putReals(to leafValues, f *field, list []float64, l level) {
	if first, ok := beginList(to, f, len(list), l); ok {
		to.reals(f.leaf, list, first)
	}
}

// beginList begins a list of n numbers, which its caller adds at once, and returns the level of the first one. An empty list is
// complete.
func beginList(to leafValues, f *field, n int, l level) (first level, ok bool) {
	if n == 0 {
		putNull(to, f, l)
		return level{}, false
	}
	return f.fields[0].present(level{l.repetition, l.definition + 1, l.depth + 1}), true
}

// putMap adds the entries in order of their keys, so that equal runs give equal files.
func putMap[T any](to leafValues, f *field, m map[string]T, l level, add func(leafValues, *field, T, level)) {
	keys := slices.AppendSeq(make([]string, 0, len(m)), maps.Keys(m))
	slices.Sort(keys)
	putEntries(to, f, len(keys), l, func(i int, l level) {
		putText(to, f.fields[0], keys[i], l)
		add(to, f.fields[1], m[keys[i]], l)
	})
}

// putEntries calls put for each of n entries of a list or map with the level of the entry.
func putEntries(to leafValues, f *field, n int, l level, put func(i int, l level)) {
	if n == 0 {
		putNull(to, f, l) // empty but not NULL, which the definition level shows
		return
	}
	entry := level{l.repetition, l.definition + 1, l.depth + 1}
	for i := range n {
		put(i, entry)
		entry.repetition = entry.depth
	}
}

func putLeaf(to leafValues, f *field, value any, l level) {
	switch value := value.(type) {
	case string:
		putText(to, f, value, l)
	case *string:
		putText(to, f, *value, l)
	case int64:
		to.integer(f.leaf, value, f.present(l))
	case *int64:
		to.integer(f.leaf, *value, f.present(l))
	case float64:
		putReal(to, f, value, l)
	case *float64:
		putReal(to, f, *value, l)
	case bool:
		to.boolean(f.leaf, value, f.present(l))
	case *bool:
		to.boolean(f.leaf, *value, f.present(l))
	case time.Time:
		to.integer(f.leaf, value.UnixMicro(), f.present(l))
	case *time.Time:
		to.integer(f.leaf, value.UnixMicro(), f.present(l))
	}
}

func putText(to leafValues, f *field, value string, l level) { to.text(f.leaf, value, f.present(l)) }

func putReal(to leafValues, f *field, value float64, l level) { to.real(f.leaf, value, f.present(l)) }

// present returns the level of a non-NULL value of the leaf; l is the level of the leaf.
func (f *field) present(l level) level {
	if !f.Required {
		l.definition++
	}
	return l
}

// putNull adds, to each of its leaves, the value for a column that ends at this level.
func putNull(to leafValues, f *field, l level) {
	for leaf := f.leaf; leaf < f.leaf+f.leaves; leaf++ {
		to.null(leaf, l)
	}
}

// leaves are values in the form of parquet-go, leaf by leaf.
type leaves [][]parquet.Value

func newLeaves(fields []*field) leaves {
	last := fields[len(fields)-1]
	return make(leaves, last.leaf+last.leaves)
}

// reset clears the values and keeps the memory for the next ones.
func (v leaves) reset() {
	for i := range v {
		v[i] = v[i][:0]
	}
}

func (v leaves) add(leaf int, value parquet.Value, l level) {
	v[leaf] = append(v[leaf], value.Level(l.repetition, l.definition, leaf))
}

func (v leaves) null(leaf int, l level) { v.add(leaf, parquet.NullValue(), l) }

func (v leaves) text(leaf int, value string, l level) { v.add(leaf, parquet.ValueOf(value), l) }

func (v leaves) integer(leaf int, value int64, l level) { v.add(leaf, parquet.Int64Value(value), l) }

func (v leaves) real(leaf int, value float64, l level) { v.add(leaf, parquet.DoubleValue(value), l) }

func (v leaves) boolean(leaf int, value bool, l level) { v.add(leaf, parquet.BooleanValue(value), l) }

func (v leaves) integers(leaf int, list []int64, l level) {
	addNumbers(v, leaf, list, l, parquet.Int64Value)
}

func (v leaves) reals(leaf int, list []float64, l level) {
	addNumbers(v, leaf, list, l, parquet.DoubleValue)
}

func addNumbers[T any](v leaves, leaf int, list []T, l level, convert func(T) parquet.Value) {
	values := slices.Grow(v[leaf], len(list))
	for _, number := range list {
		values = append(values, convert(number).Level(l.repetition, l.definition, leaf))
		l.repetition = l.depth
	}
	v[leaf] = values
}

// count returns the number of values in all leaves.
func (v leaves) count() int {
	n := 0
	for i := range v {
		n += len(v[i])
	}
	return n
}
