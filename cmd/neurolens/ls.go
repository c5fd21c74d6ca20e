package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/wording"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/schema"
)

// lsColumns are what ls asks for unless told otherwise.
var lsColumns = []string{
	"run_id", "started_at", "session_id", "side", "purpose", "point_id", "suite", "benchmark", "variant", "backend", "model", "precision", "batch_size", "seq_len",
	"params", "tags", "machine", "gpu_name", "git_commit", "metric", "unit", "p50", "p99", "mean", "mad", "n_samples", "status", "stage", "error_kind", "warnings",
}

// lsTableLimit is how many runs a table shows unless told otherwise.
const lsTableLimit = 20

func newLsCommand(a *app) *cobra.Command {
	var f lsFlags
	cmd := &cobra.Command{
		Use:   "ls [FILTER...]",
		Short: "List runs",
		Long: `List runs, newest first. Runs without a time come last, in the order of the
files that they were read from.

A filter is words joined by AND: key=value, key!=value, key>=8, key~regex,
key=1,8 for any of several, p99<1.5ms with a unit, tag.k=v, param.k=v,
session=last, key=null; with "or", "not" and parentheses. A key that is no
column is a parameter. Quote words with < or > against the shell.

With --by, one line a group of runs with equal values of these keys; with
--best, the point of the group with the best median. Failed runs are counted.
Numbers are of ok runs, one median a run, then the median over a point's runs.

The metric is each run's primary one unless --metric names another; filters
and --sort are by the primary one. It stands above the table, or in it.

A table shows the newest 20; every other format shows all.`,
		Example: `  neurolens ls 'batch_size>=2' precision=fp32 --since 7d --sort -p99
  neurolens ls 'p99<1.5ms' dim=64,128
  neurolens ls --by backend,machine
  neurolens ls --by precision --best`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := f.options(a, cmd, args)
			if err != nil {
				return err
			}
			if len(o.by) > 0 || o.best {
				return runGroups(a, cmd, o)
			}
			return runLs(a, cmd, o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.backend, "backend", "", "as backend=`NAME`")
	flags.StringVar(&f.model, "model", "", "as model=`NAME`")
	flags.StringVar(&f.gpu, "gpu", "", "as gpu_name=`NAME`")
	flags.StringVar(&f.precision, "precision", "", "as precision=`NAME`")
	flags.Int64Var(&f.batch, "batch", 0, "as batch_size=`N`")
	flags.Int64Var(&f.seq, "seq", 0, "as seq_len=`N`")
	flags.StringArrayVar(&f.tags, "tag", nil, "as tag.`KEY=VALUE`; repeatable")
	flags.StringVar(&f.since, "since", "", "last 90s 30m 12h 7d 2w, or since `WHEN` in local time")
	flags.StringVar(&f.day, "day", "", "runs of one `DAY`, YYYY-MM-DD in UTC")
	flags.StringSliceVar(&f.columns, "columns", nil, "columns `NAMES` in formats for programs, or all")
	flags.StringSliceVar(&f.sort, "sort", nil, "sort by `NAMES`; -p99 for largest first")
	flags.IntVar(&f.limit, "limit", 0, "at most `N` rows; 0 for all (a table: 20)")
	flags.StringVar(&f.metric, "metric", "", "values of the metric `NAME`, not of each run's primary")
	flags.StringSliceVar(&f.by, "by", nil, "one line a group of runs with equal `KEYS`")
	flags.BoolVar(&f.best, "best", false, "the best point: of each group with --by, else of all")
	return cmd
}

func runLs(a *app, cmd *cobra.Command, o lsOptions) error {
	return a.ask(cmd, func(db *query.DB, format string) error {
		if format == output.FormatTable && !cmd.Flags().Changed("limit") {
			o.limit = lsTableLimit
		}
		req := query.ListRequest{
			Filter: o.filter, Since: o.since, Until: o.until, Sort: o.sort, Limit: o.limit, Metric: o.metric,
		}
		if !output.ForPeople(format) {
			return a.printPages(cmd.Context(), db, req, o.columns, format)
		}
		list, err := db.List(cmd.Context(), req)
		if err != nil {
			return err
		}
		a.reportFound(list.Found, req)
		return a.printer().View(format, a.lsView(list, o))
	})
}

// printPages writes columns of a listing page after page.
func (a *app) printPages(ctx context.Context, db *query.DB, req query.ListRequest, columns []string, format string) error {
	w := a.printer().Pages(format)
	err := db.Pages(ctx, req, columns, func(page query.Page) error {
		if !w.Began() {
			a.reportFound(page.Found, req)
		}
		return w.Page(page.Table)
	})
	if err != nil {
		return err
	}
	return w.End()
}

// reportFound says what could not be listed as it was asked for.
func (a *app) reportFound(found query.Found, req query.ListRequest) {
	a.reportNotNumbers(found.NotNumbers)
	if len(found.OtherMetrics) > 0 { // none has the one that was asked for
		fmt.Fprintf(a.stderr, "neurolens: ls: none of these runs has the metric %q; they have %s\n", req.Metric, strings.Join(found.OtherMetrics, ", "))
	}
}

// reportNotNumbers says how many values an ordering had to pass over.
func (a *app) reportNotNumbers(keys map[string]int) {
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		fmt.Fprintf(a.stderr, "neurolens: filter: %s: %s not numbers and did not match\n", key, term.Count(keys[key], "value")+" "+term.IsAre(keys[key]))
	}
}

func (a *app) lsView(list query.Listing, o lsOptions) term.View {
	v := term.View{Below: []string{lsCount(len(list.Runs), list.Total, o)}}
	if len(list.Runs) == 0 {
		return v
	}
	subjects := make([]wording.Subject, len(list.Runs))
	for i := range list.Runs {
		subjects[i] = subjectOf(list.Runs[i])
	}
	constants, varying := wording.Axes(subjects, wording.RunColumns)
	metrics := wording.AxisOf(subjects, "metric", func(s *wording.Subject) string { return s.Metric })
	if named := slices.DeleteFunc(slices.Clone(metrics.Values), func(name string) bool { return name == "" }); len(slices.Compact(named)) == 1 {
		constants, metrics.Values = append(constants, named[0]), nil
	} else if len(named) == 0 {
		metrics.Values = nil
	}
	v.Above = term.Heading(constants)
	rows := lsRows{a, list.Runs, metrics}
	v = rows.add(v, varying)
	v.Compact = func() term.View {
		return rows.add(term.View{Above: v.Above, Below: v.Below}, wording.MergedAxes(varying))
	}
	return v
}

// lsRows makes the rows of a listing.
type lsRows struct {
	a       *app
	runs    []query.ListedRun
	metrics wording.Axis // empty where all are the same
}

// add adds the table to a view.
func (l lsRows) add(v term.View, varying []wording.Axis) term.View {
	v.Columns = []term.Column{{Header: "RUN"}, {Header: "WHEN " + l.a.reader().Offset()}}
	if l.metrics.Values != nil {
		varying = append(slices.Clone(varying), l.metrics)
	}
	for _, x := range varying {
		v.Columns = append(v.Columns, wording.AxisColumn(x))
	}
	means := slices.ContainsFunc(l.runs, onlyMean)
	medians := !means || slices.ContainsFunc(l.runs, func(r query.ListedRun) bool { return r.Median != nil })
	if medians {
		v.Columns = append(v.Columns, term.Column{Header: "MEDIAN", Right: true})
	}
	if means {
		v.Columns = append(v.Columns, term.Column{Header: "MEAN", Right: true})
	}
	v.Columns = append(v.Columns,
		term.Column{Header: "P99", Right: true, Drop: 2}, term.Column{Header: "N", Right: true, Drop: 1}, term.Column{Header: "STATUS"})
	for i := range l.runs {
		run := &l.runs[i]
		cells := []term.Cell{{Text: wording.ShortRun(run.RunID)}, {Text: l.a.reader().When(run.StartedAt)}}
		for _, x := range varying {
			cells = append(cells, wording.AxisCell(x, i))
		}
		v.Rows = append(v.Rows, append(cells, runCells(run, medians, means)...))
	}
	return v
}

// runCells are the cells of a run behind the axes: what was measured, and how it ended.
func runCells(run *query.ListedRun, medians, means bool) []term.Cell {
	number := func(v *float64) term.Cell {
		if run.Status != schema.StatusOK {
			return term.Cell{Text: term.Unknown}
		}
		return term.Cell{Text: quantityOf(v, run.Unit, run.Metric, run.UnitInFile)}
	}
	var cells []term.Cell
	if medians {
		cells = append(cells, number(run.Median))
	}
	if means {
		cells = append(cells, number(run.Mean))
	}
	return append(cells, number(run.P99), term.Cell{Text: samplesText(run.Samples)}, term.Cell{Text: string(run.Status), Failed: run.Status.Failed()})
}

// onlyMean tells that the mean of a run is known, but not the median: other tools' files may have no more.
func onlyMean(r query.ListedRun) bool { return r.Median == nil && r.Mean != nil }

// lsCount is the line that counts everything.
func lsCount(shown, total int, o lsOptions) string {
	order := "newest first"
	if len(o.sort) > 0 {
		order = "by " + strings.Join(o.sort, ", ")
	}
	switch {
	case total == 0 && o.filter == "" && o.since.IsZero():
		return noRuns
	case total == 0:
		return "no run matches"
	case shown < total:
		return fmt.Sprintf("%s of %s, %s (--limit 0 for all)", term.Thousands(shown), term.Count(total, "run"), order)
	}
	return term.Count(total, "run") + ", " + order
}

// subjectOf is what a run is of.
func subjectOf(r query.ListedRun) wording.Subject {
	return wording.Subject{Point: r.Point, Suite: r.Suite, Side: r.Side, Purpose: string(r.Purpose), Metric: r.Metric}
}
