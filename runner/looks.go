package runner

import (
	"context"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// Look is an interim look at a session that continues until its comparison is conclusive.
type Look struct {
	Number, Planned int               // from 1; the maximum number of looks
	Blocks          int               // maximum number of runs of a point per side so far
	Points          int               // of the session, without controls
	Open            map[string]string // points whose comparison is inconclusive, by id, with the reason
}

// Conclusive is the number of points with a conclusive comparison.
func (l *Look) Conclusive() int { return l.Points - len(l.Open) }

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

// launchUntilConclusive looks at the results as often as the sweep has planned, and runs points that are still open up to the
// next look. Once the time of the suite is over, one more round records that for every open point.
func (s *session) launchUntilConclusive(ctx context.Context) error {
	looks := s.sweep.Looks
	for i := range looks {
		if ctx.Err() != nil {
			return nil // what was cancelled says nothing of its point
		}
		open := s.look(i)
		if len(s.result.Look.Open) == 0 || i+1 == len(looks) || s.result.Left > 0 || s.agenda.repeat < looks[i] {
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

// openRound is the next round for the open points. Other points of their blocks do not run again.
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

// look finds the open points. Controls are compared as well, but the session does not wait for them: they run again as long as
// other points do.
func (s *session) look(i int) (open map[string]string) {
	open = s.options.Open(s.agenda.compared)
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
	l := Look{Number: i + 1, Planned: len(s.sweep.Looks), Blocks: blocks, Points: len(ids), Open: map[string]string{}}
	for _, id := range ids {
		if why, isOpen := open[id]; isOpen {
			l.Open[id] = why
		}
	}
	s.result.Look = &l
	s.progress.report(Event{Look: &l})
	return open
}

// awaited lists the ids of the points that must become conclusive: all but controls, unless there are only controls.
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
