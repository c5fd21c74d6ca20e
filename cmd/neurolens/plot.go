package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/chartdata"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/files"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/history"
	"github.com/neurolens/neurolens/query/summary"
)

// drawing is one call of the command.
type drawing struct {
	*app
	kind chart.Kind
	to   target
}

// newPlotCommand is plot.
func newPlotCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plot KIND",
		Short: "Draw charts of runs, points, comparisons and histories",
		Long: `Draw a chart of runs, in the terminal or, with -o, as a file. The ending of the
file is .svg or .png. -o - writes to standard output, in the format of --format
svg or --format png. docs/plots.md explains the numbers of each kind of chart.

In an SVG, each mark has its stored numbers as data, a description, and the
command that shows it. With --format json, jsonl, csv or plain, the marks
themselves are printed, in stored units. A chart has at most 2,000 marks. If
there are more values, some are combined, and a note below the chart says how.`,
		Example: `  neurolens plot forest session=last~1 session=last -o change.svg
  neurolens plot history benchmark=matmul
  neurolens plot heatmap session=last --x batch_size --y precision -o grid.png
  neurolens plot ecdf session=last dim=64 -o - --format svg > ecdf.svg`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, k := range kinds {
		cmd.AddCommand(k(a))
	}
	return cmd
}

// kinds are all kinds of charts.
var kinds = []func(*app) *cobra.Command{forest, scatter, trend, ecdf, runs, strip, heatmap, lines, pareto, operators, telemetry, flame}

// chartCommand makes the command of a kind, with the flags that all have. draw draws.
func (a *app) chartCommand(kind chart.Kind, cmd *cobra.Command, draw func(d *drawing, cmd *cobra.Command, args []string) error) *cobra.Command {
	d := &drawing{app: a, kind: kind}
	d.to.define(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := d.to.read(&a.format, a.terminal); err != nil {
			return usageError{fmt.Errorf("plot %s: %w", kind, err)}
		}
		err := draw(d, cmd, args)
		if refusal, is := errors.AsType[chartdata.Refusal](err); is {
			return usageError{fmt.Errorf("plot %s: %w", kind, refusal)}
		}
		return err
	}
	return cmd
}

func (d *drawing) maker() chartdata.Maker { return chartdata.Maker{Reader: d.display()} }

// makerOf returns a maker that knows the baselines of a selection.
func (d *drawing) makerOf(ctx context.Context, db *query.DB, selection string) (chartdata.Maker, error) {
	m := d.maker()
	var err error
	m.Baselines, err = summary.Baselines(ctx, db.WithoutWarnings(), selection)
	return m, err
}

// forest is plot forest.
func forest(a *app) *cobra.Command {
	return a.chartOfSides(chart.Forest, chartdata.ForestRows, chartdata.Maker.Forest, &cobra.Command{
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
func scatter(a *app) *cobra.Command {
	return a.chartOfSides(chart.Scatter, chart.MaxMarks, chartdata.Maker.Scatter, &cobra.Command{
		Use:   "scatter BASE [HEAD]",
		Short: "Draw each point in HEAD against the same point in BASE",
		Long: `Draw the value of each point in HEAD against its value in BASE, with a line
where both are equal. BASE, HEAD and the flags are those of compare.`,
		Example: `  neurolens plot scatter session=last~1 session=last
  neurolens plot scatter backend=torch backend=onnxrt -o backends.svg`,
	})
}

// chartOfSides returns a chart of a comparison of at most so many rows.
func (a *app) chartOfSides(kind chart.Kind, rows int, made func(chartdata.Maker, *compare.Comparison, chartdata.Selection) (*chart.Figure, error), cmd *cobra.Command) *cobra.Command {
	var flags selectionFlags
	flags.define(cmd)
	return a.chartCommand(kind, cmd, func(d *drawing, cmd *cobra.Command, args []string) error {
		req, err := flags.parse("plot "+string(kind), args)
		if err != nil {
			return usageError{err}
		}
		req.Worst, req.Limit = compare.Verdicts, rows
		req.Usual = a.project.Usual("compare")
		return a.querySides(cmd, &req, func(db *query.DB, _ string) error {
			c, err := compare.Compare(cmd.Context(), db, req)
			if err != nil {
				return err
			}
			a.reportNotNumbers(c.NotNumbers)
			asked := chartdata.Selection{Selections: slices.Clone(args), Matrix: c.Contrast.String()}
			for i := range asked.Selections {
				if err := lasting(cmd.Context(), db, &asked.Selections[i]); err != nil {
					return err
				}
			}
			return d.write(made(d.maker(), &c, asked))
		})
	})
}

// trend is plot history.
func trend(a *app) *cobra.Command {
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
	return a.chartCommand(chart.History, cmd, func(d *drawing, cmd *cobra.Command, args []string) error {
		req := history.Request{Filter: filter.JoinArguments(args...), Metric: metric, Method: history.Method(method)}
		if since != "" {
			var err error
			if req.Since, err = filter.Time("--since", since, d.display().Now); err != nil {
				return err
			}
		}
		return a.queryCharts(cmd, func(db *query.DB) error {
			f, all, err := d.maker().History(cmd.Context(), db, req)
			if err != nil {
				return err
			}
			a.reportNotNumbers(all.NotNumbers)
			return d.write(f, nil)
		})
	})
}

// The axes have letters too: without one, cobra completes nothing after a name of a single letter.

// heatmap is plot heatmap.
func heatmap(a *app) *cobra.Command {
	var p chartdata.Points
	cmd := &cobra.Command{
		Use:   "heatmap [FILTER...]",
		Short: "Draw a metric over two axes of a sweep",
		Long: `Draw a metric over two axes of a sweep. --x and --y choose the axes; the default
is those with the most values. Each value of the other axes in which points
differ has a panel, 12 at most; --median combines their points instead.
--by AXIS always makes a panel for each value of an axis. Failed points are
marked. Cells without a measurement are empty.`,
		Example: `  neurolens plot heatmap session=last
  neurolens plot heatmap session=last --x batch_size --y seq_len --by precision`,
	}
	cmd.Flags().StringVarP(&p.X, "x", "x", "", "the horizontal `AXIS`")
	cmd.Flags().StringVarP(&p.Y, "y", "y", "", "the vertical `AXIS`")
	cmd.Flags().StringVar(&p.By, "by", "", "draw a panel for each value of `AXIS`")
	defineValue(cmd, &p)
	return a.chartOfPoints(chart.Heatmap, &p, chartdata.Maker.Heatmap, cmd)
}

// lines is plot lines.
func lines(a *app) *cobra.Command {
	var p chartdata.Points
	cmd := &cobra.Command{
		Use:   "lines [FILTER...]",
		Short: "Draw a metric over one axis, a line for each value of another",
		Long: `Draw a metric over one axis of a sweep. --x chooses the axis; the default is the
numeric axis with the most values. --by draws a line for each value of a second
axis, by default of the one that is compared, such as variant. Each value of the
other axes in which points differ has a panel, 12 at most; --panels names
another axis for panels, and --median combines the points of a place instead. An
axis of powers of two is logarithmic. Over names there are bars from zero.
Points with 6 runs or more have the 95 % interval of the median of their runs.`,
		Example: `  neurolens plot lines session=last
  neurolens plot lines session=last --panels backend
  neurolens plot lines session=last --x batch_size --y throughput --by precision`,
	}
	cmd.Flags().StringVarP(&p.X, "x", "x", "", "the horizontal `AXIS`")
	cmd.Flags().StringVarP(&p.Y, "y", "y", "", "same as --metric: the `METRIC`")
	cmd.Flags().StringVar(&p.By, "by", "", "draw a line for each value of `AXIS`")
	cmd.Flags().StringVar(&p.Panels, "panels", "", "draw a panel for each value of `AXIS`")
	defineValue(cmd, &p)
	return a.chartOfPoints(chart.Lines, &p, chartdata.Maker.Lines, cmd)
}

// pareto is plot pareto.
func pareto(a *app) *cobra.Command {
	var p chartdata.Points
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
	return a.chartOfPoints(chart.Pareto, &p, chartdata.Maker.Pareto, cmd)
}

// defineValue defines the flags that say what stands in a place.
func defineValue(cmd *cobra.Command, p *chartdata.Points) {
	cmd.Flags().StringVar(&p.Metric, "metric", "", "draw the metric `NAME` (default: the primary metric of most points)")
	cmd.Flags().BoolVar(&p.Median, "median", false, "if points share a place, show their median, not a panel for each")
}

func (a *app) chartOfPoints(kind chart.Kind, p *chartdata.Points, made func(chartdata.Maker, chartdata.Points) (*chart.Figure, error), cmd *cobra.Command) *cobra.Command {
	return a.chartCommand(kind, cmd, func(d *drawing, cmd *cobra.Command, args []string) error {
		req := *p
		if kind == chart.Lines && req.Y != "" {
			if req.Metric != "" && req.Metric != req.Y {
				return usageError{fmt.Errorf("plot lines: --y %s and --metric %s: want one of them", req.Y, req.Metric)}
			}
			req.Metric = req.Y
		}
		req.Filter = filter.JoinArguments(args...)
		return a.queryCharts(cmd, func(db *query.DB) error {
			if err := lasting(cmd.Context(), db, &req.Filter); err != nil {
				return err
			}
			all, notNumbers, err := summary.Points(cmd.Context(), db, "plot", req.Filter)
			if err != nil {
				return err
			}
			a.reportNotNumbers(notNumbers)
			req.All = all
			if req.Sessions, err = db.WithoutWarnings().CountSessions(cmd.Context(), req.Filter); err != nil {
				return err
			}
			m, err := d.makerOf(cmd.Context(), db, req.Filter)
			if err != nil {
				return err
			}
			return d.write(made(m, req))
		})
	})
}

// queryCharts opens the stores for a chart, as they are when it begins.
func (a *app) queryCharts(cmd *cobra.Command, answer func(db *query.DB) error) error {
	return a.queryStores(cmd, func(db *query.DB, _ string) error { return answer(db.Snapshot()) })
}

// lasting names sessions of filters by their ids: a picture is looked at when there are newer ones, and the commands in it
// are true then too.
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

// ecdf is plot ecdf.
func ecdf(a *app) *cobra.Command {
	return a.chartOfSampledSides(chart.ECDF, chartdata.Maker.ECDF, &cobra.Command{
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
func runs(a *app) *cobra.Command {
	return a.chartOfSampledSides(chart.Runs, chartdata.Maker.Runs, &cobra.Command{
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
func strip(a *app) *cobra.Command {
	oneSelection := func(args []string) (base, head string, err error) { return "", filter.JoinArguments(args...), nil }
	return a.sampledChart("strip", chartdata.Maker.Strip, oneSelection, &cobra.Command{
		Use:   "strip [FILTER...]",
		Short: "Draw the median of each run, one row per point",
		Long: `Draw the median of each run, one row per point, to see runs that differ from
others of the same point. There are 60 rows at most. --metric draws another
metric, such as peak_memory. Runs with a warning are marked. Failed runs and
profiler passes are left out.`,
		Example: `  neurolens plot strip session=last
  neurolens plot strip session=last --metric peak_memory -o memory.svg`,
	})
}

type madeOfSamples func(m chartdata.Maker, ctx context.Context, db *query.DB, req chartdata.Sampled) (*chart.Figure, *query.SampledRuns, error)

// chartOfSampledSides returns a chart of the samples of one selection or of two.
func (a *app) chartOfSampledSides(kind chart.Kind, made madeOfSamples, cmd *cobra.Command) *cobra.Command {
	var against string
	cmd.Flags().StringVar(&against, "against", "", "also draw the runs that match `FILTER`, as the base")
	return a.sampledChart(kind, made, func(args []string) (base, head string, err error) { return filter.TwoSides(against, args) }, cmd)
}

// sampledChart returns a chart of the selections that arguments name.
func (a *app) sampledChart(kind chart.Kind, made madeOfSamples, selections func(args []string) (base, head string, err error), cmd *cobra.Command) *cobra.Command {
	var metric, since, by string
	cmd.Flags().StringVar(&metric, "metric", "", "draw the metric `NAME` (default: the primary metric of most runs)")
	cmd.Flags().StringVar(&since, "since", "", "only runs since `WHEN`: 30m, 12h, 7d, 2w ago, or a local time")
	cmd.Flags().StringVar(&by, "by", "", "group runs by the value of `AXIS`, instead of by point")
	return a.chartCommand(kind, cmd, func(d *drawing, cmd *cobra.Command, args []string) error {
		base, head, err := selections(args)
		if err != nil {
			return usageError{fmt.Errorf("plot %s: %w", kind, err)}
		}
		req := chartdata.Sampled{SamplesRequest: query.SamplesRequest{Filter: head, Metric: metric, MaxRuns: chartdata.MaxRuns}, Base: base, By: by}
		if since != "" {
			if req.Since, err = filter.Time("--since", since, d.display().Now); err != nil {
				return err
			}
		}
		return a.queryCharts(cmd, func(db *query.DB) error {
			if err := lasting(cmd.Context(), db, &req.Base, &req.Filter); err != nil {
				return err
			}
			m, err := d.makerOf(cmd.Context(), db, req.Filter)
			if err != nil {
				return err
			}
			f, found, err := made(m, cmd.Context(), db, req)
			if err != nil {
				return err
			}
			a.reportNotNumbers(found.NotNumbers)
			if base != "" {
				f.Notes = append([]string{"base: " + term.OneLine(base) + "; head: " + term.OneLine(cmp.Or(head, "all runs"))}, f.Notes...)
			}
			return d.write(f, nil)
		})
	})
}

// operators is plot ops.
func operators(a *app) *cobra.Command {
	return a.chartCommand("ops", &cobra.Command{
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
		return a.queryCharts(cmd, func(db *query.DB) error {
			profiles, err := d.maker().Profiles(cmd.Context(), db, filter.JoinArguments(args...))
			if err != nil {
				return err
			}
			return d.write(d.maker().Operators(profiles))
		})
	})
}

// telemetry is plot telemetry.
func telemetry(a *app) *cobra.Command {
	return a.chartCommand(chart.Telemetry, &cobra.Command{
		Use:   "telemetry [RUN]",
		Short: "Draw clocks, power and so on over the time of a run",
		Long: `Draw the readings of a run with telemetry over its time: clocks, power,
temperature, utilisation and memory, a panel for each metric and a line for each
device, below the samples of the run. Readings in which the device was throttled
are marked in the panel of its clock. RUN is a run id, as for show; last, or no
argument, is the run that started last. If there are many readings, neighbours
are combined: their median, with a bar from minimum to maximum.`,
		Example: `  neurolens plot telemetry
  neurolens plot telemetry 7QX4M2ZK -o telemetry.svg`,
		Args: arguments(0, 1, "one run id"),
	}, func(d *drawing, cmd *cobra.Command, args []string) error {
		return d.ofOneRun(cmd, args, func(_ *query.DB, detail *query.Detail) (*chart.Figure, error) { return d.maker().Telemetry(detail) })
	})
}

// flame is plot flame.
func flame(a *app) *cobra.Command {
	return a.chartCommand(chart.Flame, &cobra.Command{
		Use:   "flame [RUN]",
		Short: "Draw the stacks of a profiled run as a flame graph",
		Long: `Draw the stacks of a profiled run as a flame graph, the outermost frames on top:
a frame is as wide as the share of samples in which it was seen, and lies below
the one that called it. Stacks come from ingest, which reads folded ones of perf
and py-spy. RUN is a run id, as for show; last, or no argument, is the run that
started last.`,
		Example: `  neurolens plot flame
  neurolens plot flame 7QX4M2ZK -o flame.svg`,
		Args: arguments(0, 1, "one run id"),
	}, func(d *drawing, cmd *cobra.Command, args []string) error {
		return d.ofOneRun(cmd, args, func(db *query.DB, detail *query.Detail) (*chart.Figure, error) {
			if err := db.SetOperators(cmd.Context(), &detail.Run); err != nil {
				return nil, err
			}
			return d.maker().Flame(&detail.Run)
		})
	})
}

// ofOneRun draws a chart of the run that an argument names, or of the newest one.
func (d *drawing) ofOneRun(cmd *cobra.Command, args []string, made func(db *query.DB, detail *query.Detail) (*chart.Figure, error)) error {
	id := lastRun
	if len(args) > 0 {
		id = args[0]
	}
	return d.queryCharts(cmd, func(db *query.DB) error {
		id, err := runNamed(cmd.Context(), db, id)
		if err != nil {
			return err
		}
		detail, err := db.Show(cmd.Context(), id)
		if err != nil {
			return err
		}
		return d.write(made(db, &detail))
	})
}

// target is where a figure goes, and as what.
type target struct {
	file  string // empty: standard output, as is printed
	image string // the format of a picture, or of what describes one; empty: there is none
	spec  string // as it was asked for
	title string // empty: the title of the chart
	width int    // of a picture in pixels, of text in columns; 0: the default
}

func (t *target) define(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&t.file, "out", "o", "", "write to `FILE`, which ends with .svg or .png; - for standard output")
	cmd.Flags().StringVar(&t.spec, "spec", "", "write a specification for another program, `NAME`: vega-lite")
	cmd.Flags().StringVar(&t.title, "title", "", "draw `TEXT` above the chart (default: what it shows)")
	cmd.Flags().IntVar(&t.width, "width", 0, "make a picture `N` pixels wide (default 720), a chart as text N columns")
}

// read finds out what was asked for, before anything is read. The format of a picture is taken away from the one of answers.
func (t *target) read(format *string, terminal bool) error {
	const narrowest, widest = 30, 8192
	if t.width != 0 && (t.width < narrowest || t.width > widest) {
		return fmt.Errorf("--width %d: want %d to %d", t.width, narrowest, widest)
	}
	if t.spec != "" {
		return t.readSpec(*format)
	}
	asked, is := *format, isImage(*format)
	if t.image = ""; is {
		t.image, *format = asked, ""
	}
	switch {
	case t.file == "" && is, t.file == stdoutFile && is:
		if t.file = stdoutFile; terminal && asked != svg {
			return fmt.Errorf("--format %s would go to the terminal: -o chart.%s writes a file", asked, asked)
		}
		return nil
	case t.file == "":
		return nil
	case t.file == stdoutFile:
		return errors.New("-o -: want --format svg or --format png")
	}
	ending := strings.ToLower(strings.TrimPrefix(filepath.Ext(t.file), "."))
	switch {
	case ending == "json":
		return fmt.Errorf("-o %s: want a name that ends with .svg or .png; --spec vega-lite writes JSON", term.OneLine(t.file))
	case ending == "pdf":
		return fmt.Errorf("-o %s: want a name that ends with .svg or .png; rsvg-convert, Inkscape and browsers make a PDF of an SVG", term.OneLine(t.file))
	case !isImage(ending):
		return fmt.Errorf("-o %s: want a name that ends with .svg or .png", term.OneLine(t.file))
	case asked != "" && asked != ending:
		return fmt.Errorf("-o %s and --format %s: the ending of the file is its format; leave --format out", term.OneLine(t.file), term.OneLine(asked))
	}
	t.image = ending
	return nil
}

// readSpec finds out where a specification goes.
func (t *target) readSpec(format string) error {
	ending := strings.ToLower(filepath.Ext(t.file))
	switch {
	case t.spec != vegaLite:
		return fmt.Errorf("--spec %q: want %s", t.spec, vegaLite)
	case format != "":
		return fmt.Errorf("--spec %s and --format %s: want one of them", t.spec, term.OneLine(format))
	case isImage(strings.TrimPrefix(ending, ".")):
		return fmt.Errorf("-o %s: a specification is JSON; leave --spec out for a picture", term.OneLine(t.file))
	case t.file == "":
		t.file = stdoutFile
	}
	t.image = vegaLite
	return nil
}

// write draws a figure, unless it could not be made, where it was asked for.
func (d *drawing) write(f *chart.Figure, err error) error {
	if err != nil {
		return err
	}
	if d.to.title != "" {
		f.Title = d.to.title
	}
	if d.to.image == "" {
		return d.print(f)
	}
	picture, err := written(d.to.image, f, d.to.width)
	if err != nil {
		return fmt.Errorf("plot %s: drawing %s: %w", d.kind, d.to.image, err)
	}
	if d.to.file == stdoutFile {
		_, err := d.stdout.Write(picture)
		return err
	}
	if err := files.Replace(d.to.file, picture); err != nil {
		return fmt.Errorf("plot %s: %w", d.kind, files.OfPlace(err))
	}
	fmt.Fprintln(d.stderr, term.OneLine(fmt.Sprintf("%s: %s of %s", d.to.file, d.kind, term.Count(f.Marks(), "mark"))))
	return nil
}

// print draws a figure for people, and prints its marks for programs.
func (d *drawing) print(f *chart.Figure) error {
	format, err := d.outputFormat()
	if err != nil {
		return err
	}
	if term.ForPeople(format) {
		return d.text(f, format == term.FormatMD)
	}
	return d.app.print(format, marksOf(f), nil)
}

// text draws a figure for people, in lines: in Markdown as a block of code, without colours.
func (d *drawing) text(f *chart.Figure, markdown bool) error {
	page := d.page()
	page.Color = page.Color && !markdown
	if d.to.width > 0 {
		page.Width = d.to.width
	}
	lines := chart.Text(f, page, chart.TextOptions{ASCII: term.WantsASCII(d.getenv)})
	if markdown {
		fence := "```"
		for strings.Contains(strings.Join(lines, "\n"), fence) { // a name may have one
			fence += "`"
		}
		lines = slices.Concat([]string{fence + "text"}, lines, []string{fence})
	}
	_, err := d.stdout.Write([]byte(strings.Join(lines, "\n") + "\n"))
	return err
}

// row is a mark with what it belongs to.
type row struct {
	panel  string
	series string
	tone   chart.Tone
	mark   chart.Mark
}

// marksOf returns the marks of a figure as a table, in stored units.
func marksOf(f *chart.Figure) answer.Table {
	var rows []row
	for _, p := range f.Parts() {
		for s, k := range p.All() {
			rows = append(rows, row{p.Title, s.Name, s.ToneOf(k), k})
		}
	}
	return answer.TableOf(markFields(f), rows)
}

// markFields returns the columns of marks. A heatmap has one more.
func markFields(f *chart.Figure) []answer.Field[row] {
	text := answer.TextField[row]
	number := func(name, unit, meaning string, of func(r *row) float64) answer.Field[row] {
		return answer.NewField(name, answer.TypeReal, meaning, func(r *row) any {
			if v := of(r); !math.IsNaN(v) {
				return v
			}
			return nil
		}).In(unit)
	}
	along := f.Y.Unit
	if f.Kind == chart.Forest {
		along = f.X.Unit
	}
	fields := []answer.Field[row]{
		text("panel", "the panel, if there are several", func(r *row) string { return r.panel }),
		text("series", "the series that the mark belongs to; in plot pareto front, of points that no other point is better than in both metrics, or beaten", func(r *row) string { return r.series }),
		text("word", "the verdict or the state", func(r *row) string { return r.mark.Word }),
		text("tone", "the meaning of its colour: neutral, regressed, improved, warned or failed", func(r *row) string { return string(r.tone) }),
		text("x_name", "horizontal position in words: a category or a time", func(r *row) string { return nameOf(f.X, r.mark.X) }),
		number("x", f.X.Unit, "horizontal position", func(r *row) float64 { return r.mark.X }),
		text("y_name", "vertical position in words", func(r *row) string { return nameOf(f.Y, r.mark.Y) }),
		number("y", f.Y.Unit, "vertical position", func(r *row) float64 { return r.mark.Y }),
		number("low", along, "the lower end of its interval", func(r *row) float64 { return r.mark.Low }),
		number("high", along, "the upper end", func(r *row) float64 { return r.mark.High }),
	}
	if f.Kind == chart.Heatmap {
		fields = append(fields, number("value", f.Values.Unit, "its value", func(r *row) float64 { return r.mark.Value }))
	}
	return append(fields,
		counted("count", "how many values it combines", func(r *row) int { return max(r.mark.Count, 1) }),
		text("run_id", "the id of its run", func(r *row) string { return r.mark.Run }),
		text("point_id", "the id of its point", func(r *row) string { return r.mark.Point }),
		text("text", "a description of the mark", func(r *row) string { return r.mark.Text }),
		text("command", "the command that shows it", func(r *row) string { return r.mark.Command }))
}

// nameOf returns a place of an axis that has words for it.
func nameOf(a chart.Axis, at float64) string {
	switch {
	case math.IsNaN(at):
	case a.Scale == chart.Categories && at >= 0 && int(at) < len(a.Categories):
		return a.Categories[int(at)]
	case a.Scale == chart.Time:
		return time.UnixMicro(int64(math.Round(at * 1e6))).UTC().Format(time.RFC3339)
	}
	return ""
}

// belowFlag draws the chart of an answer below it.
const belowFlag = "plot"

// belows are the commands that draw below what they say, each with the command of the chart and the arguments that it takes.
var belows = map[string]struct {
	chart func(*app) *cobra.Command
	args  func(a *app, cmd *cobra.Command, args []string) ([]string, error)
}{
	"compare": {forest, sameFile},
	"history": {trend, sameFile},
	"show":    {runs, ofRun},
}

// addPlotFlags gives --plot to the commands of a program that draw below what they say. Flags that the chart has as well hold for both.
func (a *app) addPlotFlags(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		below, draws := belows[cmd.Name()]
		if !draws {
			continue
		}
		chart, answer := below.chart(a), cmd.RunE
		asked := cmd.Flags().Bool(belowFlag, false, "draw a chart below, as plot "+chart.Name()+" does")
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			if !*asked {
				return answer(cmd, args)
			}
			if format, err := a.outputFormat(); err != nil || !term.ForPeople(format) {
				return cmp.Or(err, error(usageError{fmt.Errorf("--plot needs a format for people: neurolens plot %s --format %s prints what would be drawn", chart.Name(), format)}))
			}
			failed := answer(cmd, args)
			err := a.drawBelow(chart, below.args, cmd, args)
			if refusal, is := errors.AsType[chartdata.Refusal](err); is { // there is an answer all the same
				fmt.Fprintln(a.stdout, "not drawn: "+refusal.Error())
				err = nil
			}
			return cmp.Or(failed, err)
		}
	}
}

// drawBelow runs the command of a chart with the flags of another command.
func (a *app) drawBelow(chart *cobra.Command, of func(*app, *cobra.Command, []string) ([]string, error), cmd *cobra.Command, args []string) error {
	args, err := of(a, cmd, args)
	if err != nil {
		return err
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if own := chart.Flags().Lookup(f.Name); own != nil && err == nil {
			err = setAs(own, f)
		}
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(a.stdout)
	chart.SetContext(cmd.Context())
	return chart.RunE(chart, args)
}

// setAs gives a flag the value of another one.
func setAs(own, other *pflag.Flag) error {
	list, isList := other.Value.(pflag.SliceValue)
	if ownList, both := own.Value.(pflag.SliceValue); isList && both {
		return ownList.Replace(list.GetSlice())
	}
	return own.Value.Set(other.Value.String())
}

// sameFile returns the arguments as they are.
func sameFile(_ *app, _ *cobra.Command, args []string) ([]string, error) { return args, nil }

// ofRun returns the filter for the run that show was asked for: the newest one without an argument.
func ofRun(a *app, cmd *cobra.Command, args []string) ([]string, error) {
	if len(args) > 0 && args[0] != "last" {
		return []string{"run=" + args[0]}, nil
	}
	var filter []string
	err := a.queryCharts(cmd, func(db *query.DB) error {
		id, err := db.WithoutWarnings().Newest(cmd.Context())
		filter = []string{"run=" + id}
		return err
	})
	return filter, err
}

// The formats of pictures, which are also the endings of their files, and the specification that other programs draw.
const (
	svg      = "svg"
	vegaLite = "vega-lite"
)

// written returns a figure in a format. width is in pixels.
func written(format string, f *chart.Figure, width int) ([]byte, error) {
	var b bytes.Buffer
	switch format {
	case svg:
		err := chart.SVG(&b, f, chart.ImageOptions{Width: width})
		return b.Bytes(), err
	case "png":
		err := chart.PNG(&b, f, chart.ImageOptions{Width: width})
		return b.Bytes(), err
	}
	return chart.VegaLite(f, width)
}

func isImage(format string) bool { return format == svg || format == "png" }
