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
		Short: "Draw the share of time of each operator of profiled runs",
		Long: `Draw how the time of profiled runs is divided among operators. There is one
column per point, for its newest profiled run (24 at most), and one row for each
of the 20 operators that take the largest share of any. Operators are named as
in ls --like (docs/likeness.md). show RUN --ops lists those of one run. Profiles
come from bench --profile and from ingest.`,
		Example: `  neurolens plot ops session=last
  neurolens plot ops model=bert -o bert.svg`,
	}, func(d *drawing, cmd *cobra.Command, args []string) error {
		return h.Query(cmd, func(db *query.DB) error {
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
