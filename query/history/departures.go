package history

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema/stat"
)

// Departure is a series whose newest sessions are far off its level: too few to tell whether they are a change or a spike.
type Departure struct {
	Row      Row // the newest session: Shift is its distance from the level, and Verdict says in which direction
	Sessions int // number of newest sessions that are far off
	// Since is when the first of them started, in UTC; nil if unknown. Base and Head are the commits of the session before it and of it; empty
	// if unknown.
	Since      *time.Time
	Base, Head string
	Before     string  // the session before them, of the level; empty if it or the newest one has too few runs for a gate
	Level      float64 // median of the sessions since the last change, in the unit
	Missing    int     // number of further sessions that a verdict needs at least

	by float64 // Shift on the scale of the series
}

// recentSessions is the number of newest sessions that a series must have a value in to count as measured still, unless a gate says
// how many.
const recentSessions = 14

// findDepartures finds the series whose newest sessions are far off, and counts those that the newest session lacks.
func (h *historian) findDepartures() {
	starts := h.starts(cmp.Or(h.req.Newest, recentSessions))
	measured := 0
	for _, l := range h.lines {
		newest := l.entries[len(l.entries)-1].began
		if l.failed > 0 || newest < starts[0] || time.UnixMicro(newest).Before(h.req.Since) {
			continue
		}
		if measured++; newest < starts[len(starts)-1] {
			recent := len(l.entries) - slices.IndexFunc(l.entries, func(e entry) bool { return e.began >= starts[0] })
			if 2*recent >= len(starts) {
				h.Absent++
			}
		}
		if n, by := stat.Departure(l.locations()[l.series.lastLevel:], l.margin); n > 0 {
			missing := 1
			for stat.LeastP(len(l.entries)-n, n+missing) > h.level {
				missing++
			}
			l.departure = &Departure{Sessions: n, Level: l.valueOf(l.series.lastLevel, len(l.entries)), Missing: missing, by: by}
			h.departed = append(h.departed, l)
		}
	}
	if 2*h.Absent > measured { // the newest session was about something else
		h.Absent = 0
	}
}

// departures makes the departures, the worst first.
func (h *historian) departures() {
	for _, l := range h.departed {
		last, d := len(l.entries)-1, l.departure
		point := stat.ChangePoint{Index: last, Shift: stat.Estimate{Value: d.by, Low: math.Inf(-1), High: math.Inf(1)}, P: math.NaN()}
		d.Row = h.row(l, last, &mark{ChangePoint: point, verdict: Spike})
		d.Row.Verdict = l.verdictOf(point)
		before, first := l.entries[last-d.Sessions], l.entries[last-d.Sessions+1]
		d.Since, d.Base, d.Head = first.time(), h.commits.text(before.commit), h.commits.text(first.commit)
		if min(before.runs, l.entries[last].runs) >= judge.FirmRuns {
			d.Before = h.sessions.text(before.session)
		}
		h.Departures = append(h.Departures, d)
	}
	order := []judge.Verdict{judge.Regressed, judge.Changed, judge.Improved}
	slices.SortStableFunc(h.Departures, func(a, b *Departure) int {
		return cmp.Or(slices.Index(order, a.Row.Verdict)-slices.Index(order, b.Row.Verdict), cmp.Compare(math.Abs(b.by), math.Abs(a.by)))
	})
}
