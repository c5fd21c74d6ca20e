package bisect

import (
	"context"
	"errors"
	"slices"

	"github.com/neurolens/neurolens/runner/worktree"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// Options of a search.
type Options struct {
	History   worktree.History
	Looks     int    // maximum per step
	MaxBlocks int    // blocks per step
	Known     []Step // steps decided before, in order

	// MinChange is the smallest change of a point that counts, in the scale of blocks.
	MinChange func(*Series) float64
	// Decide decides by the blocks. It is called only at looks.
	Decide func(Question, []float64) Decision
	// Measure measures a commit against the good one. A commit that cannot be measured is not an error: see Session.Excuse.
	Measure func(context.Context, Trial) (*Session, error)
	// Decided is called with each measured step, and stores it. It may set the reason why a commit was skipped.
	Decided func(*Step) error
}

// Trial is a commit to measure against the good one.
type Trial struct {
	Commit worktree.Commit
	Point  string                  // by its id; empty: all
	Scale  schema.Scale            // of the known change; empty: none is known
	Open   func(*Session) []string // at each look, the ids of the points that need more blocks
}

// Question is the question to the blocks of a point: is their change less or more than half of a known change?
type Question struct {
	Known     *float64 // in the scale of blocks; nil: it is not known yet, the change between the ends
	Error     float64  // the probability of a wrong answer, over all looks
	Looks     int      // the maximum number of looks
	MinChange float64  // smaller changes do not count
}

// Decision is the answer of the blocks.
type Decision struct {
	Change  stat.Estimate // Confidence is 0 if there are too few blocks
	Like    string        // Good or Bad; empty: not decided yet
	Nothing bool          // the interval of the change lies within MinChange
	More    int           // about how many blocks would decide; 0: not known
}

// Search finds the commit that changed a point. The zero value is not usable: see New.
type Search struct {
	Options
	Steps []Step // the steps so far, the bad end first

	commits *commits
	budget  budget
	ends    difference
}

// difference is the change between the ends of a history, in the point that distinguishes commits.
type difference struct {
	point  string // its id; empty: none is known
	scale  schema.Scale
	change float64 // in the scale of blocks
}

// End is the result of a search.
type End struct {
	Candidates []worktree.Commit // one: it was found; none: the ends do not differ
	Unchanged  []Step            // of the ends, where no point differs
	More       int               // blocks that are likely to tell whether they do; 0: not known, or they do not
}

// ErrContradiction reports a log in which no commit can be the first changed one.
var ErrContradiction = errors.New("its lines contradict each other: a good commit contains a bad one")

// New prepares a search.
func New(o Options) *Search { return &Search{Options: o, commits: newCommits(o.History)} }

// Run searches until nothing is left to test. If known steps contradict each other, the error is ErrContradiction. All other errors
// come from Measure and Decided.
func (s *Search) Run(ctx context.Context) (End, error) {
	s.budget.expected = 1 + s.commits.steps()
	if end, err := s.compareEnds(ctx); err != nil || s.ends.point == "" {
		return end, err
	}
	s.recall()
	for c, ok := s.commits.next(); ok; c, ok = s.commits.next() {
		step, err := s.test(ctx, c)
		if err != nil {
			return End{}, err
		}
		if err := s.keep(step); err != nil {
			return End{}, err
		}
	}
	end := End{Candidates: s.commits.candidates()}
	if len(end.Candidates) == 0 {
		return end, ErrContradiction
	}
	return end, nil
}

// Total is about how many steps the search takes, including those that are done.
func (s *Search) Total() int { return max(len(s.Steps), 1) + s.commits.steps() }

// stepOf is the step of a commit; the zero step if it was not tested.
func (s *Search) stepOf(c worktree.Commit) Step {
	for _, step := range slices.Backward(s.Steps) {
		if step.Commit == c.ID {
			return step
		}
	}
	return Step{}
}

// recall applies the steps that are known from before. A commit that was undecided with fewer blocks than now allowed is tested again.
func (s *Search) recall() {
	for _, step := range s.Known {
		undecided := step.Result == Skip && step.Blocks > 0
		switch {
		case step.Commit == s.History.Bad.ID:
		case undecided && step.Blocks < s.MaxBlocks:
			s.budget.spent++
		default:
			s.take(step)
		}
	}
}

// keep stores a measured step.
func (s *Search) keep(step Step) error {
	s.take(step)
	return s.Decided(&s.Steps[len(s.Steps)-1])
}

// take applies the result of a commit.
func (s *Search) take(step Step) {
	s.Steps = append(s.Steps, step)
	if step.Blocks > 0 {
		s.budget.spent++
	}
	switch step.Result {
	case Good:
		s.commits.markGood(step.Commit)
	case Bad:
		s.commits.markBad(step.Commit)
	default:
		s.commits.markSkipped(step.Commit)
	}
}

// test measures a commit against the good one, and decides which end it is like.
func (s *Search) test(ctx context.Context, c worktree.Commit) (Step, error) {
	q := Question{Known: &s.ends.change, Error: s.budget.next(), Looks: s.Looks}
	session, err := s.Measure(ctx, Trial{Commit: c, Point: s.ends.point, Scale: s.ends.scale, Open: func(session *Session) (open []string) {
		session.look()
		for _, series := range session.Points {
			if s.Decide(q, series.seen()).Like == "" && !series.failing() {
				open = append(open, series.Point.ID)
			}
		}
		return open
	}})
	if err != nil {
		return Step{}, err
	}
	if len(session.Points) == 0 {
		return Step{Commit: c.ID, Result: Skip, Session: session.ID, Reason: "the point does not exist"}, nil
	}
	series := session.Points[0]
	d := s.Decide(q, series.seen())
	step := series.step(c.ID, Skip, session.ID, d.Change)
	switch {
	case d.Like != "":
		step.Result = d.Like
	case series.failing() || d.Change.Confidence == 0:
		step.Reason = series.why()
	}
	return step, nil
}
