package stat_test

import (
	"math"
	"testing"

	"github.com/neurolens/neurolens/schema/stat"
	"github.com/neurolens/neurolens/schema/valuetest"
)

func TestDecimalStep(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{10e6, 11e6}, 1e6},
		{[]float64{10e6, 10e6}, 1e7},
		{[]float64{15_625_000, 31_250_000}, 1e3},
		{[]float64{math.Exp(math.Log(12e9)), math.Exp(math.Log(7e6))}, 1e6},
		{[]float64{1234567, 12345670}, 1},
		{[]float64{1.5, 3}, 0},
		{[]float64{math.Sqrt(10e6 * 11e6), 10e6}, 0}, // the middle of logarithms
		{[]float64{0, 0}, 0},
		{[]float64{0, 200}, 100},
		{nil, 0},
		{[]float64{math.NaN()}, 0},
		{[]float64{math.Inf(1)}, 0},
	} {
		valuetest.Equal(t, stat.DecimalStep(c.values), c.want, c.values)
	}
}
