package stat

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestBrunnerMunzel: by the example of Brunner and Munzel (pain scores after surgery), which other implementations print too, and at most 6 %
// of pairs of samples of the same location are called different, however they scatter.
func TestBrunnerMunzel(t *testing.T) {
	t.Parallel()
	yes := []float64{1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 1, 1}
	no := []float64{3, 3, 4, 3, 1, 2, 3, 1, 1, 5, 4}
	valuetest.Near(t, brunnerMunzel(yes, no, 1), .0057862, 1e-7, "p")
	if p, q := brunnerMunzel(yes, no, 1), brunnerMunzel(no, yes, 1); math.Abs(p-q) > 1e-12 {
		t.Errorf("p is %g, and %g the other way round", p, q)
	}
	if p := brunnerMunzel(yes, no, 2); p < .05 {
		t.Errorf("with twice the standard error p is %g", p)
	}
	valuetest.Equal(t, brunnerMunzel([]float64{1, 2, 3}, []float64{4, 5, 6}, 1), 0, "of sides that do not overlap p")
	valuetest.Equal(t, brunnerMunzel([]float64{1, 1}, []float64{1, 1}, 1), 1, "of equal values p")
	random := rand.New(rand.NewPCG(73, 1))
	const draws = 2000
	called := 0
	for range draws {
		x := iid(random, 30, func(z float64) float64 { return z })
		y := iid(random, 12, func(float64) float64 { return 10 * float64(2*random.IntN(2)-1) })
		if brunnerMunzel(x, y, 1) < .05 {
			called++
		}
	}
	if called > draws*6/100 {
		t.Errorf("%d of %d pairs of the same location", called, draws)
	}
}
