package judge_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema/stat"
)

// family makes pairs up of all kinds: 1 to 10 runs a side, calm and noisy, in blocks, of different sessions, barred.
func family(random *rand.Rand, n int) []judge.Pair {
	pairs := make([]judge.Pair, n)
	for i := range pairs {
		p := judge.Pair{Lower: true, DeadZone: math.Log(1.02)}
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

// TestJudgeAndTheDeadZone: a larger threshold gives no more changes, and no fewer unchanged pairs.
func TestJudgeAndTheDeadZone(t *testing.T) {
	t.Parallel()
	moved := 0
	families(t, func(t *testing.T, _ *rand.Rand, pairs []judge.Pair, r judge.Rules) {
		var last []judge.Outcome
		for _, zone := range []float64{0, .005, .02, .05, .2, 1} {
			for i := range pairs {
				pairs[i].DeadZone = zone
			}
			outcomes := judge.Alone(pairs, r).Outcomes
			for i, was := range last {
				now := outcomes[i]
				more := called(now.Verdict) != 0 && called(was.Verdict) == 0
				fewer := was.Verdict == judge.Unchanged && now.Verdict != was.Verdict
				if more || fewer {
					t.Errorf("a dead zone of %g makes %s of %s", zone, now.Verdict, was.Verdict)
				}
				if now.Verdict != was.Verdict {
					moved++
				}
			}
			last = outcomes
		}
	})
	if moved < 100 {
		t.Errorf("only %d verdicts depend on the dead zone", moved)
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
				if c := o.Change; math.Abs(c.Value) < o.DeadZone || c.Low <= 0 && c.High >= 0 {
					p[i] = 1
				}
			}
			unknown := pairs[i].Confounded && len(pairs[i].History) < judge.MinHistory
			if (unknown || pairs[i].Barred != "") && !math.IsNaN(o.P) {
				t.Errorf("a pair that cannot be judged has p %g", o.P)
			}
		}
		if j.Family != tested {
			t.Errorf("a family of %d, want %d", j.Family, tested)
		}
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
