package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/runner/bisect"
	"github.com/neurolens/neurolens/runner/worktree"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// simulated is a repository of commits in a line, of which one changes a point, on a machine with noise.
type simulated struct {
	history worktree.History
	first   int          // the commit that changes it
	broken  map[int]bool // commits that are not built
	change  float64      // logarithm
	sd      float64      // of the logarithm of a run
	tails   bool         // one run in 20 is disturbed: it takes 1.2 to 2 times as long
	random  *rand.Rand
	looks   []int

	blocks, runs int // that were measured
}

// simulate draws where the change and the broken commits are; neither the change nor the ends are broken, nor are the
// neighbours of the change, of which no test could tell it.
func simulate(random *rand.Rand, commits int, sd float64, tails bool) *simulated {
	s := &simulated{change: math.Log(1.15), sd: sd, tails: tails, random: random, looks: []int{6, 9, 14, 20, 30, 46, 68, 103, 154, 231, 300}}
	s.history = straight(commits)
	s.first = 1 + random.IntN(commits)
	s.broken = map[int]bool{}
	for len(s.broken) < 3 {
		if i := 1 + random.IntN(commits-1); i < s.first-1 || i > s.first {
			s.broken[i] = true
		}
	}
	return s
}

// straight is a history of commits c1 to cn after c0.
func straight(n int) worktree.History {
	h := worktree.History{Good: worktree.Commit{ID: "c0"}}
	for i := n; i > 0; i-- {
		h.Commits = append(h.Commits, worktree.Commit{ID: fmt.Sprint("c", i), Parents: []string{fmt.Sprint("c", i-1)}})
	}
	h.Bad = h.Commits[0]
	return h
}

func commitNumber(c worktree.Commit) (n int) { _, _ = fmt.Sscanf(c.ID, "c%d", &n); return n }

// run is the logarithm of a run.
func (s *simulated) run(change float64) float64 {
	s.runs++
	value := change + s.sd*s.random.NormFloat64()
	if s.tails && s.random.IntN(20) == 0 {
		value += math.Log(1.2 + .8*s.random.Float64())
	}
	return value
}

// measure is a session: blocks until nothing is open at a look.
func (s *simulated) measure(_ context.Context, t trial) (string, []*bisectSeries, error) {
	series := &bisectSeries{id: "p", name: "p", metric: schema.PrimaryMetric, unit: "ns", scale: schema.ScaleRatio}
	n := commitNumber(t.commit)
	change := 0.
	if n >= s.first {
		change = s.change
	}
	if s.broken[n] {
		series.ran, series.failure[1] = 1, "broken"
		return "s", []*bisectSeries{series}, nil
	}
	for _, look := range s.looks {
		for series.ran < look {
			series.ran++
			s.blocks++
			base := s.run(0)
			series.blocks, series.base = append(series.blocks, s.run(change)-base), append(series.base, base)
		}
		if len(t.open([]*bisectSeries{series})) == 0 {
			break
		}
	}
	return "s", []*bisectSeries{series}, nil
}

// search is the search, as the command does it.
func (s *simulated) search(t *testing.T) (*bisection, bisectEnd) {
	t.Helper()
	b := &bisection{
		history: s.history, search: bisect.New(s.history), looks: len(s.looks), most: slices.Max(s.looks),
		least: func(*bisectSeries) float64 { return math.Log1p(.02) }, measure: s.measure,
		decided: func(bisectStep) error { return nil },
	}
	end, err := b.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return b, end
}

// TestBisectSimulated: 64 commits, one of which takes 15 % longer, 3 that are not built. The right commit is found, and
// alone, in 19 of 20 searches at least, and wrong ones are named in 1 of 20 at most. With -v it prints the table, and
// beside it what a plain git bisect run does that at each step compares the medians of so many runs once.
func TestBisectSimulated(t *testing.T) {
	t.Parallel()
	tries := 25
	if long() {
		tries = 1000
	}
	for _, c := range []struct {
		sd    float64
		tails bool
	}{{.02, false}, {.05, false}, {.075, false}, {.10, false}, {.05, true}, {.10, true}} {
		random := rand.New(rand.NewPCG(20, uint64(1000*c.sd)))
		right, wrong, candidates, nothing, blocks, steps := 0, 0, 0, 0, 0, 0
		for range tries {
			s := simulate(random, 64, c.sd, c.tails)
			b, end := s.search(t)
			blocks, steps = blocks+s.blocks, steps+len(b.steps)
			isIt := func(c worktree.Commit) bool { return commitNumber(c) == s.first }
			switch {
			case len(end.candidates) == 0:
				nothing++
			case !slices.ContainsFunc(end.candidates, isIt):
				wrong++
			case len(end.candidates) == 1:
				right++
			default:
				candidates++
			}
		}
		n := float64(tries)
		t.Logf("sd %4.1f %%, tails %-5v: right %5.1f %%, wrong %.1f %%, candidates %.1f %%, no difference %.1f %%; %.1f steps, %.0f blocks",
			100*c.sd, c.tails, 100*float64(right)/n, 100*float64(wrong)/n, 100*float64(candidates)/n, 100*float64(nothing)/n,
			float64(steps)/n, float64(blocks)/n)
		if float64(right) < .95*n || float64(wrong) > .05*n {
			t.Errorf("sd %v, tails %v: %d of %d right, %d wrong", c.sd, c.tails, right, tries, wrong)
		}
		for _, repeats := range []int{1, 3, 5, 10, 30} {
			t.Log(plainSearches(random, tries, repeats, c.sd, c.tails))
		}
	}
}

// plainSearches is git bisect run with one comparison a step: the good end is measured once, at the beginning, and so is
// the bad one; a commit is good if the median of its runs is nearer to the good end's.
func plainSearches(random *rand.Rand, tries, repeats int, sd float64, tails bool) string {
	right, runs := 0, 0
	for range tries {
		s := simulate(random, 64, sd, tails)
		median := func(n int) float64 {
			values := make([]float64, repeats)
			change := 0.
			if n >= s.first {
				change = s.change
			}
			for i := range values {
				values[i] = s.run(change)
			}
			slices.Sort(values)
			return stat.Quantile(values, .5)
		}
		middle := (median(0) + median(64)) / 2
		search := bisect.New(s.history)
		for c, ok := search.Next(); ok; c, ok = search.Next() {
			switch n := commitNumber(c); {
			case s.broken[n]:
				search.Skip(c.ID)
			case median(n) < middle:
				search.Good(c.ID)
			default:
				search.Bad(c.ID)
			}
		}
		if found := search.Candidates(); len(found) == 1 && commitNumber(found[0]) == s.first {
			right++
		}
		runs += s.runs
	}
	return fmt.Sprintf("  git bisect run, %2d runs a step: right %5.1f %%, %.0f runs", repeats, 100*float64(right)/float64(tries), float64(runs)/float64(tries))
}
