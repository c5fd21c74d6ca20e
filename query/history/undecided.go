package history

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema/stat"
)

// Undecided is a visible step or a slow change that may be chance.
type Undecided struct {
	Change     // Row is not set
	At     Row // the session of Change.Row
	// Missing is the number of further sessions, like those since the step or along the slow change, with which History would call it a
	// change, if other series stay as they are; 0: not even with MostMissing.
	Missing int
	Better  bool // it would be an improvement
}

// MostMissing is the maximum of Undecided.Missing.
const MostMissing = 30

// findUndecided finds the series with the largest undecided change, for the worse if there is one.
func (h *historian) findUndecided() {
	size := func(l *line) float64 { return math.Abs(l.inconclusive().Shift.Value) }
	order := []judge.Verdict{judge.Regressed, judge.Changed, judge.Improved}
	var all []*line
	for _, l := range h.lines {
		m := l.inconclusive()
		if m != nil && !time.UnixMicro(l.entries[m.at()].began).Before(h.req.Since) {
			all = append(all, l)
		}
	}
	if len(all) == 0 {
		return
	}
	h.undecided = slices.MinFunc(all, func(a, b *line) int {
		return cmp.Or(slices.Index(order, a.verdictOf(a.inconclusive().ChangePoint))-slices.Index(order, b.verdictOf(b.inconclusive().ChangePoint)), cmp.Compare(size(b), size(a)))
	})
}

// describeUndecided fills in History.Undecided.
func (h *historian) describeUndecided() {
	l := h.undecided
	if l == nil {
		return
	}
	m := l.inconclusive()
	level := h.level
	if len(l.series.points) > 0 { // the series is called changed already, and so is any change in it
		level = historyAlpha
	}
	h.Undecided = &Undecided{
		Change: h.change(l, m, 0), At: h.row(l, m.at(), m), Missing: l.missing(m, historyAlpha, level), Better: l.verdictOf(m.ChangePoint) == judge.Improved,
	}
}

// missing returns how many sessions, like those since a change or along a slow one, a series needs more for the change to be found at alpha
// and its p to be at most level; 0: not even MostMissing.
func (l *line) missing(m *mark, alpha, level float64) int {
	values := l.locations()
	since, rise := values[m.at():], 0.
	if m.Until == len(values) { // it rises or falls still
		since = values[m.After:]
		rise = m.Shift.Value / float64(len(since)-1) * float64(len(since))
	}
	for n := range MostMissing {
		values = append(values, since[n%len(since)]+rise*float64(n/len(since)+1))
		found := stat.NewTrend(values).Changes(alpha, l.margin)
		least := slices.ContainsFunc(found, func(p stat.ChangePoint) bool { return p.P <= level })
		if least && slices.ContainsFunc(found, func(p stat.ChangePoint) bool { return last(p) > m.After }) {
			return n + 1
		}
	}
	return 0
}
