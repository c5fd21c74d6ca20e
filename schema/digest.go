package schema

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"math"
	"slices"
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
func DigestOf(r *Run) string {
	metrics, ops := make([][]any, len(r.Metrics)), make([][]any, len(r.Ops))
	for i := range r.Metrics {
		metrics[i] = MetricRow(&r.Metrics[i])
	}
	for i := range r.Ops {
		ops[i] = OpRow(&r.Ops[i])
	}
	return digest(RunRow(r, ""), metrics, ops)
}

// DigestOfRows is the digest of a run, given as its rows of the tables with the values of all columns in order. The rows
// of samples and ops may be in any order.
func DigestOfRows(run []any, samples, ops [][]any) string {
	return digest(run, unkeyed(samples), unkeyed(ops))
}

// unkeyed gives the rows without their first column, run_id.
func unkeyed(rows [][]any) [][]any {
	short := make([][]any, len(rows))
	for i, row := range rows {
		short[i] = row[1:]
	}
	return short
}

// digest computes the digest from a row of runs and its rows of samples and ops, which come without run_id.
func digest(run []any, metrics, ops [][]any) string {
	d := digester{sum: sha256.New(), next: make([]byte, 0, 2*digestPiece)}
	d.row(digestRuns, Runs.Columns, run)
	slices.SortFunc(metrics, func(a, b []any) int { return compareKeys(a[0], b[0]) })
	for _, row := range metrics {
		d.row(digestSamples, Samples.Columns[1:], row)
	}
	slices.SortFunc(ops, func(a, b []any) int { return compareKeys(a[0], b[0]) })
	for _, row := range ops {
		d.row(digestOps, Ops.Columns[1:], row)
	}
	d.sum.Write(d.next)
	return hex.EncodeToString(d.sum.Sum(nil)[:16])
}

// digestPiece is the number of bytes that are hashed at once.
const digestPiece = 4 << 10

// digester hashes values piece by piece, so that a million samples are not written down once more.
type digester struct {
	sum  hash.Hash
	next []byte // not hashed yet
}

// row adds the values of a row in column order, without derived columns and, in runs, without warnings. If a metric
// has neither ticks nor reals, its derived columns count, because it has no other values.
func (d *digester) row(table byte, columns []*Column, row []any) {
	aggregated := table == digestSamples
	for i, c := range columns {
		if (c.Name == "ticks" || c.Name == "reals") && row[i] != nil {
			aggregated = false
		}
		skipped := c.Derived && !aggregated || table == digestRuns && c.Name == "warnings"
		if row[i] == nil || skipped {
			continue
		}
		d.next = binary.BigEndian.AppendUint32(append(d.next, table), uint32(c.ID))
		d.value(row[i])
	}
}

func (d *digester) value(value any) {
	switch v := value.(type) {
	case []int64:
		digestNumbers(d, v, appendIntegers)
	case []float64:
		digestNumbers(d, v, appendReals)
	default:
		d.next = appendValue(d.next, v)
		d.flush()
	}
}

// digestNumbers adds a list of numbers, which may be long.
func digestNumbers[T any](d *digester, list []T, add func([]byte, []T) []byte) {
	d.next = appendLength(d.next, len(list))
	for piece := range slices.Chunk(list, digestPiece/numberSize) {
		d.next = add(d.next, piece)
		d.flush()
	}
}

// flush hashes what was added, if it is a piece or more.
func (d *digester) flush() {
	if len(d.next) >= digestPiece {
		d.sum.Write(d.next)
		d.next = d.next[:0]
	}
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

// appendValue adds the kind byte of a value, then its content.
func appendValue(b []byte, value any) []byte {
	switch v := value.(type) {
	case nil:
		return append(b, 'n')
	case string:
		return appendText(b, v)
	case int64:
		return appendInteger(b, v)
	case float64:
		return appendReal(b, v)
	case bool:
		if v {
			return append(b, 'b', 1)
		}
		return append(b, 'b', 0)
	case time.Time:
		return binary.BigEndian.AppendUint64(append(b, 't'), uint64(v.UnixMicro()))
	case []string:
		return appendList(b, v, appendText)
	case []int64:
		return appendIntegers(appendLength(b, len(v)), v)
	case []float64:
		return appendReals(appendLength(b, len(v)), v)
	case [][]any: // a struct is the list of its fields, NULL ones included
		return appendList(b, v, func(b []byte, fields []any) []byte { return appendList(b, fields, appendValue) })
	case map[string]string:
		return appendMap(b, v, appendText)
	case map[string]float64:
		return appendMap(b, v, appendReal)
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

func appendMap[V any](b []byte, m map[string]V, add func([]byte, V) []byte) []byte {
	b = binary.BigEndian.AppendUint64(append(b, 'm'), uint64(len(m)))
	for _, key := range sortedKeys(m) {
		b = add(appendText(b, key), m[key])
	}
	return b
}

// sortedKeys are the keys of a map, ascending.
func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// realBits gives the IEEE 754 bits, with the same NaN for all NaNs.
func realBits(f float64) uint64 {
	if math.IsNaN(f) {
		return 0x7ff8_0000_0000_0000
	}
	return math.Float64bits(f)
}
