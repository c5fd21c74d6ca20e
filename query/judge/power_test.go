package judge_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/neurolens/neurolens/query/judge"
)

// TestMinDetectableEffect: of changes as large as announced before a session, about four in five are found by it, whatever the noise and the
// numbers of blocks and points, and hardly any of half that size beyond the threshold.
func TestMinDetectableEffect(t *testing.T) {
	t.Parallel()
	draws := 60
	if torture() {
		draws = 600
	}
	for _, c := range []struct {
		deviation      float64
		blocks, points int
	}{{.02, 6, 1}, {.05, 6, 12}, {.05, 10, 12}, {.1, 20, 6}, {.003, 6, 12}} {
		found, small := 0, 0
		for seed := range draws {
			random := rand.New(rand.NewPCG(uint64(seed), uint64(c.blocks)))
			change, ok := judge.MinDetectableEffect(normal(random, 400, 0, math.Sqrt2*c.deviation), math.Log(1.02), c.blocks, c.points, 1)
			if !ok {
				t.Fatal("nothing can be seen")
			}
			judged := func(change float64) bool {
				pairs := make([]judge.Pair, c.points)
				for i := range pairs {
					base, head := normal(random, c.blocks, 0, c.deviation), normal(random, c.blocks, 0, c.deviation)
					for k := range head {
						if i == 0 {
							head[k] += change
						}
						pairs[i].Blocks = append(pairs[i].Blocks, head[k]-base[k])
					}
					pairs[i].Base, pairs[i].Head, pairs[i].Lower, pairs[i].Margin = base, head, true, math.Log(1.02)
				}
				return judge.Alone(pairs, judge.Rules{Gate: true}).Outcomes[0].Verdict == judge.Regressed
			}
			if judged(change) {
				found++
			}
			if judged(change / 2) {
				small++
			}
		}
		share := float64(found) / float64(draws)
		t.Logf("%+v: %.0f %% found, of half the size %.0f %%", c, 100*share, 100*float64(small)/float64(draws))
		if spare := 3 * math.Sqrt(.8*(1-.8)/float64(draws)); share < .65-spare || share > .95+spare || small > draws/2 {
			t.Errorf("%+v: %.0f %% of what is said to be seen is found, of half the size %.0f %%", c, 100*share, 100*float64(small)/float64(draws))
		}
	}
	if _, ok := judge.MinDetectableEffect([]float64{.1}, .02, 6, 1, 1); ok {
		t.Error("one block says what can be seen")
	}
	once, _ := judge.MinDetectableEffect([]float64{.1, -.1, .05}, .02, 6, 1, 1)
	if often, _ := judge.MinDetectableEffect([]float64{.1, -.1, .05}, .02, 6, 1, 5); often <= once {
		t.Errorf("with five looks %g is seen, with one %g", often, once)
	}
}
