package stat

import (
	"math"
	"slices"
)

// sessionsLeast is the fewest sessions that tell how much sessions differ, and sessionsStep by how many times the root mean
// square of their differences is above what the median says for it to be looked whether one is a step.
const (
	sessionsLeast = 7
	sessionsStep  = 1.5
)

// SessionNoise returns the standard deviation between sessions of one point on one machine where nothing was changed: from
// the location of each session (the median of Summary.LogMedian of its runs, or of values where the metric is compared
// by difference) in the order of the sessions, in the unit of the locations. Two sessions as far from one another as
// neighbours are here are expected within t(0.975, H-1)·√2·sd of each other, with H locations.
//
// It is the larger one of two that differences of neighbours tell (von Neumann, Kent, Bellinson and Hart, Annals of
// Mathematical Statistics 12, 1941). The scaled median of their absolute values, 1.4826·median|x_{i+1} - x_i|/√2, times
// n/(n - 0.8) for n differences, as the median absolute deviation is corrected for few values (Croux and Rousseeuw, "Time-
// efficient algorithms for two highly robust estimators of scale", Computational Statistics, 1992). And their root mean
// square over √2, without those at a change of level that changePoints finds: the median does not see a machine that is slow
// on some days, and the next such day would be taken for a change. If a level comes back, the machine has several, and the differences
// between them count.
//
// ok is false for fewer than 7 locations and where one is not finite.
func SessionNoise(locations []float64) (noise Noise, ok bool) {
	if len(locations) < sessionsLeast || slices.ContainsFunc(locations, notFinite) {
		return Noise{}, false
	}
	differences := neighbourDifferences(locations)
	usual := usualNoise(differences)
	if rootMeanSquare(differences)/math.Sqrt2 > sessionsStep*usual {
		changes := NewTrend(locations).changePoints(1-trendConfidence, within(0))
		if returns(locations, changes, usual) {
			changes = nil
		}
		for _, c := range slices.Backward(changes) {
			differences = slices.Delete(differences, c.Index-1, c.Index)
		}
	}
	noise = Noise{SD: max(usual, rootMeanSquare(differences)/math.Sqrt2), Differences: differences}
	return noise, !notFinite(noise.SD)
}

// Noise is what sessions differ by: their standard deviation, and by how much each differs from the one before it, as absolute
// values without those from one level to the next.
type Noise struct {
	SD          float64
	Differences []float64
}

// returns reports whether a level between two changes is that of an earlier one, as far as the usual noise allows to tell.
func returns(locations []float64, changes []ChangePoint, noise float64) bool {
	var levels []float64
	from := 0
	for _, c := range append(slices.Clone(changes), ChangePoint{Index: len(locations)}) {
		levels = append(levels, median(slices.Clone(locations[from:c.Index])))
		from = c.Index
	}
	for i, level := range levels {
		for _, earlier := range levels[:max(i-1, 0)] {
			if math.Abs(level-earlier) < math.Abs(level-levels[i-1])/2 || math.Abs(level-earlier) < noise {
				return true
			}
		}
	}
	return false
}

func neighbourDifferences(locations []float64) []float64 {
	differences := make([]float64, len(locations)-1)
	for i := range differences {
		differences[i] = math.Abs(locations[i+1] - locations[i])
	}
	return differences
}

// usualNoise returns the deviation that the median of absolute differences tells.
func usualNoise(differences []float64) float64 {
	n := float64(len(differences))
	return madScale / math.Sqrt2 * median(slices.Clone(differences)) * n / (n - .8)
}

func rootMeanSquare(values []float64) float64 {
	var norm float64
	for _, v := range values {
		norm = math.Hypot(norm, v)
	}
	return norm / math.Sqrt(float64(len(values)))
}
