package views

import (
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/compare"
)

// table has for each metric the value of the head, or of both sides, the change and the verdict, and at last the words of the
// verdicts.
func (b beside) table(varying []Axis, both bool) ([]term.Column, [][]term.Cell) {
	var columns []term.Column
	for _, x := range varying {
		columns = append(columns, AxisColumn(x))
	}
	relative := b.relative() && b.Asked.Axis == ""
	for _, metric := range b.C.Metrics {
		columns = append(columns, MetricColumn(metric), term.Column{Header: "CHANGE", Right: true})
		if relative {
			columns = append(columns, term.Column{Header: "RELATIVE"})
		}
		columns = append(columns, term.Column{Header: "VERDICT"})
	}
	if b.Asked.Axis == "" {
		columns = append(columns, term.Column{Header: "", Drop: 1})
	}
	rows := make([][]term.Cell, len(b.pairs))
	for i, p := range b.pairs {
		for _, x := range varying {
			rows[i] = append(rows[i], AxisCell(x, i))
		}
		for _, r := range p.rows {
			rows[i] = append(rows[i], resultCells(r, both, relative)...)
		}
		if b.Asked.Axis == "" {
			rows[i] = append(rows[i], term.Cell{Text: p.words(b.C.Metrics)})
		}
	}
	return columns, rows
}

// resultCells are the value of a metric, its change and the verdict; unknown where there is no such row.
func resultCells(r *compare.Row, both, relative bool) []term.Cell {
	unknown := term.Cell{Text: term.Unknown}
	cells := []term.Cell{unknown, unknown}
	if relative {
		cells = append(cells, unknown)
	}
	cells = append(cells, unknown)
	if r == nil {
		return cells
	}
	cells[0].Text = valueText(r, r.Head)
	if both {
		cells[0].Text = valueText(r, r.Base) + " → " + cells[0].Text
	}
	cells[1].Text = pointChange(r)
	if relative {
		cells[2] = relativeCell(r.Relative)
	}
	cells[len(cells)-1] = verdictCell(r.Verdict)
	return cells
}

// words are those of the results of a pair: noise, or latency noise (+3), accuracy few_runs where they differ.
func (p *pair) words(metrics []string) string {
	var all, named []string
	for i, r := range p.rows {
		if r == nil {
			continue
		}
		if word := wordOf(r); word != "" {
			all, named = append(all, word), append(named, metrics[i]+" "+word)
		}
	}
	if len(all) == len(p.rows) && len(slices.Compact(all)) == 1 {
		return all[0]
	}
	return strings.Join(named, ", ")
}
