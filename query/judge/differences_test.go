package judge_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestDifferencesApart: pairs by difference lend no variance to pairs by ratio, and are corrected for together with them: without a change,
// at most 5 % of families have a changed pair. The values by difference are small counts, often 0, or differ in size by six decades.
func TestDifferencesApart(t *testing.T) {
	t.Parallel()
	families := 400
	if testing.Short() {
		families = 100
	}
	for what, of := range map[string]func(random *rand.Rand, i int) float64{
		"counts":  func(random *rand.Rand, i int) float64 { return float64(random.IntN(2 + i%3)) },
		"decades": func(random *rand.Rand, i int) float64 { return math.Pow(10, float64(i%7)) * (5 + random.NormFloat64()) },
		"outliers": func(random *rand.Rand, i int) float64 {
			return math.Pow(10, float64(i%7)) * (5 + .1*random.NormFloat64()) * []float64{1, 3}[random.IntN(12)/11]
		},
		"coin":     func(random *rand.Rand, _ int) float64 { return float64(random.IntN(2)) },
		"mostly 0": func(random *rand.Rand, _ int) float64 { return math.Floor(random.ExpFloat64() * .8) },
	} {
		random := rand.New(rand.NewPCG(9, 44))
		var any [2]float64
		for n := range families {
			runs, blocks := 5+n%5, (5+n%5)*(n%2)
			var pairs []judge.Pair
			for i := range 30 {
				p := twoPercent(normal(random, runs, 7, .01), normal(random, runs, 7, .01))
				if i%2 == 0 {
					p = judge.Pair{Base: make([]float64, runs), Head: make([]float64, runs), Lower: true, Difference: true}
					for k := range p.Base {
						p.Base[k], p.Head[k] = of(random, i), of(random, i)
					}
				}
				for k := range blocks {
					p.Blocks = append(p.Blocks, p.Head[k]-p.Base[k])
				}
				pairs = append(pairs, p)
			}
			for g, rules := range []judge.Rules{{}, {Gate: true}} {
				j := judge.Alone(pairs, rules)
				valuetest.Equal(t, j.Family, len(pairs), what, "corrected for")
				if prior := j.Outcomes[1].Prior; !(prior.Variance < 1e-3) {
					t.Fatalf("%s: a ratio borrows %+v", what, prior)
				}
				if slices.ContainsFunc(j.Outcomes, func(o judge.Outcome) bool { return o.Verdict == judge.Regressed || o.Verdict == judge.Improved }) {
					any[g]++
				}
			}
		}
		for g, n := range any {
			share, all := n/float64(families), float64(families)
			t.Logf("%s: gate %t: %.3f", what, g == 1, share)
			if share > .05+3*math.Sqrt(.05*.95/all) {
				t.Errorf("%s: %.1f %% of families without a change have a changed pair (gate %t)", what, 100*share, g == 1)
			}
		}
	}
}
