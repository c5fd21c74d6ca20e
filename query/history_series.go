package query

import (
	"math"

	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// What change points of a history have to be.
const (
	historyAlpha = .05 // the chance of one in a series without any, and the share of false ones among many series
	historyBound = .95 // confidence of the interval of a shift
	historyLeast = 8   // sessions of a series; in fewer nothing is less likely by chance than historyAlpha
)

// line is a series in the making.
type line struct {
	rows      [][]any // of locations, the oldest first
	locations []float64
	scale     schema.Scale
	better    schema.Better
	points    []stat.ChangePoint
	adjusted  float64 // the least p of its change points, among those of all series; NaN where there is none
}

// historian makes a History of the table of locations.
type historian struct {
	req   HistoryRequest
	from  Table
	lines []*line
}

func newHistory(t Table, req HistoryRequest) History {
	w := historian{req: req, from: t}
	h := History{Table: Table{Columns: w.columns()}}
	w.sort(&h)
	w.findChanges()
	h.Known = len(w.lines)
	sessions := map[any]bool{}
	for _, l := range w.lines {
		if s := w.write(&h, l); s.End > s.First {
			h.Series = append(h.Series, s)
		}
	}
	for _, row := range h.Rows {
		sessions[row[h.Index("session_id")]] = true
	}
	h.Sessions = len(sessions)
	return h
}

// columns are those of a History.
func (w *historian) columns() []Column {
	var all []Column
	keep := func(names ...string) {
		for _, name := range names {
			all = append(all, w.from.Columns[w.from.Index(name)])
		}
	}
	keep("point_id")
	keep(historyIdentity...)
	keep("machine", "metric", "unit", "better")
	all = append(all, Column{Name: "scale", Type: TypeText})
	keep("session_id", "started_at", "runs")
	all = append(all, Column{Name: "location", Unit: schema.UnitOfRow, Type: TypeReal})
	keep("git_commit")
	all = append(all, Column{Name: "change_point", Type: TypeBoolean})
	for _, name := range []string{"shift", "shift_low", "shift_high", "p", "p_adjusted"} {
		all = append(all, Column{Name: name, Type: TypeReal})
	}
	return append(all, Column{Name: "verdict", Type: TypeText})
}

func (w *historian) value(row []any, name string) any { return row[w.from.Index(name)] }

// sort puts the sessions that have a location in their series, in the order of the series' first sessions.
func (w *historian) sort(h *History) {
	type key struct{ point, machine, metric, unit any }
	byKey := map[key]*line{}
	for _, row := range w.from.Rows {
		runs, _ := w.value(row, "runs").(int64)
		all, _ := w.value(row, "ok_runs").(int64)
		h.Useless += int(all - runs)
		location, ok := w.value(row, "location").(float64)
		if !ok {
			continue
		}
		k := key{w.value(row, "point_id"), w.value(row, "machine"), w.value(row, "metric"), w.value(row, "unit")}
		l := byKey[k]
		if l == nil {
			l = &line{scale: scaleOf(textOf(k.metric)), better: schema.Better(textOf(w.value(row, "better")))}
			byKey[k], w.lines = l, append(w.lines, l)
		}
		l.rows, l.locations = append(l.rows, row), append(l.locations, location)
	}
}

// findChanges finds the change points of all series, and among many series those that count.
func (w *historian) findChanges() {
	chances := make([]float64, len(w.lines))
	for i, l := range w.lines {
		if w.req.Method == HistoryOtava {
			l.points, l.adjusted = otavaPoints(l), math.NaN()
			continue
		}
		l.points = stat.ChangePoints(l.locations, historyAlpha, l.least())
		chances[i] = 1
		if len(l.locations) < historyLeast {
			chances[i] = math.NaN() // it could have none
		}
		for _, p := range l.points {
			chances[i] = min(chances[i], p.P)
		}
	}
	if w.req.Method == HistoryOtava {
		return
	}
	for i, p := range stat.BenjaminiHochberg(chances) {
		l := w.lines[i]
		if l.adjusted = p; len(l.points) > 0 && !(p <= historyAlpha) {
			l.points = nil
		}
	}
}

// least is the smallest shift that counts.
func (l *line) least() float64 {
	if l.scale == schema.ScaleRatio {
		return math.Log1p(DefaultThreshold)
	}
	return 0
}

// otavaPoints are Otava's change points of the values in the unit, with their shifts.
func otavaPoints(l *line) []stat.ChangePoint {
	values := make([]float64, len(l.locations))
	for i, location := range l.locations {
		values[i] = inUnit(location, l.scale)
	}
	ends := append([]int{0}, stat.Otava(values, stat.OtavaOptions{})...)
	ends = append(ends, len(values))
	var points []stat.ChangePoint
	for i, at := range ends[1 : len(ends)-1] {
		shift := stat.Shift(l.locations[ends[i]:at], l.locations[at:ends[i+2]], historyBound)
		points = append(points, stat.ChangePoint{Index: at, Shift: shift, P: math.NaN()})
	}
	return points
}

// write adds the rows of a series.
func (w *historian) write(h *History, l *line) Series {
	s := Series{First: len(h.Rows), Sessions: len(l.rows)}
	points := l.points
	for i, row := range l.rows {
		var change *stat.ChangePoint
		if len(points) > 0 && points[0].Index == i {
			change, points = &points[0], points[1:]
		}
		verdict := l.verdict(change)
		since := !startOf(w.value(row, "started_at"), w.value(row, "session_id")).Before(w.req.Since)
		if !since || w.req.Regressions && verdict != compare.Regressed {
			continue
		}
		if change != nil {
			c := Change{Row: len(h.Rows), headRun: textOf(w.value(row, "first_run")), Head: textOf(w.value(row, "git_commit"))}
			before := l.rows[i-1]
			c.baseRun, c.Base, c.BaseSession = textOf(w.value(before, "first_run")), textOf(w.value(before, "git_commit")), textOf(w.value(before, "session_id"))
			s.Changes = append(s.Changes, c)
		}
		out := make([]any, 0, len(h.Columns))
		for _, column := range h.Columns {
			if at := w.from.Index(column.Name); at >= 0 && column.Name != "location" {
				out = append(out, row[at])
				continue
			}
			out = append(out, l.added(column.Name, i, change))
		}
		h.Rows = append(h.Rows, out)
	}
	s.End = len(h.Rows)
	return s
}

// added is the value of a column that the table of locations has not.
func (l *line) added(column string, i int, change *stat.ChangePoint) any {
	switch column {
	case "scale":
		return string(l.scale)
	case "location":
		return realValue(inUnit(l.locations[i], l.scale))
	case "change_point":
		return change != nil
	}
	if change == nil {
		return nil
	}
	switch column {
	case "shift":
		return realValue(l.shift(change.Shift.Value))
	case "shift_low":
		return realValue(l.shift(change.Shift.Low))
	case "shift_high":
		return realValue(l.shift(change.Shift.High))
	case "p":
		return realValue(change.P)
	case "p_adjusted":
		return realValue(max(change.P, l.adjusted))
	}
	return string(l.verdict(change))
}

// shift is a shift as people read it: of the ratio less 1, or in the unit. What has no bound below has none as a ratio.
func (l *line) shift(v float64) float64 {
	if l.scale == schema.ScaleRatio && !math.IsInf(v, 0) {
		return math.Expm1(v)
	}
	return v
}

// verdict says which way a change goes; it is empty where there is none.
func (l *line) verdict(change *stat.ChangePoint) compare.Verdict {
	switch {
	case change == nil:
		return ""
	case l.better != schema.BetterLower && l.better != schema.BetterHigher:
		return compare.Changed
	case change.Shift.Value > 0 == (l.better == schema.BetterLower):
		return compare.Regressed
	}
	return compare.Improved
}
