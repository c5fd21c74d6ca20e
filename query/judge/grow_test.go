package judge_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/query/judge"
)

// The maximum size of a comparison of processes: runs per side, and processes of each run.
const (
	maxTestRuns      = 20
	maxTestProcesses = 30
)

// programs is what a comparison of two programs is made of: how far, as a logarithm, the head is from the base, and the
// deviations of what the processes of a run have in common, of processes, of what both runs of a block have in common,
// and of sessions.
type programs struct {
	name                            string
	effect                          float64
	runs, processes, block, session float64
	sides                           arrangement
	points                          int
}

// arrangement is how the sides were run.
type arrangement int

const (
	byTurns     arrangement = iota // in blocks of one session
	mixed                          // in one session, without blocks
	twoSessions                    // after eight other sessions
	earlier     = 8
	minLost     = 2 // comparisons that have to lose their verdict for it to be no accident of rounding
)

// side holds processes by run, as logarithms of their times, and the locations of runs by how many processes of each
// are used.
type side struct {
	processes [maxTestRuns][maxTestProcesses]float64
	medians   map[int][]float64
}

// locations returns the locations of the first runs, with the same number of processes each.
func (s *side) locations(runs, processes int) []float64 {
	if s.medians[processes] == nil {
		all := make([]float64, maxTestRuns)
		for i := range all {
			all[i] = median(s.processes[i][:processes])
		}
		s.medians[processes] = all
	}
	return s.medians[processes][:runs:runs]
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// each returns the processes of the first runs.
func (s *side) each(runs, processes int) (all []float64) {
	for i := range runs {
		all = append(all, s.processes[i][:processes]...)
	}
	return all
}

// blockEffects returns the shared effects of the runs of each block.
func (p programs) blockEffects(random *rand.Rand) []float64 {
	blocks := make([]float64, maxTestRuns)
	for i := range blocks {
		blocks[i] = p.block * random.NormFloat64()
	}
	return blocks
}

func (p programs) draw(random *rand.Rand, level float64, blocks []float64) *side {
	s := side{medians: map[int][]float64{}}
	for i := range s.processes {
		run := level + blocks[i] + p.runs*random.NormFloat64()
		for k := range s.processes[i] {
			s.processes[i][k] = run + p.processes*random.NormFloat64()
		}
	}
	return &s
}

// drawn is a comparison of which any prefix can be judged.
type drawn struct {
	programs
	base, head *side
	history    []*side
}

func (p programs) drawn(seed, point uint64) drawn {
	random := rand.New(rand.NewPCG(seed, point))
	blocks := p.blockEffects(random)
	d := drawn{programs: p}
	of := func(effect float64) *side {
		if p.sides == twoSessions { // which have no block in common
			effect += p.session * random.NormFloat64()
			blocks = p.blockEffects(random)
		}
		return p.draw(random, effect, blocks)
	}
	d.base, d.head = of(0), of(p.effect)
	if p.sides == twoSessions {
		for range earlier {
			d.history = append(d.history, of(0))
		}
	}
	return d
}

// pair returns the pair of the first runs and processes, with replicates chosen by the rule.
func (d *drawn) pair(runs, processes int) judge.Pair {
	pair := judge.Pair{Lower: true, Margin: math.Log(1.02), Confounded: d.sides == twoSessions}
	pair.Base, pair.Head = d.base.locations(runs, processes), d.head.locations(runs, processes)
	if d.sides == byTurns {
		for i, h := range pair.Head {
			pair.Blocks = append(pair.Blocks, h-pair.Base[i])
		}
	}
	for _, s := range d.history {
		pair.History = append(pair.History, median(s.locations(runs, processes)))
	}
	if judge.Processes(runs, pair.Confounded) {
		pair.Base, pair.Head = d.base.each(runs, processes), d.head.each(runs, processes)
	}
	return pair
}

// verdicts returns the verdicts of all points of many comparisons.
func (p programs) verdicts(all [][]drawn, rules judge.Rules, runs, processes int) []judge.Verdict {
	var verdicts []judge.Verdict
	for _, sweep := range all {
		pairs := make([]judge.Pair, len(sweep))
		for i := range sweep {
			pairs[i] = sweep[i].pair(runs, processes)
		}
		for _, o := range judge.Alone(pairs, rules).Outcomes {
			verdicts = append(verdicts, o.Verdict)
		}
	}
	return verdicts
}

func (p programs) sweeps(n int) [][]drawn {
	all := make([][]drawn, n)
	for seed := range all {
		for point := range p.points {
			all[seed] = append(all[seed], p.drawn(uint64(seed), uint64(point)))
		}
	}
	return all
}

// rarer reports whether more data decide fewer comparisons than less data do, beyond 4 standard errors of the difference of two
// shares of the same comparisons. The comparisons of a sweep, which borrow from one another, are won and lost together, so
// the sweeps are counted (Durkalski et al., Statistics in Medicine 22, 2003; with one point per sweep it is
// McNemar's test).
func rarer(less, more []judge.Verdict, points int) (lost, won int, beyond bool) {
	squares := 0.
	for sweep := 0; sweep < len(less); sweep += points {
		l, w := 0, 0
		for i := sweep; i < sweep+points; i++ {
			switch before, after := less[i] != judge.Inconclusive, more[i] != judge.Inconclusive; {
			case before && !after:
				l++
			case after && !before:
				w++
			}
		}
		lost, won, squares = lost+l, won+w, squares+float64((l-w)*(l-w))
	}
	return lost, won, lost-won > minLost && float64(lost-won) > 4*math.Sqrt(squares)
}

func everyPrograms() (all []programs) {
	for _, sides := range []arrangement{byTurns, mixed, twoSessions} {
		for _, points := range []int{1, 12} {
			all = append(all,
				programs{"clear", .05, .005, .02, 0, .002, sides, points},
				programs{"noisy", .10, .04, .04, .02, .01, sides, points},
				programs{"alike", 0, .002, .02, .01, .002, sides, points},
				programs{"alike and noisy", 0, .05, .02, .02, .02, sides, points},
				programs{"processes alone differ", .08, 0, .06, 0, 0, sides, points})
		}
	}
	return all
}

// TestMoreDataDecidesMore: more repeats, and more processes in each, never make verdicts rarer, and at most 5 % of
// the points that did not change are called changed.
func TestMoreDataDecidesMore(t *testing.T) {
	t.Parallel()
	points, repeats, shapes := 36, []int{1, 2, 3, 4, 5, 6, 7, 10, 20}, []int{1, 10}
	if torture() {
		points, repeats, shapes = 600, nil, []int{1, 3, 10, 30}
		for r := range maxTestRuns {
			repeats = append(repeats, r+1)
		}
	}
	for _, p := range everyPrograms() {
		t.Run(fmt.Sprintf("%s/%d/%d", p.name, p.sides, p.points), func(t *testing.T) {
			t.Parallel()
			all := p.sweeps(points / p.points)
			for _, rules := range []judge.Rules{{}, {Gate: true}, {Strict: true}} {
				p.grow(t, all, rules, repeats, shapes)
			}
		})
	}
}

// grow judges growing parts of the same comparisons.
func (p programs) grow(t *testing.T, all [][]drawn, rules judge.Rules, repeats, shapes []int) {
	seen := map[[2]int][]judge.Verdict{}
	check := func(less, more [2]int) {
		if lost, won, beyond := rarer(seen[less], seen[more], p.points); beyond {
			t.Errorf("%+v: %d runs of %d: %d of %d verdicts of %d runs of %d are gone, %d are new", rules, more[0], more[1], lost, len(seen[more]), less[0], less[1], won)
		}
	}
	for k, processes := range shapes {
		for i, runs := range repeats {
			shape := [2]int{runs, processes}
			seen[shape] = p.verdicts(all, rules, runs, processes)
			if i > 0 {
				check([2]int{repeats[i-1], processes}, shape)
			}
			if k > 0 {
				check([2]int{runs, shapes[k-1]}, shape)
			}
			p.checkFalse(t, seen[shape], shape)
		}
	}
}

// checkFalse checks that no more than 5 % of points that did not change are called different, within 4 standard errors.
func (p programs) checkFalse(t *testing.T, verdicts []judge.Verdict, shape [2]int) {
	if p.effect != 0 {
		return
	}
	wrong, n := 0, float64(len(verdicts))
	for _, v := range verdicts {
		if v == judge.Regressed || v == judge.Improved {
			wrong++
		}
	}
	if limit := .05*n + 4*math.Sqrt(.05*.95*n); float64(wrong) > limit {
		t.Errorf("%d runs of %d: %d of %.0f points that did not change are called different", shape[0], shape[1], wrong, n)
	}
}
