package judge_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// growth is how data grow from one look to the next.
type growth struct {
	name string
	more func(have, said int) int // runs, of so many that there are and so many that are said to settle it
}

var growths = []growth{
	{"one by one", func(int, int) int { return 1 }},
	{"as said", func(_, said int) int { return max(said, 1) }},
	{"half as many again", func(have, _ int) int { return (have + 1) / 2 }},
	{"twice as many", func(have, _ int) int { return have }},
}

const (
	maxLooks = 20
	maxGrown = 150
)

// calls reports whether a user who looks at unchanged points, and adds runs until a change is found or everything is
// decided, ends with a change.
func (g growth) calls(random *rand.Rand, points, runs int) bool {
	const sd = .05
	pairs := make([]judge.Pair, points)
	for look := 1; look <= maxLooks && len(pairs[0].Base)+runs <= maxGrown; look++ {
		for i := range pairs {
			p := &pairs[i]
			p.Lower, p.Margin, p.Looks = true, math.Log(1.02), look
			for range runs {
				b, h := sd*random.NormFloat64(), sd*random.NormFloat64()
				p.Base, p.Head, p.Blocks = append(p.Base, b), append(p.Head, h), append(p.Blocks, h-b)
			}
		}
		said := 0
		for _, o := range judge.Alone(pairs, judge.Rules{}).Outcomes {
			switch o.Verdict {
			case judge.Regressed, judge.Improved:
				return true
			case judge.Inconclusive:
				said = max(said, o.MoreRuns, 1)
			}
		}
		if said == 0 {
			return false
		}
		runs = g.more(len(pairs[0].Base), said)
	}
	return false
}

// TestLooks: data that are judged while they grow, and grow until a change is found, are called changed in
// at most 5 % of cases if nothing changed.
func TestLooks(t *testing.T) {
	t.Parallel()
	cases := 300
	if torture() {
		cases = 6000
	}
	for _, points := range []int{1, 12} {
		for _, first := range []int{5, 6} {
			for _, g := range growths {
				t.Run(fmt.Sprintf("%d points from %d runs on, %s", points, first, g.name), func(t *testing.T) {
					t.Parallel()
					n, called := cases/points, 0
					for seed := range n {
						if g.calls(rand.New(rand.NewPCG(uint64(seed), uint64(first))), points, first) {
							called++
						}
					}
					t.Logf("%.1f %% called, of %d", 100*float64(called)/float64(n), n)
					if limit := judge.Level + 3*math.Sqrt(judge.Level*(1-judge.Level)/float64(n)); float64(called) > limit*float64(n) {
						t.Errorf("%d of %d are called, at most %.1f %% may be", called, n, 100*limit)
					}
				})
			}
		}
	}
}

// TestSettledSessions: sessions that were measured until settled are combined one after another until
// a change is found or there are six. If nothing changed, this happens in at most 5 % of cases.
func TestSettledSessions(t *testing.T) {
	t.Parallel()
	cases := 200
	if torture() {
		cases = 4000
	}
	for _, points := range []int{1, 12} {
		n, found := cases/points, 0
		for seed := range n {
			if settledSessions(rand.New(rand.NewPCG(uint64(seed), uint64(points))), points, 6) {
				found++
			}
		}
		t.Logf("%d points: %.1f %% called, of %d", points, 100*float64(found)/float64(n), n)
		if limit := judge.Level + 3*math.Sqrt(judge.Level*(1-judge.Level)/float64(n)); float64(found) > limit*float64(n) {
			t.Errorf("%d points: %d of %d are called, at most %.1f %% may be", points, found, n, 100*limit)
		}
	}
}

// settledSessions reports whether an unchanged point is called changed when sessions are combined one by one.
func settledSessions(random *rand.Rand, points, sessions int) bool {
	looks := []int{6, 9, 14, 20, 30}
	all := make([]judge.Pair, points)
	for session := 1; session <= sessions; session++ {
		now := make([]judge.Pair, points)
		open := make([]int, points)
		for i := range now {
			now[i] = judge.Pair{Lower: true, Margin: math.Log(1.02), Looks: len(looks), Planned: len(looks)}
			open[i] = i
		}
		for _, look := range looks {
			for _, i := range open {
				grow(random, &now[i], look-len(now[i].Base))
			}
			outcomes := judge.Alone(now, judge.Rules{Gate: true}).Outcomes
			open = slices.DeleteFunc(open, func(i int) bool { return outcomes[i].Verdict != judge.Inconclusive })
		}
		for i, p := range now {
			a := &all[i]
			a.Lower, a.Margin, a.Looks = true, p.Margin, len(looks)
			if a.Planned = len(looks); session > 1 {
				a.Planned *= session * (session + 1)
			}
			a.Base, a.Head, a.Blocks = append(a.Base, p.Base...), append(a.Head, p.Head...), append(a.Blocks, p.Blocks...)
		}
		if slices.ContainsFunc(judge.Alone(all, judge.Rules{}).Outcomes, func(o judge.Outcome) bool {
			return o.Verdict == judge.Regressed || o.Verdict == judge.Improved
		}) {
			return true
		}
	}
	return false
}

// grow adds blocks to a point with a variation of 5 %.
func grow(random *rand.Rand, p *judge.Pair, blocks int) {
	for range blocks {
		b, h := .05*random.NormFloat64(), .05*random.NormFloat64()
		p.Base, p.Head, p.Blocks = append(p.Base, b), append(p.Head, h), append(p.Blocks, h-b)
	}
}

// TestPlannedLooks: each planned look has an equal share of the level, from the first on, for p and for the interval.
func TestPlannedLooks(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	p := twoPercent(normal(random, 20, 0, .05), normal(random, 20, .05, .05))
	alone := judge.Alone([]judge.Pair{p}, judge.Rules{}).Outcomes[0]
	p.Looks, p.Planned = 1, 5
	planned := judge.Alone([]judge.Pair{p}, judge.Rules{}).Outcomes[0]
	if planned.P != alone.P || math.Abs(planned.Adjusted-5*alone.Adjusted) > 1e-12 {
		t.Errorf("p %g, adjusted %g of 5 looks; of one %g, %g", planned.P, planned.Adjusted, alone.P, alone.Adjusted)
	}
	if planned.Change.Confidence < .99 || planned.Change.Low >= alone.Change.Low || planned.Change.High <= alone.Change.High {
		t.Errorf("interval %+v of 5 looks; of one %+v", planned.Change, alone.Change)
	}
}

// TestLaterLooks: the k-th look has 1/(k(k+1)) of the level, for p and for the interval; a single look has all of it.
func TestLaterLooks(t *testing.T) {
	t.Parallel()
	for look, want := range []float64{1, 1, 1. / 6, 1. / 12, 1. / 20} {
		valuetest.Equal(t, judge.Spend(look, 0), want, "look", look, "may spend")
	}
	random := rand.New(rand.NewPCG(1, 2))
	p := twoPercent(normal(random, 20, 0, .05), normal(random, 20, .05, .05))
	alone := judge.Alone([]judge.Pair{p}, judge.Rules{}).Outcomes[0]
	p.Looks = 3
	third := judge.Alone([]judge.Pair{p}, judge.Rules{}).Outcomes[0]
	if math.Abs(third.Adjusted-12*alone.Adjusted) > 1e-12 || third.Change.Low >= alone.Change.Low {
		t.Errorf("p %g and %+v at the third look, %g and %+v at the only one", third.Adjusted, third.Change, alone.Adjusted, alone.Change)
	}
}
