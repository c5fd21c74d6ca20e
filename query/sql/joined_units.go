package sql

import (
	"strings"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// collectJoined collects the names of columns that a statement takes from another table of a join than the column `unit` of the result,
// so that it is not their unit.
func collectJoined(node any, names map[string]bool) {
	switch n := node.(type) {
	case []any:
		for _, child := range n {
			collectJoined(child, names)
		}
	case map[string]any:
		if selected, _ := n["select_list"].([]any); joins(n["from_table"]) {
			joinedUnits(selected, names)
		}
		for _, child := range n {
			collectJoined(child, names)
		}
	}
}

// joins reports whether rows have columns of several tables. Those of functions, such as unnest, have no units.
func joins(from any) bool {
	join, _ := from.(map[string]any)
	if join["type"] != "JOIN" {
		return false
	}
	kind, _ := join["join_type"].(string)
	switch {
	case kind == "SEMI", kind == "ANTI", ofFunction(join["right"]):
		return joins(join["left"])
	case ofFunction(join["left"]):
		return joins(join["right"])
	}
	return true
}

func ofFunction(table any) bool {
	t, _ := table.(map[string]any)
	return t["type"] == "TABLE_FUNCTION"
}

// joinedUnits is collectJoined for the expressions of a SELECT over a join.
func joinedUnits(selected []any, names map[string]bool) {
	tables := map[string]bool{} // tables of the columns named unit
	for _, expression := range selected {
		if table, column := referred(expression); column == "unit" || column == everyColumn {
			tables[table] = true
		}
	}
	for _, expression := range selected {
		table, column := referred(expression)
		if table != "" && len(tables) == 1 && tables[table] { // for a column without its table, only DuckDB knows the table
			continue
		}
		for name, unit := range answer.Units {
			if unit == schema.UnitOfRow && (column == name || column == everyColumn) {
				names[name] = true
			}
		}
	}
}

// everyColumn is the column of a star.
const everyColumn = "*"

// referred returns the table and the column that an expression refers to, in lower case; empty: it is another expression, or the table is
// not named.
func referred(expression any) (table, column string) {
	n, _ := expression.(map[string]any)
	if n["class"] == "STAR" {
		table, _ = n["relation_name"].(string)
		return strings.ToLower(table), everyColumn
	}
	column = strings.ToLower(lastName(n))
	if column == "" {
		return "", ""
	}
	parts, _ := n["column_names"].([]any)
	for _, part := range parts[:len(parts)-1] {
		text, _ := part.(string)
		table += strings.ToLower(text) + "."
	}
	return strings.TrimSuffix(table, "."), column
}
