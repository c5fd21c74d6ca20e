package stat

import "slices"

// Limits for two modes of few values, and for a trend.
const (
	fewPart  = 3  // values in each mode
	fewGap   = 20 // over the count: how many times wider the gap is than the wider part
	fewDrift = 6
)

// Modes returns the distance between two modes of values, in any order, where they have two, and 0 where they do not, where
// there are fewer than 6 and where one is not finite. Values read in steps gather around two neighbouring steps without
// having modes: nothing is to be made of a gap of one or two.
//
// 20 values or more follow the rules of WarnModes. For n of 6 to 19 the gap between the values of two parts, of at
// least 3 each, must be wider than 20/n times the wider of the parts: so it is for at most 4 in 1000 samples of a
// normal distribution, and 12 of a uniform or an exponential one.
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
			// There is one such cut at most: the gap of either of two would lie in a part of the other, and be the wider.
			return Quantile(high, .5) - Quantile(low, .5)
		}
	}
	return 0
}

// Drift returns how much values rise from the first to the last, in their unit, and negative if they fall. It is the slope of
// Theil and Sen, if the test of Mann and Kendall finds a monotone trend at 1 %. It is 0 if there is no trend, for fewer
// than 6 values, which cannot be significant at that level, and if one is not finite.
func Drift(values []float64) float64 {
	if len(values) < fewDrift || slices.ContainsFunc(values, notFinite) {
		return 0
	}
	return drift(values)
}
