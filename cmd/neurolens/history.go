package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/gate"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/screens/verdicts"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/history"
)

// historyMemory is how many bytes the heap takes for a history, DuckDB aside, before garbage is collected all the same: it
// keeps some numbers of each run.
const historyMemory = 168 << 20

type historyFlags struct {
	metric, since, method string
	regressions           bool
	gate                  gate.Mode
	newest                int
}

// newestSessions is how many sessions a gate is about: two weeks of nights.
const newestSessions = 14

func newHistoryCommand(a *app) *cobra.Command {
	var f historyFlags
	cmd := &cobra.Command{
		Use:   "history [FILTER...]",
		Short: "A metric over sessions, and where its level changed",
		Long: `Show a metric over sessions, point by point and machine by machine, and where
its level changed: by how much, between which commits, and what else was
different from the session before, then and still in the last session of the new
level. A session counts with the median of its runs; of the two sides of bench
--against the head counts.

A change takes at least 3 sessions on either side and 8 in all, and 2 % of a
metric that is compared by its ratio. A step that can be seen but may be chance,
as the series wanders or is short, is unsettled. One or two sessions that are
far off and then back are a spike, not a change. Where no change is found there
may be one that is too small or too new to tell. --method otava finds the
changes that Apache Otava finds.

A series whose runs all failed in the sessions after its last value says so.

--since leaves out earlier sessions; they tell the level all the same. With
--regressions only what got worse is listed.

--gate is for a nightly job: the exit status is 1 if a series got worse within
its newest sessions (--newest) and is still so, or has failed there since its
last value; 3 if one is unsettled there, or none has 8 sessions; else 0. It asks
for more than history does otherwise, so that in a year of looks, one a day, at
most 5 % of the series that did not change are called changed. A series without
a value or a failure in the newest sessions of all is not gated.`,
		Example: `  neurolens history benchmark=matmul
  neurolens history batch_size=16 --metric peak_memory
  neurolens history --regressions --since 7d
  neurolens history --gate --newest 7`,
		RunE: func(cmd *cobra.Command, args []string) error { return runHistory(a, cmd, f, args) },
	}
	flags := cmd.Flags()
	oneMetricFlag(cmd, &f.metric, "the metric `NAME` (default: the primary one)")
	flags.StringVar(&f.since, "since", "", "last 90s 30m 12h 7d 2w, or since `WHEN` in local time")
	flags.StringVar(&f.method, "method", string(history.SBS), "find changes by `METHOD`: sbs or otava")
	flags.BoolVar(&f.regressions, "regressions", false, "list only changes for the worse")
	flags.IntVar(&f.newest, "newest", newestSessions, "with --gate: the newest `K` sessions of each series, at least 3")
	f.gate.Register(cmd)
	return cmd
}

func runHistory(a *app, cmd *cobra.Command, f historyFlags, args []string) error {
	req := history.Request{
		Filter: filter.Arguments(args...), Metric: f.metric, Method: history.Method(f.method), Regressions: f.regressions,
	}
	if err := f.gate.Misplaced(args); err != nil {
		return usageError{err}
	}
	if err := f.gateRequest(&req, cmd.Flags().Changed("newest")); err != nil {
		return err
	}
	if cmd.Flags().Changed("since") {
		var err error
		if req.Since, err = filter.Time("--since", f.since, a.now()); err != nil {
			return err
		}
	}
	return a.askWithin(cmd, historyMemory, func(db *query.DB, format string) error {
		if !output.ForPeople(format) {
			return a.printHistory(cmd.Context(), db, req, f.gate, format)
		}
		req.Outline = true
		h, err := history.Read(cmd.Context(), db, req)
		if err != nil {
			return err
		}
		a.reportNotNumbers(h.NotNumbers)
		w := verdicts.History{Reader: a.reader(), Facts: factWriter(), H: &h, Req: req, Gate: f.gate.HistoryLine(h.Gate, req.Newest)}
		if err := a.printer().View(format, w.View()); err != nil || f.gate == gate.Off {
			return err
		}
		return f.gate.HistoryVerdict(h.Gate)
	})
}

// leastNewest is how many sessions a change takes.
const leastNewest = 3

// gateRequest adds to a request what a gate asks.
func (f *historyFlags) gateRequest(req *history.Request, newest bool) error {
	switch {
	case f.gate == gate.Off && newest:
		return usageErrorf("--newest: it is of --gate")
	case f.gate == gate.Off:
		return nil
	case f.newest < leastNewest:
		return usageErrorf("--newest %d: want at least %d, as a change takes so many sessions", f.newest, leastNewest)
	case req.Method == history.Otava:
		return usageErrorf("--gate: --method otava does not bound what chance finds; want %s", history.SBS)
	}
	req.Newest = f.newest
	return nil
}

// printHistory writes every row in a format for programs, page after page.
func (a *app) printHistory(ctx context.Context, db *query.DB, req history.Request, m gate.Mode, format string) error {
	w := a.printer().Pages(format)
	fields := history.Fields()
	req.Pages = func(rows []history.Row) error { return w.Page(answer.TableOf(fields, rows)) }
	h, err := history.Read(ctx, db, req)
	if err != nil {
		return err
	}
	a.reportNotNumbers(h.NotNumbers)
	if err := w.End(); err != nil || m == gate.Off {
		return err
	}
	fmt.Fprintln(a.stderr, m.HistoryLine(h.Gate, req.Newest)) // standard output is for the program
	return m.HistoryVerdict(h.Gate)
}
