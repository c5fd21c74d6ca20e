package benchmarks

import (
	"math"
	"math/rand/v2"
	"testing"

	"golang.org/x/perf/benchmath"

	"github.com/neurolens/neurolens/schema/stat"
)

// TestBenchstatRule: the p and the medians by which query/judge/VALIDATION.md calls a point different as benchstat would are
// those of benchstat's own package: of few values and many, with ties where both sides have as many values, as they have
// there. With ties and unequal sides benchstat's p is another one, and may be above 1.
func TestBenchstatRule(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	thresholds := benchmath.DefaultThresholds
	for range 1000 {
		step := []float64{0, .01, .25}[random.IntN(3)] // of the clock
		sizes := []int{3, 5, 6, 10, 20, 25, 26, 50, 51, 250}
		n := sizes[random.IntN(len(sizes))]
		m := n
		if step == 0 {
			m = sizes[random.IntN(len(sizes))]
		}
		base, head := drawn(random, n, 1, step), drawn(random, m, 1+.3*random.Float64(), step)
		a, b := benchmath.NewSample(base, &thresholds), benchmath.NewSample(head, &thresholds)
		want := benchmath.AssumeNothing.Compare(a, b).P
		if _, p := stat.MannWhitney(base, head); math.Abs(p-want) > 1e-9*want+1e-14 {
			t.Errorf("%d and %d values, clock step %g: p %g, benchstat's %g", len(base), len(head), step, p, want)
		}
		for _, s := range []*benchmath.Sample{a, b} {
			if got, want := stat.Quantile(s.Values, .5), benchmath.AssumeNothing.Summary(s, .95).Center; math.Abs(got-want) > 1e-15*want {
				t.Errorf("%d values: median %.17g, benchstat's %.17g", len(s.Values), got, want)
			}
		}
	}
}

// drawn returns n times around a middle, by a clock of that step; step 0 is none.
func drawn(random *rand.Rand, n int, middle, step float64) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = middle * math.Exp(.2*random.NormFloat64())
		if step > 0 {
			values[i] = step * math.Ceil(values[i]/step)
		}
	}
	return values
}
