package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/summary"
)

// runLike lists the runs whose operators are most like those of one.
func runLike(a *app, cmd *cobra.Command, o lsOptions) error {
	for _, flag := range []string{"by", "best", "sort", "metric", "columns"} {
		if cmd.Flags().Changed(flag) {
			return usageErrorf("--like: lists runs by their distance, in columns of its own; leave out --%s", flag)
		}
	}
	if !cmd.Flags().Changed("limit") {
		o.limit = lsTableLimit
	}
	return a.queryStores(cmd, func(db *query.DB, format string) error {
		db = db.Kept()
		id, err := runNamed(cmd.Context(), db, o.like)
		if err != nil {
			return err
		}
		detail, err := db.Quiet().Show(cmd.Context(), id)
		if err != nil {
			return err
		}
		found, err := summary.FindSimilar(cmd.Context(), db, summary.SimilarRequest{Run: &detail.Run, Filter: o.filter, Since: o.since, Until: o.until, Limit: o.limit})
		if err != nil {
			return err
		}
		a.reportNotNumbers(found.NotNumbers)
		for _, line := range views.NotCompared(&detail.Run, found) {
			fmt.Fprintln(a.stderr, "neurolens: ls --like: "+line)
		}
		return a.print(format, answer.TableOf(summary.SimilarFields(), found.Rows), func() term.View { return a.listing(o).Like(found) })
	})
}
