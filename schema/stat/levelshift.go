package stat

import "math"

// Constants of the strength of a level shift.
const (
	clipAt       = 2.5    // standard deviations at which residuals are clipped
	madOfNormals = 1.4826 // standard deviations of normal values in a median absolute deviation
	priorRho     = .6     // the assumed correlation of neighbours before there are values
	priorWeight  = 15     // values that it counts as much as
	maxRho       = .99    // that a correlation is taken for
	ofMedian     = 1.25   // the variance of the median of 3 or 4 normal values, relative to the variance of their mean
)

// levelShift is the most likely change of level in some values, and its size relative to their spread.
type levelShift struct {
	at        int     // the first value of the new level
	low, high float64 // the levels before and after
	size      float64 // shift in robust standard errors, if neighbours are independent; infinite if the values of each side are equal
	inflation float64 // how many times the standard error is that, as neighbours are correlated
	orders    float64 // logarithm of the share of the orders of the values that separate the levels as well: see separation
	overlap   bool    // some value is nearer to the level of the other side
}

// shifts measures the changes of level in parts of a series. It caches intermediate results of the series, and scratch memory.
type shifts struct {
	series           []float64
	running          runningMedian
	whole, part      sides
	residuals, sizes []float64
}

// sides are the beginnings of some values, from the first one on and from the last one on.
type sides struct{ first, last beginnings }

// newShifts prepares the measurement of a series, whose values must be finite.
func newShifts(series []float64) *shifts {
	s := &shifts{series: series, running: newRunningMedian(series)}
	s.running.follow(&s.whole.first, 0, 1, len(series))
	s.running.follow(&s.whole.last, len(series)-1, -1, len(series))
	return s
}

// in divides a part of the series, of n values from low on, and measures the shift
//
//	size = |median after - median before| / s · √(k(n-k)/n)
//
// where s is the standard deviation of the residuals about the medians, clipped so that a few outliers have little influence
// (winsorized; Huber and Ronchetti, Robust Statistics, 2nd edition 2009, section 1.7). If most of the residuals are 0, it uses means
// instead of medians and does not clip, because medians of such discrete values exaggerate the shift. Unlike a rank statistic the size
// has no upper bound, so that a large step is also found among few values.
//
// ok is false if the size is less than least. Usually the shift is not measured then.
func (s *shifts) in(low, n int, least float64) (shift levelShift, ok bool) {
	values := s.series[low : low+n]
	shift = s.divide(low, n)
	if shift.clearlyLess(values, least) {
		return shift, false
	}
	shift = s.measured(values, shift)
	return shift, shift.size >= least
}

// measured returns a shift at a place of some values with its size.
func (s *shifts) measured(values []float64, shift levelShift) levelShift {
	s.setResiduals(values, shift)
	clip := s.clip()
	if clip == 0 { // most values of each side are equal
		shift.low, _ = moments(values[:shift.at])
		shift.high, _ = moments(values[shift.at:])
		s.setResiduals(values, shift)
		clip = math.Inf(1)
	}
	shift.size = math.Abs(shift.high-shift.low) / s.standardError(shift.at, clip)
	if !(shift.size >= 0) {
		shift.size = 0 // the values are equal, or the shift overflows
	}
	shift.inflation = inflationOf(s.residuals)
	shift.orders, shift.overlap = shift.separation(values)
	return shift
}

// divide divides a part of the series where the absolute deviations of its values from the medians of the two sides are least (Bai,
// "Least absolute deviation estimation of a shift", Econometric Theory 11, 1995), with at least trendLeast values on either side.
func (s *shifts) divide(low, n int) levelShift {
	first, last := s.whole.first, s.whole.last
	if low > 0 {
		s.running.follow(&s.part.first, low, 1, n)
		first = s.part.first
	}
	if low+n < len(s.series) {
		s.running.follow(&s.part.last, low+n-1, -1, n)
		last = s.part.last
	}
	at, least := trendLeast, math.Inf(1)
	for k := trendLeast; k <= n-trendLeast; k++ {
		if sum := first.deviations[k-1] + last.deviations[n-k-1]; sum < least {
			at, least = k, sum
		}
	}
	return levelShift{at: at, low: first.medians[at-1], high: last.medians[n-at-1]}
}

// distance returns the difference between the levels of n values, in standard errors of values whose standard deviation is 1.
func (s levelShift) distance(n int) float64 {
	return math.Abs(s.high-s.low) * math.Sqrt(float64(s.at)*float64(n-s.at)/float64(n))
}

// clearlyLess reports whether the size of a shift between two medians is certainly less than least. It needs one pass over the values
// and does not select their median residual. It clips residuals at the bound that applies if the size is exactly least. If the true
// median residual is larger, residuals should be clipped less, which makes the size no larger.
func (s levelShift) clearlyLess(values []float64, least float64) bool {
	n := len(values)
	distance := s.distance(n)
	usual := distance / least / madOfNormals // the median residual of such values
	clip := clipAt * madOfNormals * usual
	var squares float64
	below := 0
	level := s.low
	for i, v := range values {
		if i == s.at {
			level = s.high
		}
		r := math.Abs(v - level)
		if r < usual {
			below++
		}
		r = min(r, clip)
		squares += r * r
	}
	return below <= medianResidual(n) && distance/standardDeviation(squares, n) < least
}

// held reports whether at least trendLeast values on either side are nearer to their level than to the other: two that are far
// off are no level, even if they are more than half of a side.
func (s levelShift) held(values []float64) bool {
	before, after := 0, 0
	for i, v := range values {
		nearer := math.Abs(v-s.low) < math.Abs(v-s.high)
		switch {
		case i < s.at && nearer:
			before++
		case i >= s.at && !nearer:
			after++
		}
	}
	return min(before, after) >= trendLeast
}

// setResiduals sets how far values are from the levels of their sides.
func (s *shifts) setResiduals(values []float64, shift levelShift) {
	s.residuals = s.residuals[:0]
	for i, v := range values {
		level := shift.low
		if i >= shift.at {
			level = shift.high
		}
		s.residuals = append(s.residuals, v-level)
	}
}

// clip returns the bound at which residuals about the medians of two sides are clipped. A median is a value of its side or between two,
// so that the smallest residual of each side carries no information about the spread.
func (s *shifts) clip() float64 {
	s.sizes = s.sizes[:0]
	for _, r := range s.residuals {
		s.sizes = append(s.sizes, math.Abs(r))
	}
	return clipAt * madOfNormals * nth(s.sizes, medianResidual(len(s.sizes)))
}

// medianResidual returns the rank of the median of n absolute residuals, without the smallest of each side, among all of them.
func medianResidual(n int) int { return (n + 2) / 2 }

// nth returns the value at index k in sorted order (quickselect: Hoare, "Algorithm 65: Find", Communications of the ACM 4, 1961). It
// reorders the values.
func nth(values []float64, k int) float64 {
	for low, high := 0, len(values)-1; low < high; {
		i, j, pivot := low, high, values[k]
		for i <= j {
			for values[i] < pivot {
				i++
			}
			for pivot < values[j] {
				j--
			}
			if i <= j {
				values[i], values[j] = values[j], values[i]
				i, j = i+1, j-1
			}
		}
		if j < k {
			low = i
		}
		if k < i {
			high = j
		}
	}
	return values[k]
}

// scatter returns the standard deviation of residuals about two levels, clipped.
func scatter(residuals []float64, clip float64) float64 {
	return standardDeviation(squaresWithin(residuals, clip), len(residuals))
}

// standardDeviation returns the standard deviation of n residuals about two levels, given the sum of their squares.
func standardDeviation(squares float64, n int) float64 { return math.Sqrt(squares / float64(n-2)) }

// inflationOf returns the factor by which correlated neighbours inflate the standard deviation of sums, √((1+ρ)/(1-ρ)). ρ is the lag-1
// autocorrelation of the residuals plus its bias, (1+4ρ)/n (Kendall, Biometrika 41, 1954), and at least 0. Because few values estimate
// it poorly, ρ is averaged with a likely correlation (priorRho) that counts as priorWeight values.
func inflationOf(residuals []float64) float64 {
	n := float64(len(residuals))
	rho := lag1(residuals)
	rho = min(max(rho+(1+4*rho)/n, 0), maxRho)
	rho = (n*rho + priorWeight*priorRho) / (n + priorWeight)
	return math.Sqrt((1 + rho) / (1 - rho))
}

// standardError returns the standard error of the difference between the levels of two sides, the larger one of two estimates. The
// residuals are about these levels; the second side begins at index at. One estimate assumes the same spread on both sides, with
// residuals clipped at clip. The other uses each side's own spread (Welch, Biometrika 34, 1947), clipped by its own spread, because the
// level of a side with more spread is less certain.
func (s *shifts) standardError(at int, clip float64) float64 {
	n := float64(len(s.residuals))
	both := scatter(s.residuals, clip)
	var own float64
	for _, side := range [...][]float64{s.residuals[:at], s.residuals[at:]} {
		k := float64(len(side))
		own += ofMedian * squaresWithin(side, s.sideClip(side, clip)) / (k - 1) / k
	}
	return math.Sqrt(max(own, both*both*n/float64(at*(len(s.residuals)-at))))
}

// sideClip returns the bound at which residuals of one side are clipped.
func (s *shifts) sideClip(side []float64, clip float64) float64 {
	if math.IsInf(clip, 1) {
		return clip
	}
	s.sizes = s.sizes[:0]
	for _, r := range side {
		s.sizes = append(s.sizes, math.Abs(r))
	}
	return max(clip, clipAt*madOfNormals*nth(s.sizes, (len(side)+1)/2))
}

// squaresWithin returns the sum of the squares of residuals, clipped.
func squaresWithin(residuals []float64, clip float64) (squares float64) {
	for _, r := range residuals {
		r = min(math.Abs(r), clip)
		squares += r * r
	}
	return squares
}

// separation returns the logarithm of the p value of a permutation test of the order of the values: the share of all orders in which
// some split separates the values nearer to one level from the values nearer to the other, with no more values on the wrong side than
// here. Whatever the distribution is, also a bimodal one, the order of independent values contains no more information about a change of
// level. Among the orders of b upper and n-b lower values, the number with a split that leaves at most e values on the wrong side is the
// number of ways to choose e of n, by the reflection principle (Gnedenko and Korolyuk, Doklady Akademii Nauk SSSR 80, 1951); the levels
// may be in either order. overlap is true if a value is on the wrong side.
func (s levelShift) separation(values []float64) (orders float64, overlap bool) {
	upper, wrong := 0, 0
	for i, v := range values {
		toLow, toHigh := math.Abs(v-s.low), math.Abs(v-s.high)
		switch {
		case i < s.at && !(toLow < toHigh):
			wrong++
			upper++
		case i >= s.at && !(toHigh < toLow):
			wrong++
		case i >= s.at:
			upper++
		}
	}
	n := len(values)
	if wrong >= min(upper, n-upper) {
		return 0, wrong > 0
	}
	return min(logChoose(n, wrong)-logChoose(n, upper)+math.Ln2, 0), wrong > 0
}

// location returns the logarithm of the p value of a difference in location between the values before and after the shift, by the test
// of Brunner and Munzel: the larger p of two. One uses all values. The other uses the smaller side and the nearest values of the larger
// side, twice as many, because the place may have been chosen where the last few values are alike. The standard error is multiplied by
// inflation. A Bonferroni factor allows for the choice of the place: places within 6 values count as one. The order of values alone
// cannot distinguish a change of location from a change of spread, or from two levels in succession. If no value is on the wrong side
// the result is -Inf: the test of the order suffices.
func (s levelShift) location(values []float64, inflation float64) float64 {
	const alike, nearest = 6, 2
	if !s.overlap {
		return math.Inf(-1)
	}
	n := len(values)
	near := nearest * min(s.at, n-s.at)
	p := max(
		brunnerMunzel(values[:s.at], values[s.at:], inflation),
		brunnerMunzel(values[max(s.at-near, 0):s.at], values[s.at:min(s.at+near, n)], inflation),
	)
	return math.Log(p * max(1, float64(n)/alike))
}
