package runner

import (
	"context"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// agenda decides which repeats run.
type agenda struct {
	past      *past                 // launches of earlier sessions
	repeat    int                   // the first one that is not planned: it depends on the runs until then
	locations map[subject][]float64 // logarithmic medians of the runs of a point, if the number of repeats depends on them (rel_error)
	compared  []schema.Run          // the runs so far, if the number of repeats depends on their comparison (--until-conclusive)
}

// newAgenda returns the agenda of a session that continues no other.
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
		imprecise := s.imprecise(p)
		if imprecise && precision.Imprecise == 0 { // those of the precise points do not count
			precision.Repeats = 0
		}
		if imprecise {
			precision.Imprecise++
		}
		if imprecise || precision.Imprecise == 0 {
			precision.Repeats = max(precision.Repeats, runs)
		}
		s.addPrecision(&precision, p, imprecise)
	}
	precision.Needed = max(precision.Needed, 0)
	s.result.Precision = &precision
}

// addPrecision adds how precise the sides of a point are, and how many runs an imprecise one needs; Needed becomes -1 if that is unknown.
func (s *session) addPrecision(all *Precision, p *sweep.Point, imprecise bool) {
	for i := range s.assembler.sides {
		locations := s.agenda.locations[subject{Point: p, Side: i}]
		if reached, ok := stat.RunsRelError(locations); ok {
			all.Reached = max(all.Reached, reached)
		}
		if !imprecise || len(locations) == 0 || all.Needed < 0 {
			continue
		}
		if needed := stat.RunsNeeded(locations, all.RelError); needed > 0 {
			all.Needed = max(all.Needed, needed, len(locations)+1)
		} else {
			all.Needed = -1
		}
	}
}

// locatedRuns returns the maximum number of runs with a location of a point, over the sides.
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

// note records the location of a run, if the number of runs depends on it.
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

// Look is an interim look (interim analysis) at a session that continues until its comparison is conclusive.
type Look struct {
	Number, Planned int               // from 1; the maximum number of looks
	Blocks          int               // maximum number of runs of a point per side so far
	Points          int               // of the session, without controls
	Inconclusive    map[string]string // points whose comparison is inconclusive, by id, with the reason
}

// Conclusive returns the number of points with a conclusive comparison.
func (l *Look) Conclusive() int { return l.Points - len(l.Inconclusive) }

// notRun is the reason why a point is open that was not run on each side, because the session ended before.
const notRun = "not run"

// ruleFacts lists the facts that define how the runs of the sweep are compared, and the facts that a user has set.
func ruleFacts(s *sweep.Sweep) map[string]string {
	facts := map[string]string{}
	for name, text := range s.Facts {
		facts[sweep.FactGiven+name] = text
	}
	if len(s.Looks) > 0 {
		numbers := make([]string, len(s.Looks))
		for i, n := range s.Looks {
			numbers[i] = strconv.Itoa(n)
		}
		facts[schema.FactLooks] = strings.Join(numbers, ",")
	}
	return facts
}

// launchUntilConclusive looks at the results as often as the sweep has planned, and runs points that are still open up to the next look.
// When the time of the suite is over, one more round records that for every open point.
func (s *session) launchUntilConclusive(ctx context.Context) error {
	looks := s.sweep.Looks
	for i := range looks {
		if ctx.Err() != nil {
			return nil // a cancelled launch is no information about its point
		}
		open := s.findInconclusive(i)
		if len(s.result.Look.Inconclusive) == 0 || i+1 == len(looks) || s.result.Left > 0 || s.agenda.repeat < looks[i] {
			return nil
		}
		until := looks[i+1]
		if s.limits.late() {
			until = s.agenda.repeat + 1
		}
		var rounds []sweep.Launch
		for ; s.agenda.repeat < until; s.agenda.repeat++ {
			rounds = append(rounds, s.openRound(open)...)
		}
		if err := s.launchAll(ctx, s.more(rounds)); err != nil {
			return err
		}
	}
	return nil
}

// openRound returns the next round for the open points. Other points of their blocks do not run again.
func (s *session) openRound(open map[string]string) []sweep.Launch {
	isOpen := func(p *sweep.Point) bool { _, ok := open[p.PointID]; return ok }
	var round []sweep.Launch
	for _, l := range s.sweep.Round(s.agenda.repeat, s.order(), isOpen) {
		if isOpen(l.Point) {
			round = append(round, l)
		}
	}
	return round
}

// findInconclusive finds the open points. Controls are compared as well, but the session does not wait for them: they run again as long as
// other points do.
func (s *session) findInconclusive(i int) (open map[string]string) {
	open = s.options.FindInconclusive(s.agenda.compared)
	blocks, ran := 0, map[string]map[string]bool{} // the sides of points
	for i := range s.agenda.compared {
		r := &s.agenda.compared[i]
		blocks = max(blocks, int(*r.RepeatIndex)+1)
		if ran[r.PointID] == nil {
			ran[r.PointID] = map[string]bool{}
		}
		ran[r.PointID][r.Side] = true
	}
	for i := range s.sweep.Points {
		if id := s.sweep.Points[i].PointID; len(ran[id]) < len(s.assembler.sides) {
			open[id] = notRun
		}
	}
	ids := awaited(s.sweep)
	l := Look{Number: i + 1, Planned: len(s.sweep.Looks), Blocks: blocks, Points: len(ids), Inconclusive: map[string]string{}}
	for _, id := range ids {
		if why, isOpen := open[id]; isOpen {
			l.Inconclusive[id] = why
		}
	}
	s.result.Look = &l
	s.progress.report(Event{Look: &l})
	return open
}

// awaited lists the ids of the points that must become conclusive: all except controls, unless there are only controls.
func awaited(s *sweep.Sweep) []string {
	var all, own []string
	for i := range s.Points {
		p := &s.Points[i]
		if all = append(all, p.PointID); !p.Control {
			own = append(own, p.PointID)
		}
	}
	if len(own) == 0 {
		return all
	}
	return own
}

// keepCompared keeps the part of a run that a comparison reads, without its samples.
func (s *session) keepCompared(l sweep.Launch, r *schema.Run) {
	if s.sweep.Looks == nil || l.Profile != "" {
		return
	}
	kept := schema.Run{
		RunID: r.RunID, SessionID: r.SessionID, PointID: r.PointID, Side: r.Side, RepeatIndex: r.RepeatIndex, BlockIndex: r.BlockIndex,
		Purpose: r.Purpose, StartedAt: r.StartedAt, Status: r.Status, Warnings: r.Warnings, Primary: r.Primary,
		Env: schema.Env{Machine: r.Env.Machine, Facts: s.assembler.rulesOf(l.Point)},
	}
	if m := r.Metric(r.Primary); m != nil {
		kept.Metrics = []schema.Metric{{
			Name: m.Name, Unit: m.Unit, Better: m.Better, Clock: m.Clock, Level: m.Level, Tick: m.Tick, Summary: m.Summary,
		}}
	}
	s.agenda.compared = append(s.agenda.compared, kept)
}
