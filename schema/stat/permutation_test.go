package stat_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/schema/stat"
	"github.com/neurolens/neurolens/schema/valuetest"
)

func TestPermutationP(t *testing.T) {
	t.Parallel()
	got := stat.PermutationP([]float64{3, 1, 2, 3 + 1e-12})
	valuetest.DeepEqual(t, got, []float64{.5, 1, .75, .5})
}

// drawnP returns p of independent tests under permutation.
func drawnP(seed uint64, tests, draws int) [][]float64 {
	random := rand.New(rand.NewPCG(5, seed))
	all := make([][]float64, tests)
	for i := range all {
		statistics := make([]float64, draws)
		for k := range statistics {
			statistics[k] = random.Float64()
		}
		all[i] = stat.PermutationP(statistics)
	}
	return all
}

// TestAdjustMinP: of independent tests the adjusted p is what Holm gives, but for the product of the chances; tests that are
// the same count once; a test that has no small p does not count.
func TestAdjustMinP(t *testing.T) {
	t.Parallel()
	const draws = 20_000
	p := []float64{.01, .02, .4}
	even := []float64{1, 1, 1}
	independent := drawnP(1, 3, draws)
	same := [][]float64{independent[0], independent[0], independent[0]}
	coarse := slices.Clone(independent)
	coarse[2] = slices.Repeat([]float64{.5}, draws)
	for name, c := range map[string]struct {
		permuted      [][]float64
		weights, want []float64
	}{
		"independent": {independent, even, []float64{1 - .99*.99*.99, 1 - .98*.98, .4}},
		"the same":    {same, even, []float64{.01, .02, .4}},
		"coarse":      {coarse, even, []float64{1 - .99*.99, .02, .4}},
		// The second one comes first, and then the first one as 0.1.
		"weights": {independent, []float64{.1, 1, 1}, []float64{1 - .99*.9, 1 - .998*.98*.98, .4}},
	} {
		got := stat.AdjustMinP(p, c.permuted, c.weights)
		for i := range got {
			if math.Abs(got[i]-c.want[i]) > .006 {
				t.Errorf("%s: got %v, want %v", name, got, c.want)
				break
			}
		}
	}
	valuetest.DeepEqual(t, stat.AdjustMinP(nil, nil, nil), nil, "of no tests")
}

// TestAdjustMinPMonotone: the adjusted p have the order of the weighted ones and are no less than p.
func TestAdjustMinPMonotone(t *testing.T) {
	t.Parallel()
	permuted := drawnP(2, 6, 999)
	p := []float64{.3, .001, .5, .002, .9, .04}
	adjusted := stat.AdjustMinP(p, permuted, slices.Repeat([]float64{1}, len(p)))
	for i := range p {
		for k := range p {
			if p[i] < p[k] && adjusted[i] > adjusted[k] {
				t.Errorf("%v of %v, %v of %v", adjusted[i], p[i], adjusted[k], p[k])
			}
		}
		if adjusted[i] < p[i] {
			t.Errorf("%v of %v", adjusted[i], p[i])
		}
	}
}

func TestAutocorrelated(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ p, rho, want float64 }{
		{.05, 0, .05}, {.05, -.5, .05}, {1, .5, 1}, {.05, .6, .32710}, {.001, .6, .09992},
	} {
		valuetest.Near(t, stat.Autocorrelated(c.p, c.rho), c.want, 1e-4, "p", c.p, "rho", c.rho)
	}
	if got := stat.Autocorrelated(.01, 1); !(got > .5 && got < 1) {
		t.Errorf("of what does not vary %v", got)
	}
}

func TestMidRanks(t *testing.T) {
	t.Parallel()
	got := stat.Ranks([]float64{3, math.NaN(), 1, 3, 2})
	for i, want := range []float64{3.5, math.NaN(), 1, 3.5, 2} {
		if got[i] != want && !(math.IsNaN(got[i]) && math.IsNaN(want)) {
			t.Errorf("got %v", got)
		}
	}
}
