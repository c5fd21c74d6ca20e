package schema

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
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
	b := make([]byte, 0, roomFor(metrics))
	b = appendRow(b, digestRuns, Runs.Columns, run)
	slices.SortFunc(metrics, func(a, b []any) int { return compareKeys(a[0], b[0]) })
	for _, row := range metrics {
		b = appendRow(b, digestSamples, Samples.Columns[1:], row)
	}
	slices.SortFunc(ops, func(a, b []any) int { return compareKeys(a[0], b[0]) })
	for _, row := range ops {
		b = appendRow(b, digestOps, Ops.Columns[1:], row)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// roomFor estimates how many bytes of a run are hashed: its columns and its samples.
func roomFor(metrics [][]any) int {
	const columns, number = 4 << 10, 9
	room := columns
	for _, row := range metrics {
		for _, value := range row {
			switch v := value.(type) {
			case []int64:
				room += number * len(v)
			case []float64:
				room += number * len(v)
			}
		}
	}
	return room
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

// appendRow adds the values of a row in column order, without derived columns and, in runs, without warnings. If a metric
// has neither ticks nor reals, its derived columns count, because it has no other values.
func appendRow(b []byte, table byte, columns []*Column, row []any) []byte {
	aggregated := table == digestSamples
	for i, c := range columns {
		if (c.Name == "ticks" || c.Name == "reals") && row[i] != nil {
			aggregated = false
		}
		skipped := c.Derived && !aggregated || table == digestRuns && c.Name == "warnings"
		if row[i] == nil || skipped {
			continue
		}
		b = binary.BigEndian.AppendUint32(append(b, table), uint32(c.ID))
		b = appendValue(b, row[i])
	}
	return b
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
		return appendList(b, v, appendInteger)
	case []float64:
		return appendList(b, v, appendReal)
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

func appendReal(b []byte, f float64) []byte {
	return binary.BigEndian.AppendUint64(append(b, 'r'), realBits(f))
}

func appendList[T any](b []byte, list []T, add func([]byte, T) []byte) []byte {
	b = binary.BigEndian.AppendUint64(append(b, 'l'), uint64(len(list)))
	for _, element := range list {
		b = add(b, element)
	}
	return b
}

func appendMap[V any](b []byte, m map[string]V, add func([]byte, V) []byte) []byte {
	b = binary.BigEndian.AppendUint64(append(b, 'm'), uint64(len(m)))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		b = add(appendText(b, key), m[key])
	}
	return b
}

// realBits gives the IEEE 754 bits, with the same NaN for all NaNs.
func realBits(f float64) uint64 {
	if math.IsNaN(f) {
		return 0x7ff8_0000_0000_0000
	}
	return math.Float64bits(f)
}
