package views

import (
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// Runs is a table of runs: what all share above it, a column for each axis in which they differ.
func (l Listing) Runs(list query.Listing) term.View {
	v := term.View{Below: []string{l.count(len(list.Runs), undatedOf(list.Runs), list.Total)}}
	if len(list.Runs) == 0 {
		return v
	}
	subjects := make([]Subject, len(list.Runs))
	for i := range list.Runs {
		subjects[i] = subjectOf(list.Runs[i])
	}
	constants, varying := Axes(subjects, RunColumns)
	if len(l.Metrics) > 1 {
		v.Above = term.Heading(constants)
		return metricRows{l.Reader, list.Runs, l.Metrics, varying}.view(v)
	}
	metrics := AxisOf(subjects, "metric", func(s *Subject) string { return s.Metric })
	if named := slices.DeleteFunc(slices.Clone(metrics.Values), func(name string) bool { return name == "" }); len(slices.Compact(named)) == 1 {
		constants, metrics.Values = append(constants, named[0]), nil
	} else if len(named) == 0 {
		metrics.Values = nil
	}
	v.Above = term.Heading(constants)
	if slices.ContainsFunc(list.Runs, func(r query.ListedRun) bool { return r.Level == schema.LevelMean }) {
		v.Below = append(v.Below, WarningText(Means))
	}
	rows := lsRows{l.Reader, list.Runs, metrics}
	v = rows.add(v, varying)
	v.Compact = func() term.View {
		return rows.add(term.View{Above: v.Above, Below: v.Below}, l.Reader.MergedAxes(varying))
	}
	return v
}

// lsRows makes the rows of a listing.
type lsRows struct {
	reader  Reader
	runs    []query.ListedRun
	metrics Axis // empty where all are the same
}

// add adds the table to a view.
func (l lsRows) add(v term.View, varying []Axis) term.View {
	v.Columns = []term.Column{{Header: "RUN"}, {Header: "WHEN " + l.reader.Offset()}}
	if l.metrics.Values != nil {
		varying = append(slices.Clone(varying), l.metrics)
	}
	for _, x := range varying {
		v.Columns = append(v.Columns, AxisColumn(x))
	}
	means := slices.ContainsFunc(l.runs, onlyMean)
	medians := !means || slices.ContainsFunc(l.runs, func(r query.ListedRun) bool { return r.Median != nil })
	if medians {
		v.Columns = append(v.Columns, term.Column{Header: "MEDIAN", Right: true})
	}
	if means {
		v.Columns = append(v.Columns, term.Column{Header: "MEAN", Right: true})
	}
	v.Columns = append(v.Columns,
		term.Column{Header: "P99", Right: true, Drop: 2}, term.Column{Header: "N", Right: true, Drop: 1}, term.Column{Header: "STATUS"})
	for i := range l.runs {
		run := &l.runs[i]
		cells := []term.Cell{{Text: ShortRun(run.RunID)}, {Text: l.reader.When(run.StartedAt)}}
		for _, x := range varying {
			cells = append(cells, AxisCell(x, i))
		}
		v.Rows = append(v.Rows, append(cells, runCells(run, medians, means)...))
	}
	return v
}

// runCells are the cells of a run behind the axes: what was measured, and how it ended.
func runCells(run *query.ListedRun, medians, means bool) []term.Cell {
	number := func(v *float64) term.Cell {
		if run.Status != schema.StatusOK {
			return term.Cell{Text: term.Unknown}
		}
		return term.Cell{Text: QuantityOf(answer.Value(v), run.Unit, run.Metric, run.UnitInFile)}
	}
	var cells []term.Cell
	if medians {
		cells = append(cells, number(run.Median))
	}
	if means {
		cells = append(cells, number(run.Mean))
	}
	p99 := number(run.P99)
	if run.Samples != nil && *run.Samples < 2 { // one sample has no tail
		p99.Text = term.Unknown
	}
	return append(cells, p99, term.Cell{Text: samplesText(run.Samples)}, statusCell(run))
}

// onlyMean tells that the mean of a run is known, but not the median: other tools' files may have no more.
func onlyMean(r query.ListedRun) bool { return r.Median == nil && r.Mean != nil }

// count is the line that counts everything.
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

// subjectOf is what a run is of.
func subjectOf(r query.ListedRun) Subject {
	return Subject{Point: r.Point, Suite: r.Suite, Side: r.Side, Purpose: string(r.Purpose), Metric: r.Metric}
}

// NoRuns says that a store is empty.
const NoRuns = "no runs in this store"
