package schema

import (
	"bytes"
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

// DigestOf is the hex of the first 16 bytes of SHA-256 over what was measured, as FORMAT.md lays it out. Derived
// values are left out, so that a better summary later does not change the digest of an old run. The order in which
// metrics and ops stand in the run does not matter.
func DigestOf(r *Run) string {
	h := sha256.New()
	digestRow(h, digestRuns, Runs.Columns, RunRow(r, ""), false)

	metrics := slices.Clone(r.Metrics)
	slices.SortFunc(metrics, func(a, b Metric) int { return cmp.Compare(a.Name, b.Name) })
	for _, m := range metrics {
		aggregated := m.Ticks == nil && m.Reals == nil
		digestRow(h, digestSamples, Samples.Columns[1:], MetricRow(&m), aggregated)
	}

	ops := slices.Clone(r.Ops)
	slices.SortFunc(ops, func(a, b Op) int { return cmp.Compare(a.Index, b.Index) })
	for _, o := range ops {
		digestRow(h, digestOps, Ops.Columns[1:], OpRow(&o), false)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// digestRow adds the row's values in column order. The columns left out of a digest are the derived ones and, for
// runs, warnings; derived ones count where a metric has nothing else.
func digestRow(h hash.Hash, table byte, columns []*Column, row []any, withDerived bool) {
	for i, c := range columns {
		skipped := c.Derived && !withDerived || table == digestRuns && c.Name == "warnings"
		if row[i] == nil || skipped {
			continue
		}
		head := binary.BigEndian.AppendUint32([]byte{table}, uint32(c.ID))
		_, _ = h.Write(append(head, digestValue(row[i])...))
	}
}

// digestValue is the kind byte of a value and its content.
func digestValue(value any) []byte {
	switch v := value.(type) {
	case nil:
		return []byte{'n'}
	case string:
		return lengthed('s', v)
	case int64:
		return binary.BigEndian.AppendUint64([]byte{'i'}, uint64(v))
	case float64:
		return binary.BigEndian.AppendUint64([]byte{'r'}, realBits(v))
	case bool:
		if v {
			return []byte{'b', 1}
		}
		return []byte{'b', 0}
	case time.Time:
		return binary.BigEndian.AppendUint64([]byte{'t'}, uint64(v.UnixMicro()))
	case []string:
		return digestList(v)
	case []int64:
		return digestList(v)
	case []float64:
		return digestList(v)
	case [][]any:
		return digestStructs(v)
	case map[string]string:
		return digestMap(v)
	case map[string]float64:
		return digestMap(v)
	}
	// Rows are made by RunRow, MetricRow and OpRow alone: another type is a mistake in this package.
	panic(fmt.Sprintf("digest of %T", value))
}

func lengthed(kind byte, s string) []byte {
	return append(binary.BigEndian.AppendUint64([]byte{kind}, uint64(len(s))), s...)
}

func counted(kind byte, n int) *bytes.Buffer {
	return bytes.NewBuffer(binary.BigEndian.AppendUint64([]byte{kind}, uint64(n)))
}

func digestList[T any](list []T) []byte {
	b := counted('l', len(list))
	for _, element := range list {
		b.Write(digestValue(element))
	}
	return b.Bytes()
}

// digestStructs writes each struct as the list of its fields, NULL ones included.
func digestStructs(list [][]any) []byte {
	b := counted('l', len(list))
	for _, fields := range list {
		b.Write(digestList(fields))
	}
	return b.Bytes()
}

func digestMap[V any](m map[string]V) []byte {
	b := counted('m', len(m))
	for _, key := range sortedKeys(m) {
		b.Write(lengthed('s', key))
		b.Write(digestValue(m[key]))
	}
	return b.Bytes()
}

// realBits are the IEEE 754 bits, with one NaN for all.
func realBits(f float64) uint64 {
	if math.IsNaN(f) {
		return 0x7ff8_0000_0000_0000
	}
	return math.Float64bits(f)
}
