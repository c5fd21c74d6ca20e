package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestBestCut: against every cut tried in turn.
func TestBestCut(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(31, 32))
	deviations := func(values []float64) float64 {
		middle, sum := Quantile(values, .5), 0.0
		for _, v := range values {
			sum += math.Abs(v - middle)
		}
		return sum
	}
	for range 100 {
		n := 20 + random.IntN(100)
		sorted := slices.Sorted(slices.Values(iid(random, n, func(z float64) float64 { return math.Exp(z) })))
		cost := func(cut int) float64 { return deviations(sorted[:cut]) + deviations(sorted[cut:]) }
		least := int(math.Ceil(.1 * float64(n)))
		got := bestCut(sorted)
		if got < least || got > n-least {
			t.Fatalf("cut %d of %d", got, n)
		}
		for cut := least; cut <= n-least; cut++ {
			if cost(cut) < cost(got)-1e-9 {
				t.Fatalf("cut %d costs %g, %d costs %g", got, cost(got), cut, cost(cut))
			}
		}
	}
}

// TestModesGap: two normal modes are found by their distance, whatever the order of the samples, the unit, and a sample
// that is far away.
func TestModesGap(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(33, 34))
	for _, minor := range []float64{.15, .3, .5} {
		sorted := slices.Sorted(slices.Values(iid(random, 200, func(z float64) float64 {
			if random.Float64() < minor {
				return 120 + z
			}
			return 100 + z
		})))
		gap := modesGap(sorted)
		valuetest.Near(t, gap, 20, 1, "modes of 100 and 120", minor, "in the latter: gap")
		far := append(slices.Clone(sorted), 1e6)
		valuetest.Near(t, modesGap(far), gap, .2, "a sample far away makes the gap")
		for i := range sorted {
			sorted[i] *= 8
		}
		valuetest.Equal(t, modesGap(sorted), 8*gap, gap, "times eight")
	}
	// Ashman's D of two normal modes is their distance in standard deviations.
	for _, c := range []struct {
		distance float64
		two      bool
	}{{0, false}, {2, false}, {5, true}} {
		sorted := slices.Sorted(slices.Values(iid(random, 1000, func(z float64) float64 {
			return 100 + z + c.distance*float64(random.IntN(2))
		})))
		valuetest.Equal(t, modesGap(sorted) > 0, c.two, "modes", c.distance, "deviations apart: gap")
	}
}
