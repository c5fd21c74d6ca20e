package table

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/neurolens/neurolens/schema"
)

// livePage has the values of a leaf of a live file, which are one data page.
type livePage struct {
	*liveLeaf
	repetitions []byte // a level for each value, if there is a surrounding list
	definitions []byte // a level for each value, if it may be NULL
	plain       []byte // the values that are not NULL, encoded as PLAIN
	numbers     []int64
	count       int // number of values, including NULL
	nulls       int
	texts       extremes[string]
	integral    extremes[int64]
	real        extremes[float64]
}

// extremes are the least and the greatest value of a page.
type extremes[T cmp.Ordered] struct{ low, high T }

// add counts a value, which may be the first one. A NaN counts only if there is nothing else.
func (e *extremes[T]) add(v T, first bool) {
	switch {
	case first:
		e.low, e.high = v, v
	case v < e.low:
		e.low = v
	case v > e.high:
		e.high = v
	case !(e.low <= e.high) && cmp.Compare(v, e.low) > 0: // both are NaN, and the value is none
		e.low, e.high = v, v
	}
}

// begin empties the page for a leaf, and keeps the memory.
func (p *livePage) begin(leaf *liveLeaf) {
	*p = livePage{
		liveLeaf: leaf, repetitions: p.repetitions[:0], definitions: p.definitions[:0], plain: p.plain[:0], numbers: p.numbers[:0],
	}
}

// value counts a value at a level, and reports whether it is the first one that is not NULL.
func (p *livePage) value(l level) bool {
	if p.liveLeaf.repetition > 0 {
		p.repetitions = append(p.repetitions, byte(l.repetition))
	}
	if p.liveLeaf.definition > 0 {
		p.definitions = append(p.definitions, byte(l.definition))
	}
	p.count++
	return p.count-p.nulls == 1
}

// values counts n values of a list.
func (p *livePage) values(n int, l level) {
	p.repetitions = append(p.repetitions, byte(l.repetition))
	p.repetitions = appendTimes(p.repetitions, byte(l.depth), n-1)
	p.definitions = appendTimes(p.definitions, byte(l.definition), n)
	p.count += n
}

func appendTimes(to []byte, value byte, n int) []byte {
	before := len(to)
	to = slices.Grow(to, n)[:before+n]
	added := to[before:]
	for i := range added {
		added[i] = value
	}
	return to
}

// livePages take the values of a run, leaf by leaf.
type livePages []livePage

func (p livePages) null(leaf int, l level) {
	p[leaf].nulls++
	p[leaf].value(l)
}

func (p livePages) text(leaf int, value string, l level) {
	page := &p[leaf]
	page.texts.add(value, page.value(l))
	page.plain = append(binary.LittleEndian.AppendUint32(page.plain, uint32(len(value))), value...)
}

func (p livePages) integer(leaf int, value int64, l level) {
	page := &p[leaf]
	page.integral.add(value, page.value(l))
	if page.delta {
		page.numbers = append(page.numbers, value)
		return
	}
	page.plain = binary.LittleEndian.AppendUint64(page.plain, uint64(value))
}

func (p livePages) real(leaf int, value float64, l level) {
	page := &p[leaf]
	page.real.add(value, page.value(l))
	page.plain = binary.LittleEndian.AppendUint64(page.plain, math.Float64bits(value))
}

// boolean adds a value to the last byte, from the lowest bit on.
func (p livePages) boolean(leaf int, value bool, l level) {
	page := &p[leaf]
	number := int64(0)
	if value {
		number = 1
	}
	page.integral.add(number, page.value(l))
	bit := (page.count - page.nulls - 1) % 8
	if bit == 0 {
		page.plain = append(page.plain, 0)
	}
	page.plain[len(page.plain)-1] |= byte(number) << bit
}

func (p livePages) integers(leaf int, list []int64, l level) {
	page := &p[leaf]
	page.values(len(list), l)
	page.numbers = append(page.numbers, list...)
}

func (p livePages) reals(leaf int, list []float64, l level) {
	page := &p[leaf]
	page.values(len(list), l)
	page.plain = slices.Grow(page.plain, 8*len(list))
	for _, value := range list {
		page.plain = binary.LittleEndian.AppendUint64(page.plain, math.Float64bits(value))
	}
}

// bounds returns the least and the greatest value, encoded as PLAIN without a length. ok is false without values, and for columns that
// have no bounds in any file.
func (p *livePage) bounds(low, high []byte) (l, h []byte, ok bool) {
	switch p.kind {
	case schema.KindString:
		low, high = append(low, p.texts.low...), append(high, p.texts.high...)
	case schema.KindBool:
		low, high = append(low, byte(p.integral.low)), append(high, byte(p.integral.high))
	case schema.KindReal:
		low = binary.LittleEndian.AppendUint64(low, math.Float64bits(p.real.low))
		high = binary.LittleEndian.AppendUint64(high, math.Float64bits(p.real.high))
	default:
		low = binary.LittleEndian.AppendUint64(low, uint64(p.integral.low))
		high = binary.LittleEndian.AppendUint64(high, uint64(p.integral.high))
	}
	return low, high, p.bounded && p.count > p.nulls
}
