package progress

import (
	"slices"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
)

// primaryMetric is the primary metric of all points that have one, or an axis where they differ in it.
type primaryMetric struct {
	all  string
	axis []views.Axis // none or one
}

func primaryAxis(points []query.SessionPoint) (p primaryMetric) {
	x := views.AxisOf(points, "metric", func(p *query.SessionPoint) string { return p.Metric })
	named := slices.DeleteFunc(slices.Clone(x.Values), func(name string) bool { return name == "" })
	slices.Sort(named)
	switch named = slices.Compact(named); len(named) {
	case 0:
	case 1:
		p.all = named[0]
	default:
		p.axis = []views.Axis{x}
	}
	return p
}

// pointRows are the rows of the points of a session, each with its words.
type pointRows struct {
	points []query.SessionPoint
	words  []term.Cell
	beside Beside
}

// besideCells are the cells of a point in the columns of Beside.
func (r pointRows) besideCells(point int) []term.Cell {
	if cells, there := r.beside.Cells[Side{r.points[point].PointID, r.points[point].Side}]; there {
		return cells
	}
	return slices.Repeat([]term.Cell{{Text: term.Unknown}}, len(r.beside.Columns))
}

// table adds the table to a view: of the primary metric, or of those that were asked for.
func (r pointRows) table(v term.View, metrics []string, varying []views.Axis, primary primaryMetric) term.View {
	if len(metrics) > 0 {
		return r.wide(v, metrics, varying)
	}
	varying = slices.Concat(varying, primary.axis)
	v.Columns = append(axisColumns(varying),
		term.Column{Header: "MEDIAN", Right: true}, term.Column{Header: "P99", Right: true, Drop: 2}, term.Column{Header: "SPREAD", Right: true, Drop: 3},
		term.Column{Header: "RUNS × N", Right: true, Drop: 1})
	v.Columns = append(append(v.Columns, r.beside.Columns...), term.Column{Header: ""})
	for i := range r.points {
		p := &r.points[i]
		v.Rows = append(v.Rows, append(axisCells(varying, i),
			term.Cell{Text: views.QuantityOf(answer.Value(p.Median), p.Unit, p.Metric, "")}, term.Cell{Text: views.QuantityOf(answer.Value(p.P99), p.Unit, p.Metric, "")}, term.Cell{Text: views.Percent(answer.Value(p.Spread))},
			term.Cell{Text: views.RunsTimesSamples(p.ValuedRuns, p.OKRuns, p.SamplesMin, p.SamplesMax)}))
		v.Rows[i] = append(append(v.Rows[i], r.besideCells(i)...), r.words[i])
	}
	return v
}

// compact is how a table of several metrics is shown that is too wide; nil of the primary metric.
func (r pointRows) compact(v term.View, metrics []string, varying []views.Axis, reader views.Reader) func() term.View {
	if len(metrics) == 0 {
		return nil
	}
	v.Columns, v.Rows = nil, nil
	return func() term.View {
		merged := reader.MergedAxes(varying)
		if narrow := r.wide(v, metrics, merged); narrow.Fits(reader.Page()) {
			return narrow
		}
		return r.stacked(v, metrics, merged)
	}
}

// wide has a column a metric.
func (r pointRows) wide(v term.View, metrics []string, varying []views.Axis) term.View {
	v.Columns = axisColumns(varying)
	for _, metric := range metrics {
		v.Columns = append(v.Columns, views.MetricColumn(metric))
	}
	v.Columns = append(append(append(v.Columns, term.Column{Header: "RUNS", Right: true, Drop: 1}), r.beside.Columns...), term.Column{Header: ""})
	for i := range r.points {
		cells := axisCells(varying, i)
		for k := range metrics {
			cells = append(cells, r.value(i, k, metrics[k]))
		}
		v.Rows = append(v.Rows, append(append(append(cells, r.runs(i)), r.besideCells(i)...), r.words[i]))
	}
	return v
}

// runs is the number of the ok runs of a point, and how many of them have values, if that is the same for all metrics.
func (r pointRows) runs(point int) term.Cell {
	p := &r.points[point]
	valued := p.Metrics[0].Runs
	if slices.ContainsFunc(p.Metrics, func(m query.PointMetric) bool { return m.Runs != valued }) {
		valued = p.OKRuns
	}
	return term.Cell{Text: views.SomeOf(valued, p.OKRuns)}
}

// stacked has a row a metric.
func (r pointRows) stacked(v term.View, metrics []string, varying []views.Axis) term.View {
	v.Columns = append(axisColumns(varying), term.Column{Header: "METRIC"}, term.Column{Header: "MEDIAN", Right: true},
		term.Column{Header: "RUNS", Right: true, Drop: 1}, term.Column{Header: ""})
	for i := range r.points {
		for k, metric := range metrics {
			v.Rows = append(v.Rows, append(axisCells(varying, i), term.Cell{Text: metric}, r.value(i, k, metric),
				term.Cell{Text: views.SomeOf(r.points[i].Metrics[k].Runs, r.points[i].OKRuns)}, r.words[i]))
		}
	}
	v.Below = append([]string{views.RowAMetric, ""}, v.Below...)
	return v
}

// value is what a point has of a metric, by its place and its name.
func (r pointRows) value(point, place int, metric string) term.Cell {
	own := &r.points[point].Metrics[place]
	return term.Cell{Text: views.QuantityOf(answer.Value(own.Median), own.Unit, metric, "")}
}

func axisColumns(varying []views.Axis) (columns []term.Column) {
	for _, x := range varying {
		columns = append(columns, views.AxisColumn(x))
	}
	return columns
}

func axisCells(varying []views.Axis, row int) (cells []term.Cell) {
	for _, x := range varying {
		cells = append(cells, views.AxisCell(x, row))
	}
	return cells
}
