package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/runner/tune"
)

func newTuneCommand(a *app) *cobra.Command {
	var restore bool
	cmd := &cobra.Command{
		Use:   "tune",
		Short: "List the settings that bench --tune holds while it measures",
		Long: `List the settings that 'bench --tune' can hold still while it measures: what
they are now, what they would be, and what that brings. Nothing is changed.

'bench --tune' sets a value, reads it back, stores it as the fact tune.SETTING
of each run, and restores what was there at the end, also if it is killed: a
second process of the program guards the old values, which are in
/run/neurolens/tune.json. If both were killed, --restore restores them, and so
does the next 'bench --tune'. A value that somebody else has changed in the
meantime stays, and is reported.

aslr, nice and affinity are settings of each process of a benchmark. The others
are settings of the machine, and need root.`,
		Example: `  neurolens tune
  neurolens bench sweep.yaml --tune
  sudo neurolens bench sweep.yaml --tune=default,affinity=2-3,irq=0-1
  sudo neurolens tune --restore`,
		Args: noArguments,
		RunE: a.printing(func(_ *cobra.Command, _ []string, format string) error {
			if restore {
				return a.restoreSettings()
			}
			outlook := tune.Look(tune.Root)
			t := answer.Table{Columns: views.TextColumns("setting", "now", "value", "wants", "missing", "gains")}
			for _, o := range outlook {
				t.Rows = append(t.Rows, []any{o.Name, answer.Text(o.Now), answer.Text(o.Value), answer.Text(o.Wants), answer.Text(o.Missing), o.Gains})
			}
			return a.print(format, t, func() term.View { return views.Outlook(outlook, a.width) })
		}),
	}
	cmd.Flags().BoolVar(&restore, "restore", false, "restore what a bench --tune has left that was killed together with its guard")
	return cmd
}

// restoreSettings restores what an interrupted bench --tune has left.
func (a *app) restoreSettings() error {
	r, err := tune.Restore(tune.Root)
	if err != nil {
		return fmt.Errorf("restoring settings: %w", err)
	}
	for _, line := range r.Kept {
		fmt.Fprintln(a.stdout, term.OneLine(line))
	}
	_, err = fmt.Fprintf(a.stdout, "%s restored\n", term.Count(r.Count, "value"))
	return err
}
