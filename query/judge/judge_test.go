package judge_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema/stat"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// family makes pairs up of all kinds: 1 to 10 runs a side, calm and noisy, in blocks, of different sessions, barred.
func family(random *rand.Rand, n int) []judge.Pair {
	pairs := make([]judge.Pair, n)
	for i := range pairs {
		p := judge.Pair{Lower: true, Margin: math.Log(1.02)}
		deviation := .005 * math.Exp(random.NormFloat64())
		change := []float64{0, 0, .03, -.1, .5}[random.IntN(5)]
		runs := 1 + random.IntN(10)
		for range runs {
			p.Base = append(p.Base, 3+deviation*random.NormFloat64())
			p.Head = append(p.Head, 3+change+deviation*random.NormFloat64())
		}
		switch random.IntN(6) {
		case 0:
			for k := range runs {
				p.Blocks = append(p.Blocks, p.Head[k]-p.Base[k])
			}
		case 1:
			p.Confounded = true
			for range random.IntN(12) {
				p.History = append(p.History, 3+.01*random.NormFloat64())
			}
		case 2:
			p.Base = append(p.Base, 3+deviation*random.NormFloat64())
		case 3:
			if random.IntN(3) == 0 {
				p.Barred = judge.Machines
			}
		}
		pairs[i] = p
	}
	return pairs
}

// families runs do for many families with each kind of rules.
func families(t *testing.T, do func(t *testing.T, random *rand.Rand, pairs []judge.Pair, r judge.Rules)) {
	t.Helper()
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(3, seed))
		pairs := family(random, 1+random.IntN(60))
		for _, r := range []judge.Rules{{}, {Strict: true}, {Gate: true}, {Strict: true, Gate: true}} {
			do(t, random, pairs, r)
		}
	}
}

// same compares numbers that are computed in another order, including infinite and missing ones.
func same(a, b float64) bool {
	return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b), 1e-3)
}

// wantSame checks that the outcomes are equal.
func wantSame(t *testing.T, what string, got, want judge.Outcome) {
	t.Helper()
	if got.Verdict != want.Verdict || got.Reason != want.Reason || got.Method != want.Method || got.MoreRuns != want.MoreRuns ||
		!same(got.Change.Value, want.Change.Value) || !same(got.Change.Low, want.Change.Low) ||
		!same(got.Change.High, want.Change.High) || !same(got.P, want.P) || !same(got.Adjusted, want.Adjusted) ||
		!same(got.Noise, want.Noise) || !same(got.Variance, want.Variance) || !same(got.DF, want.DF) {
		t.Errorf("%s:\n%+v, want\n%+v", what, got, want)
	}
}

// TestJudgeIsAntisymmetric: if base and head are swapped, what was slower is faster by the same amount.
func TestJudgeIsAntisymmetric(t *testing.T) {
	t.Parallel()
	opposite := map[judge.Verdict]judge.Verdict{judge.Regressed: judge.Improved, judge.Improved: judge.Regressed}
	changes := 0
	families(t, func(t *testing.T, _ *rand.Rand, pairs []judge.Pair, r judge.Rules) {
		swapped := slices.Clone(pairs)
		for i := range swapped {
			p := &swapped[i]
			p.Base, p.Head = p.Head, p.Base
			p.Blocks = slices.Clone(p.Blocks)
			for k := range p.Blocks {
				p.Blocks[k] = -p.Blocks[k]
			}
		}
		there, back := judge.Alone(pairs, r), judge.Alone(swapped, r)
		for i, want := range there.Outcomes {
			want.Change.Value, want.Change.Low, want.Change.High = -want.Change.Value, -want.Change.High, -want.Change.Low
			if o, ok := opposite[want.Verdict]; ok {
				want.Verdict = o
				changes++
			}
			wantSame(t, "swapped", back.Outcomes[i], want)
		}
	})
	if changes < 100 {
		t.Errorf("only %d of the pairs changed", changes)
	}
}

// TestJudgeKnowsNoUnit: another unit adds a constant to all logarithms and changes no verdict.
func TestJudgeKnowsNoUnit(t *testing.T) {
	t.Parallel()
	scaled := func(logs []float64) []float64 {
		other := slices.Clone(logs)
		for i := range other {
			other[i] += math.Log(1000)
		}
		return other
	}
	families(t, func(t *testing.T, _ *rand.Rand, pairs []judge.Pair, r judge.Rules) {
		other := slices.Clone(pairs)
		for i := range other {
			p := &other[i]
			p.Base, p.Head, p.History = scaled(p.Base), scaled(p.Head), scaled(p.History)
		}
		got := judge.Alone(other, r)
		for i, want := range judge.Alone(pairs, r).Outcomes {
			wantSame(t, "in another unit", got.Outcomes[i], want)
		}
	})
}

// TestJudgeKnowsNoOrder: the order of the pairs and of the runs of a side does not matter. The order of blocks does: it shows whether they are correlated.
func TestJudgeKnowsNoOrder(t *testing.T) {
	t.Parallel()
	families(t, func(t *testing.T, random *rand.Rand, pairs []judge.Pair, r judge.Rules) {
		order := random.Perm(len(pairs))
		permuted := make([]judge.Pair, len(pairs))
		for i, from := range order {
			p := pairs[from]
			p.Base, p.Head = slices.Clone(p.Base), slices.Clone(p.Head)
			for _, values := range [][]float64{p.Base, p.Head} {
				random.Shuffle(len(values), func(a, b int) { values[a], values[b] = values[b], values[a] })
			}
			permuted[i] = p
		}
		want := judge.Alone(pairs, r)
		for i, got := range judge.Alone(permuted, r).Outcomes {
			wantSame(t, "in another order", got, want.Outcomes[order[i]])
		}
	})
}

// TestJudgeAndTheMargin: a larger threshold gives no more changes, and no fewer unchanged pairs.
func TestJudgeAndTheMargin(t *testing.T) {
	t.Parallel()
	moved := 0
	families(t, func(t *testing.T, _ *rand.Rand, pairs []judge.Pair, r judge.Rules) {
		var last []judge.Outcome
		for _, zone := range []float64{0, .005, .02, .05, .2, 1} {
			for i := range pairs {
				pairs[i].Margin = zone
			}
			outcomes := judge.Alone(pairs, r).Outcomes
			for i, was := range last {
				now := outcomes[i]
				more := called(now.Verdict) != 0 && called(was.Verdict) == 0
				fewer := was.Verdict == judge.Unchanged && now.Verdict != was.Verdict
				if more || fewer {
					t.Errorf("a equivalence margin of %g makes %s of %s", zone, now.Verdict, was.Verdict)
				}
				if now.Verdict != was.Verdict {
					moved++
				}
			}
			last = outcomes
		}
	})
	if moved < 100 {
		t.Errorf("only %d verdicts depend on the equivalence margin", moved)
	}
}

// TestFamilyCorrection: p is adjusted over the pairs that can have a verdict, by Benjamini and Hochberg, in a gate by
// Holm. Pairs that are too small to be a change, or whose interval includes no change, have p = 1 there.
func TestFamilyCorrection(t *testing.T) {
	t.Parallel()
	families(t, func(t *testing.T, _ *rand.Rand, pairs []judge.Pair, r judge.Rules) {
		j := judge.Alone(pairs, r)
		var p []float64
		tested := 0
		for i, o := range j.Outcomes {
			p = append(p, o.P)
			if !math.IsNaN(o.P) {
				tested++
				if c := o.Change; math.Abs(c.Value) < o.Margin || c.Low <= 0 && c.High >= 0 {
					p[i] = 1
				}
			}
			unknown := pairs[i].Confounded && len(pairs[i].History) < judge.MinHistory
			if (unknown || pairs[i].Barred != "") && !math.IsNaN(o.P) {
				t.Errorf("a pair that cannot be judged has p %g", o.P)
			}
		}
		valuetest.Equal(t, j.Family, tested, "a family of")
		adjusted := stat.BenjaminiHochberg(p)
		if r.Gate {
			adjusted = stat.Holm(p)
		}
		for i, o := range j.Outcomes {
			if !same(o.Adjusted, adjusted[i]) {
				t.Errorf("p %g adjusted: %g, want %g", o.P, o.Adjusted, adjusted[i])
			}
		}
	})
}

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

// twoPercent returns a pair of a metric where lower is better, with the default threshold.
func twoPercent(base, head []float64) judge.Pair {
	return judge.Pair{Base: base, Head: head, Lower: true, Margin: math.Log(1.02)}
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
		{"different, within the equivalence margin", twoPercent(evenly(5, 0, .001), evenly(5, .01, .001)), judge.Rules{}, judge.Unchanged, ""},
		{"the same", twoPercent(evenly(5, 0, .01), evenly(5, 0, .01)), judge.Rules{}, judge.Unchanged, ""},
		{"noise", twoPercent(evenly(5, 0, .2), evenly(5, .1, .2)), judge.Rules{}, judge.Inconclusive, judge.Noise},
		{"one huge outlier", twoPercent(evenly(5, 0, .01), []float64{0, 0, .001, -.001, 9}), judge.Rules{}, judge.Inconclusive, judge.Noise},
		{"two steps of the clock", in(slower, func(p *judge.Pair) { p.Resolution = .06 }), judge.Rules{}, judge.Inconclusive, judge.Quantised},
		{"all runs alike", twoPercent(level(5, 1), level(5, 1)), judge.Rules{}, judge.Unchanged, ""},
		{"all runs 0, no equivalence margin", judge.Pair{Base: level(5, 0), Head: level(5, 0)}, judge.Rules{}, judge.Unchanged, ""},
		{"5 runs alike a side", twoPercent(level(5, 1), level(5, 2)), judge.Rules{}, judge.Regressed, ""},
		{"3 runs alike a side", twoPercent(level(3, 1), level(3, 2)), judge.Rules{}, judge.Inconclusive, judge.FewRuns},
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
		valuetest.Equal(t, o.Verdict, c.want, c.name, o)
		valuetest.Equal(t, o.Reason, c.why, c.name, o)
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
	valuetest.Equal(t, judge.Alone(pairs, judge.Rules{}).Outcomes[0].Verdict, judge.Inconclusive, "a noisy pair among calm ones")
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
	valuetest.DeepEqual(t, []any{(o.P < judge.Level && o.Adjusted == 1 && o.Change.Low < 0), o.Verdict}, []any{true, judge.Inconclusive}, o)
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

// TestJudgeNothing: there may be no family to judge, for example if a comparison has no points from different sessions.
func TestJudgeNothing(t *testing.T) {
	t.Parallel()
	for _, rules := range []judge.Rules{{}, {Gate: true}} {
		valuetest.DeepEqual(t, judge.Judge(nil, rules), nil, rules)
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
		{judge.RuleFamilySessions, family(apart(slower(8, 8, .2, .001), 0, .001, -.001, .001, 0, -.001, .001), func() judge.Pair { k++; return night(k) })},
		{"", []judge.Pair{slower(2, 2, .1, .01)}},
	} {
		valuetest.Equal(t, judge.Alone(c.pairs, judge.Rules{}).Outcomes[0].Rule, c.want)
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
		{"some are by what is beyond the equivalence margin", 3, 40, .0235, .015, judge.RuleRanks, judge.Inconclusive, .09},
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

// TestIdenticalRunsAreFew: what a verdict on identical runs lacks is not less noise but more runs, and so many more decide.
func TestIdenticalRunsAreFew(t *testing.T) {
	t.Parallel()
	for _, points := range []int{1, 9} {
		for _, rules := range []judge.Rules{{}, {Strict: true}} {
			first := func(runs int) judge.Outcome {
				pairs := []judge.Pair{twoPercent(level(runs, 1), level(runs, 1.4))}
				for range points - 1 {
					pairs = append(pairs, twoPercent(level(runs, 1), level(runs, 1)))
				}
				return judge.Alone(pairs, rules).Outcomes[0]
			}
			o := first(3)
			valuetest.Equal(t, o.Reason, judge.FewRuns, "of", points)
			if more := first(3 + o.MoreRuns); o.MoreRuns == 0 || more.Verdict != judge.Regressed {
				t.Errorf("of %d points, %+v: %d more, p %g: %s", points, rules, o.MoreRuns, more.Adjusted, more.Verdict)
			}
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
