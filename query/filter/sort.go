package filter

import (
	"strings"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/fault"
	"github.com/neurolens/neurolens/schema"
)

// SortKey is a key to order by: the SQL of its value, and what stands in ORDER BY for a column of these values.
type SortKey struct {
	Value string
	By    func(column string) []string
}

// Sort adds the keys of an order to a condition. A map's entry is ordered as a number, then as text.
func Sort(cond *Condition, keys []string) ([]SortKey, error) {
	c := &compiler{Condition: *cond, seen: map[string]bool{}, places: map[any]string{}}
	for _, column := range cond.Columns {
		c.seen[column.Name] = true
	}
	var order []SortKey
	for _, key := range keys {
		name, descending := strings.CutPrefix(key, "-")
		f := FieldOf(name)
		if k := f.Kind(); name == "" || k == schema.KindList || k == schema.KindMap {
			return nil, fault.Input("sort: %q has no order", fault.Brief(key))
		}
		direction := " ASC NULLS LAST"
		if descending {
			direction = " DESC NULLS LAST"
		}
		x := c.expression(f)
		if f.Metric != "" {
			return nil, fault.Input("sort: %s: runs are sorted by their primary metric, as in --sort p99", fault.Brief(key))
		}
		s := SortKey{x, func(column string) []string { return []string{column + direction} }}
		if f.Entry != "" {
			s.By = func(column string) []string { return []string{duck.Number(column) + direction, column + direction} }
		}
		if f.Bare {
			c.Unsure = append(c.Unsure, Unsure{Word: &Word{Text: name, Key: name}, Field: f})
		}
		order = append(order, s)
	}
	*cond = c.Condition
	return order, nil
}
