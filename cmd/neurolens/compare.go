package main

import (
	"context"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/comparing"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/gate"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/screens/verdicts"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/compare"
)

type compareFlags struct {
	comparing.Flags
	by   []string
	gate gate.Mode
	all  bool
}

func newCompareCommand(a *app) *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{
		Use:   "compare BASE [HEAD]",
		Short: "Compare two selections of runs, point by point",
		Long: `Compare two selections of runs, point by point. BASE and HEAD are filters, each
one argument: session=last~1, commit=9f3c1d2, baseline=NAME, 'variant=a dim=64'.
Without HEAD the two sides of sessions of bench --against are compared; in a
filter that names no side, such a session stands for its newer side.

A side may also be a file that ingest reads, which is not stored: a path, or
file:PATH; git:REF:PATH is the file of a commit. A filter may follow. Earlier
sessions are those of the store. Where a file does not say the machine, there is
no verdict (docs/baselines.md).

The run is what is repeated: a difference is called one where it is larger than
what runs differ by, beyond chance among all points, and at least --threshold.
Different sessions, or sides far apart in one, need 7 earlier ones of the same
point on the same machine, about as far apart, to know what sessions differ by.
There is no verdict where one side ran before the other in a session, as a
machine that drifts would look the same, nor between different machines.

Of different sessions points are also judged relative to what all of them share
(RELATIVE), as a machine that was slower moves all points and code few: to the
points that the sweep names as controls, else to the middle of 8 or more.

Of several metrics (--metric) each is judged in its own direction, and corrected
over its points by itself, with --gate over those of all. A table has a row for
a point, in a terminal that is too narrow for that one for each metric of it.

CHANGE is the middle of the differences between runs of both sides (Hodges and
Lehmann), which need not be that of the middles.

With --gate the exit status is 1 for a regression, also of a point that is gone
or fails more often beyond chance; 3 where a point is not settled (fewer than 5
runs a side, too much noise, a failure that may be chance); else 0. With
--gate=regression points that are not settled are only counted in the last line:
the exit status is 1 for a regression, else 0.`,
		Example: `  neurolens compare session=last~1 session=last
  neurolens compare backend=torch backend=onnxrt --by batch_size
  neurolens compare --gate session=last
  neurolens compare --gate=regression --threshold 5% session=last
  neurolens compare session=last --metric latency,accuracy
  neurolens compare git:main:reports/summary.json session=last
  neurolens compare --matrix variant=a session=last --metric latency,energy`,
		RunE: func(cmd *cobra.Command, args []string) error { return runCompare(a, cmd, f, args) },
	}
	flags := cmd.Flags()
	f.Define(cmd)
	flags.StringSliceVar(&f.by, "by", nil, "one line for each group of points of equal `KEYS`")
	f.gate.Register(cmd)
	flags.BoolVar(&f.all, "all", false, "show every point in a table")
	return cmd
}

// request turns flags and arguments into one request.
func (f *compareFlags) request(args []string) (compare.Request, error) {
	if err := f.gate.Misplaced(args); err != nil {
		return compare.Request{}, usageError{err}
	}
	req, err := f.Request("compare", args)
	if err != nil {
		return req, usageError{err}
	}
	req.Rules.Gate = f.gate != gate.Off
	return req, nil
}

// needsAll tells whether a table takes every point.
func (f *compareFlags) needsAll() bool {
	return f.all || len(f.by) > 0 || len(f.Metrics) > 1
}

func runCompare(a *app, cmd *cobra.Command, f compareFlags, args []string) error {
	req, err := f.request(args)
	if err != nil {
		return err
	}
	return a.askSides(cmd, &req, func(db *query.DB, format string) error {
		if output.ForPeople(format) {
			req.Worst = compare.Verdicts
		}
		if format == output.FormatTable && !f.needsAll() {
			req.Limit = verdicts.CompareRows
		}
		if !output.ForPeople(format) && len(f.by) == 0 {
			debug.SetMemoryLimit(everyPointMemory)
			c, err := a.printCompared(cmd.Context(), db, req, format)
			if err != nil {
				return err
			}
			return a.endGate(f.gate, c, format)
		}
		c, err := compare.Compare(cmd.Context(), db, req)
		if err != nil {
			return err
		}
		a.reportNotNumbers(c.NotNumbers)
		if err := a.showCompared(f, args, &c, format); err != nil {
			return err
		}
		return a.endGate(f.gate, &c, format)
	})
}

// printCompared writes every point in a format for programs, page after page.
func (a *app) printCompared(ctx context.Context, db *query.DB, req compare.Request, format string) (*compare.Comparison, error) {
	w, fields := a.printer().Pages(format), compare.Fields(true)
	req.Inputs = true
	req.Pages = func(rows []compare.Row) error { return w.Page(answer.TableOf(fields, rows)) }
	c, err := compare.Compare(ctx, db, req)
	if err != nil {
		return nil, err
	}
	a.reportNotNumbers(c.NotNumbers)
	return &c, w.End()
}

// showCompared writes a comparison in a format; the points themselves to people alone.
func (a *app) showCompared(f compareFlags, args []string, c *compare.Comparison, format string) error {
	w := verdicts.Comparison{Reader: a.reader(), Facts: factWriter(), C: c, Asked: f.asked(args), Gate: f.gate.Line(c)}
	if len(f.by) > 0 {
		groups, err := c.By(f.by)
		if err != nil {
			return err
		}
		w.Groups = answer.TableOf(compare.GroupFields(f.by), groups)
	}
	if format == output.FormatMD {
		return a.printer().Write(w.Markdown())
	}
	return a.print(format, w.Groups, w.View)
}

// asked is what the screen is told of the command line.
func (f *compareFlags) asked(args []string) verdicts.Asked {
	axis, _, _ := strings.Cut(f.Matrix, "=")
	return verdicts.Asked{Selections: args, Metrics: f.Metrics, Thresholds: f.Thresholds, By: f.by, Axis: axis, Strict: f.Strict, All: f.all}
}
