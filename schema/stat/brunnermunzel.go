package stat

import (
	"math"
	"slices"
)

// brunnerMunzel returns the two-sided p of the hypothesis that a value of y is as likely above as below one of x, whatever the two
// distributions are (Brunner and Munzel, "The nonparametric Behrens-Fisher problem", Biometrical Journal 42, 2000). It is Welch's t test
// of the placements: for each value, the share of the other side's values that are below it. The standard error is multiplied by
// inflation. If all values of one side are above all values of the other, the placements have no variance, and p is 0. Either side has
// at least 2 values.
func brunnerMunzel(x, y []float64, inflation float64) float64 {
	x, y = slices.Sorted(slices.Values(x)), slices.Sorted(slices.Values(y))
	_, ofX := moments(placements(x, y))
	above, ofY := moments(placements(y, x))
	ofX, ofY = ofX*ofX/float64(len(x)), ofY*ofY/float64(len(y))
	distance := math.Abs(above - .5)
	switch {
	case distance == 0:
		return 1
	case ofX+ofY == 0:
		return 0
	}
	freedom := (ofX + ofY) * (ofX + ofY) / (ofX*ofX/float64(len(x)-1) + ofY*ofY/float64(len(y)-1))
	return 2 * studentTail(distance/math.Sqrt(ofX+ofY)/inflation, freedom)
}

// placements returns, for each value, the share of others below it plus half the share of others equal to it. Both arguments are ascending.
func placements(values, others []float64) []float64 {
	all := make([]float64, len(values))
	below, through := 0, 0
	for i, v := range values {
		for below < len(others) && others[below] < v {
			below++
		}
		for through < len(others) && others[through] <= v {
			through++
		}
		all[i] = float64(below+through) / 2 / float64(len(others))
	}
	return all
}
