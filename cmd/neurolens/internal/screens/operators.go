package screens

import (
	"fmt"
	"slices"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/operators"
)

// Operators are the operators of a run, a row each.
func Operators(all []operators.Operator) term.View {
	if len(all) == 0 {
		return term.View{Below: []string{"the run has no operators: bench --profile measures them, in a separate run"}}
	}
	v := term.View{Columns: []term.Column{
		{Header: "OPERATOR"}, {Header: "TYPE", Drop: 2}, {Header: "DEVICE", Drop: 3}, {Header: "COUNT", Right: true, Drop: 1}, {Header: "TIME", Right: true}, {Header: "SHARE", Right: true},
	}}
	for i := range all {
		o := &all[i]
		cells := []term.Cell{{Text: term.OneLine(o.Name)}, {Text: term.OneLine(o.Type)}, {Text: term.OneLine(o.Device)}, {Text: term.Unknown}, {Text: term.Unknown}, {Text: term.Unknown}}
		if o.Count != nil {
			cells[3].Text = fmt.Sprint(*o.Count)
		}
		if o.DurationNS != nil {
			cells[4].Text = output.Quantity(*o.DurationNS, "ns")
		}
		if o.Share != nil {
			cells[5].Text = fmt.Sprintf("%.1f %%", 100**o.Share)
		}
		v.Rows = append(v.Rows, cells)
	}
	for column := len(v.Columns) - 1; column > 0; column-- {
		if !slices.ContainsFunc(v.Rows, func(row []term.Cell) bool { return row[column].Text != "" && row[column].Text != term.Unknown }) {
			v = without(v, column)
		}
	}
	return v
}

// without is a view without a column.
func without(v term.View, column int) term.View {
	v.Columns = slices.Delete(v.Columns, column, column+1)
	for i := range v.Rows {
		v.Rows[i] = slices.Delete(v.Rows[i], column, column+1)
	}
	return v
}
