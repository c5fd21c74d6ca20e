package filter

import (
	"cmp"
	"slices"

	"github.com/neurolens/neurolens/schema"
)

// Test is a condition on one column of a run, for rows that are read without SQL.
type Test struct {
	Column  *schema.Column
	Matches func(cell any) bool // of a cell of an answer, which is nil for NULL
}

// Passes reports whether a run passes all tests. cell returns the value of a column, in the form of answers.
func (c *Condition) Passes(cell func(c *schema.Column) any) bool {
	return !slices.ContainsFunc(c.Tests, func(t Test) bool { return !t.Matches(cell(t.Column)) })
}

// test adds a test of a field to the condition.
func (c *compiler) test(f Field, matches func(value any) bool) {
	ofCell := matches
	if f.Entry != "" {
		ofCell = func(cell any) bool {
			entries, _ := cell.(map[string]any)
			return matches(entries[f.Entry])
		}
	}
	c.Tests = append(c.Tests, Test{f.Column, ofCell})
}

// isAny tests whether a value is one of some texts.
func isAny(texts []string) func(value any) bool {
	return func(value any) bool {
		text, ok := value.(string)
		return ok && slices.Contains(texts, text)
	}
}

// compares returns a test of a number against another one, which is an int64 only if the field has integers: then no value is a float64.
func compares(op string, with any) func(value any) bool {
	return func(value any) bool {
		switch x := value.(type) {
		case int64:
			if whole, ok := with.(int64); ok {
				return holds(op, cmp.Compare(x, whole))
			}
			return holds(op, compareReals(float64(x), with.(float64)))
		case float64:
			return holds(op, compareReals(x, with.(float64)))
		}
		return false
	}
}

// compareReals compares as DuckDB does: NaN equals itself, and is greater than every other number.
func compareReals(a, b float64) int {
	switch {
	case a != a && b == b:
		return 1
	case a == a && b != b:
		return -1
	}
	return cmp.Compare(a, b)
}

// holds reports whether an operator holds for the result of a comparison.
func holds(op string, order int) bool {
	switch op {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	case ">=":
		return order >= 0
	}
	return order == 0
}
