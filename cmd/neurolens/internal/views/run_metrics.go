package views

import (
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/schema"
)

// metricRows is a listing of runs in several metrics.
type metricRows struct {
	reader  Reader
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
	v.Columns = m.leading(varying)
	for _, metric := range m.metrics {
		v.Columns = append(v.Columns, MetricColumn(metric))
	}
	v.Columns = append(v.Columns, term.Column{Header: "STATUS"})
	for i := range m.runs {
		cells := m.cells(varying, i)
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
	v.Columns = append(m.leading(merged), term.Column{Header: "METRIC"}, term.Column{Header: "MEDIAN", Right: true}, term.Column{Header: "STATUS"})
	for i := range m.runs {
		for k, metric := range m.metrics {
			v.Rows = append(v.Rows, append(m.cells(merged, i), term.Cell{Text: metric}, m.value(i, k), statusCell(&m.runs[i])))
		}
	}
	v.Below = append(slices.Clone(v.Below), RowAMetric)
	return v
}

// leading are the columns that say which run it is.
func (m metricRows) leading(varying []Axis) []term.Column {
	columns := []term.Column{{Header: "RUN"}, {Header: "WHEN " + m.reader.Offset()}}
	for _, x := range varying {
		columns = append(columns, AxisColumn(x))
	}
	return columns
}

// cells are those of a run in the leading columns.
func (m metricRows) cells(varying []Axis, run int) []term.Cell {
	r := &m.runs[run]
	cells := []term.Cell{{Text: ShortRun(r.RunID)}, {Text: m.reader.When(r.StartedAt)}}
	for _, x := range varying {
		cells = append(cells, AxisCell(x, run))
	}
	return cells
}

// value is what a run has of a metric; nothing where it is not ok.
func (m metricRows) value(run, metric int) term.Cell {
	r := &m.runs[run]
	if r.Status != schema.StatusOK {
		return term.Cell{Text: term.Unknown}
	}
	own := &r.Metrics[metric]
	return term.Cell{Text: QuantityOf(answer.Value(own.Value), own.Unit, m.metrics[metric], own.UnitInFile)}
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
		if near := schema.Nearest(metric, a.Others); of != metric && slices.Contains(a.Others, of) {
			line = fmt.Sprintf("%s is a statistic: --metric takes the metric, which is %s", metric, of)
		} else if near != "" {
			line += "; did you mean " + near + "?"
		}
		lines = append(lines, line)
	}
	return lines
}
