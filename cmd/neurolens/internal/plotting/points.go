package plotting

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/figure"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/figures"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/summary"
)

// The axes have letters too: without one, cobra completes nothing after a name of a single letter.

// heatmap is plot heatmap.
func heatmap(h Host) *cobra.Command {
	var p figures.Points
	cmd := &cobra.Command{
		Use:   "heatmap [FILTER...]",
		Short: "Draw a metric over two axes of a sweep",
		Long: `Draw a metric over two axes of a sweep. --x and --y choose the axes; the default
is those with the most values. If a cell has several points, it shows the best
of them, or the median with --median. --by AXIS makes a panel for each value of
a third axis. Failed points are marked. Cells without a measurement are empty.`,
		Example: `  neurolens plot heatmap session=last
  neurolens plot heatmap session=last --x batch_size --y seq_len --by precision`,
	}
	cmd.Flags().StringVarP(&p.X, "x", "x", "", "the horizontal `AXIS`")
	cmd.Flags().StringVarP(&p.Y, "y", "y", "", "the vertical `AXIS`")
	cmd.Flags().StringVar(&p.By, "by", "", "draw a panel for each value of `AXIS`")
	defineValue(cmd, &p)
	return h.ofPoints(figure.Heatmap, &p, figures.Maker.Heatmap, cmd)
}

// lines is plot lines.
func lines(h Host) *cobra.Command {
	var p figures.Points
	cmd := &cobra.Command{
		Use:   "lines [FILTER...]",
		Short: "Draw a metric over one axis, a line for each value of another",
		Long: `Draw a metric over one axis of a sweep. --x chooses the axis; the default is the
numeric axis with the most values. --by draws a line for each value of a second
axis, --panels a panel for each value of a third. An axis of powers of two is
logarithmic. If several points fall on one place, it shows the best of them, or
the median with --median.`,
		Example: `  neurolens plot lines session=last
  neurolens plot lines session=last --panels backend
  neurolens plot lines session=last --x batch_size --y throughput --by precision`,
	}
	cmd.Flags().StringVarP(&p.X, "x", "x", "", "the horizontal `AXIS`")
	cmd.Flags().StringVarP(&p.Y, "y", "y", "", "same as --metric: the `METRIC`")
	cmd.Flags().StringVar(&p.By, "by", "", "draw a line for each value of `AXIS`")
	cmd.Flags().StringVar(&p.Panels, "panels", "", "draw a panel for each value of `AXIS`")
	defineValue(cmd, &p)
	return h.ofPoints(figure.Lines, &p, figures.Maker.Lines, cmd)
}

// pareto is plot pareto.
func pareto(h Host) *cobra.Command {
	var p figures.Points
	cmd := &cobra.Command{
		Use:   "pareto --x METRIC --y METRIC [FILTER...]",
		Short: "Draw points by two metrics, with the Pareto front",
		Long: `Draw points by two metrics, and mark the Pareto front: the points that no other
point beats in both metrics. Both metrics need a known direction (lower or
higher is better).`,
		Example: `  neurolens plot pareto --x latency --y accuracy session=last
  neurolens plot pareto --x throughput --y peak_memory model=bert -o bert.svg`,
	}
	cmd.Flags().StringVarP(&p.X, "x", "x", "", "the horizontal `METRIC`")
	cmd.Flags().StringVarP(&p.Y, "y", "y", "", "the vertical `METRIC`")
	return h.ofPoints(figure.Pareto, &p, figures.Maker.Pareto, cmd)
}

// defineValue defines the flags that say what stands in a place.
func defineValue(cmd *cobra.Command, p *figures.Points) {
	cmd.Flags().StringVar(&p.Metric, "metric", "", "draw the metric `NAME` (default: the primary metric of most points)")
	cmd.Flags().BoolVar(&p.Median, "median", false, "if points share a place, show their median, not the best")
}

func (h Host) ofPoints(kind figure.Kind, p *figures.Points, made func(figures.Maker, figures.Points) (*figure.Figure, error), cmd *cobra.Command) *cobra.Command {
	return h.of(kind, cmd, func(d *drawing, cmd *cobra.Command, args []string) error {
		req := *p
		if kind == figure.Lines && req.Y != "" {
			if req.Metric != "" && req.Metric != req.Y {
				return h.Wrong(fmt.Errorf("plot lines: --y %s and --metric %s: want one of them", req.Y, req.Metric))
			}
			req.Metric = req.Y
		}
		req.Filter = filter.Arguments(args...)
		return h.Query(cmd, func(db *query.DB) error {
			if err := lasting(cmd.Context(), db, &req.Filter); err != nil {
				return err
			}
			all, notNumbers, err := summary.Points(cmd.Context(), db, "plot", req.Filter)
			if err != nil {
				return err
			}
			h.NotNumbers(notNumbers)
			req.All = all
			if req.Sessions, err = sessionsOf(cmd.Context(), db.Quiet(), req.Filter); err != nil {
				return err
			}
			f, err := made(d.maker(), req)
			if err != nil {
				return err
			}
			return d.write(f)
		})
	})
}

// lasting names sessions of filters by their ids: a picture is looked at when there are newer ones, and the commands of its marks are
// true then too.
func lasting(ctx context.Context, db *query.DB, filters ...*string) error {
	for _, f := range filters {
		text, err := db.Lasting(ctx, *f)
		if err != nil {
			return err
		}
		*f = text
	}
	return nil
}

// sessionsOf is how many sessions the runs that match are of.
func sessionsOf(ctx context.Context, db *query.DB, filter string) (int, error) {
	groups, err := db.Groups(ctx, query.GroupRequest{Filter: filter, By: []string{"session_id"}, Limit: 1})
	return groups.Total, err
}
