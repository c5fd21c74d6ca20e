package judge_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema/stat"
)

// normal draws n runs around a level.
func normal(random *rand.Rand, n int, level, deviation float64) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = level + deviation*random.NormFloat64()
	}
	return values
}

// evenly returns n runs around a level at equal distances.
func evenly(n int, level, width float64) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = level + width*(float64(i)/float64(max(n-1, 1))-.5)
	}
	return values
}

func level(n int, value float64) []float64 { return evenly(n, value, 0) }

// twoPercent is a pair of a metric where lower is better, with the default threshold.
func twoPercent(base, head []float64) judge.Pair {
	return judge.Pair{Base: base, Head: head, Lower: true, DeadZone: math.Log(1.02)}
}

// TestVerdicts: pairs that are judged alone.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	in := func(p judge.Pair, change func(p *judge.Pair)) judge.Pair {
		change(&p)
		return p
	}
	slower := twoPercent(evenly(5, 0, .01), evenly(5, .1, .01))
	differences := evenly(6, .1, .01)
	history := []float64{0, .03, -.03, .03, 0, -.03, 0}
	confounded := func(history []float64) func(p *judge.Pair) {
		return func(p *judge.Pair) { p.Confounded, p.History = true, history }
	}
	gate, strict := judge.Rules{Gate: true}, judge.Rules{Strict: true}
	for _, c := range []struct {
		name  string
		pair  judge.Pair
		rules judge.Rules
		want  judge.Verdict
		why   judge.Reason
	}{
		{"slower", slower, judge.Rules{}, judge.Regressed, ""},
		{"faster", twoPercent(slower.Head, slower.Base), judge.Rules{}, judge.Improved, ""},
		{"more is better", in(slower, func(p *judge.Pair) { p.Lower, p.Higher = false, true }), judge.Rules{}, judge.Improved, ""},
		{"neither is better", in(slower, func(p *judge.Pair) { p.Lower = false }), judge.Rules{}, judge.Changed, ""},
		{"slower, strict", slower, strict, judge.Regressed, ""},
		{"slower by 2.5 %", twoPercent(evenly(5, 0, .01), evenly(5, .025, .01)), judge.Rules{}, judge.Regressed, ""},
		{"slower by 2.5 %, strict", twoPercent(evenly(5, 0, .01), evenly(5, .025, .01)), strict, judge.Inconclusive, judge.Noise},
		{"different, within the dead zone", twoPercent(evenly(5, 0, .001), evenly(5, .01, .001)), judge.Rules{}, judge.Unchanged, ""},
		{"the same", twoPercent(evenly(5, 0, .01), evenly(5, 0, .01)), judge.Rules{}, judge.Unchanged, ""},
		{"noise", twoPercent(evenly(5, 0, .2), evenly(5, .1, .2)), judge.Rules{}, judge.Inconclusive, judge.Noise},
		{"one huge outlier", twoPercent(evenly(5, 0, .01), []float64{0, 0, .001, -.001, 9}), judge.Rules{}, judge.Inconclusive, judge.Noise},
		{"two steps of the clock", in(slower, func(p *judge.Pair) { p.Resolution = .06 }), judge.Rules{}, judge.Inconclusive, judge.Quantised},
		{"all runs alike", twoPercent(level(5, 1), level(5, 1)), judge.Rules{}, judge.Unchanged, ""},
		{"all runs 0, no dead zone", judge.Pair{Base: level(5, 0), Head: level(5, 0)}, judge.Rules{}, judge.Unchanged, ""},
		{"5 runs alike a side", twoPercent(level(5, 1), level(5, 2)), judge.Rules{}, judge.Regressed, ""},
		{"3 runs alike a side", twoPercent(level(3, 1), level(3, 2)), judge.Rules{}, judge.Inconclusive, judge.Noise},
		{"2 runs", twoPercent(evenly(2, 0, 1e-6), evenly(9, 5, 1e-6)), judge.Rules{}, judge.Inconclusive, judge.FewRuns},
		{"1 run", twoPercent(level(1, 0), level(1, 5)), judge.Rules{}, judge.Inconclusive, judge.FewRuns},
		{"no runs", twoPercent(nil, level(5, 0)), judge.Rules{}, judge.Inconclusive, judge.NoValues},
		{"gate, 4 runs", twoPercent(evenly(4, 0, .01), evenly(9, .5, .01)), gate, judge.Inconclusive, judge.FewRuns},
		{"gate, 5 runs", slower, gate, judge.Regressed, ""},
		{"barred", in(slower, func(p *judge.Pair) { p.Barred = judge.Clocks }), judge.Rules{}, judge.Estimate, judge.Clocks},
		{"sessions, 6 known", in(slower, confounded(history[:6])), judge.Rules{}, judge.Inconclusive, judge.Sessions},
		{"sessions, 7 known", in(slower, confounded(history)), judge.Rules{}, judge.Inconclusive, judge.Noise},
		{"sessions, 1 apart", in(slower, func(p *judge.Pair) {
			confounded(history)(p)
			p.Head = evenly(5, 1, .01)
		}), judge.Rules{}, judge.Regressed, ""},
		{"6 blocks", in(twoPercent(evenly(6, 0, 5), evenly(6, .1, 5)), func(p *judge.Pair) { p.Blocks = differences }), gate, judge.Regressed, ""},
		{"5 blocks", in(twoPercent(evenly(6, 0, 5), evenly(6, .1, 5)), func(p *judge.Pair) { p.Blocks = differences[:5] }), gate, judge.Inconclusive, judge.Noise},
	} {
		o := judge.Alone([]judge.Pair{c.pair}, c.rules).Outcomes[0]
		if o.Verdict != c.want || o.Reason != c.why {
			t.Errorf("%s: %s %q, want %s %q: %+v", c.name, o.Verdict, o.Reason, c.want, c.why, o)
		}
	}
}

// TestTooFewRunsAreNeverJudged: this also holds in a family of pairs with known variance, and they do not count in it.
func TestTooFewRunsAreNeverJudged(t *testing.T) {
	t.Parallel()
	families(t, func(t *testing.T, _ *rand.Rand, pairs []judge.Pair, r judge.Rules) {
		least := 3
		if r.Gate {
			least = 5
		}
		for i, o := range judge.Alone(pairs, r).Outcomes {
			few := pairs[i].Runs() < least && len(pairs[i].Blocks) < 6
			if few && (o.Verdict != judge.Inconclusive && o.Verdict != judge.Estimate || !math.IsNaN(o.P)) {
				t.Errorf("%d runs are %s, p %g", pairs[i].Runs(), o.Verdict, o.P)
			}
		}
	})
}

// TestMethods: what each interval is computed from.
func TestMethods(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		runs, blocks int
		want         judge.Method
	}{{3, 0, judge.MethodT}, {4, 0, judge.MethodRuns}, {10, 5, judge.MethodRuns}, {10, 6, judge.MethodBlocks}} {
		pair := twoPercent(evenly(c.runs, 0, .01), evenly(c.runs, 0, .01))
		pair.Blocks = evenly(c.blocks, 0, .01)
		o := judge.Alone([]judge.Pair{pair}, judge.Rules{}).Outcomes[0]
		if o.Method != c.want || !(o.Change.Confidence >= judge.Confidence) {
			t.Errorf("%d runs, %d blocks: %s, confidence %g, want %s", c.runs, c.blocks, o.Method, o.Change.Confidence, c.want)
		}
	}
}

// TestBorrowedVariance: 10 pairs borrow their variances from one another, 9 do not. If all variances are equal, the variance is treated as known.
func TestBorrowedVariance(t *testing.T) {
	t.Parallel()
	var pairs []judge.Pair
	for range 10 {
		pairs = append(pairs, twoPercent(evenly(5, 0, .01), evenly(5, .1, .01)))
	}
	if j := judge.Alone(pairs[:9], judge.Rules{}); j.Outcomes[0].Prior.DF != 0 || j.Outcomes[0].DF != 8 {
		t.Errorf("9 pairs: %+v", j.Outcomes[0])
	}
	j := judge.Alone(pairs, judge.Rules{})
	if !math.IsInf(j.Outcomes[0].Prior.DF, 1) || !math.IsInf(j.Outcomes[0].DF, 1) || j.Outcomes[0].Verdict != judge.Regressed {
		t.Errorf("10 pairs alike: %+v", j.Outcomes[0])
	}
	// One that is noisier than the rest is not taken for calm.
	pairs[0] = twoPercent(evenly(5, 0, .5), evenly(5, .1, .5))
	if o := judge.Alone(pairs, judge.Rules{}).Outcomes[0]; o.Verdict != judge.Inconclusive {
		t.Errorf("a noisy pair among calm ones: %+v", o)
	}
}

// TestIntervalLeavesOutZero: p of pairs with a common variance is below 0.05, although the rank interval of 5 runs per side
// contains 0.
func TestIntervalLeavesOutZero(t *testing.T) {
	t.Parallel()
	var pairs []judge.Pair
	for range 10 {
		pairs = append(pairs, twoPercent(evenly(5, 0, .1), evenly(5, .055, .1)))
	}
	o := judge.Alone(pairs, judge.Rules{}).Outcomes[0]
	if !(o.P < judge.Level && o.Adjusted == 1 && o.Change.Low < 0) || o.Verdict != judge.Inconclusive {
		t.Errorf("%+v", o)
	}
}

// TestBlocksLendToBlocks: the variance of a difference is not that of a run.
func TestBlocksLendToBlocks(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 5))
	var pairs []judge.Pair
	for i := range 40 {
		p := twoPercent(normal(random, 8, 0, .1), normal(random, 8, 0, .1))
		if i%2 == 0 {
			p.Blocks = normal(random, 8, 0, .001)
		}
		pairs = append(pairs, p)
	}
	all := judge.Alone(pairs, judge.Rules{}).Outcomes
	if runs, blocks := all[1].Prior, all[0].Prior; !(runs.Variance > .003 && blocks.Variance < 1e-5) {
		t.Errorf("runs %+v, blocks %+v", runs, blocks)
	}
}

// TestSessionsAreNotTheRuns: if the variation between sessions is unknown, there is no verdict; if it is known, the
// interval covers the difference of the sessions.
func TestSessionsAreNotTheRuns(t *testing.T) {
	t.Parallel()
	pair := twoPercent(evenly(9, 0, .001), evenly(9, .05, .001))
	calm := judge.Alone([]judge.Pair{pair}, judge.Rules{}).Outcomes[0]
	pair.Confounded, pair.History = true, []float64{0, .05, 0, .04, .01, .05, 0}
	o := judge.Alone([]judge.Pair{pair}, judge.Rules{}).Outcomes[0]
	if calm.Verdict != judge.Regressed || o.Verdict == judge.Regressed {
		t.Errorf("one session: %s, two that differ by as much as any: %s", calm.Verdict, o.Verdict)
	}
	if !(o.Change.Low < calm.Change.Low && o.Change.High > calm.Change.High && o.Noise > calm.Noise && o.P > calm.P) {
		t.Errorf("%+v is no wider than %+v", o, calm)
	}
}

// TestSessionTails: p between two sessions is below a level no more often than the level, however low, so that it can be
// adjusted over many points.
func TestSessionTails(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(8, 1))
	const draws, least = 40_000, .001
	for _, past := range []int{5, 8, 12, 20} {
		pairs := make([]judge.Pair, draws)
		for i := range pairs {
			history := normal(random, past, 0, .02)
			base := history[past-1]
			pairs[i] = twoPercent(evenly(9, base, 1e-4), evenly(9, .02*random.NormFloat64(), 1e-4))
			pairs[i].Confounded, pairs[i].History = true, history
		}
		below := 0
		for _, o := range judge.Alone(pairs, judge.Rules{}).Outcomes {
			if o.P < least {
				below++
			}
		}
		if limit := least*draws + 4*math.Sqrt(least*draws); float64(below) > limit {
			t.Errorf("%d sessions: p is below %g in %d of %d, at most %.0f should be", past, least, below, draws, limit)
		}
	}
}

// TestNoNumbers: a pair with a value that is not finite, or too large to be subtracted, has no change, and the others are not
// affected.
func TestNoNumbers(t *testing.T) {
	t.Parallel()
	usual := evenly(5, 0, .01)
	for _, odd := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64} {
		one := slices.Clone(usual)
		one[2] = odd
		pairs := []judge.Pair{
			twoPercent(usual, one), twoPercent(one, usual), twoPercent(one, one), twoPercent(level(5, -odd), level(5, odd)),
		}
		odds := len(pairs)
		for range 10 {
			pairs = append(pairs, twoPercent(usual, usual))
		}
		for i, o := range judge.Alone(pairs, judge.Rules{}).Outcomes {
			if i < odds && o.Verdict != judge.Inconclusive || i >= odds && o.Verdict != judge.Unchanged {
				t.Errorf("%g, pair %d: %+v", odd, i, o)
			}
		}
	}
	if j := judge.Alone(nil, judge.Rules{}); len(j.Outcomes) != 0 || j.Family != 0 {
		t.Errorf("no pairs: %+v", j)
	}
}

// TestGateOverFamilies: a gate is one decision, whatever the number of metrics.
func TestGateOverFamilies(t *testing.T) {
	t.Parallel()
	family := func(shift float64) []judge.Pair {
		return []judge.Pair{twoPercent(evenly(6, 0, .03), evenly(6, shift, .03))}
	}
	families := [][]judge.Pair{family(.05), family(.03), family(.06)}
	together := judge.Judge(families, judge.Rules{Gate: true})
	var p []float64
	for _, j := range together {
		p = append(p, j.Outcomes[0].P)
	}
	for i, want := range stat.Holm(p) {
		if got := together[i]; got.Outcomes[0].Adjusted != want || got.Family != 3 {
			t.Errorf("family %d: adjusted %g of %d, want %g of 3", i, got.Outcomes[0].Adjusted, got.Family, want)
		}
	}
	for i, j := range judge.Judge(families, judge.Rules{}) {
		if j.Family != 1 || j.Outcomes[0].Adjusted != j.Outcomes[0].P {
			t.Errorf("family %d without a gate: adjusted %g of %d, p %g", i, j.Outcomes[0].Adjusted, j.Family, j.Outcomes[0].P)
		}
	}
}

// TestBlocksThatDrift: a head that becomes slower from block to block is slower, and its variance is not underestimated.
func TestBlocksThatDrift(t *testing.T) {
	t.Parallel()
	var pairs []judge.Pair
	for range 40 {
		p := twoPercent(evenly(20, 0, .001), evenly(20, .42, .02))
		for k := range 20 {
			p.Blocks = append(p.Blocks, .4+.002*float64(k))
		}
		pairs = append(pairs, p)
	}
	for _, o := range judge.Alone(pairs, judge.Rules{}).Outcomes {
		if !(o.Variance > 0 && o.Change.Low > .3 && o.Change.High < .5) || o.Verdict != judge.Regressed {
			t.Fatalf("%+v", o)
		}
	}
}
