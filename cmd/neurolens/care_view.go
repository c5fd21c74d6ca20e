package main

import "github.com/neurolens/neurolens/query/answer"

// careView shows what was found in a store, or done to it: a row each in a document; for people lines each, for a path
// that is cut is of no use. The columns are what it is, the path, and why; remedies, if any, has one more text a row.
func (a *app) careView(format string, t answer.Table, remedies []string) view {
	table := a.tableViewOr(t, "no problem")
	if format == formatMD {
		return table
	}
	var v view
	for i, row := range t.Rows {
		what, path, why := machineText(row[0]), machineText(row[1]), machineText(row[2])
		v.commands = append(v.commands, what+gap+path)
		v.commands = append(v.commands, wrapped(adviceIndent+why, a.width)...)
		if remedies != nil && remedies[i] != "" {
			v.commands = append(v.commands, wrapped(adviceIndent+remedies[i], a.width)...)
		}
	}
	if len(t.Rows) > 0 {
		v.commands = append(v.commands, "")
	}
	v.commands = append(v.commands, table.below...)
	return v
}
