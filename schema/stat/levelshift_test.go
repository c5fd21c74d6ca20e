package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRunningDeviations: they are those of each beginning, also of equal values.
func TestRunningDeviations(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		values := iid(random, 1+random.IntN(20), func(z float64) float64 { return math.Round(2 * z) })
		for i, got := range runningDeviations(values) {
			middle := median(slices.Clone(values[:i+1]))
			var want float64
			for _, v := range values[:i+1] {
				want += math.Abs(v - middle)
			}
			if math.Abs(got-want) > 1e-9 {
				t.Fatalf("the first %d of %v: %g, want %g", i+1, values, got, want)
			}
		}
	}
}

// TestShiftIn: by hand. Of -1 0 1 | 9 10 11 10 the residuals are 1, 0, 1, 1, 0, 1, 0, of which four of seven count.
func TestShiftIn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		values []float64
		at     int
		size   float64
	}{
		{[]float64{-1, 0, 1, 9, 10, 11, 10}, 3, 10 * math.Sqrt(12./7) / math.Sqrt(4./5)},
		{[]float64{0, 0, 0, 1, 1, 1, 1}, 3, math.Inf(1)},
		{[]float64{0, 0, 0, 0, 1, 1, 1, 0}, 4, .75 * math.Sqrt2 / math.Sqrt(.75/6)},
		{[]float64{2, 2, 2, 2, 2, 2}, 3, 0},
	} {
		if got := shiftIn(c.values); got.at != c.at || math.Abs(got.size-c.size) > 1e-12 && got.size != c.size {
			t.Errorf("%v: %+v, want %g at %d", c.values, got, c.size, c.at)
		}
	}
	// A value that is far off does not hide the change, nor make one.
	if got := shiftIn([]float64{-1, 0, 1, 0, 500, 0, 1, 90, 91, 89, 90, 90}); got.at != 7 || got.size < 50 {
		t.Errorf("an outlier hides a change: %+v", got)
	}
	if got := shiftIn([]float64{-1, 0, 1, 0, 500, 0, 1, -1, 0, 1, 0, -1}); got.size > 3 {
		t.Errorf("an outlier makes a change: %+v", got)
	}
}
