package judge_test

import (
	"math/rand/v2"
	"testing"

	"github.com/neurolens/neurolens/query/judge"
)

// BenchmarkJudge compares 100,000 points of 10 runs a side.
func BenchmarkJudge(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	pairs := make([]judge.Pair, 100_000)
	for i := range pairs {
		pairs[i] = twoPercent(normal(random, 10, 0, .01), normal(random, 10, 0, .01))
	}
	b.ReportAllocs()
	for b.Loop() {
		judge.Alone(pairs, judge.Rules{})
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(pairs)), "ns/pair")
}

// TestJudgeNothing: there may be no family to judge, for example if a comparison has no points from different sessions.
func TestJudgeNothing(t *testing.T) {
	t.Parallel()
	for _, rules := range []judge.Rules{{}, {Gate: true}} {
		if got := judge.Judge(nil, rules); len(got) != 0 {
			t.Errorf("%+v: %+v", rules, got)
		}
	}
}

// TestRules: the outcome names the test with the largest p.
func TestRules(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	slower := func(n, m int, by, deviation float64) judge.Pair {
		return twoPercent(normal(random, n, 0, deviation), normal(random, m, by, deviation))
	}
	family := func(first judge.Pair, other func() judge.Pair) (pairs []judge.Pair) {
		pairs = append(pairs, first)
		for range 20 {
			pairs = append(pairs, other())
		}
		return pairs
	}
	calm := func() judge.Pair { return slower(8, 8, 0, .01) }
	apart := func(p judge.Pair, history ...float64) judge.Pair {
		p.Confounded, p.History = true, history
		return p
	}
	same := twoPercent([]float64{1, 1, 1, 1, 1}, []float64{2, 2, 2, 2, 2})
	jumping := func() judge.Pair {
		p := slower(3, 3, 0, .01)
		p.Base[0] += .2
		return p
	}
	varied := slower(20, 5, .1, .002)
	for i := range varied.Head {
		varied.Head[i] += .03 * random.NormFloat64()
	}
	night := func(k int) judge.Pair {
		history := []float64{0, .001, -.001, .001, 0, -.001, .001, 0, .002, 0}
		history[k%10] = .2
		return apart(slower(8, 8, 0, .001), history...)
	}
	k := 0
	for _, c := range []struct {
		want  judge.Rule
		pairs []judge.Pair
	}{
		{judge.RuleT, []judge.Pair{slower(8, 8, .02, .01)}},
		{judge.RuleModerated, family(slower(8, 8, .02, .01), calm)},
		{judge.RuleSides, family(varied, func() judge.Pair { return slower(20, 5, 0, .002) })},
		{judge.RuleRanks, []judge.Pair{same}},
		{judge.RuleJumps, family(slower(3, 3, .2, .001), jumping)},
		{judge.RuleSessions, []judge.Pair{apart(slower(8, 8, .1, .001), 0, .02, -.01, .03, .01, -.02, 0)}},
		{judge.RuleNights, family(apart(slower(8, 8, .2, .001), 0, .001, -.001, .001, 0, -.001, .001), func() judge.Pair { k++; return night(k) })},
		{"", []judge.Pair{slower(2, 2, .1, .01)}},
	} {
		if o := judge.Alone(c.pairs, judge.Rules{}).Outcomes[0]; o.Rule != c.want {
			t.Errorf("%s, p %g, want %s", o.Rule, o.P, c.want)
		}
	}
}

// TestRunsThatAreAllAlike: if no run of either side differs from another, the family's single runs decide whether the sides differ.
// With fewer than 10 points there is no verdict, and 3 runs are not enough for a step that single runs make elsewhere.
func TestRunsThatAreAllAlike(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what         string
		runs, points int
		by, step     float64 // what the first point changed by, and what a run of each third other one is off by
		rule         judge.Rule
		verdict      judge.Verdict
		pAtLeast     float64
	}{
		{"nobody is off by as much", 3, 10, .4, .1, judge.RuleJumps, judge.Regressed, 0},
		{"a family too small", 3, 9, .4, .1, judge.RuleRanks, judge.Inconclusive, .09},
		{"some are", 3, 10, .1, .1, judge.RuleRanks, judge.Inconclusive, .09},
		{"some are, of more runs", 5, 40, .1, .1, judge.RuleRanks, judge.Inconclusive, .007},
		{"some are by what is beyond the dead zone", 3, 40, .0235, .015, judge.RuleRanks, judge.Inconclusive, .09},
		{"no point differs", 5, 40, 0, .1, judge.RuleT, judge.Inconclusive, 1},
	} {
		pairs := []judge.Pair{twoPercent(level(c.runs, 1), level(c.runs, 1+c.by))}
		for i := range c.points - 1 {
			other := twoPercent(level(c.runs, 1), level(c.runs, 1))
			if i%3 == 0 { // most variances are 0, so that none is lent
				other.Base[0] += c.step
			}
			pairs = append(pairs, other)
		}
		o := judge.Alone(pairs, judge.Rules{}).Outcomes[0]
		if c.by > 0 && o.Rule != c.rule || o.P < c.pAtLeast || c.verdict == judge.Regressed != (o.Verdict == judge.Regressed) {
			t.Errorf("%s: %s, %s, p %g", c.what, o.Verdict, o.Rule, o.P)
		}
	}
}

// TestRunsThatAreAllAlikeElsewhere: points with too few runs contribute nothing to others, nor do runs of one session to
// those of another.
func TestRunsThatAreAllAlikeElsewhere(t *testing.T) {
	t.Parallel()
	for runs, apart := range map[int]bool{2: false, 3: true} {
		pairs := []judge.Pair{twoPercent(level(3, 1), level(3, 1.4))}
		for range 12 {
			pairs = append(pairs, twoPercent(level(runs, 1), level(runs, 1)))
		}
		for i := range pairs {
			if apart {
				pairs[i].Confounded, pairs[i].History = true, level(7, 1)
			}
		}
		if o := judge.Alone(pairs, judge.Rules{}).Outcomes[0]; o.Rule != judge.RuleRanks || o.P < .09 {
			t.Errorf("%d runs, of two sessions %v: %s, %s, p %g", runs, apart, o.Verdict, o.Rule, o.P)
		}
	}
}
