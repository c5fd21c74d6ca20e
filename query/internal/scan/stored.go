package scan

import (
	"slices"

	"github.com/neurolens/neurolens/schema"
)

// StoredRows converts rows of an answer, which have some columns of a table, to rows as schema.RunOf and schema.MetricOf take them.
type StoredRows struct {
	columns []*schema.Column
	places  []int
	row     []any
}

// NewStoredRows makes a converter for rows with these columns of a table. Other columns are NULL.
func NewStoredRows(t *schema.Table, columns []*schema.Column) *StoredRows {
	s := &StoredRows{columns: columns, row: make([]any, len(t.Columns))}
	for _, c := range columns {
		s.places = append(s.places, slices.Index(t.Columns, c))
	}
	return s
}

// Row converts a row. The result is valid until the next call.
func (s *StoredRows) Row(values []any) []any {
	for i, c := range s.columns {
		s.row[s.places[i]] = valueOf(c, values[i])
	}
	return s.row
}

// Run converts a row of the table runs to a run.
func (s *StoredRows) Run(values []any) schema.Run {
	r, _ := schema.StoredRunOf(s.Row(values))
	return r
}

// valueOf converts a value to the Go type of schema.Kind. Entries of maps and lists without a value are left out.
func valueOf(c *schema.Column, value any) any {
	switch value := value.(type) {
	case map[string]any:
		if c.Children[1].Kind == schema.KindReal {
			return mapOf[float64](value)
		}
		return mapOf[string](value)
	case []any:
		switch element := c.Children[0]; element.Kind {
		case schema.KindInt:
			return listOf[int64](value)
		case schema.KindReal:
			return listOf[float64](value)
		case schema.KindStruct:
			return structsOf(element, value)
		default:
			return listOf[string](value)
		}
	}
	return value
}

func mapOf[T any](entries map[string]any) map[string]T {
	m := make(map[string]T, len(entries))
	for key, entry := range entries {
		if value, ok := entry.(T); ok {
			m[key] = value
		}
	}
	return m
}

func listOf[T any](elements []any) []T {
	list := make([]T, 0, len(elements))
	for _, element := range elements {
		if value, ok := element.(T); ok {
			list = append(list, value)
		}
	}
	return list
}

// structsOf are structs as rows, with a value for each field.
func structsOf(c *schema.Column, elements []any) [][]any {
	rows := make([][]any, len(elements))
	for i, element := range elements {
		fields, _ := element.(map[string]any)
		for _, field := range c.Children {
			rows[i] = append(rows[i], fields[field.Name])
		}
	}
	return rows
}
