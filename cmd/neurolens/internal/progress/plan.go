package progress

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// PlanTable has one row a launch, in the order of launching.
func PlanTable(p *runner.Plan, s *sweep.Sweep, sided bool) answer.Table {
	names := describe(s).names
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
		{Name: "params", Type: answer.TypeMap},
		{Name: "warmup", Type: answer.TypeInteger},
		{Name: "iterations", Type: answer.TypeInteger},
		{Name: "budget", Type: answer.TypeInteger, Unit: "ns"},
	}}
	for i, planned := range p.Launches {
		l := planned.Launch
		row := []any{int64(i + 1), names[l.Point.PointID], nil, int64(l.Repeat + 1), nil, "run", planned.Reason, nil, l.Point.Control}
		row = append(row, settingCells(l.Point)...)
		if sided {
			row[2] = sides[l.Side]
		}
		if l.Profile != "" {
			row[4] = l.Profile
		}
		if skip := l.Point.Skip; skip != nil {
			row[5], row[6] = "skip", skip.Reason
		}
		if planned.Skips != "" {
			row[5], row[6] = "skip", planned.Skips
		}
		if planned.Fails != "" {
			row[5], row[6] = "fail", planned.Fails
		}
		if planned.Done != nil {
			row[5], row[6], row[7] = "done", nil, planned.Done.RunID
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// settingColumns are the last columns of a plan: params, and settings.
const settingColumns = 4

// settingCells are what a point is measured with: what expressions and scale have made of it, too.
func settingCells(p *sweep.Point) []any {
	params := map[string]any{}
	for name, value := range p.Params {
		params[name] = value
	}
	for name, n := range map[string]*int64{"batch_size": p.BatchSize, "seq_len": p.SeqLen} {
		if n != nil {
			params[name] = strconv.FormatInt(*n, 10)
		}
	}
	if p.Precision != "" {
		params["precision"] = p.Precision
	}
	if p.Iterations > 0 {
		return []any{params, int64(p.Warmup), int64(p.Iterations), nil}
	}
	return []any{params, int64(p.Warmup), nil, int64(p.Budget)}
}

// withoutAlike is a plan without the columns that say nothing: those of which no launch has a value, settings and marks that are the
// same for all launches, and params, as the points are named by them.
func withoutAlike(t answer.Table) answer.Table {
	first := len(t.Columns) - settingColumns
	kept := []int{}
	for i, c := range t.Columns {
		differs := i != first && slices.ContainsFunc(t.Rows, func(row []any) bool { return row[i] != t.Rows[0][i] })
		told := i < first && c.Type != answer.TypeBoolean && len(t.Rows) > 0 && t.Rows[0][i] != nil
		if differs || told {
			kept = append(kept, i)
		}
	}
	some := answer.Table{}
	for _, i := range kept {
		some.Columns = append(some.Columns, t.Columns[i])
	}
	for _, row := range t.Rows {
		var cells []any
		for _, i := range kept {
			cells = append(cells, row[i])
		}
		some.Rows = append(some.Rows, cells)
	}
	return some
}

// inVain counts the launches known to fail and the launches known to be skipped. Launches that an earlier session has do not count.
func inVain(p *runner.Plan) (fail, skip int) {
	for _, planned := range p.Launches {
		switch {
		case planned.Done != nil:
		case planned.Fails != "":
			fail++
		case planned.Skips != "" || planned.Launch.Point.Skip != nil:
			skip++
		}
	}
	return fail, skip
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

// PlanView shows what is planned, and counts it: what looks at the data may add is not in the table.
func PlanView(t answer.Table, p *runner.Plan, s *sweep.Sweep, page term.Page) term.View {
	v := term.TableView(withoutAlike(t), page)
	v.Above = append([]string{term.OneLine(strings.Join(titleParts(s.Suite, describe(s).constants...), " · "))}, planLines(p)...)
	fails, skips := inVain(p)
	left := fmt.Sprintf("%s%s, %d to run", term.Count(len(p.Launches), "run"), repeatsText(s), len(p.Launches)-p.Done-fails-skips)
	if fails > 0 {
		left += fmt.Sprintf(", %d to fail", fails)
	}
	if skips > 0 {
		left += fmt.Sprintf(", %d to skip", skips)
	}
	if p.Expected > 0 {
		left += fmt.Sprintf(", about %s judging by earlier runs", schema.ForPeople(float64(p.Expected), "ns"))
	}
	if n := controlLaunches(p); n > 0 {
		left += "; " + term.Thousands(n) + " of control points"
	}
	if s.Looks != nil {
		left += fmt.Sprintf("; at most %s, if no point gets a verdict earlier", term.Count(len(s.Points)*len(sides)*s.MaxRepeats, "run"))
	}
	v.Below = []string{left}
	if few := describe(s).tooFew(); few != "" && len(p.Sides) == 0 {
		v.Below = append(v.Below, few)
	}
	if lost := lostText(s); lost != "" {
		v.Below = append(v.Below, lost)
	}
	return v
}

// repeatsText says how often points run: " (1 repeat each)".
func repeatsText(s *sweep.Sweep) string {
	switch each := describe(s).repeatsOfEach(); {
	case len(s.Points) == 0:
		return ""
	case each != "":
		return " " + each
	}
	return fmt.Sprintf(" (%s each)", term.Count(s.Repeats, "repeat"))
}
