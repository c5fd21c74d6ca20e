package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/schema"
)

// shortRun is what people see of a run id, and may type.
func shortRun(id string) string {
	if len(id) <= 8 {
		return id
	}
	return id[len(id)-8:]
}

// when prints a time for people, in local time.
func (a *app) when(v any) string {
	t, ok := v.(time.Time)
	if !ok {
		return term.Unknown
	}
	t, now := t.Local(), a.now().Local()
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return "today " + t.Format(time.TimeOnly)
	}
	return t.Format("2006-01-02 15:04")
}

// offset is the offset of local time from UTC, for the header above times.
func (a *app) offset() string { return a.now().Local().Format("-07:00") }

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

// axes splits what a listing is over: the constants, said once, and the axes in which rows differ.
func axes(t answer.Table, columns []string) (constants []string, varying []axis) {
	return axesBut(t, columns, func(string) bool { return false })
}

// axesBut leaves some out, by their names.
func axesBut(t answer.Table, columns []string, but func(name string) bool) (constants []string, varying []axis) {
	var all []axis
	for _, name := range columns {
		if i := t.Index(name); i >= 0 {
			all = append(all, axisOf(t, name, func(row []any) any { return row[i] }))
		}
	}
	if i := t.Index("params"); i >= 0 {
		for _, name := range parameterNames(t, i) {
			all = append(all, axisOf(t, filter.ParameterKey(name), func(row []any) any {
				params, _ := row[i].(map[string]any)
				return params[name]
			}))
		}
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

func axisOf(t answer.Table, name string, value func([]any) any) axis {
	x := axis{name: name}
	for _, row := range t.Rows {
		x.values = append(x.values, axisText(value(row)))
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

func parameterNames(t answer.Table, column int) []string {
	seen := map[string]bool{}
	for _, row := range t.Rows {
		params, _ := row[column].(map[string]any)
		for name := range params {
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

// at is a value of a row by column name; NULL where there is no such column.
func at(t answer.Table, row []any, name string) any {
	if i := t.Index(name); i >= 0 {
		return row[i]
	}
	return nil
}

func textAt(t answer.Table, row []any, name string) string {
	s, _ := at(t, row, name).(string)
	return s
}

func percent(v any) string {
	f, ok := v.(float64)
	if !ok {
		return term.Unknown
	}
	return fmt.Sprintf("%.1f %%", 100*f)
}
