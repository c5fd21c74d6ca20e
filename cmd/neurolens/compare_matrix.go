package main

import (
	"strings"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/judge"
)

// matrix has a row for each point and value of the axis, and for each metric its value, the change from the reference and
// the verdict. hidden is how many rows are not shown.
func (w compareWriter) matrix(t answer.Table) (columns []viewColumn, rows [][]cell, hidden int) {
	byMetric := map[string]map[string][]any{}
	var first [][]any // of each pair, in whichever metric it is
	seen := map[string]bool{}
	for _, row := range t.Rows {
		metric, pair := textAt(t, row, "metric"), pairOf(t, row)
		if byMetric[metric] == nil {
			byMetric[metric] = map[string][]any{}
		}
		byMetric[metric][pair] = row
		if !seen[pair] {
			first = append(first, row)
		}
		seen[pair] = true
	}
	if !w.flags.all {
		hidden = max(len(first)-compareRows, 0)
		first = first[:len(first)-hidden]
	}
	varying := w.axes(answer.Table{Columns: t.Columns, Rows: first})
	for _, x := range varying {
		columns = append(columns, axisColumn(x))
	}
	for i, metric := range w.c.Metrics {
		columns = append(columns, viewColumn{header: strings.ToUpper(metric), right: true}, viewColumn{header: "CHANGE", right: true},
			viewColumn{header: "VERDICT", drop: len(w.c.Metrics) - i})
	}
	rows = make([][]cell, len(first))
	for i, row := range first {
		for _, x := range varying {
			rows[i] = append(rows[i], axisCell(x, i))
		}
		for _, metric := range w.c.Metrics {
			rows[i] = append(rows[i], w.changeCells(t, byMetric[metric][pairOf(t, row)])...)
		}
	}
	return columns, rows, hidden
}

// pairOf names what is compared in a row, whatever the metric.
func pairOf(t answer.Table, row []any) string {
	return textAt(t, row, "base_point_id") + " " + textAt(t, row, "head_point_id") + " " + textAt(t, row, "machine")
}

// changeCells are the value of a metric, its change and the verdict; unknown where there is no such row.
func (w compareWriter) changeCells(t answer.Table, row []any) []cell {
	if row == nil {
		return []cell{{text: unknown}, {text: unknown}, {text: unknown}}
	}
	text, bad := verdictText(judge.Verdict(textAt(t, row, "verdict")))
	return []cell{{text: quantity(at(t, row, "head"), textAt(t, row, "unit"))}, {text: differenceOf(t, row, "change", signed)}, {text, bad}}
}
