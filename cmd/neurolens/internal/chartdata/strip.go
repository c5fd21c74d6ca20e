package chartdata

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
)

// Strip draws the median of each run, in a row for each point, so that runs of one point that differ are seen. It is of one
// selection: req.Base is empty.
func (m Maker) Strip(ctx context.Context, db *query.DB, req Sampled) (*chart.Figure, *query.SampledRuns, error) {
	s, err := m.sampled(ctx, db, req, false)
	if err != nil {
		return nil, nil, err
	}
	f := &chart.Figure{Kind: chart.Scatter, Title: titled(s.found.Metric+" of each run", s.title), Notes: s.notes}
	f.X = chart.Axis{Label: s.found.Metric, Unit: s.found.Unit}
	f.Y = chart.Axis{Scale: chart.Categories}
	quiet, warned := chart.Series{Name: "runs", Style: chart.Points}, chart.Series{Name: "runs with a warning", Style: chart.Points, Tone: chart.Warned}
	var values []float64
	without, most := 0, max(cmp.Or(req.Marks, chart.MaxMarks)/len(s.groups), 1)
	if slices.ContainsFunc(s.groups, func(g group) bool { return len(g.places) > most }) {
		f.Notes = append(f.Notes, fmt.Sprintf("only the newest %s of each point", term.Count(most, "run")))
	}
	for row := range s.groups {
		g := &s.groups[row]
		f.Y.Categories = append(f.Y.Categories, g.name)
		for _, place := range g.places[max(len(g.places)-most, 0):] {
			r := &s.found.Runs[place]
			if r.Median == nil {
				without++
				continue
			}
			values = append(values, *r.Median)
			k := chart.Mark{
				X: *r.Median, Y: float64(row), Low: chart.Unknown(), High: chart.Unknown(), Run: r.RunID, Command: s.ofRun(r.RunID),
				Text: sentence(fmt.Sprintf("run %s: %s", s.runName(r), s.quantity(*r.Median)), g.name, strings.Join(r.Warnings, " ")),
			}
			if len(r.Warnings) > 0 {
				warned.Marks = append(warned.Marks, k)
			} else {
				quiet.Marks = append(quiet.Marks, k)
			}
		}
	}
	for _, one := range []chart.Series{quiet, warned} {
		if len(one.Marks) > 0 {
			f.Series = append(f.Series, one)
		}
	}
	if without > 0 {
		f.Notes = append(f.Notes, term.Count(without, "run")+" left out: no median")
	}
	f.X.Scale = scaleOf(values)
	return f, &s.found, nil
}
