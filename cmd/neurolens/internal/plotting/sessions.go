package plotting

import (
	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/figure"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/history"
)

// trend is plot history.
func trend(h Host) *cobra.Command {
	var metric, since, method string
	cmd := &cobra.Command{
		Use:   "history [FILTER...]",
		Short: "Draw a metric over sessions, with its levels",
		Long: `Draw a metric over sessions: the value of each session, the level between
changes, and where the level changed. Sessions in which all runs failed are
marked gaps. Each point has a panel, 12 at most: first those that got worse or
fail. neurolens history explains what counts as a change. Vertical lines mark
sessions with a note, a tag that was set later, or a release (the tag release).`,
		Example: `  neurolens plot history benchmark=matmul
  neurolens plot history batch_size=16 --metric peak_memory -o memory.svg`,
	}
	cmd.Flags().StringVar(&metric, "metric", "", "draw the metric `NAME` (default: the primary metric)")
	cmd.Flags().StringVar(&since, "since", "", "only sessions since `WHEN`: 12h, 7d, 2w ago, or a local time")
	cmd.Flags().StringVar(&method, "method", string(history.SBS), "find changes with `METHOD`: sbs or otava")
	return h.of(figure.History, cmd, func(d *drawing, cmd *cobra.Command, args []string) error {
		req := history.Request{Filter: filter.Arguments(args...), Metric: metric, Method: history.Method(method)}
		if since != "" {
			var err error
			if req.Since, err = filter.Time("--since", since, d.Reader().Now); err != nil {
				return err
			}
		}
		return h.Query(cmd, func(db *query.DB) error {
			f, all, err := d.maker().History(cmd.Context(), db, req)
			if err != nil {
				return err
			}
			h.NotNumbers(all.NotNumbers)
			return d.write(f)
		})
	})
}
