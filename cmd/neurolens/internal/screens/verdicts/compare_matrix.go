package verdicts

import (
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/wording"
	"github.com/neurolens/neurolens/query/compare"
)

// matrix has a row for each point and value of the axis, and for each metric its value, the change from the reference and
// the verdict. hidden is how many rows are not shown.
func (w Comparison) matrix() (columns []term.Column, rows [][]term.Cell, hidden int) {
	byMetric := map[string]map[string]*compare.Row{}
	var first []int // the place of each pair, in whichever metric it is
	seen := map[string]bool{}
	for i := range w.C.Rows {
		r := &w.C.Rows[i]
		if byMetric[r.Metric] == nil {
			byMetric[r.Metric] = map[string]*compare.Row{}
		}
		pair := pairOf(r)
		byMetric[r.Metric][pair] = r
		if !seen[pair] {
			first = append(first, i)
		}
		seen[pair] = true
	}
	if !w.Asked.All {
		hidden = max(len(first)-CompareRows, 0)
		first = first[:len(first)-hidden]
	}
	varying := w.axes(first)
	for _, x := range varying {
		columns = append(columns, wording.AxisColumn(x))
	}
	for i, metric := range w.C.Metrics {
		columns = append(columns, term.Column{Header: strings.ToUpper(metric), Right: true}, term.Column{Header: "CHANGE", Right: true},
			term.Column{Header: "VERDICT", Drop: len(w.C.Metrics) - i})
	}
	rows = make([][]term.Cell, len(first))
	for i, place := range first {
		for _, x := range varying {
			rows[i] = append(rows[i], wording.AxisCell(x, i))
		}
		for _, metric := range w.C.Metrics {
			rows[i] = append(rows[i], changeCells(byMetric[metric][pairOf(&w.C.Rows[place])])...)
		}
	}
	return columns, rows, hidden
}

// pairOf names what is compared in a row, whatever the metric.
func pairOf(r *compare.Row) string { return r.BaseID + " " + r.HeadID + " " + r.Identity.Machine }

// changeCells are the value of a metric, its change and the verdict; unknown where there is no such row.
func changeCells(r *compare.Row) []term.Cell {
	if r == nil {
		return []term.Cell{{Text: term.Unknown}, {Text: term.Unknown}, {Text: term.Unknown}}
	}
	text, bad := verdictText(r.Verdict)
	return []term.Cell{{Text: valueText(r.Head, r.Unit)}, {Text: pointChange(r)}, {Text: text, Failed: bad}}
}
