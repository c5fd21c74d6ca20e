package judge

import (
	"math"
	"slices"

	"github.com/neurolens/neurolens/schema/stat"
)

// MinCommon is the minimum number of points for an estimate of their common change, if none is a control.
const MinCommon = 8

// polishes is the number of iterations of the median polish. After that the factors hardly change.
const polishes = 10

// Common estimates the common change of all points in each session, relative to the first session, as logarithms: the effect of the
// machine on all points. levels[i][s] is the location of point i in session s, NaN if it has none. The estimate is right if at least
// half of the points did not change. If controls has true values, only those points are used, and one is enough. A session with fewer
// than minPoints usable points gets NaN.
//
// It is Tukey's median polish of points and sessions (Exploratory Data Analysis, 1977, chapter 11).
func Common(levels [][]float64, controls []bool, minPoints int) []float64 {
	if len(levels) == 0 {
		return nil
	}
	if slices.Contains(controls, true) {
		var named [][]float64
		for i, control := range controls {
			if control {
				named = append(named, levels[i])
			}
		}
		levels, minPoints = named, 1
	}
	factors := make([]float64, len(levels[0]))
	there := make([]float64, 0, len(levels)) // the values of a session
	for s := range factors {                 // from the first session on, which most points have
		there = there[:0]
		for _, row := range levels {
			there = known(there, row[s]-row[0])
		}
		factors[s] = middleOf(there, max(minPoints, 1))
	}
	points := make([]float64, len(levels))
	var row []float64
	for range polishes {
		for i, of := range levels {
			row = row[:0]
			for s, v := range of {
				row = known(row, v-factors[s])
			}
			points[i] = medianOf(row)
		}
		for s := range factors {
			if math.IsNaN(factors[s]) {
				continue
			}
			there = there[:0]
			for i, row := range levels {
				there = known(there, row[s]-points[i])
			}
			factors[s] = middleOf(there, 1)
		}
	}
	first := factors[0]
	for s := range factors {
		factors[s] -= first
	}
	return factors
}

// known appends a value unless it is NaN.
func known(values []float64, v float64) []float64 {
	if math.IsNaN(v) {
		return values
	}
	return append(values, v)
}

// middleOf returns the median of values, NaN if there are fewer than least. It changes their order.
func middleOf(values []float64, least int) float64 {
	if len(values) < least {
		return math.NaN()
	}
	return stat.Median(values)
}

// medianOf returns the median, NaN for no values. It sorts the values in place.
func medianOf(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	slices.Sort(values)
	return stat.Quantile(values, .5)
}
