package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// strongestOf is the strength of the strongest change in any of the intervals of a series.
func strongestOf(series []float64) float64 {
	var most float64
	scan(series, func(c change) { most = max(most, c.strength) })
	return most
}

// shuffledStrengths are the strongest changes of 999 shuffles of n values, ascending.
func shuffledStrengths(n int) []float64 {
	random := rand.New(rand.NewPCG(1, uint64(n)))
	series := make([]float64, n)
	for i := range series {
		series[i] = float64(i)
	}
	strengths := make([]float64, 999)
	for d := range strengths {
		random.Shuffle(n, func(i, j int) { series[i], series[j] = series[j], series[i] })
		strengths[d] = strongestOf(series)
	}
	slices.Sort(strengths)
	return strengths
}

// TestThresholds draws the table again.
func TestThresholds(t *testing.T) {
	t.Parallel()
	for _, row := range steadyThresholds {
		if want := shuffledStrengths(row.n)[949]; math.Abs(row.threshold-want) > 1e-9 {
			t.Errorf("{%d, %.10f}, the table has %.10f", row.n, want, row.threshold)
		}
	}
	if first, last := steadyThresholds[0].n, steadyThresholds[len(steadyThresholds)-1].n; first != steadyLeast || last != steadyBatches {
		t.Errorf("the table is of %d to %d, needed are %d to %d", first, last, steadyLeast, steadyBatches)
	}
}

// TestThresholdsBetween: where the table is interpolated, a change is found in about 5 % of series without one.
func TestThresholdsBetween(t *testing.T) {
	t.Parallel()
	for _, n := range []int{35, 45, 70, 90, 120, 130, 180} {
		strengths := shuffledStrengths(n)
		at, _ := slices.BinarySearch(strengths, threshold(n))
		if above := len(strengths) - at; above < 30 || above > 75 {
			t.Errorf("of 999 shuffles of %d values %d exceed the threshold %.3f, want about 50", n, above, threshold(n))
		}
	}
}
