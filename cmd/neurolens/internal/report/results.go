package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query/summary"
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
func (p page) results() {
	p.title(2, "Results")
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

// group is the table of the points of a group.
func (p page) group(g *summary.Group, points []summary.Point) {
	shown := points[:min(len(points), maxRows)]
	subjects := make([]views.Subject, len(shown))
	for i := range shown {
		subjects[i] = views.Subject{Point: shown[i].Point(), Side: string(shown[i].Side)}
	}
	constants, axes := views.AxesBut(subjects, views.RunColumns, func(name string) bool { return name == string(g.Name) })
	axes = readable(axes)
	if len(axes) == 0 && len(constants) > 0 && len(shown) > 0 { // one point: its name is the row
		axes, constants = []views.Axis{{Name: "point", Values: slices.Repeat([]string{strings.Join(constants, " ")}, len(shown))}}, nil
	}
	metrics, left := p.columns(g)
	if len(constants) > 0 {
		p.line("%s", strings.Join(constants, " · "))
	}
	p.points(shown, axes, metrics)
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

// count is how often a text is among some.
func count(texts []string, text string) (n int) {
	for _, t := range texts {
		if t == text {
			n++
		}
	}
	return n
}

// columns are the metrics of a group that become columns, and those that do not.
func (p page) columns(g *summary.Group) (metrics, left []string) {
	asked := p.d.Selection.Metrics
	wanted := func(metric string, place int) bool {
		return len(asked) > 0 || place == 0 || slices.Contains(beside, metric) || !registered(metric)
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

func registered(metric string) bool {
	_, ok := schema.KindOfMetric(metric)
	return ok
}

// points is a table of points.
func (p page) points(points []summary.Point, axes []views.Axis, metrics []string) {
	var t table
	for _, x := range axes {
		t.columns = append(t.columns, axisColumn(x))
	}
	right := func(header string) { t.columns = append(t.columns, column{header, true}) }
	for i, metric := range metrics {
		if right(metric); i == 0 {
			right("p99")
			right("spread")
			right("between runs")
		}
	}
	right("runs × n")
	against := among(p.against, points)
	for _, a := range against {
		right("vs " + a.name)
	}
	t.columns = append(t.columns, column{header: "notes"})
	everywhere := common(points)
	for i := range points {
		point := &points[i]
		var cells []string
		for _, x := range axes {
			cells = append(cells, views.AxisCell(x, i).Text)
		}
		cells = append(cells, values(point, metrics)...)
		cells = append(cells, runsText(point))
		for _, a := range against {
			cells = append(cells, a.cell(point))
		}
		t.rows = append(t.rows, append(cells, notes(point, everywhere)))
	}
	t.write(p.w)
}

// axisColumn is the column of an axis.
func axisColumn(x views.Axis) column {
	c := views.AxisColumn(x)
	if views.AxisHeaders[x.Name] != "" || slices.Contains(views.RunColumns, x.Name) {
		c.Header = strings.ToLower(c.Header)
	}
	return column{c.Header, c.Right}
}

// values are the cells of a point's metrics: of the first also how much it varies.
func values(point *summary.Point, metrics []string) (cells []string) {
	for i, metric := range metrics {
		var v summary.Value
		for _, own := range point.Metrics {
			if own.Metric == metric {
				v = own
			}
		}
		cells = append(cells, quantity(v.Median, v.Unit))
		if i == 0 {
			cells = append(cells, quantity(v.P99, v.Unit), share(v.Spread), share(v.RunsSpread))
		}
	}
	return cells
}

// runsText is how often a point was measured.
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

// common are the warnings that every point with a value has, where there are several: they say nothing about a point.
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

// notes are how runs of a point ended that are not ok, and its warnings.
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
