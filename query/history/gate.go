package history

import (
	"maps"
	"math"
	"slices"

	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
)

// Gate is the decision of a gate that looks at the history after each session. All fields count series.
type Gate struct {
	Series       int // gated: with a value or a failure in the newest sessions of all
	Short        int // of Series: too few sessions for a change, and neither regressed nor inconclusive
	Regressed    int // of Series: got worse within the newest sessions and still are, or have no value because their runs fail
	Failing      int // of Regressed: their runs fail
	Inconclusive int // of Series, not regressed: may have got worse within the newest sessions
	Undated      int // of Inconclusive: some ok runs have no start, and may be the newest
}

// decide gates all series.
func (h *historian) decide() {
	if h.req.Newest <= 0 {
		return
	}
	since := h.newestSince(h.req.Newest)
	for _, l := range h.lines {
		if n := len(l.entries); n > 0 && l.failed == 0 && l.undated == 0 && l.entries[n-1].began < since {
			continue // it is no longer measured
		}
		h.Gate.Series++
		switch {
		case l.failed > 0 && l.failed <= h.req.Newest:
			h.Gate.Regressed++
			h.Gate.Failing++
		case l.regressed(h.req.Newest):
			h.Gate.Regressed++
		case l.undated > 0:
			h.Gate.Inconclusive++
			h.Gate.Undated++
		case l.mayHaveRegressed(h.req.Newest):
			h.Gate.Inconclusive++
		case len(l.entries) < MinSessions:
			h.Gate.Short++
		}
	}
}

// newestSince is the start of the oldest of the newest n sessions over all series, in Unix microseconds.
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

// regressed reports whether a series got worse within its newest sessions and still is: the sum of a change for the worse and
// all later changes must be for the worse too.
func (l *line) regressed(newest int) bool {
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

// worse reports whether a shift is for the worse and at least as large as the threshold.
func (l *line) worse(shift float64) bool {
	if schema.Better(l.better) == schema.BetterHigher {
		shift = -shift
	}
	return shift > 0 && shift >= l.minShift()
}

// mayHaveRegressed reports whether a series has an inconclusive change within its newest sessions that may be for the worse.
func (l *line) mayHaveRegressed(newest int) bool {
	for _, m := range l.series.marks {
		if m.Index < len(l.entries)-newest {
			continue
		}
		if m.verdict == judge.Changed || m.verdict == judge.Inconclusive && l.verdictOf(m.ChangePoint) != judge.Improved {
			return true
		}
	}
	return false
}
