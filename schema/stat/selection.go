package stat

import (
	"math"
	"math/bits"
	"slices"
	"sort"
)

// place reorders values, none NaN, until the one at k is that which sorting would put there, none before it is greater
// and none after it less (Hoare, "Algorithm 65: Find", Communications of the ACM 4, 1961). Where the halves keep being
// unequal it sorts.
func place(values []float64, k int) {
	const few = 12
	for steps := 2 * bits.Len(uint(len(values))); len(values) > few && steps > 0; steps-- {
		if at := partition(values); k <= at {
			values = values[:at+1]
		} else {
			values, k = values[at+1:], k-at-1
		}
	}
	slices.Sort(values)
}

// partition splits three values or more after a place: none up to it is greater than any behind it. Both parts have
// some.
func partition(values []float64) int {
	last := len(values) - 1
	half := last / 2
	if values[half] < values[0] {
		values[half], values[0] = values[0], values[half]
	}
	if values[last] < values[0] {
		values[last], values[0] = values[0], values[last]
	}
	if values[last] < values[half] {
		values[last], values[half] = values[half], values[last]
	}
	// The median of the three comes first, which keeps the last part from being empty.
	values[0], values[half] = values[half], values[0]
	pivot := values[0]
	for i, j := -1, len(values); ; {
		for i++; values[i] < pivot; i++ {
		}
		for j--; values[j] > pivot; j-- {
		}
		if i >= j {
			return j
		}
		values[i], values[j] = values[j], values[i]
	}
}

// sums are all a_i + b_j of ascending values, or those of i <= j where once is true and a is b. They are never written
// down: to count those up to a value takes one walk along the edge between them and the rest, so that a rank is found
// by halving the range of possible values, in at most 64 walks of len(a) + len(b) steps.
type sums struct {
	a, b []float64
	once bool
}

// upTo counts the sums that are at most v.
func (s sums) upTo(v float64) int {
	count, j := 0, len(s.b)
	for _, a := range s.a {
		for j > 0 && a+s.b[j-1] > v {
			j--
		}
		count += j
	}
	if !s.once {
		return count
	}
	twice := sort.Search(len(s.a), func(i int) bool { return s.a[i]+s.a[i] > v })
	return (count + twice) / 2
}

// kth is the k-th smallest sum, k from 1.
func (s sums) kth(k int) float64 {
	low, high := ordinal(s.a[0]+s.b[0]), ordinal(s.a[len(s.a)-1]+s.b[len(s.b)-1])
	for low < high {
		half := low + (high-low)/2
		if s.upTo(fromOrdinal(half)) >= k {
			high = half
		} else {
			low = half + 1
		}
	}
	if v := fromOrdinal(low); v != 0 {
		return v
	}
	return 0 // not -0
}

// estimate is as that of values.
func (s sums) estimate(rank int, reached float64) Estimate {
	count := len(s.a) * len(s.b)
	if s.once {
		count = (count + len(s.a)) / 2
	}
	e := unbounded(middle(s.kth((count+1)/2), s.kth(count/2+1)))
	if rank > 0 {
		e.Low, e.High, e.Confidence = s.kth(rank), s.kth(count+1-rank), reached
	}
	return e
}

// ordinal numbers the floating-point values in their order.
func ordinal(v float64) uint64 {
	b := math.Float64bits(v)
	if b>>63 == 1 {
		return ^b
	}
	return b | 1<<63
}

func fromOrdinal(o uint64) float64 {
	if o>>63 == 1 {
		return math.Float64frombits(o &^ (1 << 63))
	}
	return math.Float64frombits(^o)
}
