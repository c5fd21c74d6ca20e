package views

import (
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/runner/expression"
	"github.com/neurolens/neurolens/schema"
)

// Nameable are the facts that expressions may name, each with its value on a machine or the reason why there is none: as a
// table for programs, and for people.
func Nameable(m *expression.Machine) (answer.Table, term.View) {
	t := answer.Table{Columns: []answer.Column{
		{Name: "fact", Type: answer.TypeText},
		{Name: "value", Type: answer.TypeText},
		{Name: "unit", Type: answer.TypeText},
		{Name: "meaning", Type: answer.TypeText},
		{Name: "missing", Type: answer.TypeText},
	}}
	v := term.View{Columns: []term.Column{{Header: "FACT"}, {Header: "VALUE"}, {Header: "MEANING"}}}
	for _, f := range expression.Facts() {
		row := []any{f.Name, nil, nil, f.Meaning, nil}
		if f.Unit != "" {
			row[2] = f.Unit
		}
		shown := ""
		switch value, why := m.Value(f.Name); value := value.(type) {
		case nil:
			row[4], shown = why, "NULL ("+why+")"
		case float64:
			row[1], shown = schema.CanonicalFloat(value), schema.CanonicalFloat(value)
			if f.Unit != "" {
				shown = schema.ForPeople(value, f.Unit)
			}
		case string:
			row[1], shown = value, value
		}
		t.Rows = append(t.Rows, row)
		v.Rows = append(v.Rows, []term.Cell{{Text: f.Name}, {Text: term.ValueString(shown)}, {Text: f.Meaning}})
	}
	var functions []string
	for _, f := range slices.Concat(expression.Functions(), m.Functions(nil)) {
		functions = append(functions, f.Name)
	}
	slices.Sort(functions)
	v.Below = []string{"functions: " + strings.Join(functions, " ")}
	return t, v
}
