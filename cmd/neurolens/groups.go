package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
)

// runGroups lists groups of runs.
func runGroups(a *app, cmd *cobra.Command, o lsOptions) error {
	return a.queryStores(cmd, func(db *query.DB, format string) error {
		if format == term.FormatTable && !cmd.Flags().Changed("limit") {
			o.limit = lsTableLimit
		}
		g, err := db.Groups(cmd.Context(), query.GroupRequest{
			Filter: o.filter, Since: o.since, Until: o.until, By: o.by, Best: o.best, Metric: strings.Join(o.metrics, ""), // one or none
			Sort: o.sort, Limit: o.limit,
		})
		if err != nil {
			return err
		}
		a.reportNotNumbers(g.NotNumbers)
		t, v, err := a.listing(o).ChosenGroups(g, o.names)
		if err != nil {
			return usageError{err}
		}
		return a.print(format, t, v)
	})
}
