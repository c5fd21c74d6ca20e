package views

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
)

// fewRuns is the number of runs below which a comparison gives no verdict.
const fewRuns = 3

// pivotGrid makes the tables of a pivot.
type pivotGrid struct {
	*summary.Pivot
	axis  string   // the axis in a filter
	names []string // of its values
}

// Pivot returns the grid of a pivot: the axes in which rows differ, then the median of each value of the axis with its factor. selection
// is the filter of the points; empty: no command can name them.
func (l Listing) Pivot(p *summary.Pivot, selection string) term.View {
	g := pivotGrid{Pivot: p, axis: p.Axis}
	if name, is := strings.CutPrefix(p.Axis, filter.ParamPrefix); is {
		g.axis = filter.ParameterKey(name)
	}
	for _, value := range p.Values {
		g.names = append(g.names, AppendConstant(nil, g.axis, AxisText(value))[0])
	}
	constants, varying := g.axes()
	v := term.View{Above: term.Heading(constants)}
	if len(p.Values) > 1 && selection != "" && g.axis != "side" && g.axis != "machine" {
		matrix := term.ShellWord(g.axis + "=" + p.Values[p.Reference])
		v.Next = []string{"next  neurolens compare --matrix " + matrix + " " + term.ShellWord(selection) + l.Reader.OfStores()}
	}
	grid := func(axes []Axis, factors bool) term.View {
		wide := g.wide(v, axes, factors)
		if wide.Below = g.below(factors); len(v.Next) > 0 {
			wide.Below = append(wide.Below, "")
		}
		return wide
	}
	full := grid(varying, g.factors())
	full.Compact = func() term.View {
		merged := l.Reader.MergedAxes(varying)
		for _, factors := range []bool{g.factors(), false} {
			if narrow := grid(merged, factors); narrow.Fits(l.Reader.Page()) {
				return narrow
			}
		}
		list := g.stacked(v, merged)
		list.Below = append([]string{"one row per value: the terminal is too narrow for columns"}, full.Below...)
		return list
	}
	return full
}

// axes returns the values that all rows share, and the axes in which they differ, the metric last.
func (g pivotGrid) axes() (constants []string, varying []Axis) {
	subjects := make([]Subject, len(g.Rows))
	better := map[string]bool{}
	for i := range g.Rows {
		row := &g.Rows[i]
		subjects[i] = Subject{Point: row.Subject.Point(), Side: string(row.Side), Metric: row.Metric}
		better[row.Better] = true
	}
	constants, varying = Axes(subjects, RunColumns)
	metrics := AxisOf(subjects, "metric", func(s *Subject) string { return s.Metric })
	names := slices.Compact(slices.Sorted(slices.Values(metrics.Values)))
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" }) // of a row that failed
	delete(better, "")
	switch {
	case len(names) > 1:
		varying = append(varying, metrics)
	case len(names) == 0:
	case len(better) == 1:
		for direction := range better {
			constants = append(constants, names[0]+", "+direction+" is better")
		}
	default:
		constants = append(constants, names[0])
	}
	return constants, varying
}

// factors reports whether some value has a factor besides the reference.
func (g pivotGrid) factors() bool {
	return slices.ContainsFunc(g.Rows, func(row summary.PivotRow) bool {
		for i, c := range row.Cells {
			if i != g.Reference && c.Factor != nil {
				return true
			}
		}
		return false
	})
}

// wide has a column for each value of the axis, and one for its factor.
func (g pivotGrid) wide(v term.View, varying []Axis, factors bool) term.View {
	v.Columns = AxisColumns(varying)
	for i, name := range g.names {
		v.Columns = append(v.Columns, term.Column{Header: name, Right: true, Whole: true})
		if factors && i != g.Reference {
			v.Columns = append(v.Columns, term.Column{Right: true})
		}
	}
	for n := range g.Rows {
		cells := AxisCells(varying, n)
		for i := range g.Values {
			cells = append(cells, g.value(n, i))
			if factors && i != g.Reference {
				cells = append(cells, g.factor(n, i))
			}
		}
		v.Rows = append(v.Rows, cells)
	}
	return v
}

// stacked has a row for each value of the axis.
func (g pivotGrid) stacked(v term.View, varying []Axis) term.View {
	axis := Axis{Name: g.axis}
	for range g.Rows {
		axis.Values = append(axis.Values, g.Values...)
	}
	v.Columns = append(AxisColumns(varying), AxisColumn(axis), term.Column{Header: "MEDIAN", Right: true}, term.Column{Right: true})
	for n := range g.Rows {
		for i, value := range g.Values {
			v.Rows = append(v.Rows, append(AxisCells(varying, n), term.Cell{Text: AxisText(value)}, g.value(n, i), g.factor(n, i)))
		}
	}
	return v
}

// value returns the median in a cell, or the word for why there is none.
func (g pivotGrid) value(row, column int) term.Cell {
	r := &g.Rows[row]
	switch c := &r.Cells[column]; {
	case c.Median != nil:
		return term.Cell{Text: QuantityOf(answer.Value(c.Median), r.Unit, r.Metric)}
	case c.Point == nil:
		return term.Cell{Text: term.Unknown}
	case c.Point.Wrong > 0:
		return term.Cell{Text: WrongResult, Failed: true}
	case c.Point.OKRuns > 0 || len(c.Point.Ended) == 0:
		return term.Cell{Text: "no value"}
	default:
		status := schema.Status(c.Point.Ended[0].Status)
		return term.Cell{Text: string(status), Failed: status.Failed()}
	}
}

// factor returns the factor in a cell.
func (g pivotGrid) factor(row, column int) term.Cell {
	f := g.Rows[row].Cells[column].Factor
	if f == nil {
		return term.Cell{}
	}
	return term.Cell{Text: Times(*f)}
}

// Times prints a factor in three digits: ×0.672, ×1.00, ×38.6, ×1,204, ×1.00e+20.
func Times(v float64) string {
	if v >= 1000 && v < schema.MaxInFull {
		return "×" + term.Thousands(int(math.Round(v)))
	}
	return "×" + schema.ForPeople(v, "")
}

// below returns the lines below the grid.
func (g pivotGrid) below(factors bool) []string {
	least, most, values, few, partly := math.MaxInt, 0, 0, 0, 0
	notes := Notes{}
	for i := range g.Rows {
		for _, c := range g.Rows[i].Cells {
			switch {
			case c.Point != nil && c.Point.Wrong > 0:
				notes.Add(WrongResult, WrongMeaning)
			case c.Median != nil:
				values++
				least, most = min(least, c.Runs), max(most, c.Runs)
				if c.Runs < fewRuns {
					few++
				}
				if slices.ContainsFunc(c.Point.Ended, func(e summary.Reason) bool { return schema.Status(e.Status).Failed() }) {
					partly++
				}
			}
		}
	}
	lines := notes.Lines()
	switch {
	case !factors && g.factors():
		lines = append(lines, "× left out: the terminal is too narrow")
	case g.factors():
		of := "the first value"
		if g.Baseline {
			of = "the baseline"
		} else if g.Reference > 0 {
			of = "the first that was measured"
		}
		lines = append(lines, fmt.Sprintf("× is relative to %s, %s", g.names[g.Reference], of))
	}
	runs := 0
	for _, n := range g.Statuses {
		runs += n
	}
	count := fmt.Sprintf("%s, %s: %s", term.Count(g.Points, "point"), term.Count(runs, "run"), StatusCounts(g.Statuses))
	if len(g.Rows) < g.Total {
		count = fmt.Sprintf("%s of %s (--limit 0 for all); ", term.Thousands(len(g.Rows)), term.Count(g.Total, "row")) + count
	}
	switch {
	case values > 0 && least == most:
		count += "; " + term.Count(least, "run") + " per value"
	case values > 0:
		count += fmt.Sprintf("; %s to %s per value", term.Thousands(least), term.Count(most, "run"))
	}
	lines = append(lines, count)
	if few > 0 {
		lines = append(lines, fmt.Sprintf("%s of %s from fewer than %d runs: a difference may be chance", term.Thousands(few), term.Count(values, "value"), fewRuns))
	}
	if partly > 0 {
		lines = append(lines, term.Count(partly, "value")+" of points in which other runs failed")
	}
	if g.Sessions > 1 {
		lines = append(lines, combined(g.Sessions))
	}
	if g.Without > 0 {
		lines = append(lines, fmt.Sprintf("%s without %s left out", term.Count(g.Without, "point"), g.axis))
	}
	return lines
}

// combined says that medians are over several sessions, and how to see the medians of one session.
func combined(sessions int) string {
	return term.Count(sessions, "session") + " combined; session=last shows the newest alone"
}
