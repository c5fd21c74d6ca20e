package main

import (
	"fmt"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/schema"
)

// plan says what run would launch, and launches nothing.
func (b *bench) plan() error {
	result, err := runner.Run(b.cmd.Context(), b.sweep, b.options(nil), func(schema.Run) error { return nil })
	if err != nil {
		return explained(err)
	}
	t := planTable(result.Plan, describe(b.sweep), b.flags.against != "")
	return b.print(b.format, t, func() term.View {
		v := output.TableView(t, b.width)
		v.Above = planLines(&result.Plan)
		skips := skipLaunches(&result.Plan)
		left := fmt.Sprintf("%s, %d to run", term.Count(len(result.Plan.Launches), "run"), len(result.Plan.Launches)-result.Plan.Done-skips)
		if skips > 0 {
			left += fmt.Sprintf(", %d to skip", skips)
		}
		if expected := result.Plan.Expected; expected > 0 {
			left += fmt.Sprintf(", about %s by earlier runs", schema.ForPeople(float64(expected), "ns"))
		}
		if n := controlLaunches(&result.Plan); n > 0 {
			left += "; " + term.Thousands(n) + " of controls"
		}
		if looks := b.sweep.Looks; looks != nil {
			left += fmt.Sprintf("; %s at most, where nothing is settled before", term.Count(len(b.sweep.Points)*len(sides)*b.sweep.MaxRepeats, "run"))
		}
		v.Below = []string{left}
		return v
	})
}

// planTable has one row a launch, in the order of launching.
func planTable(p runner.Plan, d description, sided bool) answer.Table {
	t := answer.Table{Columns: []answer.Column{
		{Name: "launch", Type: answer.TypeInteger},
		{Name: "point", Type: answer.TypeText},
		{Name: "side", Type: answer.TypeText},
		{Name: "repeat", Type: answer.TypeInteger},
		{Name: "profile", Type: answer.TypeText},
		{Name: "state", Type: answer.TypeText},
		{Name: "reason", Type: answer.TypeText},
		{Name: "run_id", Type: answer.TypeText},
		{Name: "control", Type: answer.TypeBoolean},
	}}
	for i, planned := range p.Launches {
		l := planned.Launch
		row := []any{int64(i + 1), d.names[l.Point.PointID], nil, int64(l.Repeat + 1), nil, "run", planned.Reason, nil, l.Point.Control}
		if sided {
			row[2] = sides[l.Side]
		}
		if l.Profile != "" {
			row[4] = l.Profile
		}
		if skip := l.Point.Skip; skip != nil {
			row[5], row[6] = "skip", skip.Reason
		}
		if planned.Done != nil {
			row[5], row[6], row[7] = "done", nil, planned.Done.RunID
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// skipLaunches counts the launches of points that skip_if leaves out, and that no earlier session has.
func skipLaunches(p *runner.Plan) int {
	n := 0
	for _, planned := range p.Launches {
		if planned.Launch.Point.Skip != nil && planned.Done == nil {
			n++
		}
	}
	return n
}

// controlLaunches counts the launches of points that the change under test cannot touch.
func controlLaunches(p *runner.Plan) int {
	n := 0
	for _, planned := range p.Launches {
		if planned.Launch.Point.Control {
			n++
		}
	}
	return n
}
