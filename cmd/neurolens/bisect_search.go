package main

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/runner/bisect"
	"github.com/neurolens/neurolens/runner/worktree"
	"github.com/neurolens/neurolens/schema/stat"
)

// bisectError is how often a search names a wrong commit, at most.
const bisectError = .05

// Results of a test of a commit: words of git bisect.
const (
	testedGood = "good"
	testedBad  = "bad"
	testedSkip = "skip"
)

// bisectStep is what was found of a commit, against the good one. Changes are those of people: of a ratio less 1, else the
// difference.
type bisectStep struct {
	Commit string `json:"commit"`
	Result string `json:"result"`
	Reason string `json:"reason,omitempty"` // why it was skipped

	Session    string  `json:"session_id,omitempty"`
	PointID    string  `json:"point_id,omitempty"`
	Point      string  `json:"point,omitempty"`
	Metric     string  `json:"metric,omitempty"`
	Unit       string  `json:"unit,omitempty"`
	Scale      string  `json:"scale,omitempty"`
	Change     float64 `json:"change"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Confidence float64 `json:"confidence"` // of the interval; 0: there is none
	Blocks     int     `json:"blocks"`
}

// trial is a commit to measure against the good one.
type trial struct {
	commit worktree.Commit
	point  string                          // by its id; empty: all
	open   func(all []*bisectSeries) []int // at each look, which of the points need more blocks
}

// bisection is a search for the commit that changed a point.
type bisection struct {
	history worktree.History
	search  *bisect.Search
	looks   int // of a step, at most
	most    int // blocks of a step
	least   func(*bisectSeries) float64
	known   []bisectStep // what was decided before, in order
	steps   []bisectStep // what is known by now, the bad end first

	measure func(ctx context.Context, t trial) (session string, all []*bisectSeries, err error)
	decided func(step bisectStep) error // told what was measured

	point    string  // its id
	change   float64 // between the ends, in the scale of blocks
	expected int     // how many steps are measured
	spent    int     // how many have been, and had their share of the error
}

// bisectEnd is how a search ended.
type bisectEnd struct {
	candidates []worktree.Commit // one: it was found; none: the ends do not differ
	unchanged  []bisectStep      // of the ends, where no point differs
	more       int               // blocks that are likely to tell whether they do; 0: not known, or they do not
}

// errContradiction is a log in which no commit can be the first changed one.
var errContradiction = errors.New("its lines contradict one another: a commit is good that contains a bad one")

// run searches until nothing is left to test.
func (b *bisection) run(ctx context.Context) (bisectEnd, error) {
	b.expected = 1 + b.search.Steps()
	if end, err := b.ends(ctx); err != nil || b.point == "" {
		return end, err
	}
	b.recall()
	for c, ok := b.search.Next(); ok; c, ok = b.search.Next() {
		step, err := b.test(ctx, c)
		if err != nil {
			return bisectEnd{}, err
		}
		b.tell(step)
		if err := b.decided(step); err != nil {
			return bisectEnd{}, err
		}
	}
	end := bisectEnd{candidates: b.search.Candidates()}
	if len(end.candidates) == 0 {
		return end, errContradiction
	}
	return end, nil
}

// recall takes in what was decided before. A commit that was not decided with fewer blocks than now is tested again.
func (b *bisection) recall() {
	for _, step := range b.known {
		undecided := step.Result == testedSkip && step.Blocks > 0
		switch {
		case step.Commit == b.history.Bad.ID:
		case undecided && step.Blocks < b.most:
			b.spent++
		default:
			b.tell(step)
		}
	}
}

// tell takes in what was found of a commit.
func (b *bisection) tell(step bisectStep) {
	b.steps = append(b.steps, step)
	if step.Blocks > 0 {
		b.spent++
	}
	switch step.Result {
	case testedGood:
		b.search.Good(step.Commit)
	case testedBad:
		b.search.Bad(step.Commit)
	default:
		b.search.Skip(step.Commit)
	}
}

// total is about how many steps the search takes, with those that were taken.
func (b *bisection) total() int { return max(len(b.steps), 1) + b.search.Steps() }

// ends measures the good commit against the bad one: it finds the point that differs, and by how much.
func (b *bisection) ends(ctx context.Context) (bisectEnd, error) {
	if at := slices.IndexFunc(b.known, func(s bisectStep) bool { return s.Commit == b.history.Bad.ID && s.Blocks > 0 }); at >= 0 {
		step := b.known[at]
		b.point, b.change = step.PointID, step.inBlocks()
		b.tell(step)
		return bisectEnd{}, nil
	}
	session, all, err := b.measure(ctx, trial{commit: b.history.Bad, open: b.undecidedEnds})
	if err != nil {
		return bisectEnd{}, err
	}
	best, sure := -1, 0.
	for i, s := range all {
		change, like := b.lookAtEnds(s, len(all))
		if surer := math.Abs(change.Value) / (change.High - change.Low); like == judge.LikeBad && (best < 0 || surer > sure) {
			best, sure = i, surer
		}
	}
	if best < 0 {
		return b.alike(session, all), nil
	}
	change, _ := b.lookAtEnds(all[best], len(all))
	step := all[best].step(b.history.Bad.ID, testedBad, session, change)
	b.point, b.change = all[best].id, change.Value
	b.tell(step)
	return bisectEnd{}, b.decided(step)
}

// alike is the end where no point differs.
func (b *bisection) alike(session string, all []*bisectSeries) bisectEnd {
	var end bisectEnd
	for _, s := range all {
		h := b.halfwayEnds(s, len(all))
		change := h.Change(s.seen())
		step := s.step(b.history.Bad.ID, testedSkip, session, change)
		switch {
		case change.Confidence == 0 || s.failing():
			step.Reason = s.why()
		case h.Nothing(change):
			step.Result = testedGood
		default:
			end.more = max(end.more, h.BlocksFor(change, s.looked))
		}
		end.unchanged = append(end.unchanged, step)
	}
	return end
}

// halfwayEnds decides whether a point, one of so many, differs between the ends.
func (b *bisection) halfwayEnds(s *bisectSeries, points int) *judge.Halfway {
	return &judge.Halfway{
		Known: math.NaN(), Error: judge.StepError(bisectError, 0, b.expected) / float64(points), Looks: b.looks, Least: b.least(s),
	}
}

func (b *bisection) lookAtEnds(s *bisectSeries, points int) (stat.Estimate, judge.Likeness) {
	return b.halfwayEnds(s, points).Look(s.seen())
}

// undecidedEnds are the points of which it is not known whether they differ: none, once one does.
func (b *bisection) undecidedEnds(all []*bisectSeries) (open []int) {
	for _, s := range all {
		s.looked = len(s.blocks)
	}
	for i, s := range all {
		h := b.halfwayEnds(s, len(all))
		change, like := h.Look(s.seen())
		if like == judge.LikeBad {
			return nil
		}
		if !s.failing() && !h.Nothing(change) {
			open = append(open, i)
		}
	}
	return open
}

// test measures a commit against the good one, and decides which end it is like.
func (b *bisection) test(ctx context.Context, c worktree.Commit) (bisectStep, error) {
	h := judge.Halfway{Known: b.change, Error: judge.StepError(bisectError, b.spent, b.expected), Looks: b.looks}
	session, all, err := b.measure(ctx, trial{commit: c, point: b.point, open: func(all []*bisectSeries) (open []int) {
		for i, s := range all {
			s.looked = len(s.blocks)
			if _, like := h.Look(s.seen()); like == judge.LikeNone && !s.failing() {
				open = append(open, i)
			}
		}
		return open
	}})
	if err != nil {
		return bisectStep{}, err
	}
	if len(all) == 0 {
		return bisectStep{Commit: c.ID, Result: testedSkip, Session: session, Reason: "the point is not there"}, nil
	}
	s := all[0]
	change, like := h.Look(s.seen())
	step := s.step(c.ID, testedSkip, session, change)
	switch {
	case like == judge.LikeGood:
		step.Result = testedGood
	case like == judge.LikeBad:
		step.Result = testedBad
	case s.failing() || change.Confidence == 0:
		step.Reason = s.why()
	default:
		step.Reason = "not decided: " + term.Count(len(s.blocks), "block")
	}
	return step, nil
}
