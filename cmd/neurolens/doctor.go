package main

import (
	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/runner/counter"
	"github.com/neurolens/neurolens/runner/probe"
)

func newDoctorCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Find settings of this machine that disturb measurements",
		Long: `Check this machine for settings that disturb measurements, and print how to fix
each. Each finding has the observed value, its effect on measurements, and a
command on a line of its own, to paste into a shell. If no command helps, it
says what does. bench --tune holds some settings only while it measures. Nothing
is changed. A setting that cannot be read is listed as unknown.

The exit status is 0, also if there are findings.`,
		Args: noArguments,
		RunE: a.printing(func(cmd *cobra.Command, _ []string, format string) error {
			remark := a.remarks()
			for _, text := range a.project.Remarks() {
				remark(text)
			}
			env := a.thisMachine(cmd.Context())
			counters := counter.Open(counter.Names(), 0)
			advice := append(probe.Advise(env), probe.AdviseCounters(counters))
			counter.Close(counters)
			t := answer.Table{Columns: views.TextColumns("check", "state", "value", "missing", "why", "command", "remedy", "tune")}
			for _, d := range advice {
				t.Rows = append(t.Rows, []any{d.Check, d.State, answer.Text(d.Value), answer.Text(d.Missing), answer.Text(d.Why), answer.Text(d.Command), answer.Text(d.Remedy), answer.Text(d.Tune)})
			}
			return a.print(format, t, func() term.View { return views.Advice(env, advice, a.width) })
		}),
	}
}
