package query

import (
	"context"
	"iter"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// What change points of a history have to be.
const (
	historyAlpha = .05 // the chance of one in a series without any, and the share of false ones among many series
	historyBound = .95 // confidence of the interval of a shift
)

// HistoryLeast is how many sessions a series has at least for HistorySBS to find a change: in fewer nothing is less likely
// by chance than historyAlpha.
const HistoryLeast = 8

// trend is what is found in a series.
type trend struct {
	points   []stat.ChangePoint
	adjusted float64 // the least p of the change points, among those of all series; NaN where there is none
}

// historian makes a History.
type historian struct {
	History
	req               HistoryRequest
	window            int // see historyWindow
	byKey             map[lineKey]*line
	failed            map[pointOn][]failedIn
	lines             []*line // those with a location, in the order of their first sessions
	shown             []*line // those with rows
	sessions, commits interned
}

func newHistorian(req HistoryRequest, window int) *historian {
	return &historian{
		History: History{Table: Table{Columns: historyColumns()}}, req: req, window: window, byKey: map[lineKey]*line{}, failed: map[pointOn][]failedIn{},
		sessions: interned{places: map[string]int32{}}, commits: interned{places: map[string]int32{}},
	}
}

// order puts together what belongs to a session, and the series in their order.
func (h *historian) order() {
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

func (l *line) scale() schema.Scale { return scaleOf(l.metric) }

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
	chances := make([]float64, len(h.lines))
	for i, l := range h.lines {
		if h.req.Method == HistoryOtava {
			l.series = trend{otavaPoints(l), math.NaN()}
			continue
		}
		l.series.points = stat.ChangePoints(l.locations(), historyAlpha, l.least())
		chances[i] = 1
		if len(l.entries) < HistoryLeast {
			chances[i] = math.NaN() // it could have none
		}
		for _, p := range l.series.points {
			chances[i] = min(chances[i], p.P)
		}
	}
	if h.req.Method == HistoryOtava {
		return
	}
	for i, p := range stat.BenjaminiHochberg(chances) {
		t := &h.lines[i].series
		if t.adjusted = p; len(t.points) > 0 && !(p <= historyAlpha) {
			t.points = nil
		}
	}
}

// least is the smallest shift that counts.
func (l *line) least() float64 {
	if l.scale() == schema.ScaleRatio {
		return math.Log1p(DefaultThreshold)
	}
	return 0
}

// otavaPoints are Otava's change points of the values in the unit, with their shifts.
func otavaPoints(l *line) []stat.ChangePoint {
	locations := l.locations()
	values := make([]float64, len(locations))
	for i, location := range locations {
		values[i] = inUnit(location, l.scale())
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

// wanted are the entries of a series that were asked for, each with its change point where it is one.
func (h *historian) wanted(l *line) iter.Seq2[int, *stat.ChangePoint] {
	return func(yield func(int, *stat.ChangePoint) bool) {
		points := l.series.points
		for i, e := range l.entries {
			var change *stat.ChangePoint
			if len(points) > 0 && points[0].Index == i {
				change, points = &points[0], points[1:]
			}
			if time.UnixMicro(e.began).Before(h.req.Since) || h.req.Regressions && l.verdict(change) != compare.Regressed {
				continue
			}
			if !yield(i, change) {
				return
			}
		}
	}
}

// rowsOf are the entries that become rows: of an outline those alone that it does not leave out.
func (h *historian) rowsOf(l *line) iter.Seq2[int, *stat.ChangePoint] {
	return func(yield func(int, *stat.ChangePoint) bool) {
		first := true
		for i, change := range h.wanted(l) {
			if h.req.Outline && !first && change == nil && i < len(l.entries)-1 {
				continue
			}
			if first = false; !yield(i, change) {
				return
			}
		}
	}
}

// outline finds the series that have rows, and where these are.
func (h *historian) outline() {
	sessions := make([]bool, len(h.sessions.values))
	rows := 0
	for _, l := range h.lines {
		s := Series{First: rows, Sessions: len(l.entries), ByCommit: l.commits, Failed: l.failed}
		for i := range h.wanted(l) {
			sessions[l.entries[i].session] = true
			s.Locations = append(s.Locations, inUnit(l.entries[i].location, l.scale()))
		}
		for i, change := range h.rowsOf(l) {
			if change != nil {
				s.Changes = append(s.Changes, h.change(l, i, rows))
			}
			rows++
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
func (h *historian) name(ctx context.Context, r *reader) error {
	if len(h.shown) == 0 {
		return nil
	}
	byRun := make(map[schema.ULID]*line, len(h.shown))
	for _, l := range h.shown {
		byRun[l.entries[0].first] = l
	}
	ids := slices.SortedFunc(maps.Keys(byRun), compareIDs)
	columns, err := runColumns(identityColumns())
	if err != nil {
		return err
	}
	t, err := r.rows(ctx, ids, columns)
	if err != nil {
		return err
	}
	for i, id := range ids {
		l := byRun[id]
		l.before = append([]any{textValue(l.point)}, t.Rows[i]...)
		l.before = append(l.before, textValue(l.machine), textValue(l.metric), textValue(l.unit), textValue(l.better), string(l.scale()))
	}
	return nil
}
