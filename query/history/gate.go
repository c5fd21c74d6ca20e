package history

import (
	"math"
	"slices"

	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// Gate is the decision of a gate that looks at the history after each session. All fields but Missing and Newest count series.
type Gate struct {
	Series       int // gated: with a value or a failure in the newest sessions of all, or with an ok run without a start
	Short        int // of Series: too few sessions for a change, and neither regressed nor inconclusive
	Regressed    int // of Series: got worse within the newest sessions and still are, or have no value because their runs fail
	Failing      int // of Regressed: their runs fail
	Inconclusive int // of Series, not regressed: may have got worse within the newest sessions
	Undated      int // of Inconclusive: some ok runs have no start, and may be the newest
	Departed     int // of Inconclusive: their newest sessions are far off for the worse, which is rare: see Departure.Rare
	Once         int // of Inconclusive: history calls them regressed within the newest sessions, but looks once
	Alone        int // of Regressed: history calls their change inconclusive, as one of many series; the gate bounds the error of each by itself
	Earlier      int // of Series, neither regressed nor inconclusive: history calls their last change regressed, before the newest sessions
	Missing      int // number of further sessions with which the gate would call the largest change of Once, see Undecided.Missing; 0: none
	Newest       int // the least Request.Newest with which that change would be among the newest sessions then; 0: Request.Newest is enough
}

// decide gates all series.
func (h *historian) decide() {
	if h.req.Newest <= 0 {
		return
	}
	h.Gate = Gate{Series: h.unplaced, Inconclusive: h.unplaced, Undated: h.unplaced}
	var once *line
	newest := h.newest(h.req.Newest)
	for _, l := range h.lines {
		if l.failed == 0 && l.undated == 0 && l.entries[len(l.entries)-1].began < newest[0] {
			continue // it is no longer measured
		}
		h.Gate.Series++
		switch {
		case l.failed > 0 && l.failed <= h.req.Newest:
			h.Gate.Regressed++
			h.Gate.Failing++
		case l.regressed(&l.gated, h.req.Newest):
			h.Gate.Regressed++
			if !l.regressed(&l.series, h.req.Newest) {
				h.Gate.Alone++
			}
		case l.undated > 0:
			h.Gate.Inconclusive++
			h.Gate.Undated++
		case l.mayHaveRegressed(h.req.Newest):
			h.Gate.Inconclusive++
			if l.regressed(&l.series, h.req.Newest) {
				h.Gate.Once++
				if m := l.lastChange(); once == nil || math.Abs(m.Shift.Value) > math.Abs(once.lastChange().Shift.Value) {
					once = l
				}
			}
		case len(l.entries) < MinSessions:
			h.Gate.Short++
		case l.departure != nil && l.departure.Rare:
			h.Gate.Inconclusive++
			h.Gate.Departed++
		case len(l.series.points) > 0 && l.lastChange().verdict == judge.Regressed:
			h.Gate.Earlier++
		}
	}
	if once != nil {
		h.Gate.Missing = once.missing(once.lastChange(), historyLookAlpha, historyLookAlpha)
		if least := len(once.entries) + h.Gate.Missing - once.lastChange().at(); h.Gate.Missing > 0 && least > h.req.Newest {
			h.Gate.Newest = least
		}
	}
}

// lastChange returns the mark of the last change point, or nil.
func (l *line) lastChange() *mark {
	for i := range slices.Backward(l.series.marks) {
		if m := &l.series.marks[i]; m.isChange() {
			return m
		}
	}
	return nil
}

// newest returns the starts of the newest sessions over all series, at most n, in Unix microseconds and ascending.
func (h *historian) newest(n int) []int64 {
	began := make(starts, len(h.sessions.texts))
	for _, l := range h.lines {
		for i := range l.entries {
			began.add(&l.entries[i])
		}
	}
	all := began.distinct()
	return all[max(len(all)-n, 0):]
}

// starts has the start of the first entry of each session, in Unix microseconds; 0: there is no entry.
type starts []int64

func (s starts) add(e *entry) {
	if at := s[e.session]; at == 0 || e.began < at {
		s[e.session] = e.began
	}
}

// distinct returns the different starts, ascending: sessions that began at the same time count as one. It sorts s.
func (s starts) distinct() []int64 {
	slices.Sort(s)
	all := slices.Compact(s)
	if len(all) > 0 && all[0] == 0 {
		all = all[1:]
	}
	return all
}

// regressed reports whether a series got worse within its newest sessions and still is.
func (l *line) regressed(t *trend, newest int) bool {
	return l.stillWorse(t, t.points, newest, func(v judge.Verdict) bool { return v == judge.Regressed })
}

// stillWorse reports whether a change within the newest sessions, whose verdict satisfies such, is still for the worse: the sum of its
// shift and the shifts of all later changes must be for the worse, too. Changes between different clocks do not count.
func (l *line) stillWorse(t *trend, changes []stat.ChangePoint, newest int, such func(judge.Verdict) bool) bool {
	var since float64
	for _, p := range slices.Backward(changes) {
		if last(p) < len(l.entries)-newest {
			break
		}
		if l.offClock(t, p) != nil {
			continue
		}
		since += p.Shift.Value
		if such(l.verdictOf(p)) && l.worse(since, p) {
			return true
		}
	}
	return false
}

// worse reports whether a shift since a change is for the worse and beyond the margin.
func (l *line) worse(shift float64, since stat.ChangePoint) bool {
	if schema.Better(l.better) == schema.BetterHigher {
		shift = -shift
	}
	return shift > 0 && shift >= l.margin(l.entries[since.After].location)
}

// mayHaveRegressed reports whether a series has an inconclusive change within its newest sessions that may be for the worse.
func (l *line) mayHaveRegressed(newest int) bool {
	for _, m := range l.gated.marks {
		if m.at() < len(l.entries)-newest {
			continue
		}
		if m.verdict == judge.Changed || m.verdict == judge.Inconclusive && l.verdictOf(m.ChangePoint) != judge.Improved {
			return true
		}
	}
	// A step that another one followed is not marked.
	return len(l.gated.points) == 0 && l.stillWorse(&l.gated, l.gated.visible, newest, func(v judge.Verdict) bool { return v != judge.Improved })
}
