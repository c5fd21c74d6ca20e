// Package stored makes rows of schema of the rows of an answer.
package stored

import (
	"slices"

	"github.com/neurolens/neurolens/schema"
)

// Rows makes rows of schema, as schema.RunOf and schema.MetricOf take them, of rows of an answer with some columns of a
// table.
type Rows struct {
	columns []*schema.Column
	places  []int
	row     []any
}

// New makes rows of a table, of rows with these of its columns. The others are NULL.
func New(t *schema.Table, columns []*schema.Column) *Rows {
	s := &Rows{columns: columns, row: make([]any, len(t.Columns))}
	for _, c := range columns {
		s.places = append(s.places, slices.Index(t.Columns, c))
	}
	return s
}

// Row is the row of schema of a row of an answer. The next one takes its place.
func (s *Rows) Row(values []any) []any {
	for i, c := range s.columns {
		s.row[s.places[i]] = valueOf(c, values[i])
	}
	return s.row
}

// Run is the run of a row of runs: schema.StoredRunOf.
func (s *Rows) Run(values []any) schema.Run {
	r, _ := schema.StoredRunOf(s.Row(values))
	return r
}

// valueOf is a value of a column as schema.Kind says it. An entry without a value is left out: it is not known.
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
