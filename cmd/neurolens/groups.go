package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
)

// runGroups lists groups of runs.
func runGroups(a *app, cmd *cobra.Command, o lsOptions) error {
	return a.ask(cmd, func(db *query.DB, format string) error {
		if format == output.FormatTable && !cmd.Flags().Changed("limit") {
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
		return a.print(format, answer.TableOf(g.Fields(), g.Groups), func() term.View { return a.listing(o).Groups(g) })
	})
}
