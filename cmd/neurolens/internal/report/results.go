package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chartdata"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/schema"
)

const (
	maxRows    = 200 // of a table of points
	maxColumns = 6   // metrics side by side, unless more were asked for
	maxWords   = 2   // words of warning in a row
)

// beside are the metrics that stand beside the primary one where nobody asks for others, the most wanted first. Others are named
// below the table.
var beside = []string{
	"peak_memory", "device_memory_peak", "throughput", "bandwidth", "compute", "energy", "power", "accuracy", "ttft", "tpot", "itl",
	"max_error", "rmse", "relative_error",
}

// results are a table for each group.
func (p markdownWriter) results() {
	p.title(2, "Results")
	if text := p.d.pooledText(); text != "" {
		p.line("%s", text)
	}
	at := 0
	for _, g := range p.d.Groups {
		own := p.d.Points[at : at+g.Rows]
		at += g.Rows
		if len(p.d.Groups) > 1 || g.Name != "" {
			name := string(g.Name)
			if name == "" {
				name = "without a suite"
			}
			p.title(3, name)
		}
		p.group(&g, own)
	}
}

// pooledText says what values over many sessions are; empty if they are of one session.
func (d *Document) pooledText() string {
	if !d.pooled() {
		return ""
	}
	return fmt.Sprintf("Medians over all %s. The levels of today are in the table of changes over sessions.", term.Count(d.Selection.Sessions, "session"))
}

// group is the table of the points of a group.
func (p markdownWriter) group(g *summary.Group, points []summary.Point) {
	shown := points[:min(len(points), maxRows)]
	constants, axes := views.AxesBut(chartdata.SubjectsOf(shown), views.RunColumns, func(name string) bool { return name == string(g.Name) })
	axes = readable(axes)
	if len(axes) == 0 && len(constants) > 0 && len(shown) > 0 { // one point: its name is the row
		axes, constants = []views.Axis{{Name: "point", Values: slices.Repeat([]string{strings.Join(constants, " ")}, len(shown))}}, nil
	}
	metrics, left := p.columns(g)
	if len(constants) > 0 {
		p.line("%s", strings.Join(constants, " · "))
	}
	var measured []pointColumn
	for i, metric := range metrics {
		most := 1
		if i == 0 {
			most = measures
		}
		measured = append(measured, metricColumns(shown, metric, func(p *summary.Point) *summary.Value { return valueOf(p, metric) }, most)...)
	}
	pointsTable(shown, axes, measured, true, p.against).markdown(p.w)
	var below []string
	if more := len(points) - len(shown); more > 0 {
		below = append(below, term.Count(more, "more point")+" "+term.IsAre(more)+" in the JSON form")
	}
	if len(left) > 0 {
		below = append(below, "also measured: "+strings.Join(left, ", ")+" (--metric)")
	}
	if len(below) > 0 {
		p.line("%s.", strings.Join(below, "; "))
	}
}

// maxAxes is how many columns name a point where some of them are mostly empty.
const maxAxes = 5

// readable leaves an axis out that says what the one before it says, and makes one column of parameters that many points lack:
// each kind of benchmark has its own.
func readable(axes []views.Axis) []views.Axis {
	var kept, sparse []views.Axis
	for _, x := range axes {
		switch empty := count(x.Values, ""); {
		case slices.ContainsFunc(kept, func(other views.Axis) bool { return repeats(x, other) }):
		case !slices.Contains(views.RunColumns, x.Name) && 3*empty > len(x.Values):
			sparse = append(sparse, x)
		default:
			kept = append(kept, x)
		}
	}
	if len(sparse) == 0 || len(kept)+len(sparse) <= maxAxes {
		return append(kept, sparse...)
	}
	return append(kept, views.Axis{Name: "parameters", Values: views.PointNames(sparse, len(sparse[0].Values))})
}

// repeats tells whether an axis says nothing that another one does not say, as the name of a model that the benchmark has too.
func repeats(x, other views.Axis) bool {
	for i, value := range x.Values {
		if value != "" && value != other.Values[i] {
			return false
		}
	}
	return true
}

// count returns how often a text is among some.
func count(texts []string, text string) (n int) {
	for _, t := range texts {
		if t == text {
			n++
		}
	}
	return n
}

// columns returns the metrics of a group that become columns, and those that do not.
func (p markdownWriter) columns(g *summary.Group) (metrics, left []string) {
	asked := p.d.Selection.Metrics
	wanted := func(metric string, place int) bool {
		_, registered := schema.KindOfMetric(metric)
		return len(asked) > 0 || place == 0 || slices.Contains(beside, metric) || !registered && !probe.IsReading(metric)
	}
	for i, metric := range g.Metrics {
		if wanted(metric, i) && (len(asked) > 0 || len(metrics) < maxColumns) {
			metrics = append(metrics, metric)
		} else {
			left = append(left, metric)
		}
	}
	return metrics, left
}

// pointColumn is a column of a table of points.
type pointColumn struct {
	Column
	cell func(i int, p *summary.Point) Cell
}

// pointsTable returns a table of points: what each is, what was measured and how often, its change from each baseline, and notes.
func pointsTable(points []summary.Point, axes []views.Axis, measured []pointColumn, runs bool, comparisons []against) *Table {
	var columns []pointColumn
	for _, x := range axes {
		columns = append(columns, pointColumn{axisColumn(x), func(i int, _ *summary.Point) Cell { return Cell{Text: views.AxisCell(x, i).Text} }})
	}
	columns = append(columns, measured...)
	if runs {
		columns = append(columns, pointColumn{Column{Header: "runs × n", Right: true}, func(_ int, p *summary.Point) Cell { return Cell{Text: runsText(p)} }})
	}
	for _, a := range among(comparisons, points) {
		columns = append(columns, pointColumn{
			Column{Header: "vs " + a.name, Unit: "ratio", Right: true, Stored: true}, func(_ int, p *summary.Point) Cell { return a.cell(p) },
		})
	}
	everywhere := common(points)
	columns = append(columns, pointColumn{Column{Header: "notes"}, func(_ int, p *summary.Point) Cell { return Cell{Text: notes(p, everywhere)} }})
	t := &Table{}
	for _, c := range columns {
		t.Columns = append(t.Columns, c.Column)
	}
	for i := range points {
		r := Row{Key: string(points[i].PointID)}
		for _, c := range columns {
			r.Cells = append(r.Cells, c.cell(i, &points[i]))
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

// measures is the number of statistics of a metric that have columns.
const measures = 4

// metricColumns returns the first columns of a metric: its median, its 99th percentile, and its variation within and between runs.
func metricColumns(points []summary.Point, header string, of func(*summary.Point) *summary.Value, most int) []pointColumn {
	values := make([]*summary.Value, len(points))
	for i := range points {
		values[i] = of(&points[i])
	}
	unit := unitOf(values, func(v *summary.Value) summary.Text { return v.Unit })
	column := func(name, unit string, cell func(v *summary.Value) Cell) pointColumn {
		return pointColumn{Column{Header: name, Unit: unit, Right: true, Stored: true}, func(i int, _ *summary.Point) Cell { return cell(values[i]) }}
	}
	return []pointColumn{
		column(header, unit, func(v *summary.Value) Cell { return amount(v.Median, v.Unit, v.Metric) }),
		column("p99", unit, func(v *summary.Value) Cell { return amount(v.P99, v.Unit, v.Metric) }),
		column("spread", "ratio", func(v *summary.Value) Cell { return ratio(v.Spread, share(v.Spread)) }),
		column("between runs", "ratio", func(v *summary.Value) Cell { return ratio(v.RunsSpread, share(v.RunsSpread)) }),
	}[:most]
}

// valueOf returns what a point has of a metric; an empty value if it has none.
func valueOf(p *summary.Point, metric string) *summary.Value {
	for i := range p.Metrics {
		if p.Metrics[i].Metric == metric {
			return &p.Metrics[i]
		}
	}
	return &summary.Value{}
}

// axisColumn returns the column of an axis.
func axisColumn(x views.Axis) Column {
	c := views.AxisColumn(x)
	if views.AxisHeaders[x.Name] != "" || slices.Contains(views.RunColumns, x.Name) {
		c.Header = strings.ToLower(c.Header)
	}
	return Column{Header: c.Header, Right: c.Right}
}

// runsText returns how often a point was measured.
func runsText(p *summary.Point) string {
	if p.OKRuns > 0 && p.SamplesMin == nil {
		return term.Thousands(p.OKRuns)
	}
	valued := p.OKRuns
	if len(p.Metrics) > 0 && p.Metrics[0].Metric == string(p.Metric) {
		valued = p.Metrics[0].Runs
	}
	return views.RunsTimesSamples(valued, p.OKRuns, p.SamplesMin, p.SamplesMax)
}

// common returns the warnings that every point with a value has, where there are several: they say nothing about a point.
func common(points []summary.Point) map[string]bool {
	points = slices.DeleteFunc(slices.Clone(points), func(p summary.Point) bool { return p.OKRuns == 0 })
	words := map[string]bool{}
	if len(points) < 2 {
		return words
	}
	for word := range points[0].Warnings {
		words[word] = true
	}
	for i := range points {
		for word := range words {
			if points[i].Warnings[word] == 0 {
				delete(words, word)
			}
		}
	}
	return words
}

// notes returns how runs of a point ended that are not ok, and its warnings.
func notes(p *summary.Point, everywhere map[string]bool) string {
	var words []string
	add := func(n int, word string) {
		switch {
		case n == p.Runs:
			words = append(words, word)
		case n > 0:
			words = append(words, fmt.Sprintf("%s %s", term.Thousands(n), word))
		}
	}
	for _, status := range schema.Statuses {
		n := p.ByStatus[string(status)]
		if status == schema.StatusError {
			n -= p.Wrong
		}
		if status != schema.StatusOK {
			add(n, string(status))
		}
	}
	add(p.Wrong, views.WrongResult)
	add(p.Profiled, "profiled")
	var own []string
	for word := range p.Warnings {
		if !everywhere[word] && p.OKRuns > 0 { // of a point without a value they say nothing
			own = append(own, word)
		}
	}
	slices.Sort(own)
	if more := len(own) - maxWords; more > 0 {
		own = append(own[:maxWords], fmt.Sprintf("+%d", more))
	}
	return strings.Join(append(words, own...), ", ")
}

// headline returns a comparison in a line.
func (d *Document) headline(c *summary.Comparison) string {
	a := &c.All
	byDifference := ""
	if a.Differences > 0 {
		byDifference = "; " + term.Count(a.Differences, "pair") + " compared by difference"
	}
	if a.Compared == 0 {
		text := fmt.Sprintf("against %s: none of %s has a ratio", c.Name(), term.Count(a.Pairs, "pair")) + byDifference
		if n := c.Verdicts[string(judge.Regressed)]; n > 0 {
			text += ", " + term.Thousands(n) + " regressed by verdict"
		}
		return text
	}
	better := d.direction(c)
	words := d.degrees(c)
	return fmt.Sprintf("against %s: %s of %s %s by estimate, %s regressed by verdict; geometric mean of the changes %s, their median %s, %s %s, %s %s", c.Name(),
		term.Thousands(a.Slower), term.Count(a.Compared, "pair"), words.worse, term.Thousands(c.Verdicts[string(judge.Regressed)]),
		changed(a.GeometricMean, better), changed(a.Median, better), words.best, d.changeAt(a.FastestPair), words.worst, d.changeAt(a.SlowestPair)) + byDifference
}

// degrees are the words for pairs that are on the worse side of their baseline, and for the best and the worst of them.
type degrees struct{ worse, best, worst string }

// degrees returns the words of a comparison: slower only where all of its metrics are times.
func (d *Document) degrees(c *summary.Comparison) degrees {
	for i := range d.Pairs {
		if p := &d.Pairs[i]; &d.Comparisons[p.Comparison] == c && p.Speedup != nil && !views.IsTime(p.Unit, p.Better) {
			return degrees{"worse", "best", "worst"}
		}
	}
	return degrees{"slower", "fastest", "slowest"}
}

// comparisons are the changes from each baseline, in all and for each group, benchmark and value of the axis.
func (p markdownWriter) comparisons() {
	groups := "group"
	if slices.Equal(p.d.Selection.By, []string{"suite"}) {
		groups = "suite"
	}
	for i := range p.d.Comparisons {
		c := &p.d.Comparisons[i]
		p.title(2, "Changes from "+c.Name())
		p.line("%s.", capital(p.d.headline(c)))
		if c.All.Compared == 1 {
			p.line("The only one: %s.", p.pairText(c.All.FastestPair))
		}
		if c.All.Compared > 1 {
			words := p.d.degrees(c)
			p.line("%s: %s. %s: %s.", capital(words.best), p.pairText(c.All.FastestPair), capital(words.worst), p.pairText(c.All.SlowestPair))
		}
		p.line("%s", p.d.verdictsText(c))
		if i == 0 { // said once
			p.line("%s", views.ChangeOfRuns)
		}
		p.ratios(c, groups, c.Groups)
		if len(c.Values) > 1 && len(c.Values) <= maxNamed && len(c.Values) < c.All.Pairs {
			p.ratios(c, c.Axis, c.Values)
			p.wins(c)
		}
		if len(c.Benchmarks) > 1 && len(c.Benchmarks) <= maxNamed && len(c.Benchmarks) < c.All.Pairs {
			p.ratios(c, "benchmark", c.Benchmarks)
		}
	}
}

// maxNamed is the largest number of rows in a table of changes. The rows of the results have the changes, too.
const maxNamed = 40

// verdictsText says how many pairs have which verdict.
func (d *Document) verdictsText(c *summary.Comparison) string {
	parts := term.Texts(slices.Sorted(maps.Keys(c.Verdicts)), func(v string) string { return term.Thousands(c.Verdicts[v]) + " " + v })
	text := "Verdicts: " + strings.Join(parts, ", ")
	if len(c.Reasons) > 0 {
		why := term.Texts(slices.Sorted(maps.Keys(c.Reasons)), func(reason string) string {
			return term.Thousands(c.Reasons[reason]) + " for " + d.reasonText(reason)
		})
		text += ". Pairs without a verdict: " + strings.Join(why, ", ")
	}
	if c.Verdicts[string(judge.Estimate)] > 0 {
		text += "; an estimate is not a verdict"
	}
	return text + "."
}

// wins says which value of the axis is the fastest how often.
func (p markdownWriter) wins(c *summary.Comparison) {
	if c.Sets < 2 {
		return
	}
	names := slices.SortedFunc(maps.Keys(c.Wins), func(a, b string) int { return cmp.Or(c.Wins[b]-c.Wins[a], strings.Compare(a, b)) })
	parts := term.Texts(names, func(name string) string { return settingName(c, name) + " at " + ofPoints(c.Wins[name], c.Sets) })
	p.line("%s by estimate: %s.", capital(p.d.degrees(c).best), strings.Join(parts, ", "))
}

// ratios is a table of the changes of groups of pairs, with all of them last.
func (p markdownWriter) ratios(c *summary.Comparison, what string, rows []summary.NamedRatios) {
	if len(rows) < 2 {
		return
	}
	t := Table{Columns: []Column{{Header: what}}}
	words := p.d.degrees(c)
	for _, header := range []string{"pairs", "compared", words.worse, "geometric mean", "median", words.best, words.worst} {
		t.Columns = append(t.Columns, Column{Header: header, Right: true})
	}
	better := p.d.direction(c)
	for _, r := range append(slices.Clone(rows), summary.NamedRatios{Name: "all", Ratios: c.All}) {
		t.add(
			views.OrUnknown(string(r.Name)), term.Thousands(r.Pairs), term.Thousands(r.Compared), term.Thousands(r.Slower),
			changed(r.GeometricMean, better), changed(r.Median, better), p.d.changeAt(r.FastestPair), p.d.changeAt(r.SlowestPair))
	}
	t.markdown(p.w)
}

// changeAt returns the change of the pair at a place; unknown without a place.
func (d *Document) changeAt(place *int) string {
	if place == nil {
		return term.Unknown
	}
	return ofPair(&d.Pairs[*place]).size()
}

// pairText returns a pair in words.
func (p markdownWriter) pairText(place *int) string {
	pair := &p.d.Pairs[*place]
	return fmt.Sprintf("%s, %s instead of %s: %s", ofPair(pair).size(), quantity(pair.Value, pair.Unit, pair.Metric), quantity(pair.Base, pair.Unit, pair.Metric), p.names.pair(pair))
}

// against is a comparison as a column of results.
type against struct {
	name  string
	pairs map[pairKey]*summary.Pair
}

// pairKey is a point of a comparison.
type pairKey struct{ point, machine summary.Text }

// columnsOf returns the comparisons as columns.
func columnsOf(d *Document) []against {
	all := make([]against, len(d.Comparisons))
	for i := range d.Comparisons {
		all[i] = against{d.Comparisons[i].Name(), make(map[pairKey]*summary.Pair, d.Comparisons[i].All.Pairs)}
	}
	for i := range d.Pairs {
		pair := &d.Pairs[i]
		all[pair.Comparison].pairs[pairKey{pair.PointID, pair.Machine}] = pair
	}
	return all
}

// among returns the comparisons of which some points are.
func among(all []against, points []summary.Point) (some []against) {
	for _, a := range all {
		for i := range points {
			if a.pairs[pairKey{points[i].PointID, points[i].Machine}] != nil {
				some = append(some, a)
				break
			}
		}
	}
	return some
}

// cell returns the change of a point, with the verdict if there is one.
func (a against) cell(p *summary.Point) Cell {
	pair := a.pairs[pairKey{p.PointID, p.Machine}]
	if pair == nil || p.Side == "base" || pair.Side != "" && p.Side != pair.Side { // runs without a side may have the same point
		return Cell{}
	}
	c := changeCell(pair)
	if v := judge.Verdict(pair.Verdict); (v != judge.Estimate || pair.Repeats != "") && c.Text != term.Unknown {
		c.Text += " " + verdictText(pair)
	}
	if !quiet(pair.Verdict) { // most are
		c.Tone = toneOf(pair.Verdict)
	}
	return c
}

// verdictText returns the verdict of a pair, with the result of its repeats if it has no verdict.
func verdictText(p *summary.Pair) string {
	switch p.Repeats {
	case "":
		return p.Verdict
	case compare.RepeatsDiffer, compare.RepeatsAlike:
		return p.Verdict + ", repeats " + string(p.Repeats)
	}
	return p.Verdict + ", repeats: " + views.ReasonText(string(p.Repeats))
}

// capital begins a sentence.
func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
