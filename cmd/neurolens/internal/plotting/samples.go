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
	"github.com/neurolens/neurolens/query/samples"
)

// ecdf is plot ecdf.
func ecdf(h Host) *cobra.Command {
	return h.ofSampledSides(figure.ECDF, figures.Maker.ECDF, &cobra.Command{
		Use:   "ecdf [FILTER... | BASE HEAD]",
		Short: "The distribution of samples, a curve for each point or run",
		Long: `Draw which share of the samples is up to each value: all runs of a point are one
curve, and of a single point each run is one. --by AXIS makes a curve for each
value of an axis. Of two selections (BASE HEAD, as compare takes them, or
--against BASE) each point has a panel with a curve for each side. Failed runs
and passes of a profiler are left out, and so is warm-up. Every mark lies on the
distribution of all samples, however many.`,
		Example: `  neurolens plot ecdf session=last
  neurolens plot ecdf benchmark=matmul dim=64 --by backend -o backends.svg
  neurolens plot ecdf session=last~1 session=last`,
	})
}

// runs is plot runs.
func runs(h Host) *cobra.Command {
	return h.ofSampledSides(figure.Runs, figures.Maker.Runs, &cobra.Command{
		Use:   "runs [FILTER... | BASE HEAD]",
		Short: "Samples in the order in which they were taken",
		Long: `Draw samples in the order in which they were taken, run after run, so that
drift, bursts and throttling are seen; runs with a warning are marked. Of
several points each has a panel, 12 at most. Of many samples some in a row are
put together: their median, from the least to the most. Of two selections (BASE
HEAD, or --against BASE) the runs of the base stand first in the panel.`,
		Example: `  neurolens plot runs session=last dim=64
  neurolens plot runs run=5DPX2E7B -o run.png`,
	})
}

// strip is plot strip.
func strip(h Host) *cobra.Command {
	return h.ofSamples("strip", figures.Maker.Strip, &cobra.Command{
		Use:   "strip [FILTER...]",
		Short: "The median of each run, a row for each point",
		Long: `Draw the median of each run in a row for its point, 12 at most, so that runs of
one point that differ are seen: of latency as of --metric peak_memory. Runs with
a warning are marked. Failed runs and passes of a profiler are left out.`,
		Example: `  neurolens plot strip session=last
  neurolens plot strip session=last --metric peak_memory -o memory.svg`,
	})
}

type madeOfSamples func(m figures.Maker, ctx context.Context, db *query.DB, req figures.Sampled) (*figure.Figure, *samples.Found, error)

// ofSamples is a chart of the samples of one selection.
func (h Host) ofSamples(kind figure.Kind, made madeOfSamples, cmd *cobra.Command) *cobra.Command {
	return h.sampled(kind, made, cmd, func(args []string) (base, head string, err error) { return "", filter.Arguments(args...), nil })
}

// ofSampledSides is one of one selection or of two.
func (h Host) ofSampledSides(kind figure.Kind, made madeOfSamples, cmd *cobra.Command) *cobra.Command {
	var against string
	cmd.Flags().StringVar(&against, "against", "", "draw the runs of a `FILTER` beside them, as the base")
	return h.sampled(kind, made, cmd, func(args []string) (base, head string, err error) { return filter.TwoSides(against, args) })
}

// sampled is a chart of the selections that arguments name.
func (h Host) sampled(kind figure.Kind, made madeOfSamples, cmd *cobra.Command, selections func(args []string) (base, head string, err error)) *cobra.Command {
	var metric, since, by string
	cmd.Flags().StringVar(&metric, "metric", "", "the metric `NAME` (default: the primary one of most runs)")
	cmd.Flags().StringVar(&since, "since", "", "last 90s 30m 12h 7d 2w, or since `WHEN` in local time")
	cmd.Flags().StringVar(&by, "by", "", "runs with one value of an `AXIS` belong together, not those of a point")
	return h.of(kind, cmd, func(d *drawing, cmd *cobra.Command, args []string) error {
		base, head, err := selections(args)
		if err != nil {
			return h.Wrong(fmt.Errorf("plot %s: %w", kind, err))
		}
		req := figures.Sampled{Request: samples.Request{Filter: head, Metric: metric, MaxRuns: figures.MostRuns}, Base: base, By: by}
		if since != "" {
			if req.Since, err = filter.Time("--since", since, d.Reader().Now); err != nil {
				return err
			}
		}
		return h.Ask(cmd, func(db *query.DB) error {
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
