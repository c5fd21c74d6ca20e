package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/history"
)

type historyFlags struct {
	metric, since, method string
	regressions           bool
	gate                  gateMode
	newest                int
}

// newestSessions is how many sessions a gate is about: two weeks of nights.
const newestSessions = 14

func newHistoryCommand(a *app) *cobra.Command {
	var f historyFlags
	cmd := &cobra.Command{
		Use:   "history [FILTER...]",
		Short: "Show a metric over sessions, and where its level changed",
		Long: `Show a metric over sessions, for each point and machine, and where its level
changed: by how much, between which commits, and what else changed with it and
is still different in the last session. The value of a session is the median of
its runs. For bench --against, the head counts.

History needs at least 8 sessions of a point, with 3 or more on either side of a
change, and the 95 % interval of a change must lie beyond 2 %. Small or very
recent changes may not be found. A level that rises or falls slowly, over 15
sessions or more, is a change as well. Two dates A..B enclose a change whose
session is uncertain. Inconclusive means that a step or a slow change is visible
but may be chance; the first line says about how many more sessions decide it.
With many series, a change needs more than 8 sessions. One or two sessions that
are far off are a spike, not a change. If they are the newest, the first line
names them and the last one the comparison that judges the newest now. If a
point has only failed lately, its row says for how many sessions. A series with
a value of zero or below is compared by difference.

Sessions of a point that began at the same time have no order and count as one.
Runs without a start time are left out (ingest --at gives it); if there are no
others, the exit status is 2.

--method otava finds the changes that Apache Otava finds. --since hides earlier
sessions, but they still count for the level. --regressions lists only what got
worse.

--gate is for a nightly job. Exit status 1: a point got worse within its newest
sessions (--newest), or slowly until then, and still is, or only fails since.
3: a point is inconclusive there, or no point has 8 sessions. Else 0. The table
is that of history. The gate is stricter, because it looks every day: in a year
of daily looks, at most 5 % of points without a change fail it. The last line
says where it differs from the table, and why. A point that has neither values
nor failures in the newest sessions is ignored. One newest session that is far
off for the worse is inconclusive, unless more than 5 % of the earlier sessions
were so far off, in any point. The last line has the command that may decide.`,
		Example: `  neurolens history benchmark=matmul
  neurolens history batch_size=16 --metric peak_memory
  neurolens history --regressions --since 7d
  neurolens history --gate --newest 7`,
		RunE: func(cmd *cobra.Command, args []string) error {
			req := history.Request{
				Filter: filter.JoinArguments(args...), Metric: f.metric, Method: history.Method(f.method), Regressions: f.regressions,
			}
			if err := f.gate.misplaced(args); err != nil {
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
			return a.queryStores(cmd, func(db *query.DB, format string) error {
				if !term.ForPeople(format) {
					return a.printHistory(cmd.Context(), db, req, f.gate, format)
				}
				req.Outline = true
				h, err := history.Read(cmd.Context(), db, req)
				if err != nil {
					return err
				}
				a.reportNotNumbers(h.NotNumbers)
				w := views.History{Reader: a.display(), Facts: factWriter(), H: &h, Req: req}
				w.Gate = f.gate.historyLine(w)
				if err := a.printer().View(format, w.View()); err != nil || f.gate == gateOff {
					return err
				}
				return f.gate.historyVerdict(h.Gate)
			})
		},
	}
	flags := cmd.Flags()
	oneMetricFlag(cmd, &f.metric, "show the metric `NAME` (default: the primary metric)")
	flags.StringVar(&f.since, "since", "", "only sessions since `WHEN`: 12h, 7d, 2w ago, or a local time")
	flags.StringVar(&f.method, "method", string(history.SBS), "find changes with `METHOD`: sbs or otava")
	flags.BoolVar(&f.regressions, "regressions", false, "list only what got worse")
	flags.IntVar(&f.newest, "newest", newestSessions, "with --gate: judge the newest `K` sessions of each point, at least 3")
	f.gate.register(cmd)
	return cmd
}

// minNewest is how many sessions a change takes.
const minNewest = 3

// gateRequest adds to a request what a gate asks.
func (f *historyFlags) gateRequest(req *history.Request, newest bool) error {
	switch {
	case f.gate == gateOff && newest:
		return usageErrorf("--newest: needs --gate")
	case f.gate == gateOff:
		return nil
	case f.newest < minNewest:
		return usageErrorf("--newest %d: want at least %d, as a change needs that many sessions", f.newest, minNewest)
	case req.Method == history.Otava:
		return usageErrorf("--gate: --method otava does not limit false alarms: want %s", history.SBS)
	}
	req.Newest = f.newest
	return nil
}

// printHistory writes every row in a format for programs, page after page.
func (a *app) printHistory(ctx context.Context, db *query.DB, req history.Request, m gateMode, format string) error {
	w := a.printer().Pages(format)
	fields := history.Fields()
	req.Pages = func(rows []history.Row) error { return w.Page(answer.TableOf(fields, rows)) }
	h, err := history.Read(ctx, db, req)
	if err != nil {
		return err
	}
	a.reportNotNumbers(h.NotNumbers)
	if h.Tied > 0 {
		fmt.Fprintln(a.stderr, "neurolens: history: "+history.CountAsOne(h.Tied, h.TiedStarts))
	}
	if h.Bisected > 0 {
		fmt.Fprintln(a.stderr, "neurolens: history: "+history.LeftOut(h.Bisected))
	}
	if h.Undated > 0 {
		fmt.Fprintln(a.stderr, "neurolens: history: left out, in no order: "+history.NoStart(h.Undated))
	}
	if err := w.End(); err != nil || m == gateOff {
		return err
	}
	shown := views.History{Reader: a.display(), H: &h, Req: req}
	for _, line := range append(shown.Departures(), m.historyLine(shown)) {
		fmt.Fprintln(a.stderr, line) // standard output is for the program
	}
	return m.historyVerdict(h.Gate)
}
