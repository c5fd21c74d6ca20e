package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestAdjustGolden: the example of Benjamini and Hochberg (1995), section 3.2, with the adjusted p of SciPy 1.17.1,
// false_discovery_control; Holm's by hand.
func TestAdjustGolden(t *testing.T) {
	t.Parallel()
	p := []float64{.0001, .0004, .0019, .0095, .0201, .0278, .0298, .0344, .0459, .3240, .4262, .5719, .6528, .7590, 1}
	for name, c := range map[string][2][]float64{
		"Benjamini-Hochberg": {BenjaminiHochberg(p), {
			.0015, .003, .0095, .035625, .0603, 0.06385714, 0.06385714, .0645, .0765, .486, 0.58118182, .714875, 0.75323077, 0.81321429, 1,
		}},
		"Holm": {Holm(p), {.0015, .0056, .0247, .114, .2211, .278, .278, .278, .3213, 1, 1, 1, 1, 1, 1}},
		// The second is no less than the first.
		"Holm of two":   {Holm([]float64{.011, .01}), {.02, .02}},
		"none":          {Holm(nil), nil},
		"none, by rate": {BenjaminiHochberg(nil), nil},
	} {
		if !slices.EqualFunc(c[0], c[1], func(a, b float64) bool { return math.Abs(a-b) < 1e-8 }) {
			t.Errorf("%s: %v, want %v", name, c[0], c[1])
		}
	}
}

// TestAdjustProperties: no p becomes less or more than 1, their order and place stay, Holm's is the larger, and neither
// changes what it was given.
func TestAdjustProperties(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(91, 92))
	for range 500 {
		p := make([]float64, 1+random.IntN(40))
		for i := range p {
			p[i] = math.Round(random.Float64()*random.Float64()*50) / 50
		}
		was := slices.Clone(p)
		holm, rate := Holm(p), BenjaminiHochberg(p)
		valuetest.DeepEqual(t, p, was, "the given p changed")
		for i := range p {
			if rate[i] < p[i] || holm[i] < rate[i] || holm[i] > 1 {
				t.Fatalf("%v: Holm %v, Benjamini-Hochberg %v", p, holm, rate)
			}
			for j := range p {
				if p[i] <= p[j] && (holm[i] > holm[j] || rate[i] > rate[j]) {
					t.Fatalf("%v: Holm %v, Benjamini-Hochberg %v", p, holm, rate)
				}
			}
		}
		// NaN is no member of the family.
		for _, adjust := range []func([]float64) []float64{Holm, BenjaminiHochberg} {
			with := adjust(append([]float64{math.NaN()}, p...))
			if !math.IsNaN(with[0]) || !slices.Equal(with[1:], adjust(p)) {
				t.Fatalf("%v with NaN: %v", p, with)
			}
		}
	}
}
