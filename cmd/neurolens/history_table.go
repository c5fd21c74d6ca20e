package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/compare"
)

// changeOrder is how verdicts are ordered: what got worse first.
var changeOrder = []compare.Verdict{compare.Regressed, compare.Changed, compare.Improved, ""}

// several is a line for each series, that whose last change is worst first.
func (w historyWriter) several() view {
	series := slices.Clone(w.h.Series)
	last := func(s query.Series) changedAt {
		if changes := w.changes(s); len(changes) > 0 {
			return changes[len(changes)-1]
		}
		return changedAt{}
	}
	slices.SortStableFunc(series, func(a, b query.Series) int { return w.worse(last(a), last(b)) })
	shown := series[:min(len(series), historyRows)]

	t := query.Table{Columns: w.h.Columns}
	for _, s := range shown {
		t.Rows = append(t.Rows, w.h.Rows[s.First])
	}
	constants, varying := axes(t, append([]string{"metric"}, historyAxes...))
	if len(constants) > 0 {
		constants[0] = strings.TrimPrefix(constants[0], "metric=")
	}
	v := view{above: heading(constants)}
	table := func(v view, varying []axis) view {
		for _, x := range varying {
			v.columns = append(v.columns, axisColumn(x))
		}
		v.columns = append(v.columns,
			viewColumn{header: "SESSIONS", right: true, drop: 1}, viewColumn{header: "TREND", drop: 3}, viewColumn{header: "LAST", right: true},
			viewColumn{header: "CHANGE", right: true}, viewColumn{header: "VERDICT"}, viewColumn{header: "SINCE " + w.app.offset(), drop: 2})
		for i, s := range shown {
			var cells []cell
			for _, x := range varying {
				cells = append(cells, axisCell(x, i))
			}
			v.rows = append(v.rows, append(cells, w.seriesCells(s, last(s))...))
		}
		return v
	}
	v.below = w.counts()
	compact := v
	v = table(v, varying)
	v.compact = func() view { return table(compact, mergedAxes(varying)) }
	return w.finish(v, []changedAt{last(series[0])})
}

// seriesCells are the cells of a series after what it is of.
func (w historyWriter) seriesCells(s query.Series, c changedAt) []cell {
	rows := w.h.Rows[s.First:s.End]
	newest := rows[len(rows)-1]
	cells := []cell{
		{text: thousands(len(s.Locations))},
		{text: sparkline(s.Locations, sparkColumns)},
		{text: quantity(at(w.h.Table, newest, "location"), textAt(w.h.Table, newest, "unit"))},
	}
	if c.row == nil {
		return append(cells, cell{text: unknown}, cell{}, cell{})
	}
	return append(cells, cell{text: w.shift(c.row, "shift")}, cell{string(c.verdict), c.verdict == compare.Regressed},
		cell{text: w.app.when(at(w.h.Table, c.row, "started_at"))})
}

// worse orders changes: for the worse first, then the larger one.
func (w historyWriter) worse(a, b changedAt) int {
	size := func(c changedAt) float64 {
		if c.row == nil {
			return 0
		}
		v, _ := at(w.h.Table, c.row, "shift").(float64)
		if textAt(w.h.Table, c.row, "scale") == "ratio" {
			v = math.Log1p(v)
		}
		return math.Abs(v)
	}
	return cmp.Or(slices.Index(changeOrder, a.verdict)-slices.Index(changeOrder, b.verdict), cmp.Compare(size(b), size(a)))
}

// counts are the lines that count everything.
func (w historyWriter) counts() []string {
	counts := map[compare.Verdict]int{}
	for _, s := range w.h.Series {
		verdict := compare.Verdict("")
		if changes := w.changes(s); len(changes) > 0 {
			verdict = changes[len(changes)-1].verdict
		}
		counts[verdict]++
	}
	var lines []string
	if hidden := len(w.h.Series) - historyRows; hidden > 0 {
		lines = append(lines, fmt.Sprintf("… %s more (--format plain for all)", thousands(hidden)))
	}
	parts := []string{fmt.Sprintf("%s regressed", thousands(counts[compare.Regressed])), fmt.Sprintf("%s improved", thousands(counts[compare.Improved]))}
	if n := counts[compare.Changed]; n > 0 {
		parts = append(parts, fmt.Sprintf("%s changed", thousands(n)))
	}
	parts = append(parts, fmt.Sprintf("%s as before", thousands(counts[""])))
	lines = append(lines, fmt.Sprintf("%s over %s: %s", counted(len(w.h.Series), "series"), count(w.h.Sessions, "session"), strings.Join(parts, ", ")))
	if counts[""] < len(w.h.Series) && w.req.Method != query.HistoryOtava {
		lines = append(lines, "at most 5 % of the series with a change are expected to have none")
	}
	return lines
}

// regressions are the changes for the worse, a line each, the largest first.
func (w historyWriter) regressions() view {
	type regression struct {
		changedAt
		name string
	}
	var all []regression
	for _, s := range w.h.Series {
		for _, c := range w.changes(s) {
			all = append(all, regression{c, w.name(c.row)})
		}
	}
	slices.SortStableFunc(all, func(a, b regression) int { return w.worse(a.changedAt, b.changedAt) })
	v := view{columns: []viewColumn{
		{header: "CHANGED"},
		{header: "SERIES"},
		{header: "BY", right: true},
		{header: "95 %", right: true, drop: 1},
		{header: "COMMITS", drop: 2},
		{header: "ALSO CHANGED", drop: 3},
	}}
	for _, r := range all[:min(len(all), historyRows)] {
		v.rows = append(v.rows, []cell{
			{text: began(at(w.h.Table, r.row, "started_at"))},
			{text: r.name},
			{w.shift(r.row, "shift"), true},
			{text: w.interval(r.row)},
			{text: commitRange(r.Base, r.Head)},
			{text: differsText(r.Differs)},
		})
	}
	if hidden := len(all) - historyRows; hidden > 0 {
		v.below = append(v.below, fmt.Sprintf("… %s more (--format plain for all)", thousands(hidden)))
	}
	v.below = append(v.below, fmt.Sprintf("%s%s in %s of %s", count(len(all), "regression"), w.since(), counted(len(w.h.Series), "series"), thousands(w.h.Known)))
	return w.finish(v, []changedAt{all[0].changedAt})
}

// finish adds what was left out and the command to type next: about the first of the changes.
func (w historyWriter) finish(v view, changes []changedAt) view {
	if w.h.Useless > 0 {
		v.below = append(v.below, count(w.h.Useless, "ok run")+" without a value of the metric left out")
	}
	if len(changes) == 0 || changes[0].row == nil {
		return v
	}
	slices.SortStableFunc(changes, w.worse)
	command := "neurolens compare session=" + shortRun(changes[0].BaseSession) + " session=" + shortRun(textAt(w.h.Table, changes[0].row, "session_id"))
	for _, dir := range w.app.stores {
		command += " --store " + shellQuoted(dir)
	}
	v.below, v.commands = append(v.below, ""), []string{"next  " + command}
	return v
}
