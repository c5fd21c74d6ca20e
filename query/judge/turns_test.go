package judge_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// starts returns the starts of a session in which the runs began in this order: b of the base, h of the head, = one of each at once.
func starts(order string) (s judge.Starts) {
	for i, side := range order {
		if side != 'h' {
			s.Base = append(s.Base, int64(i))
		}
		if side != 'b' {
			s.Head = append(s.Head, int64(i))
		}
	}
	return s
}

// TestSeparatedInTime: sides that ran one after the other have no verdict, whatever stray runs there are.
func TestSeparatedInTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sessions []string
		want     bool
	}{
		{[]string{"bbbhhh"}, true},
		{[]string{"hhhhhbbbbb"}, true},
		{[]string{"bbbbbbbbbbhhhhhhhhhhb"}, true},        // a stray run
		{[]string{"bbbbbbbbbbhhhhhhhhhhbhb"}, true},      // several
		{[]string{"hbbbbbbbbbbhhhhhhhhhhb"}, true},       // at both ends
		{[]string{"bbbbbbbbbbhhhhhhhhhhbhhbbhbh"}, true}, // alternating leftovers
		{[]string{"bbbbbhhhhhhhhhhbbbbb"}, true},         // one side in the middle
		{[]string{"bbhh", "bbhh", "bbhh", "bbhh", "bbhh", "bbhh", "bbhh", "bbhh"}, true},
		{[]string{"bh", "bh", "bh", "bh", "bh"}, true}, // always the same side first
		{[]string{"bbhh", "hhbb", "bbhh", "hhbb", "bbhh", "hhbb", "bbhh", "hhbb"}, false},
		{[]string{"bhhb", "bhbh"}, false},
		{[]string{"bhbhbh"}, false},
		{[]string{"bhhbbhhbbh"}, false},
		{[]string{"bbhhbbhhbbhhbbhh"}, false},
		{[]string{"bhbhbhbhbhbb"}, false}, // more runs of one side at the end
		{[]string{"======"}, false},       // times of a file
		{nil, false},
		{[]string{"bbb"}, false},
	} {
		var sessions []judge.Starts
		for _, order := range c.sessions {
			sessions = append(sessions, starts(order))
		}
		valuetest.Equal(t, judge.SeparatedInTime(sessions), c.want, c.sessions)
		for i, s := range sessions {
			sessions[i] = judge.Starts{Base: s.Head, Head: s.Base}
		}
		valuetest.Equal(t, judge.SeparatedInTime(sessions), c.want, c.sessions, "the sides exchanged")
	}
	for seed := range uint64(200) { // what bench does is never apart
		for runs := 2; runs <= 12; runs++ {
			for _, p := range interleaved(2, runs).pairs(seed, func(place) float64 { return 0 }) {
				if p.Ordered {
					t.Fatalf("seed %d, %d runs: apart", seed, runs)
				}
			}
		}
	}
}

func TestSequence(t *testing.T) {
	t.Parallel()
	s := starts("bhhbbh")
	valuetest.DeepEqual(t, judge.Sequence(s.Base, s.Head), []bool{false, true, true, false, false, true})
	if s = starts("bh=h"); judge.Sequence(s.Base, s.Head) != nil {
		t.Error("two runs started at once")
	}
}

// TestFlips: where a job on the machine has the period of the blocks, as if it were always the second run of a block that is slow, the
// change is judged by how often the order gives as much by chance: 2 of 2^6.
func TestFlips(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	var pairs []judge.Pair
	for i := range 12 {
		p := judge.Pair{Lower: true, Margin: math.Log(1.02)}
		for range 6 {
			first, second := .001*random.NormFloat64(), .1+.001*random.NormFloat64()
			headFirst := i > 0 && random.IntN(2) == 1 // of the first point the base is always first
			base, head := first, second
			if headFirst {
				base, head = second, first
			}
			p.Base, p.Head, p.Blocks = append(p.Base, base), append(p.Head, head), append(p.Blocks, head-base)
			p.Sequence = append(p.Sequence, headFirst, !headFirst)
		}
		pairs = append(pairs, p)
	}
	o := judge.Alone(pairs, judge.Rules{}).Outcomes[0]
	valuetest.DeepEqual(t, []any{o.Verdict, o.Rule, o.P}, []any{judge.Inconclusive, judge.RuleFlips, 2. / 64})
	for i := range pairs {
		pairs[i].Sequence = nil // the order is not known
	}
	if o := judge.Alone(pairs, judge.Rules{}).Outcomes[0]; o.Rule == judge.RuleFlips {
		t.Errorf("without the order: %s", o.Rule)
	}
}

// TestBlocksFind: a change much larger than the noise within blocks is found, with few blocks and where the runs of a block share noise
// that looks periodic by chance.
func TestBlocksFind(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		runs, points   int
		shared, change float64
	}{
		{3, 1, 0, .1},
		{3, 12, 0, .1},
		{4, 1, 0, .1},
		{4, 12, 0, .1},
		{3, 1, 0, .5},
		{5, 12, .01, .5},
		{6, 4, .01, .5},
		{6, 12, .01, .5},
		{6, 50, .01, .5},
		{6, 4, .04, .5},
		{6, 12, .04, .5},
		{6, 50, .04, .5},
		{6, 12, .04, .1},
		{10, 12, .04, .1},
	} {
		const sessions = 30
		found := 0
		for i := range uint64(sessions) {
			random := rand.New(rand.NewPCG(i, 7))
			shared := map[int]float64{}
			for repeat := range c.runs {
				shared[repeat] = c.shared * random.NormFloat64()
			}
			pairs := interleaved(c.points, c.runs).pairs(random.Uint64(), func(l place) float64 {
				v := shared[l.repeat] + .01*random.NormFloat64()
				if l.head {
					v += math.Log1p(c.change)
				}
				return v
			})
			for _, o := range judge.Alone(pairs, judge.Rules{}).Outcomes {
				if o.Verdict == judge.Regressed {
					found++
				}
			}
		}
		if share := float64(found) / float64(sessions*c.points); share < .98 {
			t.Errorf("%d runs, %d points, %g shared: +%g is found in %.3f", c.runs, c.points, c.shared, c.change, share)
		}
	}
}
