package views

import (
	"maps"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/schema"
)

// Axis is something in which the rows of a listing differ, or agree.
type Axis struct {
	Name   string
	Values []string // one a row; empty where it is NULL
}

// after returns the axis without its first values.
func (x Axis) after(n int) Axis {
	if n > 0 {
		x.Values = x.Values[n:]
	}
	return x
}

// IdentityColumns are the columns in which listings look for axes, besides the parameters.
var IdentityColumns = []string{"suite", "benchmark", "variant", "backend", "model", "batch_size", "seq_len", "precision"}

// AxisHeaders are the short headers of some columns.
var AxisHeaders = map[string]string{"batch_size": "BS", "seq_len": "SEQ", "precision": "PREC", "started_at": "WHEN"}

// RunColumns are the columns in which listings of runs look for axes, besides the parameters.
var RunColumns = slices.Concat(IdentityColumns, []string{"side", "purpose", "machine"})

// Subject is the point, the side and the metric of a row.
type Subject struct {
	query.Point
	Suite, Side, Purpose, Metric string
}

// Text is that of a column, as an axis has it.
func (s *Subject) Text(column string) string {
	switch column {
	case "suite":
		return s.Suite
	case "side":
		return s.Side
	case "purpose":
		return s.Purpose
	case "metric":
		return s.Metric
	}
	return AxisText(s.Point.Value(column))
}

// Axes splits what a listing is over: the constants, said once, and the axes in which rows differ.
func Axes(rows []Subject, columns []string) (constants []string, varying []Axis) {
	return AxesBut(rows, columns, func(string) bool { return false })
}

// AxesBut leaves some out, by their names.
func AxesBut(rows []Subject, columns []string, but func(name string) bool) (constants []string, varying []Axis) {
	if len(rows) == 0 {
		return nil, nil
	}
	var all []Axis
	for _, name := range columns {
		all = append(all, AxisOf(rows, name, func(s *Subject) string { return s.Text(name) }))
	}
	for _, name := range parameterNames(rows) {
		all = append(all, AxisOf(rows, filter.ParameterKey(name), func(s *Subject) string { return AxisText(s.Parameter(name)) }))
	}
	for _, x := range all {
		switch first := x.Values[0]; {
		case but(x.Name):
		case slices.ContainsFunc(x.Values, func(v string) bool { return v != first }):
			varying = append(varying, x)
		case first != "":
			constants = AppendConstant(constants, x.Name, first)
		}
	}
	return constants, varying
}

// AxisOf returns what all rows have of something.
func AxisOf[Row any](rows []Row, name string, value func(*Row) string) Axis {
	x := Axis{Name: name, Values: make([]string, len(rows))}
	for i := range rows {
		x.Values[i] = value(&rows[i])
	}
	return x
}

// AxisText returns a value of an axis; the empty text is told from NULL.
func AxisText(v any) string {
	if v == "" {
		return `""`
	}
	return term.ValueString(v)
}

// parameterNames returns the names of the parameters that any of some rows has.
func parameterNames(rows []Subject) []string {
	seen := map[string]bool{}
	for i := range rows {
		for name := range rows[i].Params {
			seen[name] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// AppendConstant adds a value that all rows share. One that repeats an earlier one (a benchmark named by its model) is
// not said again, nor what most runs are for.
func AppendConstant(constants []string, name, value string) []string {
	switch name {
	case "purpose":
		if value == string(schema.PurposeMeasure) {
			return constants
		}
	case "suite", "benchmark", "variant", "backend", "model", "precision", "side", "machine":
	case "batch_size":
		value = "bs=" + value
	case "seq_len":
		value = "seq=" + value
	default:
		value = name + "=" + value
	}
	if slices.Contains(constants, value) {
		return constants
	}
	return append(constants, value)
}

// AxisColumn returns the column of an axis in a view.
func AxisColumn(x Axis) term.Column {
	numbers := !slices.ContainsFunc(x.Values, func(v string) bool {
		_, err := schema.CanonicalNumber(v)
		return v != "" && err != nil
	})
	header := AxisHeaders[x.Name]
	switch {
	case header != "":
	case slices.Contains(RunColumns, x.Name) || x.Name == "metric":
		header = strings.ToUpper(x.Name)
	default:
		header = x.Name
	}
	return term.Column{Header: header, Right: numbers}
}

// AxisColumns returns the columns of axes.
func AxisColumns(axes []Axis) []term.Column {
	var columns []term.Column
	for _, x := range axes {
		columns = append(columns, AxisColumn(x))
	}
	return columns
}

// AxisCells returns the cells of a row in the columns of axes.
func AxisCells(axes []Axis, row int) []term.Cell {
	var cells []term.Cell
	for _, x := range axes {
		cells = append(cells, AxisCell(x, row))
	}
	return cells
}

// RowAMetric is the note of a table that has a row per metric because columns have no room.
const RowAMetric = "one row per metric: the terminal is too narrow for columns"

// MetricColumn returns the column of a metric that stands beside others, whose name is not cut.
func MetricColumn(metric string) term.Column {
	return term.Column{Header: strings.ToUpper(metric), Right: true, Whole: true}
}

// AxisCell returns the value of a row in the column of an axis.
func AxisCell(x Axis, row int) term.Cell {
	return term.Cell{Text: OrUnknown(x.Values[row])}
}
