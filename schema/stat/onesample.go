package stat

import "math"

// OneSample is Student's t test of the mean of values against 0 (Student, Biometrika 6, 1908): StdErr is s/√n, DF n-1.
// ok is false for fewer than 2 values.
func OneSample(values []float64) (test TTest, ok bool) {
	if len(values) < 2 {
		return TTest{}, false
	}
	mean, deviation := moments(values)
	n := float64(len(values))
	return TTest{Difference: mean, StdErr: deviation / math.Sqrt(n), DF: n - 1}, true
}
