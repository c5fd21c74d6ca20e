package table

import (
	"slices"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// rowLeaves shreds the values of a row that come one by one, as package schema gives those of a run.
type rowLeaves struct {
	to     leafValues
	fields []*field // of the row; the next value is of the first one
	keys   []string // of a map
}

func (r *rowLeaves) next() *field {
	f := r.fields[0]
	r.fields = r.fields[1:]
	return f
}

// Null adds NULL.
func (r *rowLeaves) Null() { putNull(r.to, r.next(), level{}) }

// Text adds a text.
func (r *rowLeaves) Text(value string) { putText(r.to, r.next(), value, level{}) }

// Integer adds an integer.
func (r *rowLeaves) Integer(value int64) {
	f := r.next()
	r.to.integer(f.leaf, value, f.present(level{}))
}

// Real adds a real number.
func (r *rowLeaves) Real(value float64) { putReal(r.to, r.next(), value, level{}) }

// Boolean adds a truth value.
func (r *rowLeaves) Boolean(value bool) {
	f := r.next()
	r.to.boolean(f.leaf, value, f.present(level{}))
}

// Time adds an instant, in microseconds.
func (r *rowLeaves) Time(value time.Time) { r.Integer(value.UnixMicro()) }

// Texts adds a list.
func (r *rowLeaves) Texts(list []string) {
	f := r.next()
	putEntries(r.to, f, len(list), f.present(level{}), func(i int, l level) { putText(r.to, f.fields[0], list[i], l) })
}

// Integers adds a list.
func (r *rowLeaves) Integers(list []int64) {
	f := r.next()
	if first, ok := putList(r.to, f, len(list), f.present(level{})); ok {
		r.to.integers(f.leaf, list, first)
	}
}

// Reals adds a list.
func (r *rowLeaves) Reals(list []float64) {
	f := r.next()
	if first, ok := putList(r.to, f, len(list), f.present(level{})); ok {
		r.to.reals(f.leaf, list, first)
	}
}

// TextMap adds a map.
func (r *rowLeaves) TextMap(entries map[string]string) { addMap(r, entries, putText) }

// RealMap adds a map.
func (r *rowLeaves) RealMap(entries map[string]float64) { addMap(r, entries, putReal) }

func addMap[T any](r *rowLeaves, entries map[string]T, add func(leafValues, *field, T, level)) {
	f := r.next()
	r.keys = r.keys[:0]
	for key := range entries {
		r.keys = append(r.keys, key)
	}
	slices.Sort(r.keys)
	putMap(r.to, f, entries, r.keys, f.present(level{}), add)
}

// Structs adds a list of structs.
func (r *rowLeaves) Structs(list [][]any) { put(r.to, r.next(), list, level{}) }

// WriteRun adds the row of a run to a file of runs.
func (w *Writer) WriteRun(r *schema.Run, digest string) error {
	w.row.fields = w.fields
	schema.PutRun(&w.row, r, digest)
	return w.added()
}

// WriteMetric adds the row of a metric of a run to a file of samples.
func (w *Writer) WriteMetric(runID string, m *schema.Metric) error {
	w.row.fields = w.fields
	w.row.Text(runID)
	schema.PutMetric(&w.row, m)
	return w.added()
}

// WriteOp adds the row of an op of a run to a file of ops.
func (w *Writer) WriteOp(runID string, o *schema.Op) error {
	w.row.fields = w.fields
	w.row.Text(runID)
	schema.PutOp(&w.row, o)
	return w.added()
}
