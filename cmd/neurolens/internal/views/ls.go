package views

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
)

// Runs returns a table of runs: what all share above it, a column for each axis in which they differ.
func (l Listing) Runs(list query.Listing) term.View { return (&RunPages{Listing: l}).Page(list) }

// RunPages makes the tables of a listing of any length, a page at a time.
type RunPages struct {
	Listing
	seen           []Subject // the first run, and one that differs from it for each axis in which any page differs
	medians, means bool      // some run has a median; some run has only a mean, as files of other tools do
	ofMeans        bool      // samples of some run are means
	errors         bool      // of some run it is known why it is not ok
	shown, undated int
	failed         int // so far
}

// Page returns the table of the next runs: what these and all before share above it, a column for each axis in which any of them differ,
// and below it the count of all so far.
func (p *RunPages) Page(list query.Listing) term.View {
	p.shown, p.undated = p.shown+len(list.Runs), p.undated+undatedOf(list.Runs)
	v := term.View{Below: []string{p.count(p.shown, p.undated, list.Total)}}
	if len(list.Runs) == 0 {
		return v
	}
	for i := range list.Runs {
		r := &list.Runs[i]
		p.medians, p.means = p.medians || r.Median != nil, p.means || r.Median == nil && r.Mean != nil
		p.ofMeans = p.ofMeans || r.Level == schema.LevelMean
		p.errors = p.errors || r.Error != ""
		if schema.Status(r.Status).Failed() {
			p.failed++
		}
	}
	if p.Whole && p.failed > 0 {
		v.Below = append(v.Below, fmt.Sprintf("%s of these failed; why: neurolens ls status=%s%s", term.Thousands(p.failed), filter.Failed, p.Reader.OfStores()))
	}
	constants, varying, metrics := p.axes(list.Runs)
	if len(p.Metrics) > 1 {
		v.Above = term.Heading(constants)
		return metricRows{p.Reader, list.Runs, p.Metrics, varying}.view(v)
	}
	named := slices.DeleteFunc(slices.Clone(metrics.Values), func(name string) bool { return name == "" })
	slices.Sort(named)
	if named = slices.Compact(named); len(named) == 1 {
		constants = append(constants, named[0])
	}
	if len(named) < 2 {
		metrics.Values = nil
	}
	metrics = metrics.after(len(metrics.Values) - len(list.Runs))
	v.Above = term.Heading(constants)
	if p.ofMeans {
		v.Below = append(v.Below, WarningText(Means))
	}
	if len(varying) == 0 && len(named) == 1 && len(list.Runs) == list.Total {
		v.Below = append(v.Below, precisionOf(list.Runs)...)
	}
	rows := lsRows{p.Reader, list.Runs, metrics, p.medians || !p.means, p.means, p.errors}
	v = rows.add(v, varying)
	v.Compact = func() term.View {
		return rows.add(term.View{Above: v.Above, Below: v.Below}, p.Reader.MergedAxes(varying))
	}
	return v
}

// precisionOf says how precise the median of the runs of one point is, if all are ok, of one session, and on one page.
func precisionOf(runs []query.ListedRun) []string {
	var logs []float64
	first, last := runs[0].StartedAt, runs[0].StartedAt
	for i := range runs {
		r := &runs[i]
		if r.StartedAt.Before(first) {
			first = r.StartedAt
		}
		if r.StartedAt.After(last) {
			last = r.StartedAt
		}
		if r.Status != schema.StatusOK || r.Purpose != schema.PurposeMeasure || r.Median == nil || *r.Median <= 0 || r.Session != runs[0].Session || r.Session == "" {
			return nil
		}
		logs = append(logs, math.Log(*r.Median))
	}
	reached, needed, ok := RunsFor(logs)
	if !ok {
		return nil
	}
	each := time.Duration(0)
	if !first.IsZero() {
		each = last.Sub(first) / time.Duration(max(len(runs)-1, 1))
	}
	return []string{PrecisionText("these runs", reached, false, needed, each)}
}

// axes returns the values that some runs and all before share, the axes in which any differ, with the values of these runs alone, and the
// metrics of the runs before that differ and of these.
func (p *RunPages) axes(runs []query.ListedRun) (constants []string, varying []Axis, metrics Axis) {
	subjects := slices.Clone(p.seen)
	for i := range runs {
		subjects = append(subjects, subjectOf(runs[i]))
	}
	before := len(p.seen)
	constants, varying = Axes(subjects, RunColumns)
	metrics = AxisOf(subjects, "metric", func(s *Subject) string { return s.Metric })
	if before == 0 {
		p.seen = subjects[:1:1]
	}
	for _, x := range append(slices.Clone(varying), metrics) {
		differs := func(value string) bool { return value != x.Values[0] }
		if at := slices.IndexFunc(x.Values, differs); at >= max(before, 1) {
			p.seen = append(p.seen, subjects[at])
		}
	}
	for i := range varying {
		varying[i] = varying[i].after(before)
	}
	return constants, varying, metrics
}

// runColumns returns the first columns of a listing: which run it is, and in what runs differ.
func (r Display) runColumns(varying []Axis) []term.Column {
	when := term.Column{Header: "WHEN " + r.Offset()}
	if !r.Whole { // a terminal has no room beside it
		when.Drop = 1
	}
	return append([]term.Column{{Header: "RUN"}, when}, AxisColumns(varying)...)
}

// runCells returns the cells of a run, by its place in a listing, in the first columns.
func (r Display) runCells(run *query.ListedRun, varying []Axis, place int) []term.Cell {
	return append([]term.Cell{{Text: ShortRun(run.RunID)}, {Text: r.When(run.StartedAt)}}, AxisCells(varying, place)...)
}

// lsRows makes the rows of a listing.
type lsRows struct {
	reader  Display
	runs    []query.ListedRun
	metrics Axis // empty where all are the same

	medians, means, errors bool // there is such a column
}

// add adds the table to a view.
func (l lsRows) add(v term.View, varying []Axis) term.View {
	if l.metrics.Values != nil {
		varying = append(slices.Clone(varying), l.metrics)
	}
	v.Columns = l.reader.runColumns(varying)
	if l.medians {
		v.Columns = append(v.Columns, term.Column{Header: "MEDIAN", Right: true})
	}
	if l.means {
		v.Columns = append(v.Columns, term.Column{Header: "MEAN", Right: true})
	}
	v.Columns = append(v.Columns,
		term.Column{Header: "P99", Right: true, Drop: 3}, term.Column{Header: "N", Right: true, Drop: 2}, term.Column{Header: "STATUS"})
	if l.errors {
		v.Columns = append(v.Columns, term.Column{Header: "ERROR"})
	}
	for i := range l.runs {
		cells := append(l.reader.runCells(&l.runs[i], varying, i), measuredCells(&l.runs[i], l.medians, l.means)...)
		if l.errors {
			cells = append(cells, term.Cell{Text: l.runs[i].Error})
		}
		v.Rows = append(v.Rows, cells)
	}
	if !slices.ContainsFunc(l.runs, func(r query.ListedRun) bool { return r.Status == schema.StatusOK }) {
		return v.WithoutUnknown("MEDIAN", "MEAN", "P99", "N")
	}
	return v
}

// measuredCells returns the cells of a run behind the axes: what was measured, and how it ended.
func measuredCells(run *query.ListedRun, medians, means bool) []term.Cell {
	number := func(v *float64) term.Cell {
		if run.Status != schema.StatusOK {
			return term.Cell{Text: term.Unknown}
		}
		return term.Cell{Text: QuantityOf(answer.Value(v), run.Unit, run.Metric)}
	}
	var cells []term.Cell
	if medians {
		cells = append(cells, number(run.Median))
	}
	if means {
		cells = append(cells, number(run.Mean))
	}
	return append(cells, number(run.P99), term.Cell{Text: samplesText(run.Samples)}, statusCell(run))
}

// count returns the line that counts everything.
func (l Listing) count(shown, undated, total int) string {
	var order string
	switch {
	case len(l.Sort) > 0:
		order = "by " + strings.Join(l.Sort, ", ")
	case undated == shown && shown > 0:
		order = "without a start time, in no order"
	case undated > 0:
		order = "newest first; the last " + term.Thousands(undated) + " have no start time and are in no order"
	default:
		order = "newest first"
	}
	switch {
	case total == 0 && l.Whole:
		return NoRuns
	case total == 0:
		return "no run matches"
	case shown < total:
		return fmt.Sprintf("%s of %s, %s (--limit 0 for all)", term.Thousands(shown), term.Count(total, "run"), order)
	}
	return term.Count(total, "run") + ", " + order
}

// undatedOf counts the runs without a start.
func undatedOf(runs []query.ListedRun) (n int) {
	for i := range runs {
		if runs[i].StartedAt.IsZero() {
			n++
		}
	}
	return n
}

// subjectOf returns what a run is of.
func subjectOf(r query.ListedRun) Subject {
	return Subject{Point: r.Point, Suite: r.Suite, Side: r.Side, Purpose: string(r.Purpose), Metric: r.Metric}
}

// NoRuns says that a store is empty.
const NoRuns = "no runs in this store"

// Listing shows runs, or groups of them, to a reader.
type Listing struct {
	Reader   Display
	By, Sort []string // keys, as they were asked for
	Metrics  []string // that were asked for; of several each has a column
	Whole    bool     // no filter leaves runs out
}

// metricRows is a listing of runs in several metrics.
type metricRows struct {
	reader  Display
	runs    []query.ListedRun
	metrics []string
	varying []Axis
}

// view adds the table to a view: a row a run and a column a metric, or, where that is too wide, a row for each metric of a run.
func (m metricRows) view(v term.View) term.View {
	wide := m.wide(v, m.varying)
	wide.Compact = func() term.View {
		if merged := m.wide(v, m.reader.MergedAxes(m.varying)); merged.Fits(m.reader.Page()) {
			return merged
		}
		return m.stacked(v)
	}
	return wide
}

// wide has a column a metric.
func (m metricRows) wide(v term.View, varying []Axis) term.View {
	v.Columns = m.reader.runColumns(varying)
	for _, metric := range m.metrics {
		v.Columns = append(v.Columns, MetricColumn(metric))
	}
	v.Columns = append(v.Columns, term.Column{Header: "STATUS"})
	for i := range m.runs {
		cells := m.reader.runCells(&m.runs[i], varying, i)
		for k := range m.metrics {
			cells = append(cells, m.value(i, k))
		}
		v.Rows = append(v.Rows, append(cells, statusCell(&m.runs[i])))
	}
	return v
}

// stacked has a row a metric.
func (m metricRows) stacked(v term.View) term.View {
	merged := m.reader.MergedAxes(m.varying)
	v.Columns = append(m.reader.runColumns(merged), term.Column{Header: "METRIC"}, term.Column{Header: "MEDIAN", Right: true}, term.Column{Header: "STATUS"})
	for i := range m.runs {
		for k, metric := range m.metrics {
			v.Rows = append(v.Rows, append(m.reader.runCells(&m.runs[i], merged, i), term.Cell{Text: metric}, m.value(i, k), statusCell(&m.runs[i])))
		}
	}
	v.Below = append(slices.Clone(v.Below), RowAMetric)
	return v
}

// value returns what a run has of a metric; nothing where it is not ok.
func (m metricRows) value(run, metric int) term.Cell {
	r := &m.runs[run]
	if r.Status != schema.StatusOK {
		return term.Cell{Text: term.Unknown}
	}
	own := &r.Metrics[metric]
	return term.Cell{Text: QuantityOf(answer.Value(own.Value), own.Unit, m.metrics[metric])}
}

func statusCell(r *query.ListedRun) term.Cell {
	return term.Cell{Text: Ended(r.Status, r.Wrong), Failed: r.Status.Failed()}
}

// AbsentMetrics says of each metric that was asked for and that no run has which ones there are.
func AbsentMetrics(a query.Absent) (lines []string) {
	if len(a.Others) == 0 {
		return nil
	}
	for _, metric := range a.Metrics {
		line := fmt.Sprintf("none of these runs has the metric %q; they have %s", metric, strings.Join(a.Others, ", "))
		of := filter.FieldOf(filter.MetricPrefix + metric).Metric
		if of != metric && slices.Contains(a.Others, of) {
			line = fmt.Sprintf("%s is a statistic: --metric takes the metric, which is %s", metric, of)
		} else {
			line += term.DidYouMean(metric, a.Others)
		}
		lines = append(lines, line)
	}
	return lines
}

// shownDifferences is how many operators a table names to explain a distance, and minShown the least change of a share that is
// worth a word.
const (
	shownDifferences = 2
	minShown         = .005
)

// Like returns a table of runs by their distance from one: what all share above it, a column for each axis in which they differ, and
// which operators make the distance.
func (l Listing) Like(found summary.Similar) term.View {
	short := ShortRun(found.To)
	if len(found.Rows) == 0 {
		return term.View{Below: []string{"there was no other run to compare with " + short}}
	}
	subjects := make([]Subject, len(found.Rows))
	for i := range found.Rows {
		subjects[i] = subjectOf(found.Rows[i].ListedRun)
	}
	constants, varying := Axes(subjects, RunColumns)
	below := fmt.Sprintf("like %s, the nearest first; %s compared", short, term.Count(found.Compared, "run"))
	if len(found.Rows) < found.Compared {
		below = fmt.Sprintf("like %s, the nearest %s of %s compared (--limit 0 for all)", short, term.Thousands(len(found.Rows)), term.Count(found.Compared, "run"))
	}
	v, names := term.View{Above: term.Heading(constants), Below: []string{below}}, operatorNames(found.Rows)
	table := func(v term.View, varying []Axis, most int) term.View {
		v.Columns = l.Reader.runColumns(varying)
		v.Columns[1].Drop = 1
		v.Columns = append(v.Columns, term.Column{Header: "DIST", Right: true}, term.Column{Header: "SHARED", Right: true, Drop: 2}, term.Column{Header: "DIFFERENCES", Fixed: most > 1})
		for i := range found.Rows {
			row := &found.Rows[i]
			cells := l.Reader.runCells(&row.ListedRun, varying, i)
			v.Rows = append(v.Rows, append(cells, term.Cell{Text: fmt.Sprintf("%.3f", row.Distance)}, term.Cell{Text: percent(row.Shared)}, term.Cell{Text: differencesText(row, names, most)}))
		}
		return v
	}
	v = table(v, varying, shownDifferences)
	v.Compact = func() term.View {
		merged := l.Reader.MergedAxes(varying)
		short := table(term.View{Above: v.Above, Below: v.Below}, merged, shownDifferences)
		for most := shownDifferences - 1; most > 0 && !short.Fits(l.Reader.Page()); most-- { // rather fewer than half of one
			short = table(term.View{Above: v.Above, Below: v.Below}, merged, most)
		}
		return short
	}
	return v
}

// NotCompared returns what people should know of what was compared, a line each: that it is another run's operators, and which runs
// were not.
func NotCompared(run *schema.Run, found summary.Similar) []string {
	var lines []string
	if found.To != run.RunID {
		lines = append(lines, fmt.Sprintf("run %s has no operators: run %s, a profile of the same point, is used instead", ShortRun(run.RunID), ShortRun(found.To)))
	}
	if found.Without > 0 {
		verb := term.Verb(found.Without, "was", "were")
		lines = append(lines, fmt.Sprintf("%s without operators, or not ok, %s not compared", term.Count(found.Without, "run"), verb))
	}
	return lines
}

// differencesText names the operators that make a distance, as many as most.
func differencesText(row *summary.SimilarRun, names map[string]string, most int) string {
	var words []string
	for _, d := range row.Differences {
		if text := differenceText(d, names[d.Operator]); text != "" {
			words = append(words, text)
		}
	}
	if len(words) > most {
		words = append(words[:most:most], "…")
	}
	return cmp.Or(strings.Join(words, ", "), "the same")
}

// differenceText returns one of them: its shares, and its sizes where these differ; empty where that is not worth a word.
func differenceText(d summary.OperatorDifference, name string) string {
	switch {
	case d.Share == nil:
		return fmt.Sprintf("%s %s → none", name, percent(*d.To))
	case d.To == nil:
		return fmt.Sprintf("%s none → %s", name, percent(*d.Share))
	}
	var words []string
	if change := *d.Share - *d.To; max(change, -change) >= minShown {
		words = append(words, fmt.Sprintf("%s → %s", percent(*d.To), percent(*d.Share)))
	}
	if d.Size != nil && d.ToSize != nil && *d.Size != *d.ToSize {
		words = append(words, fmt.Sprintf("%s → %s a call", sizeText(*d.ToSize, d.Unit), sizeText(*d.Size, d.Unit)))
	}
	if len(words) == 0 {
		return ""
	}
	return name + " " + strings.Join(slices.Compact(words), " and ")
}

// longestOperator is how many columns the name of an operator has: those of kernels may have thousands of characters.
const longestOperator = 21

// operatorNames returns the operators that rows differ in, by their whole names: the beginnings of these, or, where two begin alike, that
// in which they differ.
func operatorNames(rows []summary.SimilarRun) map[string]string {
	var whole, plain, short []string
	for i := range rows {
		for _, d := range rows[i].Differences {
			whole = append(whole, d.Operator)
		}
	}
	slices.Sort(whole)
	whole = slices.Compact(whole)
	seen := map[string]bool{}
	for i, name := range whole {
		plain = append(plain, strings.TrimPrefix(term.OneLine(name), "void "))
		short = append(short, term.Cut(plain[i], longestOperator))
		seen[short[i]] = true
	}
	if len(seen) < len(whole) {
		short = term.CutDistinct(plain, longestOperator)
	}
	names := make(map[string]string, len(whole))
	for i, name := range whole {
		names[name] = short[i]
	}
	return names
}

// sizeText returns a size for people.
func sizeText(size float64, unit string) string {
	unit, _, _ = strings.Cut(unit, " ")
	return term.Quantity(size, unit)
}

func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }
