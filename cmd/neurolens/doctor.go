package main

import (
	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/screens"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/runner/probe"
)

func newDoctorCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Say what on this machine makes measurements bad",
		Long: `Check what on this machine makes measurements bad: what was seen, what it does
to measurements, and a command against it, on a line of its own, to paste into a
shell. Where no command helps, it says what does. Nothing is changed. What is
not known is not taken for fine.

Advice is no failure: the exit status is 0.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return runDoctor(a, cmd) },
	}
}

func runDoctor(a *app, cmd *cobra.Command) error {
	format, err := a.outputFormat()
	if err != nil {
		return err
	}
	remark := a.remarks()
	for _, text := range a.project.Remarks() {
		remark(text)
	}
	env := a.thisMachine(cmd.Context())
	advice := probe.Advise(env)
	t := answer.Table{}
	for _, name := range []string{"check", "state", "value", "missing", "why", "command", "remedy"} {
		t.Columns = append(t.Columns, answer.Column{Name: name, Type: answer.TypeText})
	}
	for _, d := range advice {
		t.Rows = append(t.Rows, []any{d.Check, d.State, answer.Text(d.Value), answer.Text(d.Missing), answer.Text(d.Why), answer.Text(d.Command), answer.Text(d.Remedy)})
	}
	return a.print(format, t, func() term.View { return screens.Advice(env, advice, a.width) })
}
