package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/query/summary"
)

type compareFlags struct {
	selectionFlags
	by   []string
	gate gateMode
	all  bool
	ops  bool
}

func newCompareCommand(a *app) *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{
		Use:   "compare BASE [HEAD]",
		Short: "Compare two selections of runs, point by point",
		Long: `Compare two selections of runs, point by point, to see which points got slower
or faster. BASE and HEAD are filters, each in one argument: session=last~1,
commit=9f3c1d2, baseline=NAME, 'variant=a dim=64'.

Without HEAD, compare shows what bench compared: the two sides of sessions of
bench --against, or else every point with the baseline that its sweep or command
line names. If none does, it guesses the axis, says so, and names the command
for another; a gate guesses nothing. --matrix names a baseline. Of a session of
bench --against, a filter without side= is the newer side.

Two points are paired when all their axes are equal. Axes that the two filters
fix to different values are ignored, so compare backend=torch backend=onnxrt
pairs each torch point with its onnxrt counterpart.

Either side may be a result file that ingest can read: a path, file:PATH, or
git:REF:PATH for the file in a commit. It is not stored. A filter may follow it
in the same argument. Earlier sessions are taken from the store. If a file does
not say the machine, its points get no verdict (docs/baselines.md). The first
line and the column REPEATS then say where the repeats of the two sides differ.

How a verdict is made: the run is the replicate. A point counts as changed if
its change is statistically significant (false discovery rate 5 % over all
points) and at least --threshold. If the sides are different sessions, or far
apart in time, a verdict needs 7 earlier sessions of the point on the same
machine, about as far apart from one another as the sides. They show how much
sessions differ without any change. Different machines get no verdict. Neither
does a session in which one side ran entirely before the other, because drift of
the machine would look the same.

Between sessions, RELATIVE is the change of a point relative to what all points
share. A slower machine moves all points, a code change usually few. The
reference is the control points of the sweep, or else the median of at least 8
points.

Values are compared by their ratio. A point with a value of 0 or less, and a
metric whose threshold is an amount (--threshold allocs/op=0.5), are compared by
difference, in the unit of the metric.

CHANGE is the Hodges-Lehmann estimate: the median of the pairwise differences
between the runs of both sides, or of those within blocks. Where the two medians
give another change, it is marked pairwise or paired. BASE and HEAD are the
medians that ls and bench show.

Where no measured run has the metric of --metric, passes of a profiler are
compared that have it, such as instructions of cachegrind.

With several metrics (--metric), each is judged in its own direction and
corrected over its own points; --gate corrects over all of them. A table has one
row per point, or one row per metric of a point on a narrow terminal. If both
sides were imported, the table also has other metrics of the results, such as
B/op and allocs/op of Go benchmarks; --gate and programs get those of --metric.

--gate is for CI. Measure at least 6 repeats. Exit status 0: no regression. 1: a
point regressed, disappeared, or fails significantly more often. 3:
inconclusive, because a side has fewer than 5 runs, there is too much noise, or
failures may be chance. With --gate=regression, inconclusive points are only
counted in the last line, and the exit status is 1 or 0. It is 3 if requests
failed, so that there is no verdict, if no point has an ok run on the base, or
if no run has one of the metrics.

--ops compares the operators and kernels of profiled runs (bench --profile, or
ingest): which are slower, faster, the same, have appeared or vanished. Their
changes add up to that of the total. There are no verdicts.`,
		Example: `  neurolens compare session=last~1 session=last
  neurolens compare backend=torch backend=onnxrt --by batch_size
  neurolens compare --gate session=last
  neurolens compare --gate=regression --threshold 5% session=last
  neurolens compare session=last --metric latency,accuracy
  neurolens compare session=last~1 session=last --ops
  neurolens compare git:main:reports/summary.json session=last
  neurolens compare --matrix variant=a session=last --metric latency,energy`,
		RunE: func(cmd *cobra.Command, args []string) error {
			req, err := f.request(args)
			if err != nil {
				return err
			}
			if f.ops {
				return a.compareOperators(cmd, req)
			}
			return a.querySides(cmd, &req, func(db *query.DB, format string) error {
				if term.ForPeople(format) {
					req.Worst = compare.Verdicts
				}
				if format == term.FormatTable && !f.all && len(f.by) == 0 && len(f.metrics) <= 1 {
					req.Limit = views.CompareRows
				}
				if !term.ForPeople(format) && len(f.by) == 0 {
					c, err := a.printCompared(cmd.Context(), db, req, format)
					if err != nil {
						return err
					}
					return a.endGate(f.gate, c, format)
				}
				req.SecondLook = views.CPUUser
				if len(f.by) == 0 && f.gate == gateOff {
					req.Others = views.MaxOthers
				}
				c, err := compare.Compare(cmd.Context(), db, req)
				if err != nil {
					return err
				}
				a.reportNotNumbers(c.NotNumbers)
				a.reportAbsent("compare", c.Absent)
				if err := a.showCompared(cmd.Context(), db, req, f, args, &c, format); err != nil {
					return err
				}
				return a.endGate(f.gate, &c, format)
			})
		},
	}
	flags := cmd.Flags()
	f.define(cmd)
	flags.StringSliceVar(&f.by, "by", nil, "print one line per group of points with equal `KEYS`")
	f.gate.register(cmd)
	flags.BoolVar(&f.all, "all", false, "show all points in a table")
	flags.BoolVar(&f.ops, "ops", false, "compare the operators of profiled runs")
	return cmd
}

// compareOperators compares the operators of profiled runs.
func (a *app) compareOperators(cmd *cobra.Command, req compare.Request) error {
	for _, verdicts := range []string{"metric", "threshold", "matrix", "strict", "relative", "by", "gate", "all"} {
		if cmd.Flags().Changed(verdicts) {
			return usageErrorf("compare --ops: compares operators without verdicts, so it takes no --%s", verdicts)
		}
	}
	return a.queryStores(cmd, func(db *query.DB, format string) error {
		c, err := summary.CompareOperators(cmd.Context(), db, req.Base, req.Head)
		if err != nil {
			return err
		}
		return a.print(format, answer.TableOf(summary.OperatorChangeFields(), c.Rows), func() term.View { return views.OperatorChanges(&c) })
	})
}

// request turns flags and arguments into one request.
func (f *compareFlags) request(args []string) (compare.Request, error) {
	if err := f.gate.misplaced(args); err != nil {
		return compare.Request{}, usageError{err}
	}
	req, err := f.parse("compare", args)
	if err != nil {
		return req, usageError{err}
	}
	req.Rules.Gate = f.gate != gateOff
	return req, nil
}

// printCompared writes every point in a format for programs, page after page.
func (a *app) printCompared(ctx context.Context, db *query.DB, req compare.Request, format string) (*compare.Comparison, error) {
	w, tableOf := a.printer().Pages(format), answer.TablesOf(compare.Fields(true))
	req.Inputs = true
	req.Pages = func(rows []compare.Row) error { return w.Page(tableOf(rows)) }
	c, err := compare.Compare(ctx, db, req)
	if err != nil {
		return nil, err
	}
	a.reportNotNumbers(c.NotNumbers)
	a.reportAbsent("compare", c.Absent)
	return &c, w.End()
}

// showCompared writes a comparison in a format; the points themselves to people alone.
func (a *app) showCompared(ctx context.Context, db *query.DB, req compare.Request, f compareFlags, args []string, c *compare.Comparison, format string) error {
	w := views.Comparison{
		Second: views.ByProcessor(c), Reader: a.display(), Facts: factWriter(), C: c, Gate: f.gate.line(c), Files: [2]string{nameOfFile(req.BaseFile), nameOfFile(req.HeadFile)},
		Selection: views.Selection{Selections: args, Metrics: f.metrics, Thresholds: f.thresholds, By: f.by, Strict: f.strict, All: f.all},
	}
	if len(f.by) > 0 {
		groups, err := c.By(f.by)
		if err != nil {
			return err
		}
		w.Groups = answer.TableOf(compare.GroupFields(f.by), groups)
	}
	if format == term.FormatMD {
		if f.gate != gateOff {
			w.Gate = views.GateSentence(c.Gate(), views.Noun(c))
		}
		return a.printer().Write(w.Markdown())
	}
	return a.print(format, w.Groups, w.View)
}

// selectionFlags are the flags of compare that the charts of two sides have too.
type selectionFlags struct {
	metrics, thresholds []string
	matrix              string
	strict, relative    bool
}

func (f *selectionFlags) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVar(&f.metrics, "metric", nil, "compare metrics `NAMES` (default: the primary metric)")
	flags.StringArrayVar(&f.thresholds, "threshold", nil, "smallest change that counts: `5%`, latency=10%, rmse=0.001; repeatable (default: 2%)")
	flags.StringVar(&f.matrix, "matrix", "", "compare every value of an axis with one: `AXIS=VALUE`")
	flags.BoolVar(&f.strict, "strict", false, "require a change to exceed the threshold significantly")
	flags.BoolVar(&f.relative, "relative", true, "between sessions, also judge relative to what all points share")
}

// parse makes a request of the flags and of the arguments of a command.
func (f *selectionFlags) parse(command string, args []string) (compare.Request, error) {
	var req compare.Request
	var err error
	if f.metrics, err = metricNames(f.metrics); err != nil {
		return req, err
	}
	req.Metrics, req.Rules.Strict, req.Absolute = f.metrics, f.strict, !f.relative
	if f.matrix != "" {
		axis, value, found := strings.Cut(f.matrix, "=")
		if !found || axis == "" || value == "" {
			return req, fmt.Errorf("--matrix %q: want AXIS=VALUE", f.matrix)
		}
		req.Base, req.Axis, req.Reference = filter.JoinArguments(args...), axis, filter.QuoteWord(value)
	} else {
		switch len(args) {
		case 2:
			req.Base, req.Head = filter.JoinArguments(args[0]), filter.JoinArguments(args[1])
		case 1:
			req.Base = filter.JoinArguments(args[0])
		default:
			if len(args) > 2 && !slices.ContainsFunc(args, func(arg string) bool { return !isFileSide(arg) }) {
				next := term.ShellLine("neurolens", command, args[0], args[len(args)-1])
				return req, fmt.Errorf("%s: want two files, got %d: compare a pair at a time, as in: %s", command, len(args), next)
			}
			return req, fmt.Errorf("%s: want BASE and HEAD, or one selection that has two sides or a baseline, got %d arguments; quote a filter of several words", command, len(args))
		}
	}
	req.Thresholds, err = judge.ParseThresholds(f.thresholds)
	return req, err
}
