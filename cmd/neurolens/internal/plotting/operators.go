package plotting

import (
	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/filter"
)

// operators is plot ops.
func operators(h Host) *cobra.Command {
	return h.of("ops", &cobra.Command{
		Use:   "ops [FILTER...]",
		Short: "The operators of profiled runs, by their share of the time",
		Long: `Draw which share of the time of the newest profiled run of each point its
operators take: a column for each of 24 points at most, a row for each of the 20
operators that take most of any. What counts as an operator is that of ls --like
(docs/likeness.md); show RUN --ops lists those of a run. Profiles come from
bench --profile and from ingest.`,
		Example: `  neurolens plot ops session=last
  neurolens plot ops model=bert -o bert.svg`,
	}, func(d *drawing, cmd *cobra.Command, args []string) error {
		return h.Ask(cmd, func(db *query.DB) error {
			profiles, err := d.maker().Profiles(cmd.Context(), db, filter.Arguments(args...))
			if err != nil {
				return err
			}
			f, err := d.maker().Operators(profiles)
			if err != nil {
				return err
			}
			return d.write(f)
		})
	})
}
