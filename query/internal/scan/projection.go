package scan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema"
)

// WithRunID adds run_id in front of columns, unless they have it.
func WithRunID(columns []*schema.Column) []*schema.Column {
	if slices.ContainsFunc(columns, func(c *schema.Column) bool { return c.Name == "run_id" }) {
		return columns
	}
	return append([]*schema.Column{schema.RunColumn("run_id")}, columns...)
}

// EmptyRows is a subquery with these columns and no rows.
func EmptyRows(columns []*schema.Column) string { return NullRow(columns, " WHERE false") }

// NullRow is a subquery with one row of NULLs, if a condition holds.
func NullRow(columns []*schema.Column, where string) string {
	nulls := make([]string, len(columns))
	for i, c := range columns {
		nulls[i] = "NULL::" + c.SQLType() + " AS " + duck.Identifier(c.Name)
	}
	return "(SELECT " + strings.Join(nulls, ", ") + where + ")"
}

// ColumnNames is the SQL list of the names of columns.
func ColumnNames(columns []*schema.Column) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = duck.Identifier(c.Name)
	}
	return strings.Join(names, ", ")
}

// ParquetSchema is the schema for read_parquet: columns by field id, NULL if a file lacks one.
func ParquetSchema(columns []*schema.Column) string {
	fields := make([]string, len(columns))
	for i, c := range columns {
		fields[i] = fmt.Sprintf("%d: {name: %s, type: %s, default_value: NULL}", c.ID, duck.Literal(c.Name), duck.Literal(c.SQLType()))
	}
	return "MAP {" + strings.Join(fields, ", ") + "}"
}

// ColumnNamesOf lists columns of a table.
func ColumnNamesOf(table string, names []string) string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = table + "." + duck.Identifier(name)
	}
	return strings.Join(all, ", ")
}

// WithColumns appends the columns of more that are not in columns.
func WithColumns(columns, more []*schema.Column) []*schema.Column {
	all := slices.Clone(columns)
	for _, c := range more {
		if !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	return all
}
