package views

import (
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/judge"
)

// metricsTable is a comparison in several metrics that were asked for: a row for each pair of points, and for each metric in its turn
// what it says of them. Each metric is judged in its own direction, so that a pair may be better in one and worse in another.
type metricsTable struct {
	Comparison
	every         []int   // the places of all pairs
	pairs         []*pair // that are shown, the worst first
	quiet, beyond int     // pairs that are not shown: unchanged in every metric; of those that are not, beyond CompareRows
}

// MaxOthers is how many other metrics of imported results a comparison shows without being asked.
const MaxOthers = 4

// withOthers returns the comparison with the rows of other metrics, which has a column of the metric. It is for tables: the headline, the
// counts and the next command are about the metrics that were compared in the first place.
func (w Comparison) withOthers() Comparison {
	if len(w.C.Others) == 0 {
		return w
	}
	c := *w.C
	c.Rows = slices.Concat(c.Rows, c.Others)
	c.Metrics = append(slices.Clone(c.Metrics), w.otherMetrics()...)
	w.C = &c
	return w
}

// otherMetrics returns the names of the other metrics that have rows.
func (w Comparison) otherMetrics() []string {
	return slices.Compact(term.Texts(w.C.Others, func(r compare.Row) string { return r.Metric }))
}

// otherCounts counts the verdicts of each other metric in one line, or what the repeats say where no point has a verdict.
func (w Comparison) otherCounts() []string {
	var parts []string
	for _, metric := range w.otherMetrics() {
		var own []compare.Point
		for i := range w.C.Others {
			if w.C.Others[i].Metric == metric {
				own = append(own, w.C.Others[i].Point)
			}
		}
		parts = append(parts, metric+": "+verdictCounts(countVerdicts(own, ResultOf)))
	}
	if len(parts) == 0 {
		return nil
	}
	return []string{strings.Join(parts, "; ")}
}

// othersChanged ends the headline with the other metrics that changed; empty: none did.
func (w Comparison) othersChanged() (text string) {
	for _, metric := range w.otherMetrics() {
		counts, differ := map[judge.Verdict]int{}, 0
		for i := range w.C.Others {
			switch r := &w.C.Others[i]; {
			case r.Metric != metric:
			case called(r.Verdict):
				counts[r.Verdict]++
			case r.Repeats != nil && r.Repeats.Differ():
				differ++
			}
		}
		if len(counts) > 0 {
			text += "; " + metric + ": " + verdictCounts(counts)
		}
		if differ > 0 {
			text += "; " + metric + ": " + term.Thousands(differ) + " " + term.Verb(differ, "differs", "differ")
		}
	}
	return text
}

// shownOthers returns the indices of the rows of withOthers to print in its table below the rows of the comparison: rows that need
// attention and differ at all, or with --all every one, and at most CompareRows without it.
func (w Comparison) shownOthers() (all []int) {
	for i := range w.C.Others {
		r := &w.C.Others[i]
		equal := r.Estimates != nil && r.Estimates.Change == 0 && !called(r.Verdict)
		if w.Selection.All || isLoud(r) && !equal {
			all = append(all, len(w.C.Rows)+i)
		}
	}
	if !w.Selection.All {
		all = all[:min(len(all), CompareRows)]
	}
	return all
}

// pointsOf is points for some rows of withOthers. A metric that is called like its unit is not repeated behind each value.
func (w Comparison) pointsOf(places []int, varying []Axis) ([]term.Column, [][]term.Cell) {
	columns, cells := w.points(places, varying)
	if len(w.C.Metrics) > 1 {
		for i, place := range places {
			if r := &w.C.Rows[place]; r.Metric == r.Unit {
				for k := len(varying); k < len(cells[i]); k++ {
					cells[i][k].Text = strings.ReplaceAll(cells[i][k].Text, " "+r.Unit, "")
				}
			}
		}
	}
	return columns, cells
}

// mergedAxes merges all axes except the axis metric.
func (w Comparison) mergedAxes(varying []Axis) []Axis {
	if len(w.C.Metrics) < 2 || len(varying) < 2 {
		return w.Reader.MergedAxes(varying)
	}
	last := len(varying) - 1
	return append(w.Reader.MergedAxes(varying[:last]), varying[last])
}

// metricsTable gathers the rows of all metrics by pair. Of a matrix, whose rows are what was asked for, none is too quiet.
func (w Comparison) metricsTable() metricsTable {
	b := metricsTable{Comparison: w}
	keys := newPairKeys(w.C.Rows)
	byKey := map[string]*pair{}
	for i := range w.C.Rows {
		r := &w.C.Rows[i]
		key := keys.of(r)
		p := byKey[key]
		if p == nil {
			p = &pair{place: i, rows: make([]*compare.Row, len(w.C.Metrics)), rank: len(compare.Verdicts)}
			byKey[key], b.pairs = p, append(b.pairs, p)
		}
		p.add(r, w.C.Metrics)
		if first := &w.C.Rows[p.place]; (first.BaseID == "" || first.HeadID == "") && r.BaseID != "" && r.HeadID != "" {
			p.place = i
		}
	}
	slices.SortStableFunc(b.pairs, func(x, y *pair) int { return x.rank - y.rank })
	for _, p := range b.pairs {
		b.every = append(b.every, p.place)
	}
	if w.Selection.All {
		return b
	}
	attention := func(r *compare.Row) bool { return r != nil && isLoud(r) }
	loud := slices.DeleteFunc(slices.Clone(b.pairs), func(p *pair) bool {
		return w.C.Contrast.Axis == "" && !slices.ContainsFunc(p.rows, attention)
	})
	if len(loud) > 0 {
		b.quiet = len(b.pairs) - len(loud)
		b.pairs = loud
	}
	b.beyond = max(len(b.pairs)-CompareRows, 0)
	b.pairs = b.pairs[:len(b.pairs)-b.beyond]
	return b
}

// places returns the index of a row of each pair.
func (b metricsTable) places() []int {
	places := make([]int, len(b.pairs))
	for i, p := range b.pairs {
		places[i] = p.place
	}
	return places
}

// varying returns the axes in which pairs differ, with the values of some rows.
func (b metricsTable) varying(places []int) []Axis {
	all := make([]Subject, len(b.every))
	at := make(map[int]int, len(b.every))
	for i, place := range b.every {
		all[i], at[place] = subjectOfRow(&b.C.Rows[place]), i
	}
	among := make([]int, len(places))
	for i, place := range places {
		among[i] = at[place]
	}
	return b.axesOf(all, among, places)
}

// results returns the indices of the rows of the shown pairs, metric by metric, and for each the index of its pair.
func (b metricsTable) results() (places, pairs []int) {
	place := map[*compare.Row]int{}
	for i := range b.C.Rows {
		place[&b.C.Rows[i]] = i
	}
	for _, p := range b.pairs {
		for i, r := range p.rows {
			if r != nil && slices.Index(p.rows, r) == i {
				places, pairs = append(places, place[r]), append(pairs, p.place)
			}
		}
	}
	return places, pairs
}

// hiddenText says how many pairs the table leaves out.
func (b metricsTable) hiddenText() string {
	var parts []string
	if b.beyond > 0 {
		parts = append(parts, term.Count(b.beyond, "more point"))
	}
	if b.quiet > 0 {
		parts = append(parts, term.Count(b.quiet, "point")+" unchanged in every metric")
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("… and %s (--all)", strings.Join(parts, ", "))
}

// addLines adds the lines above and below the table.
func (b metricsTable) addLines(v term.View) term.View {
	if shared := b.constants(false); len(shared) > 0 && b.C.Contrast.Axis == "" {
		v.Above = append(v.Above, "all points below: "+strings.Join(shared, " · "))
	}
	if hidden := b.hiddenText(); hidden != "" {
		v.Below = append(v.Below, hidden, "")
	}
	if b.C.Contrast.Axis == "" {
		results, _ := b.results()
		v.Below = slices.Concat(v.Below, b.failures(b.places()), b.explained(term.View{}, results))
	}
	return v
}

// addTable adds the table to a view, and how it is shown where that is too wide: with the values of the head alone, then with a
// row for each metric.
func (b metricsTable) addTable(v term.View) term.View {
	varying := b.varying(b.places())
	v.Columns, v.Rows = b.table(varying, b.C.Contrast.Axis == "")
	compact := v
	v.Compact = func() term.View {
		for _, x := range [][]Axis{varying, b.Reader.MergedAxes(varying)} {
			short := compact
			if short.Columns, short.Rows = b.table(x, false); !b.relative() && short.Fits(b.Reader.Page()) {
				if b.C.Contrast.Axis == "" {
					short.Above = append(slices.Clone(short.Above), "values are those of the head: the terminal is too narrow for both sides")
				}
				return short
			}
		}
		places, pairs := b.results()
		stacked := append(b.varying(pairs), b.axisOf(places, "metric", func(r *compare.Row) any { return answer.Text(r.Metric) }))
		for _, x := range [][]Axis{stacked, b.Reader.MergedAxes(stacked)} {
			if compact.Columns, compact.Rows = b.points(places, x); compact.Fits(b.Reader.Page()) {
				break
			}
		}
		compact.Below = append([]string{RowAMetric, ""}, compact.Below...)
		return compact
	}
	return v
}

// table has for each metric the value of the head, or of both sides, the change and the verdict, and at last the words of the
// verdicts.
func (b metricsTable) table(varying []Axis, both bool) ([]term.Column, [][]term.Cell) {
	columns := AxisColumns(varying)
	relative := b.relative() && b.C.Contrast.Axis == ""
	verdict, words := term.Column{Header: "VERDICT"}, b.C.Contrast.Axis == ""
	if b.repeatsOnly() { // as in points
		verdict, words = term.Column{Header: "REPEATS", Fixed: true}, false
	}
	for _, metric := range b.C.Metrics {
		columns = append(columns, MetricColumn(metric), term.Column{Header: "CHANGE", Right: true})
		if relative {
			columns = append(columns, term.Column{Header: "RELATIVE"})
		}
		columns = append(columns, verdict)
	}
	if words {
		columns = append(columns, term.Column{Header: "", Drop: 1})
	}
	rows := make([][]term.Cell, len(b.pairs))
	for i, p := range b.pairs {
		rows[i] = AxisCells(varying, i)
		for _, r := range p.rows {
			rows[i] = append(rows[i], b.resultCells(r, both, relative)...)
		}
		if words {
			rows[i] = append(rows[i], term.Cell{Text: p.words(b.C.Metrics)})
		}
	}
	return columns, rows
}

// resultCells returns the value of a metric, its change and the verdict, all unknown if r is nil.
func (b metricsTable) resultCells(r *compare.Row, both, relative bool) []term.Cell {
	unknown := term.Cell{Text: term.Unknown}
	cells := []term.Cell{unknown, unknown}
	if relative {
		cells = append(cells, unknown)
	}
	cells = append(cells, unknown)
	if r == nil {
		return cells
	}
	cells[0].Text = valueText(r, r.Head)
	if both {
		cells[0].Text = valueText(r, r.Base) + " → " + cells[0].Text
	}
	cells[1].Text = PointChange(r)
	if relative {
		cells[2] = relativeCell(r.Relative)
	}
	cells[len(cells)-1] = verdictCell(b.said(&r.Point))
	return cells
}

// words returns the words of a pair: "noise", or "latency noise (+3), accuracy few_runs" if metrics differ.
func (p *pair) words(metrics []string) string {
	var all, named []string
	for i, r := range p.rows {
		if r == nil {
			continue
		}
		if word := wordOf(r); word != "" {
			all, named = append(all, word), append(named, metrics[i]+" "+word)
		}
	}
	if len(all) == len(p.rows) && len(slices.Compact(all)) == 1 {
		return all[0]
	}
	return strings.Join(named, ", ")
}
