package stat

import (
	"math"
	"slices"
)

// Constants of the strength of a level shift.
const (
	clipAt       = 2.5    // standard deviations beyond which a residual counts as if it were there
	madOfNormals = 1.4826 // standard deviations of normal values in a median absolute deviation
	priorRho     = .6     // the correlation of neighbours that is taken for likely before there are values
	priorWeight  = 15     // values that it counts as much as
	maxRho       = .99    // that a correlation is taken for
)

// levelShift is the most likely change of level in some values, and how large it is beside what they scatter.
type levelShift struct {
	at        int     // the first value of the new level
	low, high float64 // the levels before and after
	size      float64 // of the shift in robust standard errors, if neighbours are independent; infinite where nothing scatters
	inflation float64 // how many times the standard error is that, as neighbours are correlated
}

// shiftIn divides values where their absolute deviations from the medians of the two sides are least (Bai, "Least absolute
// deviation estimation of a shift", Econometric Theory 11, 1995), with at least trendLeast values on either side, and
// measures the shift
//
//	size = |median after - median before| / s · √(k(n-k)/n)
//
// where s is the standard deviation of the residuals about the medians, clipped so that a few that are far off count little
// (winsorized; Huber and Ronchetti, Robust Statistics, 2nd edition 2009, section 1.7). Where most of the residuals are 0, it is
// the shift of means over their standard deviation, as of values that are counted the medians say too much. Unlike a statistic
// of ranks it has no bound, so that a large step is seen also among few values.
func shiftIn(values []float64) levelShift {
	n := len(values)
	first := runningDeviations(values)
	reversed := slices.Clone(values)
	slices.Reverse(reversed)
	last := runningDeviations(reversed)
	at, least := trendLeast, math.Inf(1)
	for k := trendLeast; k <= n-trendLeast; k++ {
		if sum := first[k-1] + last[n-k-1]; sum < least {
			at, least = k, sum
		}
	}
	before, after := values[:at], values[at:]
	low, high := median(slices.Clone(before)), median(slices.Clone(after))
	residuals := residualsOf(before, after, low, high)
	clip := clipOf(residuals)
	if clip == 0 { // most values of each side are equal
		low, _ = moments(before)
		high, _ = moments(after)
		residuals, clip = residualsOf(before, after, low, high), math.Inf(1)
	}
	size := math.Abs(high-low) * math.Sqrt(float64(at)*float64(n-at)/float64(n)) / scatter(residuals, clip)
	if !(size >= 0) {
		size = 0 // nothing differs, or it is beyond all numbers
	}
	return levelShift{at: at, low: low, high: high, size: size, inflation: inflationOf(residuals)}
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

// residualsOf are how far values are from the levels of their sides.
func residualsOf(before, after []float64, low, high float64) []float64 {
	residuals := make([]float64, 0, len(before)+len(after))
	for _, v := range before {
		residuals = append(residuals, v-low)
	}
	for _, v := range after {
		residuals = append(residuals, v-high)
	}
	return residuals
}

// runningDeviations are the sums of absolute deviations from their median of the first value, the first two and so on.
func runningDeviations(values []float64) []float64 {
	sums := make([]float64, len(values))
	sorted := make([]float64, 0, len(values))
	var low, high float64 // sums of the lower and the upper half, without a value in the middle
	for i, v := range values {
		half := i / 2
		at, _ := slices.BinarySearch(sorted, v)
		sorted = slices.Insert(sorted, at, v)
		middle := sorted[half]
		switch {
		case i%2 == 0 && at < half: // an even number until now: one is left in the middle
			low += v - middle
		case i%2 == 0 && at > half:
			high += v - middle
		case i%2 == 1: // that in the middle until now, and v, go to the halves
			low += middle
			high += sorted[half+1]
			if at > half+1 {
				high += v - sorted[half+1]
			}
			if at < half {
				low += v - middle
			}
		}
		sums[i] = high - low
	}
	return sums
}

// clipOf is where residuals about the medians of two sides are clipped. A median is a value of its side or between two, so that
// the smallest residual of each side tells nothing.
func clipOf(residuals []float64) float64 {
	sizes := make([]float64, len(residuals))
	for i, r := range residuals {
		sizes[i] = math.Abs(r)
	}
	slices.Sort(sizes)
	return clipAt * madOfNormals * sizes[(len(sizes)+2)/2]
}

// scatter is the standard deviation of residuals about two levels, clipped.
func scatter(residuals []float64, clip float64) float64 {
	var squares float64
	for _, r := range residuals {
		r = min(math.Abs(r), clip)
		squares += r * r
	}
	return math.Sqrt(squares / float64(len(residuals)-2))
}

// inflationOf is how many times the standard deviations of sums of neighbours are those of independent values,
// √((1+ρ)/(1-ρ)). ρ is the lag-1 autocorrelation of the residuals plus its bias, (1+4ρ)/n (Kendall, Biometrika 41, 1954), and
// at least 0. As few values tell little of it, the mean with a likely one is taken, which counts as priorWeight values.
func inflationOf(residuals []float64) float64 {
	n := float64(len(residuals))
	rho := lag1(residuals)
	rho = min(max(rho+(1+4*rho)/n, 0), maxRho)
	rho = (n*rho + priorWeight*priorRho) / (n + priorWeight)
	return math.Sqrt((1 + rho) / (1 - rho))
}
