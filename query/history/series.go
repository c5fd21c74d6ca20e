package history

import (
	"context"
	"iter"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/neurolens/neurolens/query/facts"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// What change points of a history have to be.
const (
	historyAlpha = .05 // the chance of one in a series without any, and the share of false ones among many series
	historyBound = .95 // confidence of the interval of a shift

	// historyLookAlpha is historyAlpha where a series is looked at every day of a year.
	historyLookAlpha = historyAlpha / 365
)

// Least is how many sessions a series has at least for SBS to find a change.
const Least = 8

// What a row of a history says that is no change: a step that can be seen but may be chance, and a session that is far off a
// level which was there before it and after it.
const (
	Unsettled judge.Verdict = "unsettled"
	Spike     judge.Verdict = "spike"
)

// trend is what is found in a series.
type trend struct {
	points   []stat.ChangePoint
	adjusted float64 // the least p of the change points, among those of all series; NaN where there is none
	marks    []mark  // ascending
}

// mark is what is said of an entry of a series.
type mark struct {
	stat.ChangePoint // of a spike its Shift is that from the level to the entry, without an interval
	verdict          judge.Verdict
}

// settled tells whether the level is another from here on.
func (m *mark) settled() bool { return m.verdict != Unsettled && m.verdict != Spike }

// historian makes a History.
type historian struct {
	History
	req               Request
	window            int // see window
	byKey             map[lineKey]*line
	failed            map[pointOn][]failedIn
	lines             []*line // those with a location, in the order of their first sessions
	shown             []*line // those with rows
	sessions, commits interned
}

func newHistorian(req Request, window int) *historian {
	return &historian{
		req: req, window: window, byKey: map[lineKey]*line{}, failed: map[pointOn][]failedIn{},
		sessions: interned{places: map[string]int32{}}, commits: interned{places: map[string]int32{}},
	}
}

// order puts together what belongs to a session, and the series in their order.
func (h *historian) order() {
	h.dropWrong()
	ok := h.okSessions()
	for _, l := range h.byKey {
		if l.merge(); len(l.entries) > 0 {
			l.failed = h.failedSince(l, ok[l.pointOn()])
			h.lines = append(h.lines, l)
		}
	}
	h.byKey, h.failed, h.Known = nil, nil, len(h.lines)
	slices.SortFunc(h.lines, func(a, b *line) int { return earlier(a.entries[0], b.entries[0]) })
}

func (l *line) scale() schema.Scale { return schema.ScaleOf(l.metric) }

// locations are as the series is compared: logarithms, unless by difference.
func (l *line) locations() []float64 {
	all := make([]float64, len(l.entries))
	for i, e := range l.entries {
		all[i] = e.location
	}
	return all
}

// findChanges finds the change points of all series, and among many series those that count.
func (h *historian) findChanges() {
	if h.req.Method == Otava {
		for _, l := range h.lines {
			l.series = trend{points: otavaPoints(l), adjusted: math.NaN()}
			l.mark()
		}
		return
	}
	alpha := h.alpha()
	chances := make([]float64, len(h.lines))
	for i, l := range h.lines {
		l.series.points = stat.ChangePoints(l.locations(), alpha, l.least())
		chances[i] = 1
		if len(l.entries) < Least {
			chances[i] = math.NaN() // it could have none
		}
		for _, p := range l.series.points {
			chances[i] = min(chances[i], p.P)
		}
	}
	adjusted := chances // a gate is right of each series on its own
	if h.req.Newest == 0 {
		adjusted = stat.BenjaminiHochberg(chances)
	}
	for i, p := range adjusted {
		t := &h.lines[i].series
		if t.adjusted = p; len(t.points) > 0 && !(p <= alpha) {
			t.points = nil
		}
		h.lines[i].mark()
		h.lines[i].markDoubtful()
	}
}

// alpha is the chance of a change point in a series without any.
func (h *historian) alpha() float64 {
	if h.req.Newest > 0 {
		return historyLookAlpha
	}
	return historyAlpha
}

// mark makes marks of the change points.
func (l *line) mark() {
	l.series.marks = nil
	for _, p := range l.series.points {
		l.series.marks = append(l.series.marks, mark{p, l.verdictOf(p)})
	}
}

// markDoubtful adds to the marks the last step that can be seen after the last change point, and the spikes of each level.
func (l *line) markDoubtful() {
	locations := l.locations()
	low := 0
	for _, p := range l.series.points {
		l.markSpikes(locations, low, p.Index)
		low = p.Index
	}
	high := len(locations)
	if seen := stat.VisibleChanges(locations[low:], historyAlpha, l.least()); len(seen) > 0 {
		last := seen[len(seen)-1]
		last.Index += low
		l.series.marks = append(l.series.marks, mark{last, Unsettled})
		high = last.Index
	}
	l.markSpikes(locations, low, high)
	l.markSpikes(locations, high, len(locations))
	slices.SortFunc(l.series.marks, func(a, b mark) int { return a.Index - b.Index })
}

// markSpikes adds the spikes of the level from low up to high.
func (l *line) markSpikes(locations []float64, low, high int) {
	for _, s := range stat.Spikes(locations[low:high], l.least()) {
		by := stat.Estimate{Value: s.By, Low: math.Inf(-1), High: math.Inf(1)}
		l.series.marks = append(l.series.marks, mark{stat.ChangePoint{Index: low + s.Index, Shift: by, P: math.NaN()}, Spike})
	}
}

// least is the smallest shift that counts.
func (l *line) least() float64 {
	if l.scale() == schema.ScaleRatio {
		return math.Log1p(judge.DefaultThreshold)
	}
	return 0
}

// otavaPoints are Otava's change points of the values in the unit, with their shifts.
func otavaPoints(l *line) []stat.ChangePoint {
	locations := l.locations()
	values := make([]float64, len(locations))
	for i, location := range locations {
		values[i] = l.scale().InUnit(location)
	}
	ends := append([]int{0}, stat.Otava(values, stat.OtavaOptions{})...)
	ends = append(ends, len(values))
	var points []stat.ChangePoint
	for i, at := range ends[1 : len(ends)-1] {
		shift := stat.Shift(locations[ends[i]:at], locations[at:ends[i+2]], historyBound)
		points = append(points, stat.ChangePoint{Index: at, Shift: shift, P: math.NaN()})
	}
	return points
}

// wanted are the entries of a series that were asked for, each with what is said of it.
func (h *historian) wanted(l *line) iter.Seq2[int, *mark] {
	return func(yield func(int, *mark) bool) {
		marks := l.series.marks
		for i, e := range l.entries {
			var m *mark
			if len(marks) > 0 && marks[0].Index == i {
				m, marks = &marks[0], marks[1:]
			}
			if time.UnixMicro(e.began).Before(h.req.Since) || h.req.Regressions && (m == nil || m.verdict != judge.Regressed) {
				continue
			}
			if !yield(i, m) {
				return
			}
		}
	}
}

// rowsOf are the entries that become rows: of an outline those alone that it does not leave out.
func (h *historian) rowsOf(l *line) iter.Seq2[int, *mark] {
	return func(yield func(int, *mark) bool) {
		first := true
		for i, m := range h.wanted(l) {
			if h.req.Outline && !first && m == nil && i < len(l.entries)-1 {
				continue
			}
			if first = false; !yield(i, m) {
				return
			}
		}
	}
}

// outline finds the series that have rows, and where these are.
func (h *historian) outline() {
	sessions := make([]bool, len(h.sessions.texts))
	rows := 0
	for _, l := range h.lines {
		s := Series{First: rows, Sessions: len(l.entries), ByCommit: l.commits, Failed: l.failed}
		for i := range h.wanted(l) {
			sessions[l.entries[i].session] = true
			s.Locations = append(s.Locations, l.scale().InUnit(l.entries[i].location))
		}
		for i, m := range h.rowsOf(l) {
			switch {
			case m == nil:
			case m.verdict == Spike:
				s.Spikes = append(s.Spikes, rows)
			default:
				s.Changes = append(s.Changes, h.change(l, i, rows))
			}
			rows++
		}
		if m := l.unsettled(); m != nil && !time.UnixMicro(l.entries[m.Index].began).Before(h.req.Since) {
			h.Unsettled++
		}
		if s.End = rows; s.End > s.First {
			h.Series, h.shown = append(h.Series, s), append(h.shown, l)
		} else if l.failed > 0 && !h.req.Regressions {
			h.Gone++
		}
	}
	for _, seen := range sessions {
		if seen {
			h.Sessions++
		}
	}
}

// unsettled is the step of a series that can be seen but may be chance; there is one at most.
func (l *line) unsettled() *mark {
	for i := range l.series.marks {
		if m := &l.series.marks[i]; m.verdict == Unsettled {
			return m
		}
	}
	return nil
}

// change says what is before and after entry i of a series.
func (h *historian) change(l *line, i, row int) Change {
	base, head, last := l.entries[i-1], l.entries[i], l.entries[l.levelEnd(i)-1]
	return Change{
		Row: row, Base: h.commits.text(base.commit), Head: h.commits.text(head.commit),
		BaseSession: h.sessions.text(base.session), baseRun: base.first, headRun: head.first, lastRun: last.first,
	}
}

// levelEnd is where the level that begins with entry i ends: at the next change point, or with the series.
func (l *line) levelEnd(i int) int {
	for _, p := range l.series.points {
		if p.Index > i {
			return p.Index
		}
	}
	return len(l.entries)
}

// name reads what the series with rows are of, from a run of each.
func (h *historian) name(ctx context.Context, r *scan.Reader) error {
	if len(h.shown) == 0 {
		return nil
	}
	byRun := make(map[schema.ULID]*line, len(h.shown))
	for _, l := range h.shown {
		byRun[l.entries[0].first] = l
	}
	ids := slices.SortedFunc(maps.Keys(byRun), scan.CompareIDs)
	columns, err := scan.RunColumns(append(slices.Clone(facts.Identity), "params"))
	if err != nil {
		return err
	}
	t, err := r.Rows(ctx, ids, columns)
	if err != nil {
		return err
	}
	for i, id := range ids {
		row := t.Rows[i]
		params, _ := row[len(facts.Identity)].(map[string]any)
		byRun[id].of = facts.PointOf(row, params)
	}
	return nil
}
