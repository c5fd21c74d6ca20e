package stat

import (
	"math"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestBinomialTail: against the chances of each number summed up, and at the ends.
func TestBinomialTail(t *testing.T) {
	t.Parallel()
	for n := range 31 {
		for _, p := range []float64{.001, .2, .5, .9} {
			chance, sum := math.Pow(p, float64(n)), 0. // of all n
			for k := n; k >= 0; k-- {
				sum += chance
				valuetest.Near(t, BinomialTail(n, k, p), sum, 1e-12*sum, "P(B >=", k, n, p)
				chance *= float64(k) / float64(n-k+1) * (1 - p) / p
			}
		}
	}
	for _, c := range []struct {
		n, k    int
		p, want float64
	}{{5, 1, 0, 0}, {5, 0, 0, 1}, {5, 5, 1, 1}, {5, 6, .5, 0}, {5, -1, .5, 1}, {0, 0, .5, 1}, {5, 1, -.1, math.NaN()}, {5, 1, math.NaN(), math.NaN()}} {
		if got := BinomialTail(c.n, c.k, c.p); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("P(B >= %d) of %d, %g: %g, want %g", c.k, c.n, c.p, got, c.want)
		}
	}
}
