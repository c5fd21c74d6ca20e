package compare_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/query/compare"
)

// TestMoreRunsSettle: where what was seen is the truth, as many more runs as an inconclusive pair asks for settle it in at
// least 7 of 10 cases, and a quarter of them in fewer than half.
func TestMoreRunsSettle(t *testing.T) {
	t.Parallel()
	gate, strict := compare.Rules{Gate: true}, compare.Rules{Strict: true}
	for _, c := range []moreRuns{
		{"beyond the dead zone", 1, 6, .05, false, compare.Rules{}},
		{"beyond it, strict", 1, 6, .05, false, strict},
		{"within it", 1, 6, 0, false, compare.Rules{}},
		{"blocks", 1, 6, .05, true, compare.Rules{}},
		{"one of 30", 30, 6, .05, false, compare.Rules{}},
		{"one of 30 in a gate", 30, 6, .05, false, gate},
		{"one of 30 in a gate, too few runs", 30, 4, .06, false, gate},
		{"one of 100 in a gate", 100, 6, .07, false, gate},
	} {
		random := rand.New(rand.NewPCG(6, 6))
		cases := 400
		if !long() {
			cases = 100
		}
		var asked, settled, early int
		for asked < cases {
			pairs := c.pairs(random)
			o := compare.Judge(pairs, c.rules).Outcomes[0]
			if o.Verdict != compare.Inconclusive || o.MoreRuns == 0 || o.MoreRuns > 200 {
				continue
			}
			asked++
			if c.settles(random, pairs, o, o.MoreRuns/4) {
				early++
			}
			if c.settles(random, pairs, o, o.MoreRuns) {
				settled++
			}
		}
		if float64(settled) < .7*float64(cases) || float64(early) > .5*float64(cases) {
			t.Errorf("%s: of %d that ask for more runs these settle %d, a quarter of them %d", c.name, asked, settled, early)
		}
	}
}

// moreRuns is a family of which the first pair is slower.
type moreRuns struct {
	name   string
	family int
	runs   int
	slower float64
	blocks bool
	rules  compare.Rules
}

func (c moreRuns) pairs(random *rand.Rand) []compare.Pair {
	const deviation = .04
	pairs := make([]compare.Pair, c.family)
	for i := range pairs {
		pairs[i] = twoPercent(normal(random, c.runs, 0, deviation), normal(random, c.runs, 0, deviation))
	}
	pairs[0].Head = normal(random, c.runs, c.slower, deviation)
	if c.blocks {
		pairs[0].Blocks = normal(random, c.runs, c.slower, deviation)
	}
	return pairs
}

// settles adds runs that are as those of the first pair are estimated to be.
func (c moreRuns) settles(random *rand.Rand, pairs []compare.Pair, o compare.Outcome, runs int) bool {
	more := slices.Clone(pairs)
	deviation := math.Sqrt(o.Variance)
	add := func(to []float64, level float64) []float64 {
		return slices.Concat(to, normal(random, runs, level, deviation))
	}
	for i := range more {
		change := 0.
		if i == 0 {
			change = o.Change.Value
		}
		p, base := &more[i], mean(more[i].Base)
		p.Base, p.Head = add(p.Base, base), add(p.Head, base+change)
		if len(p.Blocks) > 0 {
			p.Blocks = add(p.Blocks, change)
		}
	}
	return compare.Judge(more, c.rules).Outcomes[0].Verdict != compare.Inconclusive
}

// BenchmarkJudge compares 100,000 points of 10 runs a side.
func BenchmarkJudge(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	pairs := make([]compare.Pair, 100_000)
	for i := range pairs {
		pairs[i] = twoPercent(normal(random, 10, 0, .01), normal(random, 10, 0, .01))
	}
	b.ReportAllocs()
	for b.Loop() {
		compare.Judge(pairs, compare.Rules{})
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(pairs)), "ns/pair")
}
