package filter

import (
	"strings"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema"
)

// SortKey is a key to sort by: the SQL of its value, and the terms of ORDER BY for a column of these values.
type SortKey struct {
	Value string
	By    func(column string) []string
}

// Sort adds sort keys to a condition; "-key" is descending, and NULL comes last. Entries of maps are sorted as numbers, then as text.
// Errors are those of Compile.
func Sort(cond *Condition, keys []string, lookups Lookups) ([]SortKey, error) {
	c := &compiler{Condition: *cond, lookups: lookups, seen: map[string]bool{}, places: map[any]string{}}
	for _, column := range cond.Columns {
		c.seen[column.Name] = true
	}
	var order []SortKey
	for _, key := range keys {
		name, descending := strings.CutPrefix(key, "-")
		f := lookups.field(name)
		if k := f.Kind(); name == "" || k == schema.KindList || k == schema.KindMap {
			return nil, answer.InputError("sort: %q cannot be sorted by", answer.Brief(key))
		}
		direction := " ASC NULLS LAST"
		if descending {
			direction = " DESC NULLS LAST"
		}
		x, err := c.ordered(f)
		if err != nil {
			return nil, err
		}
		s := SortKey{x, func(column string) []string { return []string{column + direction} }}
		if f.Entry != "" {
			s.By = func(column string) []string { return []string{duck.Number(column) + direction, column + direction} }
		}
		if f.Bare {
			c.PossibleTypos = append(c.PossibleTypos, PossibleTypo{Word: &Word{Text: name, Key: name}, Field: f})
		}
		order = append(order, s)
	}
	*cond = c.Condition
	return order, nil
}

// ordered returns the SQL of the value that a field sorts runs by.
func (c *compiler) ordered(f Field) (string, error) {
	if f.Metric == "" {
		return c.expression(f), nil
	}
	table, err := c.lookups.Metric(f.Metric, f.valueSQL())
	if err != nil {
		return "", err
	}
	return "(SELECT any_value(of_metric.value) FROM " + table + " of_metric WHERE of_run = " + c.read(schema.RunColumn("run_id")) + ")", nil
}
