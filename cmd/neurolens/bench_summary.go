package main

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/screens/measuring"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
)

// summaryPatience is how long the summary may take after an interrupt.
const summaryPatience = 5 * time.Second

// printSummary prints one row a point of the session, in the order of the sweep file, also after an interrupt or an
// error: it answers from the store, so that what it shows is what was kept.
func printSummary(a *app, cmd *cobra.Command, format string, s measuring.Summary) error {
	if s.Result.Runs() == 0 {
		return nil
	}
	ctx := cmd.Context()
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), summaryPatience)
		defer cancel()
	}
	db, err := openForReading(ctx, []string{s.Dir})
	if err != nil {
		return err
	}
	defer db.Close()
	points, err := db.SessionPoints(ctx, s.Result.Session, s.Counted())
	if err != nil {
		return err
	}
	position := map[string]int{}
	for i, p := range s.Sweep.Planned() {
		position[p.PointID] = i
	}
	slices.SortStableFunc(points, func(x, y query.SessionPoint) int { return position[x.PointID] - position[y.PointID] })
	return a.print(format, answer.TableOf(query.SessionPointFields(), points), func() term.View { return s.View(points) })
}
