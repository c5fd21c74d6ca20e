package judge_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestBlocksWherePaid: alternating runs are compared block by block if runs of a block are correlated, if there are
// too few points to tell, and if runs of a block differ more than by chance. Otherwise the sides are compared as a whole, which
// has more power for the same data.
func TestBlocksWherePaid(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what           string
		points, blocks int
		block, against float64 // deviations of what runs of a block have in common, and of what parts them
		second         float64 // by how much the second run of each block is slower
		want           judge.Method
	}{
		{"nothing in common", 40, 6, 0, 0, 0, judge.MethodRuns},
		{"nothing in common, many blocks", 40, 20, 0, 0, 0, judge.MethodRuns},
		{"too few points to tell", 9, 6, 0, 0, 0, judge.MethodBlocks},
		{"too few blocks", 40, 5, .05, 0, 0, judge.MethodRuns},
		{"as much in common as not", 40, 20, .01, 0, 0, judge.MethodBlocks},
		{"much in common", 40, 6, .05, 0, 0, judge.MethodBlocks},
		{"less alike than by chance", 40, 6, 0, .02, 0, judge.MethodBlocks},
		{"the second run is slower", 40, 6, 0, 0, .03, judge.MethodRuns},
	} {
		random := rand.New(rand.NewPCG(1, 2))
		var pairs []judge.Pair
		for range c.points {
			p := judge.Pair{Lower: true, Margin: math.Log(1.02)}
			for block := range c.blocks {
				second := [2]float64{0, c.second} // of base and head, which take turns
				if block%2 == 1 {
					second = [2]float64{c.second, 0}
				}
				both, apart := c.block*random.NormFloat64(), c.against*random.NormFloat64()
				p.Base = append(p.Base, both-apart+second[0]+.01*random.NormFloat64())
				p.Head = append(p.Head, both+apart+second[1]+.01*random.NormFloat64())
				p.Blocks = append(p.Blocks, p.Head[len(p.Head)-1]-p.Base[len(p.Base)-1])
			}
			pairs = append(pairs, p)
		}
		for i, o := range judge.Alone(pairs, judge.Rules{}).Outcomes {
			if o.Method != c.want {
				t.Errorf("%s: point %d by %s, want %s", c.what, i, o.Method, c.want)
				break
			}
		}
	}
}

// TestJumpsOfMajority: if runs of the family jump, a side where all runs but one jumped may be chance; if none do, it is not.
// Jumps that occur in few points count with their frequency in these points.
func TestJumpsOfMajority(t *testing.T) {
	t.Parallel()
	const runs, by = 6, .18
	none := func(int) int { return 0 }
	for _, c := range []struct {
		what   string
		jumped func(point int) int // runs of each side of the other points
		jumps  bool
	}{
		{"nobody jumps", none, false},
		{"one point did", func(point int) int { return map[bool]int{true: 1}[point == 0] }, false},
		{"each point does, 2 of 6 runs of a side", func(int) int { return 2 }, true},
		{"a fifth of the points does", func(point int) int { return map[bool]int{true: 2}[point%5 == 0] }, true},
	} {
		random := rand.New(rand.NewPCG(3, 4))
		side := func(jumped int) []float64 {
			values := make([]float64, runs)
			for i := range values {
				if values[i] = .002 * random.NormFloat64(); i < jumped {
					values[i] += by
				}
			}
			return values
		}
		pairs := []judge.Pair{{Lower: true, Margin: math.Log(1.02), Base: side(0), Head: side(runs - 1)}}
		for i := range 39 {
			pairs = append(pairs, judge.Pair{Lower: true, Margin: math.Log(1.02), Base: side(c.jumped(i)), Head: side(c.jumped(i))})
		}
		before := slices.Clone(pairs[0].Base)
		valuetest.Equal(t, (judge.Alone(pairs, judge.Rules{}).Outcomes[0].Rule == judge.RuleJumps), c.jumps, c.what)
		valuetest.DeepEqual(t, pairs[0].Base, before, c.what, "the runs are in another order")
	}
}

// TestBlocksOfOnePoint: a point whose runs of a block differ more than by chance has the uncertainty of its blocks, whatever
// the family shows.
func TestBlocksOfOnePoint(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(11, 12))
	var pairs []judge.Pair
	for point := range 40 {
		p := judge.Pair{Lower: true, Margin: math.Log(1.02)}
		for block := range 6 {
			base, head := .01*random.NormFloat64(), .01*random.NormFloat64()
			if point == 0 {
				apart := []float64{.05, -.03, .06, .05, -.02, .04}[block]
				base, head = base-apart, head+apart
			}
			p.Base, p.Head, p.Blocks = append(p.Base, base), append(p.Head, head), append(p.Blocks, head-base)
		}
		pairs = append(pairs, p)
	}
	o := judge.Alone(pairs, judge.Rules{}).Outcomes
	if o[0].Method != judge.MethodRuns || o[0].Verdict != judge.Inconclusive || o[0].DF >= o[1].DF || o[0].P < .05 {
		t.Errorf("%+v, of others the degrees of freedom are %g", o[0], o[1].DF)
	}
}

// TestJumpsOfBlocks: if blocks of the family jump, a point where all blocks but one jumped has not changed.
func TestJumpsOfBlocks(t *testing.T) {
	t.Parallel()
	for jumped, want := range map[int]bool{1: false, 2: true} {
		random := rand.New(rand.NewPCG(9, 10))
		var pairs []judge.Pair
		for point := range 40 {
			p := judge.Pair{Lower: true, Margin: math.Log(1.02)}
			for block := range 6 {
				both := .2 * random.NormFloat64()
				head := both + .002*random.NormFloat64()
				if point == 0 && block < 5 || point > 0 && (block+point)%3 < jumped-1 {
					head += .18
				}
				p.Base = append(p.Base, both)
				p.Head, p.Blocks = append(p.Head, head), append(p.Blocks, head-both)
			}
			pairs = append(pairs, p)
		}
		if o := judge.Alone(pairs, judge.Rules{}).Outcomes[0]; o.Method != judge.MethodBlocks || (o.Rule == judge.RuleJumps) != want {
			t.Errorf("%d of 6 jump: %+v", 2*(jumped-1), o)
		}
	}
}
