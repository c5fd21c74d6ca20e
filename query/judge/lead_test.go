package judge_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema/stat"
)

// TestLeadCoverage: the interval for the lead of the point with the lowest median holds in at least 95 % of simulated sessions, less the
// simulation's own error: of equal points, where the choice biases the estimate most, of points with unequal noise, and of one that is
// truly ahead. Intervals that each hold in 95 % of cases are too narrow for the last.
func TestLeadCoverage(t *testing.T) {
	t.Parallel()
	const sessions, points = 600, 8
	covered := func(runs int, together bool, location, noise func(point int) float64) float64 {
		r := rand.New(rand.NewPCG(1, uint64(runs)))
		hits := 0
		for range sessions {
			values, blocks := make([][]float64, points), make([]float64, runs)
			for k := range blocks {
				blocks[k] = .01 * r.NormFloat64()
			}
			best := 0
			for i := range values {
				for k := range runs {
					values[i] = append(values[i], location(i)+blocks[k]+noise(i)*r.NormFloat64())
				}
				if stat.Median(append([]float64{}, values[i]...)) < stat.Median(append([]float64{}, values[best]...)) {
					best = i
				}
			}
			var pairs []judge.Pair
			lead := math.Inf(1) // the true one
			for i := range values {
				if i == best {
					continue
				}
				p := judge.Pair{Base: values[best], Head: values[i], Lower: true}
				for k := range runs {
					p.Blocks = append(p.Blocks, values[i][k]-values[best][k])
				}
				if together {
					p.Looks, p.Planned = 1, points-1
				}
				pairs, lead = append(pairs, p), min(lead, location(i)-location(best))
			}
			var differences []stat.Estimate
			for _, o := range judge.Judge([][]judge.Pair{pairs}, judge.Rules{})[0].Outcomes {
				differences = append(differences, o.Change)
			}
			if low, high := judge.Lead(differences); low <= lead && lead <= high {
				hits++
			}
		}
		return float64(hits) / sessions
	}
	equal := func(int) float64 { return 0 }
	ahead := func(point int) float64 { return .05 * float64(min(point, 1)) }
	steady := func(int) float64 { return .02 }
	unequal := func(point int) float64 { return .01 * float64(1+point) }
	least := .95 - 2.6*math.Sqrt(.95*.05/sessions)
	for _, runs := range []int{4, 6, 12} {
		for name, c := range map[string][2]func(int) float64{"equal": {equal, steady}, "unequal noise": {equal, unequal}, "one is ahead": {ahead, steady}} {
			share := covered(runs, true, c[0], c[1])
			t.Logf("%d runs, %s: %.3f", runs, name, share)
			if share < least {
				t.Errorf("%d runs, %s: %.3f of the intervals hold, want %.3f", runs, name, share, least)
			}
		}
	}
	share := covered(12, false, ahead, steady)
	t.Logf("each interval of 95 %%: %.3f", share)
	if share >= least {
		t.Errorf("each interval of 95 %%: %.3f hold, so that the correction would not be needed", share)
	}
}
