package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/summary"
)

// lsTableLimit is how many runs a table shows unless told otherwise.
const lsTableLimit = 20

func newLsCommand(a *app) *cobra.Command {
	var f lsFlags
	cmd := &cobra.Command{
		Use:   "ls [FILTER...]",
		Short: "List stored runs",
		Long: `List stored runs, newest first. Runs without a time come last, in the order of
the files that they were read from. A table shows the newest 20; all other
formats show all.

A filter is a list of words, joined by AND: key=value, key!=value, key>=8,
key~regex, key=1,8 for any of several, key=1..8, p99<1.5ms with a unit, tag.k=v,
param.k=v, session=last, key=null. "or", "not" and parentheses work too. A key
that is no column is a parameter of the sweep. peak_memory<1GiB and
metric.accuracy>0.9 refer to other metrics. Quote words with < or > for the
shell (docs/filters.md).

--by prints one line per group of runs with equal values of the keys. --best
shows the point with the best median, of each group or of all runs. Only ok runs
count for numbers: the median of each run, then the median over the runs of a
point. LOWEST and HIGHEST are the lowest and the highest of these medians. A
point of a session that compares two commits has a median for base and one for
head. --best leaves base and the runs of bisect out. Failed runs are counted.

The metric is the primary one of each run. --metric names others; --by and
--best take one. With one --metric, median and p99 in filters and in --sort
refer to it, and metric.NAME to any metric. The metric is named above the table
or in it. Several metrics are columns, or rows if the terminal is too narrow.
Formats for programs have metric.NAME (the median, or the mean if a file has no
median) and metric.NAME.unit.

--pivot AXIS prints a grid: a row for each combination of the other axes, a
column for each value of AXIS. A cell has the median and, as ×0.67, its factor
relative to the baseline of the sweep, or else to the first value. Factors are
no verdicts: the last line has the command that judges them.

--like RUN lists the 20 profiled runs that spend their time in the most similar
operators and sizes, with what differs (docs/likeness.md).`,
		Example: `  neurolens ls 'batch_size>=2' precision=fp32 --since 7d --sort -p99
  neurolens ls 'p99<1.5ms' dim=64,128
  neurolens ls session=last --metric latency,peak_memory
  neurolens ls --by backend,machine
  neurolens ls --by precision --best
  neurolens ls --pivot precision session=last
  neurolens ls --like last model!=bert`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := f.options(a, cmd, args)
			if err != nil {
				return err
			}
			switch {
			case o.like != "":
				return runLike(a, cmd, o)
			case cmd.Flags().Changed("pivot"):
				return runPivot(a, cmd, o)
			}
			if len(o.by) > 0 || o.best {
				return runGroups(a, cmd, o)
			}
			return runLs(a, cmd, o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.backend, "backend", "", "same as the filter backend=`NAME`")
	flags.StringVar(&f.model, "model", "", "same as the filter model=`NAME`")
	flags.StringVar(&f.gpu, "gpu", "", "same as the filter gpu_name=`NAME`")
	flags.StringVar(&f.precision, "precision", "", "same as the filter precision=`NAME`")
	flags.Int64Var(&f.batch, "batch", 0, "same as the filter batch_size=`N`")
	flags.Int64Var(&f.seq, "seq", 0, "same as the filter seq_len=`N`")
	flags.StringArrayVar(&f.tags, "tag", nil, "same as the filter tag.`KEY=VALUE`; repeatable")
	flags.StringVar(&f.from, "since", "", "only runs since `WHEN`: 30m, 12h, 7d, 2w ago, or a local time")
	flags.StringVar(&f.day, "day", "", "only runs of one `DAY`, YYYY-MM-DD in UTC")
	flags.StringSliceVar(&f.names, "columns", nil, "show columns `NAMES`, by column name or table heading; all for every column")
	flags.StringSliceVar(&f.sort, "sort", nil, "sort by columns `NAMES`; -p99 for largest first")
	flags.IntVar(&f.limit, "limit", 0, "at most `N` rows; 0 for all (default for a table: 20)")
	metricFlag(cmd, &f.metrics, "show metrics `NAMES` (default: the primary metric of each run)")
	flags.StringSliceVar(&f.by, "by", nil, "print one line per group of runs with equal `KEYS`")
	flags.BoolVar(&f.best, "best", false, "show the best point of each group (--by), or of all runs")
	flags.StringVar(&f.pivot, "pivot", "", "print a grid: the values of `AXIS` are columns, all other axes are rows")
	flags.StringVar(&f.like, "like", "", "list the profiled runs whose operators are most similar to those of `RUN`")
	return cmd
}

func runLs(a *app, cmd *cobra.Command, o lsOptions) error {
	return a.queryStores(cmd, func(db *query.DB, format string) error {
		if format == term.FormatTable && !cmd.Flags().Changed("limit") {
			o.limit = lsTableLimit
		}
		req := query.ListRequest{
			Filter: o.filter, Since: o.since, Until: o.until, Sort: o.sort, Limit: o.limit, Metrics: o.metrics,
		}
		if !term.ForPeople(format) {
			return a.printPages(cmd.Context(), db, req, o.columns, format)
		}
		if len(o.names) > 0 {
			return a.printChosen(cmd.Context(), db, req, o, format)
		}
		if format != term.FormatTable {
			list, err := db.List(cmd.Context(), req)
			if err != nil {
				return err
			}
			a.reportFound(list.Found)
			return a.printer().View(format, a.listing(o).Runs(list))
		}
		return a.printRuns(cmd.Context(), db, req, o)
	})
}

// printRuns writes a table of runs, the first of them before the last are read. The points that failed come first where sessions, a time or
// a status are selected. Other selections have failures of all times, which are nobody's question, and are listed without a second search.
func (a *app) printRuns(ctx context.Context, db *query.DB, req query.ListRequest, o lsOptions) error {
	if len(o.metrics) == 0 && (!o.since.IsZero() || filter.Mentions(o.filter, "session_id", "started_at", "status")) {
		failed, more, err := db.WithoutWarnings().Failed(ctx, req)
		if err != nil {
			return err
		}
		if len(failed) > 0 {
			above := views.Failed(failed, more, a.stores)
			above.Next = append(above.Next, "")
			if err := a.printer().View(term.FormatTable, above); err != nil {
				return err
			}
		}
	}
	w, listing := a.printer().Tables(), views.RunPages{Listing: a.listing(o)}
	var found absentMetrics
	err := db.ListPages(ctx, req, func(page query.Listing) error {
		if found.add(page.Found) {
			a.reportNotNumbers(page.NotNumbers)
		}
		return w.Page(listing.Page(page))
	})
	if err != nil {
		return err
	}
	a.reportAbsent("ls", found.absent)
	return w.End()
}

// absentMetrics are the metrics that no page of a listing has.
type absentMetrics struct {
	absent query.Absent
	began  bool
}

// add adds a page, and reports whether it is the first one.
func (m *absentMetrics) add(page query.Found) (first bool) {
	if m.began {
		m.absent = m.absent.And(page.Absent)
		return false
	}
	m.began, m.absent = true, page.Absent
	return true
}

// printPages writes columns of a listing page after page.
func (a *app) printPages(ctx context.Context, db *query.DB, req query.ListRequest, columns views.Columns, format string) error {
	w, stored := a.printer().Pages(format), columns.Stored(false)
	var found absentMetrics
	var unknown map[string]error // of parameters that no page has
	var held []answer.Table      // the first page, until another one has them
	err := db.Pages(ctx, req, stored, func(page query.Page) error {
		first, lacking := found.add(page.Found), columns.Unknown(page.Table)
		if first {
			a.reportNotNumbers(page.NotNumbers)
			unknown = lacking
		}
		maps.DeleteFunc(unknown, func(name string, _ error) bool { return lacking[name] == nil })
		held = append(held, columns.Of(page.Table, len(stored)))
		if first && len(unknown) > 0 {
			return nil
		}
		for _, t := range held {
			if err := w.Page(t); err != nil {
				return err
			}
		}
		held = nil
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(unknown)) {
		return usageError{unknown[name]}
	}
	a.reportAbsent("ls", found.absent)
	return w.End()
}

// printChosen prints the columns that were asked for as a table.
func (a *app) printChosen(ctx context.Context, db *query.DB, req query.ListRequest, o lsOptions, format string) error {
	var all answer.Table
	var found query.Found
	stored := o.columns.Stored(true)
	req.Count = true
	err := db.Pages(ctx, req, stored, func(page query.Page) error {
		found, all.Columns, all.Rows = page.Found, page.Columns, append(all.Rows, page.Rows...)
		return nil
	})
	if err != nil {
		return err
	}
	a.reportFound(found)
	v, err := a.listing(o).Chosen(o.columns, all, len(stored), found.Total)
	if err != nil {
		return usageError{err}
	}
	return a.printer().View(format, v)
}

// reportFound says what could not be listed as it was asked for.
func (a *app) reportFound(found query.Found) {
	a.reportNotNumbers(found.NotNumbers)
	a.reportAbsent("ls", found.Absent)
}

// reportNotNumbers says how many values an ordering had to pass over.
func (a *app) reportNotNumbers(keys map[string]int) {
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		fmt.Fprintf(a.stderr, "neurolens: filter: %s: %s not numbers and did not match\n", key, term.Count(keys[key], "value")+" "+term.IsAre(keys[key]))
	}
}

// listing returns what shows runs that were asked for.
func (a *app) listing(o lsOptions) views.Listing {
	return views.Listing{Reader: a.display(), By: o.by, Sort: o.sort, Metrics: o.metrics, Whole: o.filter == "" && o.since.IsZero()}
}

// lsFlags are the flags of ls.
type lsFlags struct {
	backend, model, gpu, precision string
	batch, seq                     int64
	tags                           []string
	from, day                      string
	lsOptions
}

// lsOptions is what is listed, and how.
type lsOptions struct {
	filter       string
	since, until time.Time
	columns      views.Columns
	names        []string // of columns, as they were asked for
	sort         []string
	limit        int
	by           []string // groups, in place of runs
	best         bool
	metrics      []string // in place of the primary one of each run
	pivot        string   // axis whose values are columns
	like         string   // the run that runs are to be like; empty: none
}

// options turns flags and words into one request.
func (f *lsFlags) options(a *app, cmd *cobra.Command, args []string) (lsOptions, error) {
	o := f.lsOptions
	o.filter = filter.JoinArguments(append([]string{filter.JoinArguments(args...)}, f.words(cmd)...)...)
	if cmd.Flags().Changed("by") && len(f.by) == 0 {
		return o, usageErrorf("--by: want keys, got an empty list")
	}
	var err error
	if o.metrics, err = metricNames(f.metrics); err != nil {
		return o, err
	}
	if len(o.metrics) > 1 && (len(f.by) > 0 || f.best) {
		return o, usageErrorf("--metric %s: groups are of one metric, and the best point is by one: name one", strings.Join(o.metrics, ","))
	}
	if len(o.metrics) > 1 && f.pivot != "" {
		return o, usageErrorf("--metric %s: --pivot shows one metric: name one", strings.Join(o.metrics, ","))
	}
	if f.limit < 0 {
		return o, usageErrorf("--limit %d: want 0 or more", f.limit)
	}
	if len(f.by) == 0 && !f.best {
		if o.columns, err = views.ColumnsOf(o.names, o.metrics); err != nil {
			return o, usageError{err}
		}
	}
	for _, tag := range f.tags {
		if key, _, found := strings.Cut(tag, "="); !found || filter.QuoteWord(key) != key {
			return o, usageErrorf("--tag %q: want KEY=VALUE", tag)
		}
	}
	if f.from != "" {
		if o.since, err = filter.Time("--since", f.from, a.now()); err != nil {
			return o, err
		}
	}
	if f.day != "" {
		day, err := time.Parse(time.DateOnly, f.day)
		if err != nil {
			return o, usageErrorf("--day %q: want YYYY-MM-DD", f.day)
		}
		if day.After(o.since) {
			o.since = day
		}
		o.until = day.AddDate(0, 0, 1)
	}
	return o, nil
}

// words returns the filter words that the flags stand for.
func (f *lsFlags) words(cmd *cobra.Command) []string {
	var words []string
	for _, w := range []struct{ flag, key, value string }{
		{"backend", "backend", f.backend},
		{"model", "model", f.model},
		{"gpu", "gpu_name", f.gpu},
		{"precision", "precision", f.precision},
		{"batch", "batch_size", strconv.FormatInt(f.batch, 10)},
		{"seq", "seq_len", strconv.FormatInt(f.seq, 10)},
	} {
		if cmd.Flags().Changed(w.flag) {
			words = append(words, w.key+"="+filter.QuoteWord(w.value))
		}
	}
	for _, tag := range f.tags {
		key, value, _ := strings.Cut(tag, "=")
		words = append(words, "tag."+key+"="+filter.QuoteWord(value))
	}
	return words
}

// runGroups lists groups of runs.
func runGroups(a *app, cmd *cobra.Command, o lsOptions) error {
	return a.queryStores(cmd, func(db *query.DB, format string) error {
		if format == term.FormatTable && !cmd.Flags().Changed("limit") {
			o.limit = lsTableLimit
		}
		g, err := db.Groups(cmd.Context(), query.GroupRequest{
			Filter: o.filter, Since: o.since, Until: o.until, By: o.by, Best: o.best, Metric: strings.Join(o.metrics, ""), // one or none
			Sort: o.sort, Limit: o.limit,
		})
		if err != nil {
			return err
		}
		a.reportNotNumbers(g.NotNumbers)
		t, v, err := a.listing(o).ChosenGroups(g, o.names)
		if err != nil {
			return usageError{err}
		}
		return a.print(format, t, v)
	})
}

// runPivot prints the points that match as a grid.
func runPivot(a *app, cmd *cobra.Command, o lsOptions) error {
	for _, flag := range []string{"by", "best", "sort", "columns", "like"} {
		if cmd.Flags().Changed(flag) {
			return usageErrorf("--pivot: the rows are all axes but one, in their order; leave out --%s", flag)
		}
	}
	return a.queryStores(cmd, func(db *query.DB, format string) error {
		p, err := summary.ReadPivot(cmd.Context(), db.Snapshot(), summary.PivotRequest{
			Filter: o.filter, Since: o.since, Until: o.until, Axis: o.pivot, Metric: strings.Join(o.metrics, ""), // one or none
		})
		if err != nil {
			return err
		}
		a.reportNotNumbers(p.NotNumbers)
		if format == term.FormatTable && !cmd.Flags().Changed("limit") {
			o.limit = lsTableLimit
		}
		p.Limit(o.limit)
		selection := o.filter
		if !o.since.IsZero() { // no filter has the bound
			selection = ""
		}
		return a.print(format, p.Table(), func() term.View { return a.listing(o).Pivot(&p, selection) })
	})
}

// runLike lists the runs whose operators are most like those of one.
func runLike(a *app, cmd *cobra.Command, o lsOptions) error {
	for _, flag := range []string{"by", "best", "sort", "metric", "columns"} {
		if cmd.Flags().Changed(flag) {
			return usageErrorf("--like: lists runs by their distance, in columns of its own; leave out --%s", flag)
		}
	}
	if !cmd.Flags().Changed("limit") {
		o.limit = lsTableLimit
	}
	return a.queryStores(cmd, func(db *query.DB, format string) error {
		db = db.Snapshot()
		id, err := runNamed(cmd.Context(), db, o.like)
		if err != nil {
			return err
		}
		detail, err := db.WithoutWarnings().Show(cmd.Context(), id)
		if err != nil {
			return err
		}
		found, err := summary.FindSimilar(cmd.Context(), db, summary.SimilarRequest{Run: &detail.Run, Filter: o.filter, Since: o.since, Until: o.until, Limit: o.limit})
		if err != nil {
			return err
		}
		a.reportNotNumbers(found.NotNumbers)
		for _, line := range views.NotCompared(&detail.Run, found) {
			fmt.Fprintln(a.stderr, "neurolens: ls --like: "+line)
		}
		return a.print(format, answer.TableOf(summary.SimilarFields(), found.Rows), func() term.View { return a.listing(o).Like(found) })
	})
}
