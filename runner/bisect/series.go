package bisect

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// Series is what a session has measured for a point: the differences of its blocks, in the order of the runs. A block is one run of
// each side. For a metric that is compared as a ratio, the difference is that of the logarithms of the medians, else that of the
// medians.
type Series struct {
	Point  Point
	Metric string       // empty: the primary one, until a run has it
	Scale  schema.Scale // empty before the first value; then the scale of the metric, or difference after a value that is not positive

	unit    string
	values  [][2]float64 // of the runs of each block, base and head, in the unit
	blocks  []float64    // head less base
	looked  int          // how many blocks were there at the last look: what came after it decides nothing
	pairs   pairs        // the runs that blocks are made of
	failure [2]string    // of each side, why the first run without a value has none
	useless bool         // on a side it is not built, or not there: no run of it will have a value
}

// Point is a point of a session: its id, its name for messages, and the scale on which it is compared. If Scale is empty, the values decide.
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

// value is the location of a run, in the unit. If there is none, the reason is kept.
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

// Blocks is the number of blocks with values on both sides.
func (s *Series) Blocks() int { return len(s.blocks) }

// Level is the median of the runs of a side, 0 for the good commit and 1 for the other, in the unit; NaN if there is none.
func (s *Series) Level(side int) float64 {
	var values []float64
	for _, v := range s.values {
		values = append(values, v[side])
	}
	slices.Sort(values)
	return stat.Quantile(values, .5)
}

// seen are the blocks of the last look.
func (s *Series) seen() []float64 { return s.blocks[:s.looked] }

// failing reports that fewer than half of the blocks of a point have values, so that it is not useful.
func (s *Series) failing() bool { return 2*len(s.blocks) < s.pairs.ran }

// why is the reason why a point has too few blocks.
func (s *Series) why() string {
	if s.failure[1] == "" && s.failure[0] != "" {
		return "the good commit failed: " + s.failure[0]
	}
	return cmp.Or(s.failure[1], "nothing was measured")
}

// step is the result of a commit by its series.
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

// forPeople is a change as it is printed: for a ratio, the ratio minus 1.
func (s *Series) forPeople(change float64) float64 {
	if s.Scale == schema.ScaleDifference {
		return change
	}
	return math.Expm1(change)
}
