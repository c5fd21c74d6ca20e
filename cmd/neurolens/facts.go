package main

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/runner/expression"
	"github.com/neurolens/neurolens/runner/fact"
	"github.com/neurolens/neurolens/runner/python"
	"github.com/neurolens/neurolens/schema"
)

// machineFacts are the facts that expressions may use, with those that a user gives.
func (a *app) machineFacts(ctx context.Context, given map[string]string, env func() schema.Env) (*fact.Machine, error) {
	return fact.New(given, fact.Sources{
		Env: env, Environ: os.Environ(),
		Version: func(interpreter, module string) string {
			return python.ModuleVersion(ctx, interpreter, module, os.Environ())
		},
	})
}

// printFacts prints every fact that expressions may use, with its value here or the reason why there is none.
func (a *app) printFacts(format string, m *fact.Machine) error {
	t := answer.Table{Columns: []answer.Column{
		{Name: "fact", Type: answer.TypeText},
		{Name: "value", Type: answer.TypeText},
		{Name: "unit", Type: answer.TypeText},
		{Name: "meaning", Type: answer.TypeText},
		{Name: "missing", Type: answer.TypeText},
	}}
	v := term.View{Columns: []term.Column{{Header: "FACT"}, {Header: "VALUE"}, {Header: "MEANING"}}}
	for _, f := range fact.All() {
		row := []any{f.Name, nil, nil, f.Meaning, nil}
		if f.Unit != "" {
			row[2] = f.Unit
		}
		shown := ""
		switch value, why := m.Value(f.Name); value := value.(type) {
		case nil:
			row[4], shown = why, "NULL ("+why+")"
		case float64:
			row[1], shown = schema.CanonicalFloat(value), schema.ForPeople(value, f.Unit)
			if f.Unit == "" {
				shown = schema.CanonicalFloat(value)
			}
		case string:
			row[1], shown = value, value
		}
		t.Rows = append(t.Rows, row)
		v.Rows = append(v.Rows, []term.Cell{{Text: output.Text(f.Name)}, {Text: output.Text(shown)}, {Text: f.Meaning}})
	}
	var functions []string
	for _, f := range slices.Concat(expression.Functions(), m.Functions(nil)) {
		functions = append(functions, f.Name)
	}
	slices.Sort(functions)
	v.Below = []string{"functions: " + strings.Join(functions, " ")}
	return a.print(format, t, func() term.View { return v })
}

// completeFacts completes the names of facts.
func completeFacts(cmd *cobra.Command) {
	var names []string
	for _, f := range fact.All() {
		names = append(names, f.Name+"=\t"+f.Meaning)
	}
	complete := cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace)
	if err := cmd.RegisterFlagCompletionFunc("fact", complete); err != nil {
		panic(err) // the flag is there
	}
}
