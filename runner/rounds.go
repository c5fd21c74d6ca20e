package runner

import (
	"context"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// agenda decides which repeats run.
type agenda struct {
	past      *past                 // what earlier sessions have done
	repeat    int                   // the first one that is not planned: it depends on the runs until then
	locations map[subject][]float64 // logarithmic medians of the runs of a point, where their number depends on them
	compared  []schema.Run          // what a comparison reads of the runs so far, where their number depends on it
}

// newAgenda is the agenda of a session that continues no other.
func newAgenda(s *sweep.Sweep) agenda {
	return agenda{past: &past{}, repeat: s.FirstRound(), locations: map[subject][]float64{}}
}

// launchRounds runs more repeats than the sweep has planned, until its precision is reached. Once the time of the suite is over,
// one more round records that for every point that is still too imprecise.
func (s *session) launchRounds(ctx context.Context) error {
	for late := false; s.agenda.repeat < s.sweep.MaxRepeats && !late && ctx.Err() == nil && s.result.Left == 0; s.agenda.repeat++ {
		round := s.sweep.Round(s.agenda.repeat, s.order(), s.imprecise)
		if len(round) == 0 && s.agenda.repeat < s.sweep.Repeats { // all of its blocks were planned
			continue
		}
		if len(round) == 0 {
			return nil
		}
		late = s.limits.late()
		if err := s.launchAll(ctx, s.more(round)); err != nil {
			return err
		}
	}
	return nil
}

// notePrecision counts the points that are still too imprecise at the end of the rounds.
func (s *session) notePrecision(ctx context.Context) {
	if s.sweep.RelError == 0 {
		return
	}
	precision := Precision{RelError: s.sweep.RelError}
	switch {
	case ctx.Err() != nil:
		precision.Stopped = StopInterrupted
	case s.result.Left > 0:
		precision.Stopped = StopMaxTime
	case s.limits.skippedLate:
		precision.Stopped = StopTimeout
	}
	for i := range s.sweep.Points {
		p := &s.sweep.Points[i]
		runs := s.locatedRuns(p)
		if p.Calibration || runs == 0 {
			continue
		}
		precision.Points++
		if s.imprecise(p) {
			precision.Imprecise++
			precision.Repeats = max(precision.Repeats, runs)
		}
	}
	s.result.Precision = &precision
}

// locatedRuns is the maximum number of runs with a location of a point, over the sides.
func (s *session) locatedRuns(p *sweep.Point) (most int) {
	for i := range s.assembler.sides {
		most = max(most, len(s.agenda.locations[subject{Point: p, Side: i}]))
	}
	return most
}

// noteDone notes the runs of earlier sessions in a plan.
func (s *session) noteDone(p Plan) {
	for _, planned := range p.Launches {
		if planned.Done != nil {
			s.note(planned.Launch, planned.Done)
		}
	}
}

// more adds a round to the plan, and returns its launches that no earlier session has done.
func (s *session) more(round []sweep.Launch) []sweep.Launch {
	planned := s.agenda.past.plan(round)
	s.noteDone(planned)
	s.result.Plan.add(planned)
	s.progress.more(planned)
	var missing []sweep.Launch
	for _, p := range planned.Launches {
		if p.Done == nil {
			missing = append(missing, p.Launch)
		}
	}
	s.counted = append(s.counted, planned.counted()...)
	return missing
}

// note keeps the location of a run, if the number of runs depends on it.
func (s *session) note(l sweep.Launch, r *schema.Run) {
	if s.sweep.RelError == 0 || l.Profile != "" || r.Status != schema.StatusOK {
		return
	}
	if m := r.Metric(r.Primary); m != nil && m.Summary.LogMedian != nil {
		s.agenda.locations[subjectOf(l)] = append(s.agenda.locations[subjectOf(l)], *m.Summary.LogMedian)
	}
}

// imprecise reports whether a point needs more runs on any side to determine its location with the requested relative error. A
// point that never succeeded needs none.
func (s *session) imprecise(p *sweep.Point) bool {
	for i := range s.assembler.sides {
		locations := s.agenda.locations[subject{Point: p, Side: i}]
		if len(locations) == 0 {
			continue
		}
		if !stat.RunsPrecise(locations, s.sweep.RelError) {
			return true
		}
	}
	return false
}
