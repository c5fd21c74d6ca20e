package schema

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// Table numbers inside a digest.
const (
	digestRuns    = 1
	digestSamples = 2
	digestOps     = 3
)

// DigestOf is the hex of the first 16 bytes of SHA-256 over what was measured, as FORMAT.md defines it. Derived values
// are left out, so a better summary in a later version does not change the digest of an old run. The order of metrics and
// ops in the run does not matter.
func DigestOf(r *Run) string { return new(Digester).Of(r) }

// Digester computes digests of many runs, one after the other, in the same memory. It hashes values piece by piece, so that a million
// samples are not written down once more. The zero value is ready.
type Digester struct {
	hash    hash.Hash
	pending []byte // not hashed yet
	keys    []string
	metrics []*Metric
	ops     []*Op
}

// Of is DigestOf.
func (d *Digester) Of(r *Run) string {
	d.begin()
	d.row(digestRuns, Runs.Columns, RunValues(r, ""))
	d.metrics, d.ops = d.metrics[:0], d.ops[:0]
	for i := range r.Metrics {
		d.metrics = append(d.metrics, &r.Metrics[i])
	}
	for i := range r.Ops {
		d.ops = append(d.ops, &r.Ops[i])
	}
	slices.SortStableFunc(d.metrics, func(a, b *Metric) int { return strings.Compare(a.Name, b.Name) })
	slices.SortStableFunc(d.ops, func(a, b *Op) int { return cmp.Compare(a.Index, b.Index) })
	for _, m := range d.metrics {
		d.row(digestSamples, Samples.Columns[1:], MetricValues(m))
	}
	for _, o := range d.ops {
		d.row(digestOps, Ops.Columns[1:], OpValues(o))
	}
	clear(d.metrics) // so that nothing keeps the run
	clear(d.ops)
	return d.sum()
}

// digestPiece is the number of bytes that are hashed at once.
const digestPiece = 4 << 10

// DigestOfRows is the digest of a run, given as its rows of the tables with the values of all columns in order. The rows
// of samples and ops may be in any order.
func DigestOfRows(run []any, samples, ops [][]any) string {
	var d Digester
	d.begin()
	d.row(digestRuns, Runs.Columns, slices.Values(run))
	for _, t := range []struct {
		number  byte
		columns []*Column
		rows    [][]any
	}{{digestSamples, Samples.Columns, samples}, {digestOps, Ops.Columns, ops}} {
		rows := slices.Clone(t.rows)
		slices.SortFunc(rows, func(a, b []any) int { return compareKeys(a[1], b[1]) })
		for _, row := range rows {
			d.row(t.number, t.columns[1:], slices.Values(row[1:]))
		}
	}
	return d.sum()
}

// compareKeys orders the keys of the rows of a run: names of metrics, or indices of ops.
func compareKeys(a, b any) int {
	if a, ok := a.(string); ok {
		b, _ := b.(string)
		return cmp.Compare(a, b)
	}
	m, _ := a.(int64)
	n, _ := b.(int64)
	return cmp.Compare(m, n)
}

// begin forgets the run before.
func (d *Digester) begin() {
	if d.hash == nil {
		d.hash, d.pending = sha256.New(), make([]byte, 0, 2*digestPiece)
	}
	d.hash.Reset()
	d.pending = d.pending[:0]
}

// row adds the values of a row, or pointers to them, except NULL, derived values, and warnings, which are not measured. The derived
// values of a metric count if it has neither ticks nor reals, because it has no others.
func (d *Digester) row(table byte, columns []*Column, values iter.Seq[any]) {
	derived := table == digestSamples
	for value := range values {
		c := columns[0]
		columns = columns[1:]
		if value == nil {
			continue
		}
		derived = derived && c.Name != "ticks" && c.Name != "reals"
		if c.Derived && !derived || table == digestRuns && c.Name == "warnings" {
			continue
		}
		if len(d.pending) >= digestPiece {
			d.flush()
		}
		d.pending = binary.BigEndian.AppendUint32(append(d.pending, table), uint32(c.ID))
		d.add(value)
	}
}

// add adds a value. Long lists are hashed in pieces.
func (d *Digester) add(value any) {
	switch v := value.(type) {
	case *[]int64:
		addNumbers(d, *v, appendIntegers)
	case []int64:
		addNumbers(d, v, appendIntegers)
	case *[]float64:
		addNumbers(d, *v, appendReals)
	case []float64:
		addNumbers(d, v, appendReals)
	case *map[string]string:
		addMap(d, *v, appendText)
	case *map[string]float64:
		addMap(d, *v, appendReal)
	default:
		d.pending = appendValue(d.pending, value)
	}
}

func (d *Digester) sum() string {
	d.hash.Write(d.pending)
	return hex.EncodeToString(d.hash.Sum(nil)[:16])
}

// flush hashes what was added.
func (d *Digester) flush() {
	d.hash.Write(d.pending)
	d.pending = d.pending[:0]
}

// addNumbers adds a list of numbers, which may be long.
func addNumbers[T any](d *Digester, list []T, add func([]byte, []T) []byte) {
	d.pending = appendLength(d.pending, len(list))
	for piece := range slices.Chunk(list, digestPiece/numberSize) {
		d.pending = add(d.pending, piece)
		d.flush()
	}
}

// appendValue adds the kind byte of a value, or of the value that a pointer points to, then its content.
func appendValue(b []byte, value any) []byte {
	switch v := value.(type) {
	case nil:
		return append(b, 'n')
	case string:
		return appendText(b, v)
	case *string:
		return appendText(b, *v)
	case int64:
		return appendInteger(b, v)
	case *int64:
		return appendInteger(b, *v)
	case float64:
		return appendReal(b, v)
	case *float64:
		return appendReal(b, *v)
	case bool:
		return appendBoolean(b, v)
	case time.Time:
		return appendTime(b, v)
	case *time.Time:
		return appendTime(b, *v)
	case []string:
		return appendList(b, v, appendText)
	case []int64:
		return appendIntegers(appendLength(b, len(v)), v)
	case []float64:
		return appendReals(appendLength(b, len(v)), v)
	case [][]any:
		return appendStructs(b, v)
	case *bool, *[]string, *[][]any:
		return appendValue(b, plain(v))
	case map[string]string:
		return appendMap(b, v, slices.Sorted(maps.Keys(v)), appendText)
	case map[string]float64:
		return appendMap(b, v, slices.Sorted(maps.Keys(v)), appendReal)
	}
	// Only RunRow, MetricRow and OpRow make rows, so another type is a mistake in this package.
	panic(fmt.Sprintf("digest of %T", value))
}

func appendText(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint64(append(b, 's'), uint64(len(s))), s...)
}

func appendInteger(b []byte, i int64) []byte {
	return binary.BigEndian.AppendUint64(append(b, 'i'), uint64(i))
}

// numberSize is the size of a number, in B: its kind and its value.
const numberSize = 1 + 8

// appendIntegers adds the elements of a list, without its length.
func appendIntegers(b []byte, list []int64) []byte {
	b = slices.Grow(b, numberSize*len(list))
	for _, v := range list {
		b = appendInteger(b, v)
	}
	return b
}

// appendReals adds the elements of a list, without its length.
func appendReals(b []byte, list []float64) []byte {
	b = slices.Grow(b, numberSize*len(list))
	for _, v := range list {
		b = appendReal(b, v)
	}
	return b
}

func appendReal(b []byte, f float64) []byte {
	return binary.BigEndian.AppendUint64(append(b, 'r'), realBits(f))
}

func appendBoolean(b []byte, value bool) []byte {
	if value {
		return append(b, 'b', 1)
	}
	return append(b, 'b', 0)
}

func appendList[T any](b []byte, list []T, add func([]byte, T) []byte) []byte {
	b = appendLength(b, len(list))
	for _, element := range list {
		b = add(b, element)
	}
	return b
}

// appendLength begins a list.
func appendLength(b []byte, n int) []byte {
	return binary.BigEndian.AppendUint64(append(b, 'l'), uint64(n))
}

func addMap[V any](d *Digester, m map[string]V, add func([]byte, V) []byte) {
	d.keys = d.keys[:0]
	for key := range m {
		d.keys = append(d.keys, key)
	}
	slices.Sort(d.keys)
	d.pending = appendMap(d.pending, m, d.keys, add)
}

// appendMap adds the entries in the order of the keys.
func appendMap[V any](b []byte, m map[string]V, keys []string, add func([]byte, V) []byte) []byte {
	b = binary.BigEndian.AppendUint64(append(b, 'm'), uint64(len(m)))
	for _, key := range keys {
		b = add(appendText(b, key), m[key])
	}
	return b
}

// appendStructs adds a list of structs: each is the list of its fields, NULL ones included.
func appendStructs(b []byte, list [][]any) []byte {
	return appendList(b, list, func(b []byte, fields []any) []byte { return appendList(b, fields, appendValue) })
}

func appendTime(b []byte, value time.Time) []byte {
	return binary.BigEndian.AppendUint64(append(b, 't'), uint64(value.UnixMicro()))
}

// realBits gives the IEEE 754 bits, with the same NaN for all NaNs.
func realBits(f float64) uint64 {
	if math.IsNaN(f) {
		return 0x7ff8_0000_0000_0000
	}
	return math.Float64bits(f)
}
