package stat

import (
	"math"
	"math/bits"
	"slices"
)

// runningMedian stores the ranks of the values of a series, and follows the median of a growing part of it.
type runningMedian struct {
	rank      []uint    // of each place; equal values have different ones
	ascending []float64 // the value of each rank
	present   rankSet   // the ranks of the values that have been added
}

func newRunningMedian(series []float64) runningMedian {
	n := len(series)
	r := runningMedian{rank: make([]uint, n), ascending: make([]float64, n), present: newRankSet(n)}
	for rank, at := range placesByValue(series) {
		r.rank[at], r.ascending[rank] = uint(rank), series[at]
	}
	return r
}

// beginnings describe the prefixes of a sequence of values, the first value, the first two and so on: their median, and the sum of their
// absolute deviations from it.
type beginnings struct{ medians, deviations []float64 }

// follow sets the beginnings of n values, from an index of the series on, in steps of 1 or -1. When a value is added, the median moves
// to a neighbour among the present ranks, or not at all. The direction is as good as random, so the code avoids branches on it: a
// processor would mispredict half of them.
func (r *runningMedian) follow(b *beginnings, from, step, n int) {
	b.medians, b.deviations = slices.Grow(b.medians[:0], n)[:n], slices.Grow(b.deviations[:0], n)[:n]
	var low, high float64                       // sums of the lower and the upper half, without a value in the middle
	lower, upper := uint(0), uint(math.MaxUint) // the ranks of the two values in the middle
	for i := range b.medians {
		rank := r.rank[from+i*step]
		r.present.add(rank)
		if i%2 == 0 { // an odd number of values: the new middle is v, clamped to the two middle values
			lower = nearest(rank, lower, upper)
			upper = lower
		} else { // the value that was in the middle goes to the half where v is not
			_, less := bits.Sub(rank, lower, 0)
			lower, upper = r.present.previous(lower+1-less), r.present.next(lower-less)
			low, high = low+r.ascending[lower], high+r.ascending[upper]
		}
		v, middle, above := r.ascending[rank], r.ascending[lower], r.ascending[upper]
		low += min(v-middle, 0) // v is in this half, and the middle value is not
		high += max(v-above, 0)
		b.medians[i], b.deviations[i] = middle+(above-middle)/2, high-low
	}
	for i := range n {
		r.present.clearAround(r.rank[from+i*step])
	}
}

// nearest returns the rank from lower up to upper that is nearest to one: without branches, unlike min and max.
func nearest(rank, lower, upper uint) uint {
	_, below := bits.Sub(rank, lower, 0)
	_, above := bits.Sub(upper, rank, 0)
	return rank + (lower-rank)&-below + (upper-rank)&-above
}
