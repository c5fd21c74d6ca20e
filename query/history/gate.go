package history

import (
	"maps"
	"math"
	"slices"

	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
)

// Gate is what a history means for whoever must decide after each session.
type Gate struct {
	Series    int // that were gated: those with a value, or a failure, in the newest sessions of all
	Short     int // of those: without enough sessions for a change, and neither regressed nor unsettled
	Regressed int // with a change for the worse within their newest sessions, which was not undone since, or without a value since their runs fail
	Failing   int // of those: without a value for at most so many sessions
	Unsettled int // others that may have got worse there
}

// decide gates all series.
func (h *historian) decide() {
	if h.req.Newest <= 0 {
		return
	}
	since := h.newestSince(h.req.Newest)
	for _, l := range h.lines {
		if n := len(l.entries); n > 0 && l.failed == 0 && l.entries[n-1].began < since {
			continue // nobody measures it any more
		}
		h.Gate.Series++
		switch {
		case l.failed > 0 && l.failed <= h.req.Newest:
			h.Gate.Regressed++
			h.Gate.Failing++
		case l.regressedOf(h.req.Newest):
			h.Gate.Regressed++
		case l.unsettledOf(h.req.Newest):
			h.Gate.Unsettled++
		case len(l.entries) < Least:
			h.Gate.Short++
		}
	}
}

// newestSince is when the oldest of so many sessions began that are the newest of all series, in Unix microseconds.
func (h *historian) newestSince(newest int) int64 {
	began := map[int32]int64{} // by session
	for _, l := range h.lines {
		for _, e := range l.entries {
			if at, ok := began[e.session]; !ok || e.began < at {
				began[e.session] = e.began
			}
		}
	}
	all := slices.Sorted(maps.Values(began))
	if len(all) <= newest {
		return math.MinInt64
	}
	return all[len(all)-newest]
}

// regressedOf tells whether a series got worse within its newest sessions and is still so: a change for the worse counts
// together with those after it.
func (l *line) regressedOf(newest int) bool {
	var since float64
	for i := len(l.series.points) - 1; i >= 0; i-- {
		p := l.series.points[i]
		if p.Index < len(l.entries)-newest {
			break
		}
		since += p.Shift.Value
		if l.verdictOf(p) == judge.Regressed && l.worse(since) {
			return true
		}
	}
	return false
}

// worse tells whether a shift is for the worse, and not smaller than what counts.
func (l *line) worse(shift float64) bool {
	if schema.Better(l.better) == schema.BetterHigher {
		shift = -shift
	}
	return shift > 0 && shift >= l.least()
}

// unsettledOf tells whether a series may have got worse within its newest sessions.
func (l *line) unsettledOf(newest int) bool {
	for _, m := range l.series.marks {
		if m.Index < len(l.entries)-newest {
			continue
		}
		if m.verdict == judge.Changed || m.verdict == Unsettled && l.verdictOf(m.ChangePoint) != judge.Improved {
			return true
		}
	}
	return false
}
