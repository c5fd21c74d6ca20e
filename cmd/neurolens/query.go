package main

import (
	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/query"
)

func newQueryCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "query SQL",
		Short: "Read-only SQL over runs, samples, samples_long and ops",
		Long: `Answer one SELECT (DuckDB's SQL) over the views of the store: runs, one row a run;
samples, one row a run and metric, with its values; samples_long, one row a
sample; ops, one row an operator of a profiled run. num(x) reads a parameter as
a number. Nothing outside the store can be read and nothing can be written.`,
		Example: `  neurolens query "SELECT batch_size, median(p50) FROM runs GROUP BY ALL ORDER BY ALL"`,
		Args:    arguments(1, 1, "one SQL text (quote it)"),
		RunE:    func(cmd *cobra.Command, args []string) error { return runQuery(a, cmd, args[0]) },
	}
}

func runQuery(a *app, cmd *cobra.Command, text string) error {
	return a.ask(cmd, func(db *query.DB, format string) error {
		t, err := db.SQL(cmd.Context(), text)
		if err != nil {
			return err
		}
		return a.print(format, t, func() view { return a.tableView(t) })
	})
}
