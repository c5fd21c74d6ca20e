package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/facts"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/schema"
)

// axis is something in which the rows of a listing differ, or agree.
type axis struct {
	name   string
	values []string // one a row; empty where it is NULL
}

// identityColumns are the columns in which listings look for axes, besides the parameters.
var identityColumns = []string{"suite", "benchmark", "variant", "backend", "model", "batch_size", "seq_len", "precision"}

var axisHeaders = map[string]string{"batch_size": "BS", "seq_len": "SEQ", "precision": "PREC"}

// runColumns are the columns in which listings of runs look for axes, besides the parameters.
var runColumns = slices.Concat(identityColumns, []string{"side", "purpose", "machine"})

// subject is what a row of a listing is of.
type subject struct {
	facts.Point
	suite, side, purpose, metric string
}

// subjectOf is what a run is of.
func subjectOf(r query.ListedRun) subject {
	return subject{Point: r.Point, suite: r.Suite, side: r.Side, purpose: string(r.Purpose), metric: r.Metric}
}

// value is that of a column, as an axis has it.
func (s *subject) value(column string) string {
	switch column {
	case "suite":
		return s.suite
	case "side":
		return s.side
	case "purpose":
		return s.purpose
	case "metric":
		return s.metric
	}
	return axisText(s.Value(column))
}

// axes splits what a listing is over: the constants, said once, and the axes in which rows differ.
func axes(rows []subject, columns []string) (constants []string, varying []axis) {
	return axesBut(rows, columns, func(string) bool { return false })
}

// axesBut leaves some out, by their names.
func axesBut(rows []subject, columns []string, but func(name string) bool) (constants []string, varying []axis) {
	var all []axis
	for _, name := range columns {
		all = append(all, axisOf(rows, name, func(s *subject) string { return s.value(name) }))
	}
	for _, name := range parameterNames(rows) {
		all = append(all, axisOf(rows, filter.ParameterKey(name), func(s *subject) string { return axisText(s.Parameter(name)) }))
	}
	for _, x := range all {
		switch first := x.values[0]; {
		case but(x.name):
		case slices.ContainsFunc(x.values, func(v string) bool { return v != first }):
			varying = append(varying, x)
		case first != "":
			constants = appendConstant(constants, x.name, first)
		}
	}
	return constants, varying
}

func axisOf[Row any](rows []Row, name string, value func(*Row) string) axis {
	x := axis{name: name, values: make([]string, len(rows))}
	for i := range rows {
		x.values[i] = value(&rows[i])
	}
	return x
}

// axisText is a value of an axis; the empty text is told from NULL.
func axisText(v any) string {
	if v == "" {
		return `""`
	}
	return output.Text(v)
}

// parameterNames are the names of the parameters that any of some rows has.
func parameterNames(rows []subject) []string {
	seen := map[string]bool{}
	for i := range rows {
		for name := range rows[i].Params {
			seen[name] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// appendConstant adds a value that all rows share. One that repeats an earlier one (a benchmark named by its model) is
// not said again, nor what most runs are for.
func appendConstant(constants []string, name, value string) []string {
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

// axisColumn is the column of an axis in a view.
func axisColumn(x axis) term.Column {
	numbers := !slices.ContainsFunc(x.values, func(v string) bool {
		_, err := schema.CanonicalNumber(v)
		return v != "" && err != nil
	})
	header := axisHeaders[x.name]
	switch {
	case header != "":
	case slices.Contains(runColumns, x.name) || x.name == "metric":
		header = strings.ToUpper(x.name)
	default:
		header = x.name
	}
	return term.Column{Header: header, Right: numbers}
}

func axisCell(x axis, row int) term.Cell {
	if x.values[row] == "" {
		return term.Cell{Text: term.Unknown}
	}
	return term.Cell{Text: x.values[row]}
}

// mergedAxes are the axes in one, for tables that have no room for all: bs=1 seq=64 fp32.
func mergedAxes(varying []axis) []axis {
	if len(varying) < 2 {
		return varying
	}
	rows := len(varying[0].values)
	if at := slices.IndexFunc(varying, func(x axis) bool { return x.name == "benchmark" }); at >= 0 {
		varying = slices.Clone(varying)
		varying[at].values = withoutCommon(varying[at].values)
	}
	return []axis{{name: "point", values: pointNames(varying, rows)}}
}

// withoutCommon leaves out what names of benchmarks begin with alike, file and class, where that is long: their ends tell
// them apart.
func withoutCommon(names []string) []string {
	const long = 8
	common := names[0]
	for _, name := range names {
		n := 0
		for n < min(len(common), len(name)) && common[n] == name[n] {
			n++
		}
		common = common[:n]
	}
	common = common[:strings.LastIndexAny(common, "/:")+1]
	if len(common) < long {
		return names
	}
	short := make([]string, len(names))
	for i, name := range names {
		short[i] = "…" + name[len(common):]
	}
	return short
}

// pointNames name each row by the axes in which rows differ; empty where there are none.
func pointNames(varying []axis, rows int) []string {
	names := make([]string, rows)
	for row := range names {
		var parts []string
		for _, x := range varying {
			if x.values[row] != "" {
				parts = appendConstant(parts, x.name, x.values[row])
			}
		}
		names[row] = strings.Join(parts, " ")
	}
	return names
}
