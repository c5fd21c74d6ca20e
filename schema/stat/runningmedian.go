package stat

import (
	"cmp"
	"math/bits"
	"slices"
)

// runningMedian knows the ranks of the values of a series, and follows the median of some of them.
type runningMedian struct {
	rank      []int     // of each place; equal values have different ones
	ascending []float64 // the value of each rank
	present   []uint64  // a bit for each rank whose value has been added
}

func newRunningMedian(series []float64) runningMedian {
	order := make([]int, len(series))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(series[a], series[b]) })
	r := runningMedian{rank: make([]int, len(order)), ascending: make([]float64, len(order)), present: make([]uint64, (len(order)+63)/64)}
	for rank, at := range order {
		r.rank[at], r.ascending[rank] = rank, series[at]
	}
	return r
}

// beginnings are what is known of the first of some values, of the first two and so on: their median, and the sum of their absolute
// deviations from it.
type beginnings struct{ medians, deviations []float64 }

// follow sets the beginnings of n values, from a place of the series on, in steps of 1 or -1. When a value is added, the median moves to a
// neighbour among the ranks that are present, or not at all.
func (r *runningMedian) follow(b *beginnings, from, step, n int) {
	b.medians, b.deviations = b.medians[:0], b.deviations[:0]
	var low, high float64 // sums of the lower and the upper half, without a value in the middle
	var lower int         // the rank of the value in the middle, or of the lower one of two
	for i := range n {
		rank := r.rank[from+i*step]
		r.present[rank/64] |= 1 << (rank % 64)
		odd := i%2 == 0 // number of values
		switch {
		case i == 0:
			lower = rank
		case odd && rank > lower:
			lower = r.next(lower)
		case !odd && rank < lower:
			lower = r.previous(lower)
		}
		v, middle := r.ascending[rank], r.ascending[lower]
		median := middle
		if !odd { // the value that was in the middle, and v, go to the halves
			upper := r.next(lower)
			above := r.ascending[upper]
			median += (above - middle) / 2
			low, high = low+middle, high+above
			if rank > upper {
				high += v - above
			}
		}
		switch {
		case rank < lower:
			low += v - middle
		case odd && rank > lower:
			high += v - middle
		}
		b.medians, b.deviations = append(b.medians, median), append(b.deviations, high-low)
	}
	for i := range n {
		r.present[r.rank[from+i*step]/64] = 0
	}
}

// next is the first rank after one that is present. There has to be one.
func (r *runningMedian) next(rank int) int {
	at := rank / 64
	word := r.present[at] &^ (2<<(rank%64) - 1)
	for word == 0 {
		at++
		word = r.present[at]
	}
	return 64*at + bits.TrailingZeros64(word)
}

// previous is the last rank before one that is present. There has to be one.
func (r *runningMedian) previous(rank int) int {
	at := rank / 64
	word := r.present[at] & (1<<(rank%64) - 1)
	for word == 0 {
		at--
		word = r.present[at]
	}
	return 64*at + bits.Len64(word) - 1
}
