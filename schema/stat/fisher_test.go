package stat

import (
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestFisherExact: scipy.stats.fisher_exact([[hits, misses], [otherHits, otherMisses]], alternative="greater").
func TestFisherExact(t *testing.T) {
	for _, c := range []struct {
		hits, misses, otherHits, otherMisses int
		p                                    float64
	}{
		{4, 1, 0, 5, 0.023809523809523808},
		{2, 3, 0, 5, 0.2222222222222222},
		{3, 1, 1, 3, 0.24285714285714285},
		{0, 5, 0, 5, 1},
		{5, 0, 5, 0, 1},
	} {
		valuetest.Near(t, FisherExact(c.hits, c.misses, c.otherHits, c.otherMisses), c.p, 1e-12, c)
	}
}
