package bisect

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/runner/worktree"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
	"github.com/neurolens/neurolens/schema/valuetest"
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

// straight returns a history of commits c1 to cn after c0.
func straight(n int) worktree.History {
	h := worktree.History{Good: worktree.Commit{ID: "c0"}}
	for i := n; i > 0; i-- {
		h.Commits = append(h.Commits, worktree.Commit{ID: fmt.Sprint("c", i), Parents: []string{fmt.Sprint("c", i-1)}})
	}
	h.Bad = h.Commits[0]
	return h
}

func commitNumber(c worktree.Commit) (n int) { _, _ = fmt.Sscanf(c.ID, "c%d", &n); return n }

// run returns the logarithm of a run.
func (s *simulated) run(change float64) float64 {
	s.runs++
	value := change + s.sd*s.random.NormFloat64()
	if s.tails && s.random.IntN(20) == 0 {
		value += math.Log(1.2 + .8*s.random.Float64())
	}
	return value
}

// measure returns a session: blocks until nothing is open at a look.
func (s *simulated) measure(_ context.Context, t Trial) (*Session, error) {
	series := &Series{Point: Point{ID: "p", Name: "p"}, Metric: schema.PrimaryMetric, unit: "ns", Scale: schema.ScaleRatio}
	session := &Session{ID: "s", Points: []*Series{series}}
	n := commitNumber(t.Commit)
	change := 0.
	if n >= s.first {
		change = s.change
	}
	if s.broken[n] {
		series.pairs.ran, series.failure[1] = 1, "broken"
		return session, nil
	}
	for _, look := range s.looks {
		for series.pairs.ran < look {
			series.pairs.ran++
			s.blocks++
			base := s.run(0)
			series.blocks = append(series.blocks, s.run(change)-base)
		}
		if len(t.Open(session)) == 0 {
			break
		}
	}
	return session, nil
}

// halfway decides as the command does.
func halfway(q Question, blocks []float64) Decision {
	h := judge.Halfway{Known: math.NaN(), Error: q.Error, Looks: q.Looks, Min: q.MinChange}
	if q.Known != nil {
		h.Known = *q.Known
	}
	change, like := h.Look(blocks)
	return Decision{Change: change, Like: string(like), Nothing: h.Negligible(change), More: h.BlocksFor(change, len(blocks))}
}

// search returns the search, as the command does it.
func (s *simulated) search(t *testing.T) (*Search, End) {
	t.Helper()
	b := New(Options{
		History: s.history, Looks: len(s.looks), MaxBlocks: slices.Max(s.looks),
		MinChange: func(*Series) float64 { return math.Log1p(.02) }, Decide: halfway, Measure: s.measure,
		Decided: func(*Step) error { return nil },
	})
	end := valuetest.Must(b.Run(t.Context()))
	return b, end
}

// TestBisectSimulated: 64 commits, one of which takes 15 % longer, 3 that are not built. The right commit is found, and
// alone, in 19 of 20 searches at least, and wrong ones are named in 1 of 20 at most. With -v it prints the table, and
// beside it what a plain git bisect run does that at each step compares the medians of so many runs once.
func TestBisectSimulated(t *testing.T) {
	t.Parallel()
	tries := 25
	if os.Getenv("NEUROLENS_LONG") != "" {
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
			blocks, steps = blocks+s.blocks, steps+len(b.Steps)
			isIt := func(c worktree.Commit) bool { return commitNumber(c) == s.first }
			switch {
			case len(end.Candidates) == 0:
				nothing++
			case !slices.ContainsFunc(end.Candidates, isIt):
				wrong++
			case len(end.Candidates) == 1:
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
		search := newCommits(s.history)
		for c, ok := search.next(); ok; c, ok = search.next() {
			switch n := commitNumber(c); {
			case s.broken[n]:
				search.markSkipped(c.ID)
			case median(n) < middle:
				search.markGood(c.ID)
			default:
				search.markBad(c.ID)
			}
		}
		if found := search.candidates(); len(found) == 1 && commitNumber(found[0]) == s.first {
			right++
		}
		runs += s.runs
	}
	return fmt.Sprintf("  git bisect run, %2d runs a step: right %5.1f %%, %.0f runs", repeats, 100*float64(right)/float64(tries), float64(runs)/float64(tries))
}
