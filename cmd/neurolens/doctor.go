package main

import (
	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/ingest"
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

With --store DIR it also tries whether the file system of the store keeps what
a store needs (names that are taken once, renames, fsync, locks), with small
files that it removes again.

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
			for _, dir := range a.stores {
				promises, err := ingest.Promises(cmd.Context(), dir)
				if err != nil {
					return storeError{err}
				}
				for _, p := range promises {
					advice = append(advice, promised(p))
				}
			}
			t := answer.Table{Columns: views.TextColumns("check", "state", "value", "missing", "why", "command", "remedy", "tune")}
			for _, d := range advice {
				t.Rows = append(t.Rows, []any{d.Check, d.State, answer.Text(d.Value), answer.Text(d.Missing), answer.Text(d.Why), answer.Text(d.Command), answer.Text(d.Remedy), answer.Text(d.Tune)})
			}
			return a.print(format, t, func() term.View { return views.Advice(env, advice, a.width) })
		}),
	}
}

// promised returns what a file system keeps of what a store needs as a check of this machine.
func promised(p ingest.Promise) probe.Advice {
	state := probe.StateOK
	if !p.Kept {
		state = probe.StateAdvice
	}
	return probe.Advice{Check: "store." + p.Name, State: state, Value: p.Seen, Why: p.Without, Remedy: p.Remedy}
}
