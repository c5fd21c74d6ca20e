package stat

import (
	"math"
	"slices"
)

// sessionsLeast is the minimum number of sessions for an estimate. If the root mean square of their differences exceeds the estimate
// from the median by the factor sessionsStep, the differences are searched for a step.
const (
	sessionsLeast = 7
	sessionsStep  = 1.5
)

// SessionNoise returns the standard deviation between sessions of one point on one machine without a change. The locations are the
// medians of Summary.LogMedian of the runs of each session (or of values, for a metric that is compared by difference) in the order of
// the sessions. The result is in the unit of the locations. Two sessions as far from one another as neighbours are here are expected
// within t(0.975, H-1)·√2·sd of each other, with H locations.
//
// It is the larger one of two estimates from differences of neighbours (von Neumann, Kent, Bellinson and Hart, Annals of Mathematical
// Statistics 12, 1941). The first is the scaled median of their absolute values, 1.4826·median|x_{i+1} - x_i|/√2, times n/(n - 0.8) for
// n differences, as the median absolute deviation is corrected for few values (Croux and Rousseeuw, "Time-efficient algorithms for two
// highly robust estimators of scale", Computational Statistics, 1992). The second is their root mean square over √2, without the
// differences at a change of level that changePoints finds: the median does not see a machine that is slow on some days, and the next
// such day would be taken for a change. If a level comes back, the machine has several, and the differences between them count.
//
// ok is false for fewer than 7 locations and if one is not finite.
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

// Noise describes the differences between sessions: their standard deviation, and the absolute difference of each session from the one
// before it, without the differences from one level to the next.
type Noise struct {
	SD          float64
	Differences []float64
}

// returns reports whether a level between two changes equals an earlier one, within the usual noise.
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

// usualNoise returns the standard deviation estimated from the median of absolute differences.
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
