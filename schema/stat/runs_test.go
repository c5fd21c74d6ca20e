package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestModesOfFew: two modes are found by their distance, in any order and any unit, and no third of one part.
func TestModesOfFew(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		values []float64
		want   float64
	}{
		"three and three": {[]float64{10, 1, 11, 2, 3, 12}, 9},
		"three and seven": {[]float64{50, 1, 51, 2, 3, 52, 53, 49, 54, 48}, 49},
		"not far enough":  {[]float64{1, 2, 3, 9, 10, 11}, 0},
		"two and five":    {[]float64{1, 1.1, 100, 101, 102, 103, 104}, 0},
		"one far away":    {[]float64{1, 2, 3, 4, 5, 6, 1000}, 0},
		"five":            {[]float64{1, 1, 1, 50, 50}, 0},
		"equal":           {[]float64{4, 4, 4, 4, 4, 4, 4}, 0},
		"nothing":         {nil, 0},
		"NaN":             {[]float64{1, 1, 1, 50, 50, math.NaN()}, 0},
		"infinity":        {[]float64{1, 1, 1, math.Inf(1), math.Inf(1), math.Inf(1)}, 0},
	} {
		for _, scale := range []float64{1, -8, 1. / 1024} {
			values := slices.Clone(c.values)
			for i := range values {
				values[i] *= scale
			}
			valuetest.Equal(t, Modes(values), c.want*math.Abs(scale), name, "times", scale, c.want)
		}
	}
	random := rand.New(rand.NewPCG(101, 102))
	many := iid(random, 200, func(z float64) float64 { return z + 20*float64(random.IntN(2)) })
	if got, want := Modes(many), modesGap(slices.Sorted(slices.Values(many))); got != want || want == 0 {
		t.Errorf("many: %g, want %g", got, want)
	}
}

// TestModesFalseAlarms: of samples of one mode, few have two.
func TestModesFalseAlarms(t *testing.T) {
	t.Parallel()
	const tries = 10_000
	random := rand.New(rand.NewPCG(103, 104))
	for name, c := range map[string]struct {
		of    func() float64
		share float64
	}{"normal": {random.NormFloat64, .004}, "uniform": {random.Float64, .012}, "exponential": {random.ExpFloat64, .012}} {
		for _, n := range []int{6, 7, 8, 10, 13, 16, 19, 20} {
			alarms := 0
			for range tries {
				if Modes(iid(random, n, func(float64) float64 { return c.of() })) > 0 {
					alarms++
				}
			}
			if limit := c.share * tries; float64(alarms) > limit+3*math.Sqrt(limit) {
				t.Errorf("%s, of %d: %d of %d", name, n, alarms, tries)
			}
		}
	}
}

// TestDriftOfFew: values that rise all the time, from how many on that is no chance, and what is no number.
func TestDriftOfFew(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]float64{0: 0, 1: 0, 2: 0, 5: 0, 6: 18, 10: 30} {
		values := make([]float64, n)
		for i := range values {
			values[i] = 3 * float64(i)
		}
		valuetest.Equal(t, Drift(values), want, n, "that rise by 3 each")
		slices.Reverse(values)
		valuetest.Equal(t, Drift(values), -want, n, "that fall by 3 each")
	}
	for _, odd := range []float64{math.NaN(), math.Inf(1)} {
		valuetest.Equal(t, Drift([]float64{1, 2, 3, 4, 5, 6, 7, odd}), 0, odd)
	}
	// Two in a hundred is more than any test at one in a hundred may find where nothing drifts.
	random := rand.New(rand.NewPCG(105, 106))
	alarms := 0
	for range 10_000 {
		if Drift(iid(random, 8, identity)) != 0 {
			alarms++
		}
	}
	if alarms > 150 {
		t.Errorf("%d of 10000 drift", alarms)
	}
}
