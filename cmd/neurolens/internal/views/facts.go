package views

import (
	"maps"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// Env has what is known of a machine, and of what is not the reason.
func Env(env schema.Env) answer.Table {
	t := answer.Table{Columns: []answer.Column{
		{Name: "fact", Type: answer.TypeText}, {Name: "value", Type: answer.TypeText}, {Name: "missing", Type: answer.TypeText},
	}}
	all := map[string][]any{}
	for name, value := range env.Facts {
		all[name] = []any{name, value, nil}
	}
	for name, reason := range env.Missing {
		all[name] = []any{name, nil, reason}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Rows = append(t.Rows, all[name])
	}
	return t
}

// Facts shows what is known as name and value, and what is not in one line a reason.
func Facts(t answer.Table) term.View {
	v := term.View{Columns: []term.Column{{Header: "FACT"}, {Header: "VALUE"}}}
	unknown := map[string][]string{}
	for _, row := range t.Rows {
		if reason, ok := row[2].(string); ok {
			unknown[reason] = append(unknown[reason], term.ValueString(row[0]))
			continue
		}
		v.Rows = append(v.Rows, []term.Cell{{Text: term.ValueString(row[0])}, {Text: term.ValueString(row[1])}})
	}
	for _, reason := range slices.Sorted(maps.Keys(unknown)) {
		v.Below = append(v.Below, reason+term.Gap+strings.Join(unknown[reason], " "))
	}
	v.Below = append(v.Below, term.Count(len(v.Rows), "fact")+" known, "+term.Thousands(len(t.Rows)-len(v.Rows))+" not")
	return v
}
