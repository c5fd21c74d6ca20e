package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
)

// points is the table of points, which differ in axes.
func (w compareWriter) points(t answer.Table, varying []axis) ([]viewColumn, [][]cell) {
	var columns []viewColumn
	for _, x := range varying {
		columns = append(columns, axisColumn(x))
	}
	columns = append(columns,
		viewColumn{header: "BASE", right: true}, viewColumn{header: "HEAD", right: true}, viewColumn{header: "CHANGE", right: true})
	relative := w.relative()
	if relative {
		columns = append(columns, viewColumn{header: "RELATIVE"})
	}
	columns = append(columns,
		viewColumn{header: w.confidence(), right: true, drop: 2}, viewColumn{header: "P", right: true, drop: 5}, viewColumn{header: "NOISE", right: true, drop: 4},
		viewColumn{header: "RUNS × N", right: true, drop: 3}, viewColumn{header: "VERDICT"}, viewColumn{header: "", drop: 1})
	rows := make([][]cell, len(t.Rows))
	for i, row := range t.Rows {
		for _, x := range varying {
			rows[i] = append(rows[i], axisCell(x, i))
		}
		rows[i] = append(rows[i], w.cells(t, row, relative)...)
	}
	return columns, rows
}

// relative tells whether points were judged relative to what all of them share.
func (w compareWriter) relative() bool { return len(w.c.Shared) > 0 }

// relativeCell is what is said of a point relative to what all points share: the change, and the verdict where there is one.
func relativeCell(t answer.Table, row []any) cell {
	change, ok := at(t, row, "relative_change").(float64)
	if !ok {
		return cell{text: unknown}
	}
	text, bad := verdictText(judge.Verdict(textAt(t, row, "relative_verdict")))
	if v := judge.Verdict(text); v == judge.Inconclusive || v == judge.Estimate {
		if reason := textAt(t, row, "relative_reason"); reason != "" && reason != string(judge.Noise) {
			return cell{text: signed(change) + " " + reason}
		}
		return cell{text: signed(change)}
	}
	return cell{signed(change) + " " + text, bad}
}

// pointAxes are axes, and the metric where there are several.
func (w compareWriter) pointAxes(t answer.Table) []axis {
	varying := w.axes(t)
	if len(w.c.Metrics) > 1 {
		varying = append(varying, axisOf(t, "metric", func(row []any) any { return at(t, row, "metric") }))
	}
	return varying
}

// axes are those in which the rows of a comparison differ, of some of them.
func (w compareWriter) axes(some answer.Table) []axis {
	_, varying := axes(w.c.Table, append(slices.Clone(identityColumns), "machine"))
	varying = rowsOf(varying, w.c.Table, some)
	if name, _, _ := strings.Cut(w.flags.matrix, "="); name != "" {
		column := schema.CanonicalAlias(name)
		if !slices.ContainsFunc(varying, func(x axis) bool { return x.name == column || "param."+x.name == column }) {
			varying = append([]axis{w.valuesOf(some, column)}, varying...)
		}
	}
	return varying
}

// valuesOf is a column, or a parameter, as an axis.
func (w compareWriter) valuesOf(t answer.Table, name string) axis {
	parameter := strings.TrimPrefix(name, "param.")
	if slices.Contains(identityColumns, name) || name == "machine" {
		return axisOf(t, name, func(row []any) any { return at(t, row, name) })
	}
	return axisOf(t, filter.ParameterKey(parameter), func(row []any) any {
		params, _ := at(t, row, "params").(map[string]any)
		return params[parameter]
	})
}

// verdictText is a verdict as people read it: in capitals where it is bad.
func verdictText(v judge.Verdict) (text string, bad bool) {
	if slices.Contains([]judge.Verdict{judge.Regressed, compare.Missing, compare.Failed}, v) {
		return strings.ToUpper(string(v)), true
	}
	return string(v), false
}

// differenceOf is a change, or an end of its interval: a ratio, or a difference in the unit of the row.
func differenceOf(t answer.Table, row []any, name string, ratio func(float64) string) string {
	v, ok := at(t, row, name).(float64)
	switch {
	case !ok:
		return unknown
	case textAt(t, row, "scale") == string(schema.ScaleRatio):
		return ratio(v)
	}
	return signedQuantity(v, textAt(t, row, "unit"))
}

// cells are those of a point beside its axes.
func (w compareWriter) cells(t answer.Table, row []any, relative bool) []cell {
	unit := textAt(t, row, "unit")
	text, bad := verdictText(judge.Verdict(textAt(t, row, "verdict")))
	interval := unknown
	if at(t, row, "low") != nil {
		interval = differenceOf(t, row, "low", bare) + " " + differenceOf(t, row, "high", bare)
	}
	noise := unknown
	if v, ok := at(t, row, "noise").(float64); ok {
		noise = quantity(v, unit)
		if textAt(t, row, "scale") == string(schema.ScaleRatio) {
			noise = share(v)
		}
	}
	cells := []cell{
		{text: quantity(at(t, row, "base"), unit)},
		{text: quantity(at(t, row, "head"), unit)},
		{text: differenceOf(t, row, "change", signed)},
	}
	if relative {
		cells = append(cells, relativeCell(t, row))
	}
	return append(cells,
		cell{text: interval},
		cell{text: chance(at(t, row, "p_adjusted"))},
		cell{text: noise},
		cell{text: runsText(t, row)},
		cell{text, bad},
		cell{text: wordOf(t, row)})
}

// runsText says how often each side was measured.
func runsText(t answer.Table, row []any) string {
	side := func(name string) string {
		runs, ok := at(t, row, name+"_runs").(int64)
		samples, has := at(t, row, name+"_samples").(int64)
		most, _ := at(t, row, name+"_samples_max").(int64)
		switch {
		case !ok:
			return unknown
		case !has:
			return thousands(int(runs))
		case most > samples:
			return fmt.Sprintf("%s×%s…%s", thousands(int(runs)), thousands(int(samples)), thousands(int(most)))
		}
		return fmt.Sprintf("%s×%s", thousands(int(runs)), thousands(int(samples)))
	}
	base, head := side("base"), side("head")
	if base == head {
		return base
	}
	return base + " " + head
}

// wordOf is the reason of a point or, where it has none, that its runs failed or, where somebody has to think about it, its
// first flag: a row has room for one word.
func wordOf(t answer.Table, row []any) string {
	word := textAt(t, row, "reason")
	flags, _ := at(t, row, "flags").([]any)
	switch {
	case word != "":
	case slices.Contains(flags, any(compare.FlagFailures)):
		word = compare.FlagFailures
	case len(flags) > 0 && flags[0] != any(compare.FlagLooks) && textAt(t, row, "verdict") != string(judge.Unchanged):
		word = machineText(flags[0])
	}
	if more, ok := at(t, row, "more_runs").(int64); ok && word != "" {
		word += fmt.Sprintf(" (+%s)", thousands(int(more)))
	}
	return word
}

// rowsOf are axes of some rows of a table, in their order.
func rowsOf(varying []axis, all, some answer.Table) []axis {
	places := make(map[*any]int, len(all.Rows))
	for i, row := range all.Rows {
		places[&row[0]] = i
	}
	chosen := make([]axis, len(varying))
	for k, x := range varying {
		chosen[k].name = x.name
		for _, row := range some.Rows {
			chosen[k].values = append(chosen[k].values, x.values[places[&row[0]]])
		}
	}
	return chosen
}
