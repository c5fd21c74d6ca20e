package main

import (
	"cmp"
	"math"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// bisectSeries is what a session has of a point: the differences of its blocks, in the order in which they ran.
type bisectSeries struct {
	id, name string
	metric   string // empty: the primary one, until a run has it
	unit     string
	scale    schema.Scale
	blocks   []float64 // head less base, of logarithms or as they are
	base     []float64 // of the good commit's runs, likewise
	looked   int       // how many of them were there at the last look: what came after it decides nothing
	ran      int       // blocks that have both runs, with or without a value
	failure  [2]string // of each side, why the first run without a value has none
	unusable bool      // on a side it is not built, or not there: no run of it will have a value

	halves map[int64]half // by repeat: the side that ran first, until the other one did
}

// half is a run of a block; value is not a number where it has none.
type half struct {
	side  string
	value float64
}

// add takes in a run.
func (s *bisectSeries) add(r *schema.Run) {
	if r.PointID != s.id || r.Purpose != schema.PurposeMeasure || r.RepeatIndex == nil {
		return
	}
	run := half{r.Side, s.value(r)}
	other, both := s.halves[*r.RepeatIndex]
	if !both {
		if s.halves == nil {
			s.halves = map[int64]half{}
		}
		s.halves[*r.RepeatIndex] = run
		return
	}
	delete(s.halves, *r.RepeatIndex)
	s.ran++
	base, head := other, run
	if run.side == sides[0] {
		base, head = run, other
	}
	if difference := head.value - base.value; !math.IsNaN(difference) && !math.IsInf(difference, 0) {
		s.blocks, s.base = append(s.blocks, difference), append(s.base, base.value)
	}
}

// value is the location of a run in the scale in which it is compared. What has none says why.
func (s *bisectSeries) value(r *schema.Run) float64 {
	s.metric = cmp.Or(s.metric, r.Primary)
	m := r.Metric(s.metric)
	why := ""
	switch {
	case r.Status != schema.StatusOK:
		why = cmp.Or(term.FirstLine(r.Error), string(r.Status))
	case m == nil:
		why = "no metric " + cmp.Or(s.metric, "is primary")
	}
	if why == "" {
		s.unit = m.Unit
		s.scale = schema.ScaleRatio
		if kind, ok := schema.KindOfMetric(m.Name); ok {
			s.scale = kind.Scale
		}
		summary := stat.Summarize(m.Values())
		location := summary.LogMedian
		if s.scale == schema.ScaleDifference {
			location = summary.P50
		}
		if location != nil {
			return *location
		}
		why = s.metric + " has no value that can be compared"
	}
	side := 0
	if r.Side == sides[1] {
		side = 1
	}
	s.unusable = s.unusable || r.Status != schema.StatusOK && r.Stage == schema.StageBuild || r.Status == schema.StatusSkipped || r.Status == schema.StatusUnsupported
	s.failure[side] = cmp.Or(s.failure[side], why)
	return math.NaN()
}

// seen are the blocks of the last look.
func (s *bisectSeries) seen() []float64 { return s.blocks[:s.looked] }

// failing tells that a point is no use here: fewer than half of its blocks have values.
func (s *bisectSeries) failing() bool { return 2*len(s.blocks) < s.ran }

// why is why a point has too few blocks.
func (s *bisectSeries) why() string {
	if s.failure[1] == "" && s.failure[0] != "" {
		return "the good commit failed: " + s.failure[0]
	}
	return cmp.Or(s.failure[1], "nothing was measured")
}

// step is what is found of a commit by its series.
func (s *bisectSeries) step(commit, result, session string, change stat.Estimate) bisectStep {
	step := bisectStep{
		Commit: commit, Result: result, Session: session, PointID: s.id, Point: s.name, Metric: s.metric, Unit: s.unit, Scale: string(s.scale),
		Blocks: len(s.blocks),
	}
	if change.Confidence > 0 {
		step.Change, step.Low, step.High = s.forPeople(change.Value), s.forPeople(change.Low), s.forPeople(change.High)
		step.Confidence = change.Confidence
	}
	return step
}

// forPeople is a change as it is printed: of a ratio less 1.
func (s *bisectSeries) forPeople(change float64) float64 {
	if s.scale == schema.ScaleDifference {
		return change
	}
	return math.Expm1(change)
}

// inBlocks is the change in the scale of blocks.
func (s *bisectStep) inBlocks() float64 {
	if s.Scale == string(schema.ScaleDifference) {
		return s.Change
	}
	return math.Log1p(s.Change)
}

// likeText says which end a commit is like.
func (s *bisectStep) likeText() string {
	switch s.Result {
	case testedGood:
		return "like GOOD"
	case testedBad:
		return "like BAD"
	}
	return "skipped: " + s.Reason
}

// changeText is the change with its interval: +14.8 % (+14.1 +15.6).
func (s *bisectStep) changeText() string {
	if s.Confidence == 0 {
		return ""
	}
	change, low, high := signed(s.Change), bare(s.Low), bare(s.High)
	if s.Scale == string(schema.ScaleDifference) {
		change, low, high = signedQuantity(s.Change, s.Unit), signedQuantity(s.Low, s.Unit), signedQuantity(s.High, s.Unit)
	}
	return change + " (" + low + " " + high + ")"
}
