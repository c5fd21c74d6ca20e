package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestComponentsGolden: the worked example of Kalibera and Jones, "Quantifying Performance Changes with Effect Size
// Confidence Intervals", 2012, as libkalibera tests it: S₁² and T₂².
func TestComponentsGolden(t *testing.T) {
	t.Parallel()
	within, between, ok := Components([][]float64{{9, 5, 8, 3}, {10, 6, 7, 11}, {1, 12, 2, 4}})
	if !ok || !near(within, 12.722222222222221, 1e-14) || !near(between, 0.38194444444444464, 1e-12) {
		t.Errorf("within %.16g, between %.16g, %v", within, between, ok)
	}
}

// TestComponentsFind: the variances that samples were drawn from, with runs of different length, on average.
func TestComponentsFind(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(93, 94))
	var withins, betweens float64
	const tries = 4000
	for range tries {
		runs := make([][]float64, 8)
		for i := range runs {
			level := 1000 + 3*random.NormFloat64()
			runs[i] = iid(random, 2+random.IntN(12), func(z float64) float64 { return level + 2*z })
		}
		within, between, ok := Components(append(runs, nil))
		if again, same, _ := Components(runs); !ok || again != within || same != between {
			t.Fatalf("within %g, between %g, %v; without an empty run %g, %g", within, between, ok, again, same)
		}
		withins, betweens = withins+within/tries, betweens+between/tries
	}
	if !near(withins, 4, .02) || !near(betweens, 9, .04) {
		t.Errorf("on average %g within and %g between, want 4 and 9", withins, betweens)
	}
}

// TestComponentsOfLittle: too few runs or samples, equal ones, and what is no number.
func TestComponentsOfLittle(t *testing.T) {
	t.Parallel()
	for name, runs := range map[string][][]float64{
		"nothing": nil, "empty": {{}, {}}, "one run": {{1, 2, 3}}, "one run and an empty one": {{1, 2, 3}, {}},
		"one sample each": {{1}, {2}, {3}}, "NaN": {{1, math.NaN()}, {1, 2}}, "infinity": {{1, 2}, {math.Inf(1)}},
		"out of range": {{-1e308, 1e308}, {1, 2}},
	} {
		if within, between, ok := Components(runs); ok {
			t.Errorf("%s: within %g, between %g", name, within, between)
		}
	}
	for name, c := range map[string]struct {
		runs            [][]float64
		within, between float64
	}{
		"equal":               {[][]float64{{2, 2}, {2, 2}}, 0, 0},
		"equal within":        {[][]float64{{2, 2}, {4, 4}}, 0, 2},
		"equal levels":        {[][]float64{{1, 3}, {1, 3}}, 2, 0},
		"a run of one sample": {[][]float64{{1, 3}, {2}}, 2, 0},
	} {
		if within, between, ok := Components(c.runs); !ok || within != c.within || between != c.between {
			t.Errorf("%s: within %g, between %g, %v, want %g, %g", name, within, between, ok, c.within, c.between)
		}
	}
}
