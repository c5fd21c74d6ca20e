package stat

import (
	"math"
	"math/bits"
	"slices"
	"sort"
)

// Median returns the median of values, none NaN, in linear time. It reorders them. It is NaN for no values.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	half := (len(values) - 1) / 2
	place(values, half)
	if len(values)%2 == 1 {
		return values[half]
	}
	return values[half] + .5*(slices.Min(values[half+1:])-values[half])
}

// place reorders values, none NaN, until the value at k is the one that sorting would put there, no value before it is greater and none
// after it is less (quickselect: Hoare, "Algorithm 65: Find", Communications of the ACM 4, 1961). If the parts keep being unequal it
// sorts.
func place(values []float64, k int) {
	const few = 12
	for steps := 2 * bits.Len(uint(len(values))); len(values) > few && steps > 0; steps-- {
		less, rest := partition(values)
		switch {
		case k < less:
			values = values[:less]
		case k < rest:
			return
		default:
			values, k = values[rest:], k-rest
		}
	}
	slices.Sort(values)
}

// partition moves the values less than a pivot to the front, values equal to it next, and greater ones to the end. It returns the
// indices at which the second and the third part begin. There must be at least three values. If any values are less, some equal values
// may be among the greater ones.
func partition(values []float64) (less, rest int) {
	first, half, last := values[0], values[len(values)/2], values[len(values)-1]
	pivot := max(min(first, half), min(max(first, half), last))
	// The branches do not depend on a comparison, which a processor would mispredict half of the time.
	for i, v := range values {
		values[i], values[less] = values[less], v
		less += before(v, pivot)
	}
	if less > 0 {
		return less, less
	}
	for i, v := range values {
		values[i], values[rest] = values[rest], v
		rest += 1 - before(pivot, v)
	}
	return less, rest
}

// before returns 1 where a comes before b, and else 0.
func before(a, b float64) int {
	_, borrow := bits.Sub64(ordinal(a), ordinal(b), 0)
	return int(borrow)
}

// sums are all a_i + b_j of ascending values, or only those with i <= j if once is true and a is b. They are not stored. One walk along
// the edge counts the sums up to a value, so a rank is found by bisecting the range of possible values. Each walk has len(a) + len(b)
// steps. It takes about 20 walks until the range contains no more sums than that, from which the rank is selected, and at most 64 if
// many sums are equal.
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

// kth returns the k-th smallest sum, k from 1.
func (s sums) kth(k int) float64 {
	low, high := ordinal(s.a[0]+s.b[0]), ordinal(s.a[len(s.a)-1]+s.b[len(s.b)-1])
	below, under := 0, math.NaN() // number of sums below the range: sums that are at most under, which is NaN at first
	through := s.count()          // number of sums in the range or below
	for low < high && through-below > len(s.a)+len(s.b) {
		half := low + (high-low)/2
		v := fromOrdinal(half)
		if n := s.upTo(v); n >= k {
			high, through = half, n
		} else {
			low, below, under = half+1, n, v
		}
	}
	v := fromOrdinal(low)
	if low < high {
		some := s.between(under, fromOrdinal(high))
		place(some, k-below-1)
		v = some[k-below-1]
	}
	if v != 0 {
		return v
	}
	return 0 // not -0
}

// between returns the sums in (under, high], which should be few.
func (s sums) between(under, high float64) []float64 {
	some := make([]float64, 0, len(s.a)+len(s.b))
	first, end := len(s.b), len(s.b)
	for i, a := range s.a {
		for end > 0 && a+s.b[end-1] > high {
			end--
		}
		for first > 0 && !(a+s.b[first-1] <= under) {
			first--
		}
		from := first
		if s.once {
			from = max(first, i)
		}
		for j := from; j < end; j++ {
			some = append(some, a+s.b[j])
		}
	}
	return some
}

// count returns the number of all sums.
func (s sums) count() int {
	count := len(s.a) * len(s.b)
	if s.once {
		count = (count + len(s.a)) / 2
	}
	return count
}

// estimate returns the same estimate as the function estimate for stored values.
func (s sums) estimate(rank int, reached float64) Estimate {
	count := s.count()
	e := unbounded(middle(s.kth((count+1)/2), s.kth(count/2+1)))
	if rank > 0 {
		e.Low, e.High, e.Confidence = s.kth(rank), s.kth(count+1-rank), reached
	}
	return e
}

// ordinal numbers the floating-point values in their order.
func ordinal(v float64) uint64 {
	b := math.Float64bits(v)
	return b ^ (uint64(int64(b)>>63) | 1<<63) // all bits of a negative one, the sign of another
}

func fromOrdinal(o uint64) float64 {
	if o>>63 == 1 {
		return math.Float64frombits(o &^ (1 << 63))
	}
	return math.Float64frombits(^o)
}

// MedianInterval returns the 95 % confidence interval of the median of independent values of any distribution: two of the values, whose
// ranks follow from the binomial distribution (Conover, Practical Nonparametric Statistics, 1999, 3.2). ok is false for fewer
// than 6 values, and if one is not finite.
func MedianInterval(values []float64) (low, high float64, ok bool) {
	const tail = .025
	n := len(values)
	outside := sort.Search(n/2, func(rank int) bool { return BinomialTail(n, n-rank, .5) > tail }) // values beyond each end
	if outside == 0 || slices.ContainsFunc(values, notFinite) {
		return 0, 0, false
	}
	ordered := slices.Sorted(slices.Values(values))
	return ordered[outside-1], ordered[n-outside], true
}
