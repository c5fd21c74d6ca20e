package stat

import "slices"

// Limits for two modes of few values, and for a trend.
const (
	fewPart  = 3  // values in each mode
	fewGap   = 20 // over the count: how many times wider the gap is than the wider part
	fewDrift = 6
)

// Modes returns the distance between two modes of values, in any order. It returns 0 if they do not have two modes, for fewer than 6
// values, and if one is not finite. Values with a coarse resolution gather around two neighbouring steps without having modes, so
// callers should ignore a gap of one or two steps.
//
// 20 values or more follow the rules of WarnModes. For n of 6 to 19 the gap between the values of two parts, of at least 3 each, must be
// wider than 20/n times the wider of the parts: this holds for at most 4 in 1000 samples of a normal distribution, and 12 of a uniform
// or an exponential one.
func Modes(values []float64) (gap float64) {
	if len(values) < 2*fewPart || slices.ContainsFunc(values, notFinite) {
		return 0
	}
	sorted := ordered(values)
	if len(sorted) >= modesLeast {
		return modesGap(sorted)
	}
	n := len(sorted)
	for cut := fewPart; cut <= n-fewPart; cut++ {
		low, high := sorted[:cut], sorted[cut:]
		wider := max(low[cut-1]-low[0], high[n-cut-1]-high[0])
		if float64(n)*(high[0]-low[cut-1]) > fewGap*wider {
			// At most one cut qualifies: the gap of either of two would lie in a part of the other, and be the wider.
			return Quantile(high, .5) - Quantile(low, .5)
		}
	}
	return 0
}

// Drift returns the rise of values from the first to the last, in their unit; it is negative if they fall. It is the Theil-Sen slope
// times the length, if the Mann-Kendall test finds a monotone trend at 1 %. It is 0 if there is no trend, for fewer than 6 values, which
// cannot be significant at that level, and if one is not finite.
func Drift(values []float64) float64 {
	if len(values) < fewDrift || slices.ContainsFunc(values, notFinite) {
		return 0
	}
	return drift(values)
}
