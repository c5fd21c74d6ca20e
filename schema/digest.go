package schema

import (
	"bufio"
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

// DigestOf returns the hex of the first 16 bytes of SHA-256 over the measured values, as FORMAT.md defines it. Derived values are left
// out, so a better summary in a later version does not change the digest of an old run. The order of metrics and ops in the run does not
// matter.
func DigestOf(r *Run) string { return new(Digester).Of(r) }

// Digester computes digests of many runs, one after the other, in the same memory. The zero value is ready.
type Digester struct{ hash valueHash }

// Of returns the digest of a run, as DigestOf does.
func (d *Digester) Of(r *Run) string {
	d.hash.begin()
	d.row(digestRuns, Runs.Columns, RunValues(r, ""))
	for _, m := range sorted(r.Metrics, func(a, b *Metric) int { return strings.Compare(a.Name, b.Name) }) {
		d.row(digestSamples, Samples.Columns[1:], MetricValues(m))
	}
	for _, o := range sorted(r.Ops, func(a, b *Op) int { return cmp.Compare(a.Index, b.Index) }) {
		d.row(digestOps, Ops.Columns[1:], OpValues(o))
	}
	return d.sum()
}

// sorted returns pointers to the elements of a list, in order. Equal ones stay in the order of the list.
func sorted[T any](list []T, compare func(a, b *T) int) []*T {
	all := make([]*T, len(list))
	for i := range list {
		all[i] = &list[i]
	}
	slices.SortStableFunc(all, compare)
	return all
}

// DigestOfRows returns the digest of a run, given as its rows of the tables with the values of all columns in order. The rows
// of samples and ops may be in any order.
func DigestOfRows(run []any, samples, ops [][]any) string {
	var d Digester
	d.hash.begin()
	d.row(digestRuns, Runs.Columns, slices.Values(run))
	for _, t := range []struct {
		number  byte
		columns []*Column
		rows    [][]any
	}{{digestSamples, Samples.Columns, samples}, {digestOps, Ops.Columns, ops}} {
		for _, row := range slices.SortedFunc(slices.Values(t.rows), func(a, b []any) int { return compareKeys(a[1], b[1]) }) {
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

// row hashes the values of a row, or pointers to them, except NULL, derived values, and warnings, which are not measured. The derived
// values of a metric count if it has neither ticks nor reals, because no other values describe it.
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
		_, _ = d.hash.out.Write(binary.BigEndian.AppendUint32(append(d.hash.out.AvailableBuffer(), table), uint32(c.ID)))
		d.hash.add(value)
	}
}

func (d *Digester) sum() string {
	sum := d.hash.sum()
	return hex.EncodeToString(sum[:16])
}

// RowHash is SHA-256 over all values of a row, derived ones included, encoded as in a digest. Rows with equal hashes have
// equal values. The values have the types that Kind names.
func RowHash(row []any) [sha256.Size]byte {
	var h valueHash
	h.begin()
	for _, value := range row {
		h.add(value)
	}
	return h.sum()
}

// valueHash computes SHA-256 over values, each with a byte for its kind. It hashes values piece by piece, so that a million samples are
// not copied. Writing to a hash never fails.
type valueHash struct {
	hash hash.Hash
	out  *bufio.Writer // to hash
}

// begin forgets the values before.
func (h *valueHash) begin() {
	if h.hash == nil {
		h.hash = sha256.New()
		h.out = bufio.NewWriter(h.hash)
	}
	h.hash.Reset()
	h.out.Reset(h.hash)
}

func (h *valueHash) sum() (sum [sha256.Size]byte) {
	_ = h.out.Flush()
	h.hash.Sum(sum[:0])
	return sum
}

// add adds the kind byte of a value, or of the value that a pointer points to, then its content.
func (h *valueHash) add(value any) {
	switch v := value.(type) {
	case nil:
		_ = h.out.WriteByte('n')
	case string:
		h.text(v)
	case *string:
		h.text(*v)
	case int64:
		h.integer(v)
	case *int64:
		h.integer(*v)
	case float64:
		h.real(v)
	case *float64:
		h.real(*v)
	case bool:
		bit := byte(0)
		if v {
			bit = 1
		}
		_, _ = h.out.Write([]byte{'b', bit})
	case time.Time:
		h.number('t', uint64(v.UnixMicro()))
	case *time.Time:
		h.number('t', uint64(v.UnixMicro()))
	case []string:
		addList(h, v, h.text)
	case []int64:
		addList(h, v, h.integer)
	case []float64:
		addList(h, v, h.real)
	case [][]any: // structs: each is the list of its fields, with NULL ones
		addList(h, v, func(fields []any) { addList(h, fields, h.add) })
	case map[string]string:
		addMap(h, v, h.text)
	case map[string]float64:
		addMap(h, v, h.real)
	case *bool:
		h.add(*v)
	case *[]string:
		addList(h, *v, h.text)
	case *[]int64:
		addList(h, *v, h.integer)
	case *[]float64:
		addList(h, *v, h.real)
	case *[][]any:
		h.add(*v)
	case *map[string]string:
		addMap(h, *v, h.text)
	case *map[string]float64:
		addMap(h, *v, h.real)
	default:
		// Only RunRow, MetricRow and OpRow make rows, so another type is a mistake in this package.
		panic(fmt.Sprintf("digest of %T", value))
	}
}

// number adds a kind byte and 64 bits.
func (h *valueHash) number(kind byte, bits uint64) {
	_, _ = h.out.Write(binary.BigEndian.AppendUint64(append(h.out.AvailableBuffer(), kind), bits))
}

func (h *valueHash) text(s string) {
	h.number('s', uint64(len(s)))
	_, _ = h.out.WriteString(s)
}

func (h *valueHash) integer(i int64) { h.number('i', uint64(i)) }

// real adds the IEEE 754 bits, with the same NaN for all NaNs.
func (h *valueHash) real(f float64) {
	bits := math.Float64bits(f)
	if math.IsNaN(f) {
		bits = 0x7ff8_0000_0000_0000
	}
	h.number('r', bits)
}

func addList[T any](h *valueHash, list []T, add func(T)) {
	h.number('l', uint64(len(list)))
	for _, element := range list {
		add(element)
	}
}

// addMap adds the entries in the order of their keys.
func addMap[V any](h *valueHash, m map[string]V, add func(V)) {
	h.number('m', uint64(len(m)))
	keys := slices.AppendSeq(make([]string, 0, len(m)), maps.Keys(m))
	slices.Sort(keys)
	for _, key := range keys {
		h.text(key)
		add(m[key])
	}
}
