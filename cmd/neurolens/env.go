package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/help"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/runner/expression"
	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/python"
	"github.com/neurolens/neurolens/schema"
)

func newEnvCommand(a *app) *cobra.Command {
	var redact, facts bool
	cmd := &cobra.Command{
		Use:   "env",
		Short: "Print what bench stores about this machine",
		Long: `Print the environment of this machine as bench stores it with every run: each
fact with its value, or the reason why it is unknown. With --redact, values that
identify the machine or its owner are hidden (names, ids, addresses, the kernel
command line), so that you can show the rest to anyone. It does not affect what
bench stores.

--facts prints the facts that expressions in sweep files may use, such as
gpu.memory, with their values on this machine. bench --fact NAME=VALUE overrides
one.`,
		Example: `  neurolens env
  neurolens env --facts --format json`,
		Args: noArguments,
		RunE: a.printing(func(cmd *cobra.Command, _ []string, format string) error {
			env := a.thisMachine(cmd.Context())
			if redact {
				env.Facts = probe.Redact(env.Facts, env.Facts["host.name"], env.Facts["machine"], a.getenv("USER"), a.getenv("LOGNAME"))
			}
			if facts {
				m, err := a.machineFacts(cmd.Context(), nil, func() schema.Env { return env })
				if err != nil {
					return err
				}
				t, v := views.Nameable(m)
				return a.print(format, t, func() term.View { return v })
			}
			t := views.Env(env)
			return a.print(format, t, func() term.View { return views.Facts(t) })
		}),
	}
	cmd.Flags().BoolVar(&facts, "facts", false, "print the facts that expressions in sweep files may use")
	cmd.Flags().BoolVar(&redact, "redact", false, "hide values that identify the machine or its owner")
	return cmd
}

// thisMachine reads the environment of this machine as bench stores it.
func (a *app) thisMachine(ctx context.Context) schema.Env {
	env := probe.Read(ctx, probe.Options{
		Machine: a.getenv("NEUROLENS_MACHINE"), Environ: os.Environ(), Version: version, GPU: probe.GPU,
	})
	var exclude []string
	if dir, err := a.writeStore(); err == nil {
		exclude = append(exclude, dir)
	}
	runner.DescribeCode(ctx, &env, exclude)
	return env
}

// machineFacts returns the facts that expressions may use, with those that a user gives.
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
	help.Beginnings(cmd, "fact", names)
}
