package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/screens/measuring"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/screens/verdicts"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// summaryPatience is how long the summary may take after an interrupt.
const summaryPatience = 5 * time.Second

// printSummary prints one row a point of the session, in the order of the sweep file, or its runs as an Arrow stream, also
// after an interrupt or an error: it answers from the store, so that what it shows is what was kept.
func printSummary(a *app, cmd *cobra.Command, format string, s measuring.Summary) error {
	if s.Result.Runs() == 0 && format != measuring.FormatArrow { // a stream without rows has columns
		return nil
	}
	ctx := cmd.Context()
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), summaryPatience)
		defer cancel()
	}
	db, err := a.open(ctx, []string{s.Dir})
	if err != nil {
		return err
	}
	defer db.Close()
	if format == measuring.FormatArrow {
		return s.Stream(ctx, db, a.stdout)
	}
	points, absent, err := s.Read(ctx, db)
	if err != nil {
		return err
	}
	a.reportAbsent("bench", absent)
	if output.ForPeople(format) && s.Result.Measured() > 1 {
		adds := s.Sweep.Looks != nil || s.Sweep.RelError > 0 // repeats itself, and --repeats is refused or has another meaning
		elapsed, repeats := s.Elapsed, measuring.LeastRepeats(s.Sweep)
		if adds || s.Unfinished || s.Result.Plan.Done > 0 || repeats < s.Sweep.Repeats { // the time of other repeats than those of the sweep
			elapsed = 0
		}
		won, err := verdicts.Winners(ctx, db, verdicts.Session{
			Runs: s.Filter(), Against: s.Against, Baseline: s.Sweep.Baseline, Metrics: s.Metrics, Usual: a.project.Usual("compare"),
			Repeats: repeats, Elapsed: elapsed,
		})
		if err != nil {
			return err
		}
		s.Won = won.Lines
		if format == output.FormatMD { // a table in place of sentences
			s.Won, s.Beside = won.Notes, standings(won.Rows, s.Against)
		}
		if won.Repeats > repeats && !adds && !s.Unfinished {
			s.MoreRepeats = measuring.WithRepeats(a.args, won.Repeats)
		}
	}
	s.Published = format == output.FormatMD
	return a.print(format, s.Table(points), func() term.View { return s.View(points) })
}

// standings assigns the cells of a comparison to the points of a summary, and to their sides if two commits were compared.
func standings(won verdicts.Standing, against bool) measuring.Beside {
	b := measuring.Beside{Columns: won.Columns, Cells: map[measuring.Side][]term.Cell{}}
	base, head := "", ""
	if against {
		base, head = "base", "head"
	}
	for id, cells := range won.Bases {
		b.Cells[measuring.Side{PointID: id, Side: base}] = cells
	}
	for id, cells := range won.Heads {
		b.Cells[measuring.Side{PointID: id, Side: head}] = cells
	}
	return b
}
