package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/help"
	"github.com/neurolens/neurolens/runner/expression"
	"github.com/neurolens/neurolens/runner/python"
	"github.com/neurolens/neurolens/schema"
)

// machineFacts are the facts that expressions may use, with those that a user gives.
func (a *app) machineFacts(ctx context.Context, given map[string]string, env func() schema.Env) (*expression.Machine, error) {
	return expression.NewMachine(given, expression.FactSources{
		Env: env, Environ: os.Environ(),
		Version: func(interpreter, module string) string {
			return python.ModuleVersion(ctx, interpreter, module, os.Environ())
		},
	})
}

// completeFacts completes the names of facts.
func completeFacts(cmd *cobra.Command) {
	var names []string
	for _, f := range expression.Facts() {
		names = append(names, f.Name+"=\t"+f.Meaning)
	}
	help.RegisterBeginnings(cmd, "fact", names)
}
