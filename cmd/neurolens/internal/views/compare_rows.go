package views

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
)

// points makes the table of some rows, with a column for each axis in which they differ. It has no interval, P and noise if these are
// unknown in every row.
func (w Comparison) points(places []int, varying []Axis) ([]term.Column, [][]term.Cell) {
	columns := append(AxisColumns(varying),
		term.Column{Header: "BASE", Right: true}, term.Column{Header: "HEAD", Right: true}, term.Column{Header: "CHANGE", Right: true})
	relative := w.relative()
	if relative {
		columns = append(columns, term.Column{Header: "RELATIVE"})
	}
	drop := 0
	if width := w.Reader.Width; 0 < width && width < 80 { // there is no room for names beside it
		drop = 1
	}
	columns = append(columns,
		term.Column{Header: w.confidence(), Right: true, Drop: drop}, term.Column{Header: "P", Right: true, Drop: 5}, term.Column{Header: "NOISE", Right: true, Drop: 4},
		term.Column{Header: "RUNS × N", Right: true, Drop: 3}, term.Column{Header: "VERDICT"}, term.Column{Header: "", Drop: 2})
	rows := make([][]term.Cell, len(places))
	for i, place := range places {
		rows[i] = append(AxisCells(varying, i), pointCells(&w.C.Rows[place], relative)...)
	}
	if last := len(columns) - 1; w.repeatsOnly() { // the results of repeats stand in place of verdicts
		columns[last-4].Drop, columns[last-3].Drop, columns[last-1] = 2, 5, term.Column{Header: "REPEATS", Fixed: true} // P, NOISE
		columns = columns[:last]
		for i, place := range places {
			if r := &w.C.Rows[place]; r.Repeats != nil {
				rows[i][last-1] = term.Cell{Text: string(ResultOf(&r.Point))}
			}
			rows[i] = rows[i][:last]
		}
	}
	v := term.View{Columns: columns, Rows: rows}.WithoutUnknown(w.confidence(), "P", "NOISE")
	return v.Columns, v.Rows
}

// relative reports whether points were judged relative to the change that all of them share. Where no point has a verdict, a small one says
// nothing.
func (w Comparison) relative() bool {
	for _, shared := range w.C.Shared {
		if !w.repeatsOnly() || math.Abs(shared.Change) >= judge.DefaultThreshold {
			return true
		}
	}
	return false
}

// relativeCell has the change of a point relative to the change that all points share, and its verdict.
func relativeCell(r *compare.Relative) term.Cell {
	if r == nil || !Finite(r.Change) {
		return term.Cell{Text: term.Unknown}
	}
	if r.Verdict == judge.Inconclusive || r.Verdict == judge.Estimate {
		if r.Reason != "" && r.Reason != judge.Noise {
			return term.Cell{Text: Signed(r.Change) + " " + string(r.Reason)}
		}
		return term.Cell{Text: Signed(r.Change)}
	}
	verdict := verdictCell(r.Verdict)
	verdict.Text = Signed(r.Change) + " " + verdict.Text
	return verdict
}

// pointAxes returns the axes in which rows differ, and the metric as the last one if there are several.
func (w Comparison) pointAxes(places []int) []Axis {
	varying := w.axesOf(subjects(w.C.Rows), places, places)
	if len(w.C.Metrics) > 1 {
		varying = append(varying, w.axisOf(places, "metric", func(r *compare.Row) any { return answer.Text(r.Metric) }))
	}
	return varying
}

// axesOf returns the axes in which subjects differ, with the values of some of them, which are the rows at places.
func (w Comparison) axesOf(all []Subject, some, places []int) []Axis {
	_, varying := Axes(all, append(slices.Clone(IdentityColumns), "machine"))
	varying = valuesAt(varying, some)
	if name := w.C.Contrast.Axis; name != "" {
		column := schema.CanonicalAlias(name)
		if !slices.ContainsFunc(varying, func(x Axis) bool { return x.Name == column || "param."+x.Name == column }) {
			varying = append([]Axis{w.valuesOf(places, column)}, varying...)
		}
	}
	return varying
}

// subjects returns the points and metrics of rows.
func subjects(rows []compare.Row) []Subject {
	all := make([]Subject, len(rows))
	for i := range rows {
		all[i] = subjectOfRow(&rows[i])
	}
	return all
}

func subjectOfRow(r *compare.Row) Subject {
	return Subject{Point: r.Identity, Metric: r.Metric}
}

// valuesOf makes an axis of a column or a parameter.
func (w Comparison) valuesOf(places []int, name string) Axis {
	if slices.Contains(IdentityColumns, name) || name == "machine" {
		return w.axisOf(places, name, func(r *compare.Row) any { return r.Identity.Value(name) })
	}
	parameter := strings.TrimPrefix(name, "param.")
	return w.axisOf(places, filter.ParameterKey(parameter), func(r *compare.Row) any { return r.Identity.Parameter(parameter) })
}

// axisOf makes an axis of a value of some rows.
func (w Comparison) axisOf(places []int, name string, value func(r *compare.Row) any) Axis {
	x := Axis{Name: name}
	for _, place := range places {
		x.Values = append(x.Values, AxisText(value(&w.C.Rows[place])))
	}
	return x
}

// verdictCell shows a verdict, in capitals if it is bad.
func verdictCell(v judge.Verdict) term.Cell {
	if slices.Contains([]judge.Verdict{judge.Regressed, compare.Missing, compare.Failed}, v) {
		return term.Cell{Text: strings.ToUpper(string(v)), Failed: true}
	}
	return term.Cell{Text: string(v), Won: v == judge.Improved}
}

// PointChange returns the change of a row: a ratio, or a difference in the unit of the row. The method follows if the medians of the sides
// contradict the change.
func PointChange(r *compare.Row) string {
	e := r.Estimates
	if e == nil || !Finite(e.Change) {
		return term.Unknown
	}
	text := Change(e.Change, r.Scale, r.Unit)
	if word := methodFlag(r); word != "" {
		text += " " + word
	}
	return text
}

// methodFlag names the estimator of a change if the medians of the sides contradict it; it is empty if they agree.
func methodFlag(r *compare.Row) string {
	for _, word := range []string{compare.FlagPaired, compare.FlagPairwise} {
		if slices.Contains(r.Flags, word) {
			return word
		}
	}
	return ""
}

// intervalText returns the interval of a change.
func intervalText(r *compare.Row) string {
	if e := r.Estimates; e != nil && known(e) {
		return Interval(e.Low, e.High, r.Scale, r.Unit)
	}
	return term.Unknown
}

// noiseText returns what the runs of a side differ by.
func noiseText(r *compare.Row) string {
	switch e := r.Estimates; {
	case e == nil || !Finite(e.Noise):
		return term.Unknown
	case r.Scale == schema.ScaleRatio:
		return Share(e.Noise)
	default:
		return QuantityOf(e.Noise, r.Unit, r.Metric)
	}
}

// valueText returns the value of a side.
func valueText(r *compare.Row, m *compare.Measured) string {
	if m == nil || m.Value == nil {
		return term.Unknown
	}
	return QuantityOf(answer.Computed(*m.Value), r.Unit, r.Metric)
}

// pointCells returns the cells of a point behind its axes.
func pointCells(r *compare.Row, relative bool) []term.Cell {
	cells := []term.Cell{{Text: valueText(r, r.Base)}, {Text: valueText(r, r.Head)}, {Text: PointChange(r)}}
	if relative {
		cells = append(cells, relativeCell(r.Relative))
	}
	chanceOf := term.Unknown
	switch {
	case r.Repeats != nil:
		chanceOf = Chance(r.Repeats.Adjusted)
	case r.Estimates != nil:
		chanceOf = Chance(r.Estimates.Adjusted)
	}
	return append(cells,
		term.Cell{Text: intervalText(r)}, term.Cell{Text: chanceOf}, term.Cell{Text: noiseText(r)}, term.Cell{Text: runsText(r)}, verdictCell(r.Verdict), term.Cell{Text: wordOf(r)})
}

// runsText counts the runs and samples of each side.
func runsText(r *compare.Row) string {
	side := func(m *compare.Measured) string {
		switch {
		case m == nil:
			return term.Unknown
		case m.SamplesMin == nil:
			return term.Thousands(int(m.Runs))
		case *m.SamplesMax > *m.SamplesMin:
			return fmt.Sprintf("%s×%s…%s", term.Thousands(int(m.Runs)), term.Thousands(int(*m.SamplesMin)), term.Thousands(int(*m.SamplesMax)))
		}
		return fmt.Sprintf("%s×%s", term.Thousands(int(m.Runs)), term.Thousands(int(*m.SamplesMin)))
	}
	base, head := side(r.Base), side(r.Head)
	if base == head {
		return base
	}
	return base + " " + head
}

// wordOf returns what the repeats of a point without a verdict say, or the reason of a point or, where it has none, that its runs failed or,
// where somebody has to think about it, its first flag: a row has room for one word.
func wordOf(r *compare.Row) string {
	if r.Repeats != nil {
		return r.Repeats.Result
	}
	word := string(r.Reason)
	switch {
	case word != "":
	case slices.Contains(r.Flags, compare.FlagWrong):
		word = compare.FlagWrong
	case slices.Contains(r.Flags, compare.FlagFailures):
		word = compare.FlagFailures
	case len(r.Flags) > 0 && r.Flags[0] != compare.FlagLooks && r.Flags[0] != methodFlag(r) && r.Verdict != judge.Unchanged:
		word = r.Flags[0]
	}
	switch {
	case r.Reason == judge.OffClock:
		word += " (" + ClocksText(r.Clocks) + ")"
	case word == "" || r.MoreRuns <= 0:
	case r.Reason == judge.Noise && loaded(&r.Point):
		word += " (" + warnLoad + ")"
	default:
		word += fmt.Sprintf(" (+%s)", term.Thousands(r.MoreRuns))
	}
	return word
}

// ClocksText returns the clocks of the two sides: 1,410 against 1,980 MHz.
func ClocksText(c *query.Clocks) string {
	return fmt.Sprintf("%s against %s MHz", term.Thousands(int(math.Round(c.Base))), term.Thousands(int(math.Round(c.Head))))
}

// valuesAt returns axes of some rows, by their places.
func valuesAt(varying []Axis, places []int) []Axis {
	chosen := make([]Axis, len(varying))
	for k, x := range varying {
		chosen[k].Name = x.Name
		for _, place := range places {
			chosen[k].Values = append(chosen[k].Values, x.Values[place])
		}
	}
	return chosen
}

// pair is a point of either side.
type pair struct {
	place int            // of its first row of both sides, else of its first row
	rows  []*compare.Row // in the order of the metrics; nil where neither side has the metric
	rank  int            // of its worst verdict in compare.Verdicts
}

// add takes in a row of the pair. One without a metric, where no run of either side is ok, is what is said in all of them.
func (p *pair) add(r *compare.Row, metrics []string) {
	if !r.Point.NeitherSupports() {
		p.rank = min(p.rank, slices.Index(compare.Verdicts, r.Verdict))
	}
	if r.Metric != "" {
		p.rows[slices.Index(metrics, r.Metric)] = r
		return
	}
	for i := range p.rows {
		p.rows[i] = r
	}
}

// pairKeys name pairs, whatever the metric. A side that does not have a metric has no point in its row: the row is of the pair
// that the other side's point is in, where that is one.
type pairKeys struct{ byBase, byHead map[string]string }

// ambiguous marks a point that is in several pairs.
const ambiguous = "several"

func newPairKeys(rows []compare.Row) pairKeys {
	k := pairKeys{map[string]string{}, map[string]string{}}
	note := func(to map[string]string, point, key string) {
		if known := to[point]; known != "" && known != key {
			key = ambiguous
		}
		to[point] = key
	}
	for i := range rows {
		if r := &rows[i]; r.BaseID != "" && r.HeadID != "" {
			note(k.byBase, r.BaseID+r.Identity.Machine, pairOf(r))
			note(k.byHead, r.HeadID+r.Identity.Machine, pairOf(r))
		}
	}
	return k
}

func (k pairKeys) of(r *compare.Row) string {
	key := ""
	switch {
	case r.HeadID == "":
		key = k.byBase[r.BaseID+r.Identity.Machine]
	case r.BaseID == "":
		key = k.byHead[r.HeadID+r.Identity.Machine]
	}
	if key == "" || key == ambiguous {
		return pairOf(r)
	}
	return key
}

// pairOf identifies the points of a row, whatever the metric.
func pairOf(r *compare.Row) string { return r.BaseID + " " + r.HeadID + " " + r.Identity.Machine }

// directions say of each of several metrics which values are better, and what is no change.
func (w Comparison) directions() []string {
	var lines [][2]string
	for _, metric := range w.C.Metrics {
		if slices.Contains(w.C.Absent.Metrics, metric) {
			continue // a note says so
		}
		text := "better direction unknown: changes have no winner"
		if better := w.better(metric); better != "" {
			text = better + " is better"
		}
		if zone := w.equivalenceMargin(metric); zone != "" {
			text += "; a change below " + zone + " counts as none"
		}
		lines = append(lines, [2]string{metric, text})
	}
	return term.Pairs(lines)
}

// better is which values of a metric are, where that is the same for all points. One without a value says nothing about it.
func (w Comparison) better(metric string) string {
	better := map[string]bool{}
	for _, p := range w.C.Points {
		if p.Metric == metric && !p.NoValue {
			better[p.Better] = true
		}
	}
	if len(better) > 1 {
		return ""
	}
	return strings.Join(slices.Collect(maps.Keys(better)), "")
}

// equivalenceMargin returns the difference of a metric below which there is none, as it was given: an amount is another share of each point.
// It is empty where every difference counts.
func (w Comparison) equivalenceMargin(metric string) string {
	switch threshold, same := w.C.Thresholds[metric]; {
	case !same:
		return "the threshold of its benchmark"
	case threshold.Value == 0:
		return ""
	case threshold.Absolute:
		unit := threshold.Unit
		if i := slices.IndexFunc(w.C.Rows, func(r compare.Row) bool { return r.Metric == metric }); i >= 0 {
			unit = cmp.Or(w.C.Rows[i].Unit, unit)
		}
		return strings.TrimPrefix(SignedQuantity(threshold.Value, unit), "+")
	default:
		return Share(threshold.Value)
	}
}

// differences returns lines about metrics that are compared by ratio. A line counts the points that are compared by difference instead,
// because of values of 0 or less, and has their threshold.
func (w Comparison) differences() (lines []string) {
	for _, metric := range w.C.Metrics {
		given, same := w.C.Thresholds[metric]
		n, all := 0, 0
		for _, p := range w.C.Points {
			if p.Metric == metric {
				all++
				if !p.Ratio {
					n++
				}
			}
		}
		if n == 0 || same && given.Absolute || schema.ScaleOf(metric) == schema.ScaleDifference {
			continue
		}
		zone := "the threshold"
		if same {
			zone = Share(given.Value)
		}
		line := fmt.Sprintf("%d of %s %s compared by difference, because of values of 0 or less: a change below %s of the smaller side counts as none",
			n, term.Count(all, "point"), term.IsAre(n), zone)
		if len(w.C.Metrics) > 1 {
			line = metric + ": " + line
		}
		lines = append(lines, line)
	}
	return lines
}

// metricCounts say of each of several metrics what became of its points, and their geometric mean.
func (w Comparison) metricCounts() []string {
	if len(w.C.Metrics) < 2 {
		return nil
	}
	var lines [][2]string
	for _, metric := range w.C.Metrics {
		if slices.Contains(w.C.Absent.Metrics, metric) {
			continue
		}
		counts := map[judge.Verdict]int{}
		for _, p := range w.C.Points {
			if p.Metric == metric && !p.Control {
				counts[w.said(&p)]++
			}
		}
		text := verdictCounts(counts)
		if mean := w.geometricMean(metric); mean != "" {
			text += "; " + mean
		}
		lines = append(lines, [2]string{metric, text})
	}
	return term.Pairs(lines)
}

// Standing has the change of each point of a session as columns of a table with a row per point.
type Standing struct {
	Columns []term.Column
	Heads   map[string][]term.Cell // by point
	Bases   map[string][]term.Cell // by point, of the references
}

// standing makes the columns of the change, its interval and the verdict. The row of a reference says so instead. If metrics were asked
// for, each has these columns, and the header of the change names it.
func standing(c *compare.Comparison, metrics []string) Standing {
	s := Standing{Heads: map[string][]term.Cell{}, Bases: map[string][]term.Cell{}}
	change := []string{"CHANGE"}
	if len(metrics) > 0 {
		change = nil
		for _, metric := range metrics {
			change = append(change, "CHANGE "+strings.ToUpper(metric))
		}
	}
	for _, header := range change {
		s.Columns = append(s.Columns, term.Column{Header: header, Right: true}, term.Column{Header: Comparison{C: c}.confidence(), Right: true}, term.Column{Header: "VERDICT"})
	}
	for i := range c.Rows {
		r := &c.Rows[i]
		if r.BaseID != "" {
			s.Bases[r.BaseID] = append([]term.Cell{{Text: "reference"}}, make([]term.Cell, len(s.Columns)-1)...)
		}
		if r.HeadID == "" {
			continue
		}
		if s.Heads[r.HeadID] == nil {
			s.Heads[r.HeadID] = slices.Repeat([]term.Cell{{Text: term.Unknown}}, len(s.Columns))
		}
		first := 3 * max(slices.Index(metrics, r.Metric), 0)
		copy(s.Heads[r.HeadID][first:], []term.Cell{{Text: PointChange(r)}, {Text: intervalText(r)}, verdictCell(r.Verdict)})
	}
	return s
}

// InconclusivePoints tells which points of a session with two sides are inconclusive, by their ids, and why.
func InconclusivePoints(runs []schema.Run) map[string]string {
	open := map[string]string{}
	for id, decided := range compare.JudgeSession(runs) {
		if decided.Open() {
			open[id] = string(decided.Reason)
		}
	}
	return open
}
