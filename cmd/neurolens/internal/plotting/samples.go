package plotting

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/figure"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/figures"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/filter"
)

// ecdf is plot ecdf.
func ecdf(h Host) *cobra.Command {
	return h.ofSampledSides(figure.ECDF, figures.Maker.ECDF, &cobra.Command{
		Use:   "ecdf [FILTER... | BASE HEAD]",
		Short: "Draw the distribution of samples, for each point or run",
		Long: `Draw the cumulative distribution of samples: for each value, the share of
samples that are at most that large. All runs of a point form one curve; of a
single point, each run is a curve. --by AXIS draws a curve for each value of an
axis. With two selections (BASE HEAD as for compare, or --against BASE), each
point has a panel with a curve for each side. Failed runs, profiler passes and
warm-up are left out. The marks lie on the distribution of all samples, even if
there are many.`,
		Example: `  neurolens plot ecdf session=last
  neurolens plot ecdf benchmark=matmul dim=64 --by backend -o backends.svg
  neurolens plot ecdf session=last~1 session=last`,
	})
}

// runs is plot runs.
func runs(h Host) *cobra.Command {
	return h.ofSampledSides(figure.Runs, figures.Maker.Runs, &cobra.Command{
		Use:   "runs [FILTER... | BASE HEAD]",
		Short: "Draw samples in the order of measurement",
		Long: `Draw samples in the order in which they were measured, run after run, to see
drift, bursts and throttling. Runs with a warning are marked. Each point has a
panel, 12 at most. If there are many samples, neighbours are combined: their
median, with a bar from minimum to maximum. With two selections (BASE HEAD, or
--against BASE), the runs of the base come first in each panel.`,
		Example: `  neurolens plot runs session=last dim=64
  neurolens plot runs run=5DPX2E7B -o run.png`,
	})
}

// strip is plot strip.
func strip(h Host) *cobra.Command {
	return h.ofSamples("strip", figures.Maker.Strip, &cobra.Command{
		Use:   "strip [FILTER...]",
		Short: "Draw the median of each run, one row per point",
		Long: `Draw the median of each run, one row per point, to see runs that differ from
others of the same point. There are 12 rows at most. --metric draws another
metric, such as peak_memory. Runs with a warning are marked. Failed runs and
profiler passes are left out.`,
		Example: `  neurolens plot strip session=last
  neurolens plot strip session=last --metric peak_memory -o memory.svg`,
	})
}

type madeOfSamples func(m figures.Maker, ctx context.Context, db *query.DB, req figures.Sampled) (*figure.Figure, *query.SampledRuns, error)

// ofSamples is a chart of the samples of one selection.
func (h Host) ofSamples(kind figure.Kind, made madeOfSamples, cmd *cobra.Command) *cobra.Command {
	return h.sampled(kind, made, cmd, func(args []string) (base, head string, err error) { return "", filter.Arguments(args...), nil })
}

// ofSampledSides is one of one selection or of two.
func (h Host) ofSampledSides(kind figure.Kind, made madeOfSamples, cmd *cobra.Command) *cobra.Command {
	var against string
	cmd.Flags().StringVar(&against, "against", "", "also draw the runs that match `FILTER`, as the base")
	return h.sampled(kind, made, cmd, func(args []string) (base, head string, err error) { return filter.TwoSides(against, args) })
}

// sampled is a chart of the selections that arguments name.
func (h Host) sampled(kind figure.Kind, made madeOfSamples, cmd *cobra.Command, selections func(args []string) (base, head string, err error)) *cobra.Command {
	var metric, since, by string
	cmd.Flags().StringVar(&metric, "metric", "", "draw the metric `NAME` (default: the primary metric of most runs)")
	cmd.Flags().StringVar(&since, "since", "", "only runs since `WHEN`: 30m, 12h, 7d, 2w ago, or a local time")
	cmd.Flags().StringVar(&by, "by", "", "group runs by the value of `AXIS`, instead of by point")
	return h.of(kind, cmd, func(d *drawing, cmd *cobra.Command, args []string) error {
		base, head, err := selections(args)
		if err != nil {
			return h.Wrong(fmt.Errorf("plot %s: %w", kind, err))
		}
		req := figures.Sampled{SamplesRequest: query.SamplesRequest{Filter: head, Metric: metric, MaxRuns: figures.MaxRuns}, Base: base, By: by}
		if since != "" {
			if req.Since, err = filter.Time("--since", since, d.Reader().Now); err != nil {
				return err
			}
		}
		return h.Query(cmd, func(db *query.DB) error {
			if err := lasting(cmd.Context(), db, &req.Base, &req.Filter); err != nil {
				return err
			}
			f, found, err := made(d.maker(), cmd.Context(), db, req)
			if err != nil {
				return err
			}
			h.NotNumbers(found.NotNumbers)
			if base != "" {
				f.Notes = append([]string{"base: " + term.OneLine(base) + "; head: " + term.OneLine(cmp.Or(head, "all runs"))}, f.Notes...)
			}
			return d.write(f)
		})
	})
}
