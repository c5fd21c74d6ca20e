package bisect

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"

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
	// Decide decides by the blocks. It is called only at looks (interim analyses).
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
	Change  stat.Estimate // its Confidence is 0 if there are too few blocks
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
	point  string // its id; empty: unknown
	scale  schema.Scale
	change float64 // in the scale of blocks
}

// End is the result of a search.
type End struct {
	Candidates []worktree.Commit // one: it was found; none: the ends do not differ
	Unchanged  []Step            // of the ends, where no point differs
	More       int               // blocks that are likely to decide whether they differ; 0: unknown, or they do not differ
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

// stepOf returns the step of a commit; the zero step if it was not tested.
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

// test measures a commit against the good one, and decides which end it resembles.
func (s *Search) test(ctx context.Context, c worktree.Commit) (Step, error) {
	q := Question{Known: &s.ends.change, Error: s.budget.next(), Looks: s.Looks}
	session, err := s.Measure(ctx, Trial{Commit: c, Point: s.ends.point, Scale: s.ends.scale, Open: func(session *Session) (open []string) {
		session.advance()
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

// Series has the measurements of a session for a point: the differences of its blocks, in the order of the runs. A block is one run of
// each side. The difference is the difference of the medians, or of their logarithms for a metric that is compared as a ratio.
type Series struct {
	Point  Point
	Metric string       // empty: the primary one, until a run has it
	Scale  schema.Scale // empty before the first value; then the scale of the metric, or difference after a value that is not positive

	unit    string
	values  [][2]float64 // of the runs of each block, base and head, in the unit
	blocks  []float64    // head less base
	looked  int          // number of blocks at the last look: later ones do not count for the decision
	pairs   pairs        // the runs that blocks are made of
	failure [2]string    // per side, why the first run without a value has none
	useless bool         // one side is not built, or does not exist: no run will have a value
}

// Point is a point of a session: its id, its name for messages, and the scale on which it is compared. If Scale is empty, the values
// decide.
type Point struct {
	ID, Name string
	Scale    schema.Scale
}

// pairs combines runs into blocks.
type pairs struct {
	halves map[int64]half // by repeat: the side that ran first, until the other one did
	ran    int            // blocks that have both runs, with or without a value
}

// half is one run of a block; value is NaN if it has none.
type half struct {
	side  string
	value float64
}

// add adds the run of a repeat, and returns both values of its block once it has them.
func (p *pairs) add(repeat int64, run half) (base, head float64, both bool) {
	other, both := p.halves[repeat]
	if !both {
		if p.halves == nil {
			p.halves = map[int64]half{}
		}
		p.halves[repeat] = run
		return 0, 0, false
	}
	delete(p.halves, repeat)
	p.ran++
	if run.side == sideBase {
		return run.value, other.value, true
	}
	return other.value, run.value, true
}

// The sides of a session: the good commit, and the one that is tested.
const (
	sideBase = "base"
	sideHead = "head"
)

// add adds a run.
func (s *Series) add(r *schema.Run) {
	if r.PointID != s.Point.ID || r.Purpose != schema.PurposeMeasure || r.RepeatIndex == nil {
		return
	}
	base, head, both := s.pairs.add(*r.RepeatIndex, half{r.Side, s.value(r)})
	if !both || math.IsNaN(head-base) {
		return
	}
	s.values = append(s.values, [2]float64{base, head})
	s.compare()
}

// compare adds the blocks of new values. After the first value without a ratio it makes all blocks again, as differences.
func (s *Series) compare() {
	if last := s.values[len(s.values)-1]; s.Scale == schema.ScaleRatio && min(last[0], last[1]) <= 0 && s.Point.Scale == "" {
		s.Scale, s.blocks = schema.ScaleDifference, nil
	}
	for _, v := range s.values[len(s.blocks):] {
		base, head := v[0], v[1]
		if s.Scale == schema.ScaleRatio {
			base, head = math.Log(base), math.Log(head)
		}
		s.blocks = append(s.blocks, head-base)
	}
}

// value returns the location of a run, in the unit. If there is none, the reason is kept.
func (s *Series) value(r *schema.Run) float64 {
	s.Metric = cmp.Or(s.Metric, r.Primary)
	m := r.Metric(s.Metric)
	why := ""
	switch {
	case r.Status != schema.StatusOK:
		why, _, _ = strings.Cut(r.Error, "\n")
		why = cmp.Or(why, string(r.Status))
	case m == nil:
		why = "no metric " + cmp.Or(s.Metric, "is primary")
	}
	if why == "" {
		s.unit, s.Scale = m.Unit, cmp.Or(s.Scale, schema.ScaleOf(m.Name))
		summary := stat.Summarize(m.Values())
		switch location := summary.P50; {
		case location == nil:
			why = s.Metric + " has no value to compare"
		case s.Point.Scale == schema.ScaleRatio && *location <= 0:
			why = s.Metric + " is not positive, and is compared by ratio"
		case summary.LogMedian != nil && schema.ScaleOf(m.Name) == schema.ScaleRatio:
			return math.Exp(*summary.LogMedian)
		default:
			return *location
		}
	}
	side := 0
	if r.Side == sideHead {
		side = 1
	}
	s.useless = s.useless || r.Status != schema.StatusOK && r.Stage == schema.StageBuild || r.Status == schema.StatusSkipped || r.Status == schema.StatusUnsupported
	s.failure[side] = cmp.Or(s.failure[side], why)
	return math.NaN()
}

// Blocks returns the number of blocks with values on both sides.
func (s *Series) Blocks() int { return len(s.blocks) }

// Level returns the median of the runs of a side, 0 for the good commit and 1 for the other, in the unit; NaN if there is none.
func (s *Series) Level(side int) float64 {
	var values []float64
	for _, v := range s.values {
		values = append(values, v[side])
	}
	slices.Sort(values)
	return stat.Quantile(values, .5)
}

// seen returns the blocks of the last look.
func (s *Series) seen() []float64 { return s.blocks[:s.looked] }

// failing reports that fewer than half of the blocks of a point have values, so that it is not useful.
func (s *Series) failing() bool { return 2*len(s.blocks) < s.pairs.ran }

// why returns the reason why a point has too few blocks.
func (s *Series) why() string {
	if s.failure[1] == "" && s.failure[0] != "" {
		return "the good commit failed: " + s.failure[0]
	}
	return cmp.Or(s.failure[1], "nothing was measured")
}

// step returns the result of a commit by its series.
func (s *Series) step(commit, result, session string, change stat.Estimate) Step {
	step := Step{
		Commit: commit, Result: result, Session: session, PointID: s.Point.ID, Point: s.Point.Name, Metric: s.Metric, Unit: s.unit, Scale: string(s.Scale),
		Blocks: len(s.blocks),
	}
	if change.Confidence > 0 {
		step.Change, step.Low, step.High = s.forPeople(change.Value), s.forPeople(change.Low), s.forPeople(change.High)
		step.Confidence = change.Confidence
	}
	return step
}

// forPeople returns a change in the form in which it is printed: for a ratio, the ratio minus 1.
func (s *Series) forPeople(change float64) float64 {
	if s.Scale == schema.ScaleDifference {
		return change
	}
	return math.Expm1(change)
}

// Results of a test of a commit: words of git bisect.
const (
	Good = "good" // it is like the good end
	Bad  = "bad"  // like the bad one
	Skip = "skip" // neither is known
)

// Step is the result for a commit, compared with the good one. Changes are in printed form: a ratio minus 1, or a difference in the
// stored unit. As JSON it is a line of the log of a search.
type Step struct {
	Commit string `json:"commit"`
	Result string `json:"result"`
	// Reason is why it was skipped. Empty, though it was skipped: its blocks do not decide.
	Reason string `json:"reason,omitempty"`

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

// inBlocks returns the change in the scale of blocks.
func (s *Step) inBlocks() float64 {
	if s.Scale == string(schema.ScaleDifference) {
		return s.Change
	}
	return math.Log1p(s.Change)
}

// compareEnds measures the good commit against the bad one to find the point that differs, and by how much. If none does, the
// returned end is the result of the search.
func (s *Search) compareEnds(ctx context.Context) (End, error) {
	bad := s.History.Bad
	if at := slices.IndexFunc(s.Known, func(k Step) bool { return k.Commit == bad.ID && k.Blocks > 0 }); at >= 0 {
		step := s.Known[at]
		s.ends = difference{step.PointID, schema.Scale(step.Scale), step.inBlocks()}
		s.take(step)
		return End{}, nil
	}
	session, err := s.Measure(ctx, Trial{Commit: bad, Open: s.undecidedEnds})
	if err != nil {
		return End{}, err
	}
	best, sure := -1, 0.
	for i, series := range session.Points {
		d := s.decideEnds(series, len(session.Points))
		if surer := math.Abs(d.Change.Value) / (d.Change.High - d.Change.Low); d.Like == Bad && (best < 0 || surer > sure) {
			best, sure = i, surer
		}
	}
	if best < 0 {
		return s.alike(session), nil
	}
	series := session.Points[best]
	change := s.decideEnds(series, len(session.Points)).Change
	s.ends = difference{series.Point.ID, series.Scale, change.Value}
	return End{}, s.keep(series.step(bad.ID, Bad, session.ID, change))
}

// decideEnds decides whether a point, one of several, differs between the ends.
func (s *Search) decideEnds(series *Series, points int) Decision {
	share := budget{expected: s.budget.expected}.next() / float64(points)
	return s.Decide(Question{Error: share, Looks: s.Looks, MinChange: s.MinChange(series)}, series.seen())
}

// undecidedEnds returns the points for which it is unknown whether they differ; none, once one differs.
func (s *Search) undecidedEnds(session *Session) (open []string) {
	session.advance()
	for _, series := range session.Points {
		d := s.decideEnds(series, len(session.Points))
		if d.Like == Bad {
			return nil
		}
		if !series.failing() && !d.Nothing {
			open = append(open, series.Point.ID)
		}
	}
	return open
}

// alike returns the result if no point differs.
func (s *Search) alike(session *Session) End {
	var end End
	for _, series := range session.Points {
		d := s.decideEnds(series, len(session.Points))
		step := series.step(s.History.Bad.ID, Skip, session.ID, d.Change)
		switch {
		case d.Change.Confidence == 0 || series.failing():
			step.Reason = series.why()
		case d.Nothing:
			step.Result = Good
		default:
			end.More = max(end.More, d.More)
		}
		end.Unchanged = append(end.Unchanged, step)
	}
	return end
}

// wrongCommit is the maximum probability that a search names a wrong commit.
const wrongCommit = .05

// budget divides the probability of a wrong commit among the steps of a search. The expected steps share four fifths of it. Each
// further step, needed when commits were skipped, gets half of the rest.
type budget struct {
	expected int // how many steps are measured
	spent    int // how many have been, and had their share
}

// next returns the share of the next step.
func (b budget) next() float64 {
	const usual = .8
	if b.spent < b.expected {
		return usual * wrongCommit / float64(b.expected)
	}
	return (1 - usual) * wrongCommit / math.Exp2(float64(b.spent-b.expected+1))
}
