package runner

import (
	"context"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// Look is a look at a session that goes on until the comparison of its sides is settled.
type Look struct {
	Number, Planned int               // from 1; how many looks there are at most
	Blocks          int               // runs that each side of a point has at most
	Points          int               // of the session, without controls
	Open            map[string]string // those that are not settled, by their ids, and why
}

// Settled is how many points are.
func (l *Look) Settled() int { return l.Points - len(l.Open) }

// notRun is why a point is not settled that was not run on each side: the session has ended before.
const notRun = "not run"

// ruleFacts are the facts that say how a comparison of the sweep's runs is judged, and what a user has said of the machine.
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

// launchUntilSettled looks at the session as often as its sweep has planned, and runs what is not settled up to the next
// look. Once the suite has taken too long, one more round says so of every point that is not there yet.
func (s *session) launchUntilSettled(ctx context.Context) error {
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

// openRound is the next round of the points that are not settled: others of their blocks have no more runs.
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

// look finds which points are not settled. Controls are compared as all others are, but nobody waits for them: they have more
// runs as long as others do.
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
	s.progress.tell(Event{Look: &l})
	return open
}

// awaited are the ids of the points that have to be settled: all but controls, unless there are no others.
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

// keepCompared keeps what a comparison reads of a run, which is not its samples.
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
