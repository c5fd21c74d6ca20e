package plotting

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/comparing"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/figure"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/figures"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/compare"
)

// forest is plot forest.
func forest(h Host) *cobra.Command {
	return h.ofSides(figure.Forest, figures.ForestRows, figures.Maker.Forest, &cobra.Command{
		Use:   "forest BASE [HEAD]",
		Short: "Draw the change of each point, with its interval",
		Long: `Draw the change of each point between two selections, with its confidence
interval: the worst first, 50 rows at most. In the shaded area a change counts
as none (--threshold). BASE, HEAD and the flags are those of compare. Very large
changes are drawn as ratios.`,
		Example: `  neurolens plot forest session=last~1 session=last
  neurolens plot forest backend=torch backend=onnxrt -o backends.svg
  neurolens plot forest --matrix variant=a session=last -o variants.png`,
	})
}

// scatter is plot scatter.
func scatter(h Host) *cobra.Command {
	return h.ofSides(figure.Scatter, figure.MaxMarks, figures.Maker.Scatter, &cobra.Command{
		Use:   "scatter BASE [HEAD]",
		Short: "Draw each point in HEAD against the same point in BASE",
		Long: `Draw the value of each point in HEAD against its value in BASE, with a line
where both are equal. BASE, HEAD and the flags are those of compare.`,
		Example: `  neurolens plot scatter session=last~1 session=last
  neurolens plot scatter backend=torch backend=onnxrt -o backends.svg`,
	})
}

// ofSides is a chart of a comparison of at most so many rows.
func (h Host) ofSides(kind figure.Kind, rows int, made func(figures.Maker, *compare.Comparison, figures.Asked) (*figure.Figure, error), cmd *cobra.Command) *cobra.Command {
	var flags comparing.Flags
	flags.Define(cmd)
	return h.of(kind, cmd, func(d *drawing, cmd *cobra.Command, args []string) error {
		req, err := flags.Request("plot "+string(kind), args)
		if err != nil {
			return h.Wrong(err)
		}
		req.Worst, req.Limit = compare.Verdicts, rows
		return h.QuerySides(cmd, &req, func(db *query.DB) error {
			c, err := compare.Compare(cmd.Context(), db, req)
			if err != nil {
				return err
			}
			h.NotNumbers(c.NotNumbers)
			asked := figures.Asked{Selections: slices.Clone(args), Matrix: flags.Matrix}
			for i := range asked.Selections {
				if err := lasting(cmd.Context(), db, &asked.Selections[i]); err != nil {
					return err
				}
			}
			f, err := made(d.maker(), &c, asked)
			if err != nil {
				return err
			}
			return d.write(f)
		})
	})
}
