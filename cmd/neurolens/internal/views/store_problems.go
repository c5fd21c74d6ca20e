package views

import (
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/answer"
)

// StoreProblems lists problems of a store, or what was done about them. Columns: what it is, the path, and why; remedies, if any, has
// one more text per row. In Markdown each is a row. On a screen each has lines of its own, because a path must not be cut.
func StoreProblems(format string, t answer.Table, remedies []string, page term.Page) term.View {
	table := term.TableViewOr(t, page, "no problem")
	if format == term.FormatMD {
		return table
	}
	var v term.View
	for i, row := range t.Rows {
		what, path, why := term.ValueString(row[0]), term.ValueString(row[1]), term.ValueString(row[2])
		v.Commands = append(v.Commands, what+term.Gap+path)
		v.Commands = append(v.Commands, term.Wrapped(adviceIndent+why, page.Width)...)
		if remedies != nil && remedies[i] != "" {
			v.Commands = append(v.Commands, term.Wrapped(adviceIndent+remedies[i], page.Width)...)
		}
	}
	if len(t.Rows) > 0 {
		v.Commands = append(v.Commands, "")
	}
	v.Commands = append(v.Commands, table.Below...)
	return v
}
