package stat

import (
	"math"
	"slices"
)

// DecimalStep returns the largest power of ten, from 1 on, that divides all values: the probable resolution of the values if it is not
// known otherwise. It is 0 if they are not integers, or all are 0. For one in 10^n sets of n values with a finer resolution, all are
// multiples of 10 by chance.
func DecimalStep(values []float64) float64 {
	const rounding = 1e-11 // relative, of values that went through logarithms
	step := 1.
	multiples := func(step float64) bool {
		for _, v := range values {
			if of := v / step; math.Abs(of-math.Round(of)) > rounding*math.Abs(of) {
				return false
			}
		}
		return true
	}
	if !slices.ContainsFunc(values, func(v float64) bool { return v != 0 }) || slices.ContainsFunc(values, notFinite) || !multiples(step) {
		return 0
	}
	for multiples(10 * step) {
		step *= 10
	}
	return step
}
