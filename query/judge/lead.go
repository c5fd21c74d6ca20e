package judge

import "github.com/neurolens/neurolens/schema/stat"

// Lead returns a confidence interval for how much better the best of several points is than the best of the others, which may be less than 0:
// the point with the best estimate need not be the best. differences are how much better it is than each of the others, with intervals of which
// each may miss the true difference in 1/n of the cases in which Lead may, n being their number (Bonferroni; Pair.Planned).
//
// That the point was chosen for its estimate does not matter. This is the argument of multiple comparisons with the best (Edwards and Hsu,
// Journal of the American Statistical Association 78, 1983), with intervals that assume no common variance: if the n intervals of the truly best
// point hold, then so does this one, whichever point was chosen. Of the chosen point itself, the lead is the smallest of its differences, so it
// lies between the smallest of the lower ends and the smallest of the upper ends. Another point lags behind the truly best one by a difference
// that is in their interval, and no upper end of the chosen point is below 0.
func Lead(differences []stat.Estimate) (low, high float64) {
	low, high = differences[0].Low, differences[0].High
	for _, d := range differences[1:] {
		low, high = min(low, d.Low), min(high, d.High)
	}
	return low, high
}
