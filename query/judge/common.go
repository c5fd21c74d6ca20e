package judge

import (
	"math"
	"slices"

	"github.com/neurolens/neurolens/schema/stat"
)

// LeastCommon is how many points it takes to know what they have in common, where none is named as a control.
const LeastCommon = 8

// polishes is how often levels and factors are taken from one another: after that they hardly change.
const polishes = 10

// Common is by how much points were slower in each of several sessions than in the first one of them, together: what a
// machine does to all of them, and code to few. levels[i][s] is the location of point i in session s, NaN where it has none;
// all are logarithms, and so are the factors. Of points of which at least half did not change they are what these share; where
// some are controls, they are the only ones that are looked at. A session with fewer than least of those that are looked at,
// but at least one, has NaN.
//
// It is Tukey's median polish of points and sessions (Exploratory Data Analysis, 1977, chapter 11).
func Common(levels [][]float64, controls []bool, least int) []float64 {
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
		levels, least = named, 1
	}
	factors := make([]float64, len(levels[0]))
	for s := range factors { // from the first session on, which most points have
		factors[s] = middleOf(levels, func(row []float64) float64 { return row[s] - row[0] }, max(least, 1))
	}
	points := make([]float64, len(levels))
	var row []float64
	for range polishes {
		for i, of := range levels {
			row = row[:0]
			for s, v := range of {
				if left := v - factors[s]; !math.IsNaN(left) { // both are known
					row = append(row, left)
				}
			}
			points[i] = medianOf(row)
		}
		for s := range factors {
			i := -1
			if !math.IsNaN(factors[s]) {
				factors[s] = middleOf(levels, func(row []float64) float64 { i++; return row[s] - points[i] }, 1)
			}
		}
	}
	first := factors[0]
	for s := range factors {
		factors[s] -= first
	}
	return factors
}

// middleOf is the median of what rows have, NaN where fewer than least have it.
func middleOf(rows [][]float64, value func(row []float64) float64, least int) float64 {
	var there []float64
	for _, row := range rows {
		if v := value(row); !math.IsNaN(v) {
			there = append(there, v)
		}
	}
	if len(there) < least {
		return math.NaN()
	}
	return medianOf(there)
}

// medianOf reorders the values; NaN where there are none.
func medianOf(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	slices.Sort(values)
	return stat.Quantile(values, .5)
}
