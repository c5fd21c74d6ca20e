package stat

import (
	"math"
	"slices"
)

// sessionsLeast is the fewest sessions that tell how much sessions differ.
const sessionsLeast = 5

// SessionNoise is the standard deviation between sessions of one point on one machine where nothing was changed: from
// the location of each session (the median of Summary.LogMedian of its runs, or of values where the metric is compared
// by difference) in the order of the sessions, in the unit of the locations. Two sessions are expected within
// t(0.975, H-1)·√2·sd of each other, with H locations.
//
// It is the scaled median of the absolute differences of neighbours, 1.4826·median|x_{i+1} - x_i|/√2 (successive
// differences: von Neumann, Kent, Bellinson and Hart, Annals of Mathematical Statistics 12, 1941), times n/(n - 0.8) for n
// differences, as the median absolute deviation is corrected for few values (Croux and Rousseeuw, "Time-efficient
// algorithms for two highly robust estimators of scale", Computational Statistics, 1992). Levels need not be told apart
// first: a change of level is in one difference alone, and the median hardly notices.
//
// ok is false for fewer than 5 locations and where one is not finite. The noise of locations of which most are equal is
// 0: they are rounded, and it is less than a step.
func SessionNoise(locations []float64) (sd float64, ok bool) {
	if len(locations) < sessionsLeast || slices.ContainsFunc(locations, notFinite) {
		return 0, false
	}
	differences := make([]float64, len(locations)-1)
	for i := range differences {
		differences[i] = math.Abs(locations[i+1] - locations[i])
	}
	n := float64(len(differences))
	sd = madScale / math.Sqrt2 * median(differences) * n / (n - .8)
	return sd, !notFinite(sd)
}
