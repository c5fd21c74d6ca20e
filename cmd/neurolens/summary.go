package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// summary is what bench says at its end.
type summary struct {
	dir     string
	sweep   *sweep.Sweep
	elapsed time.Duration
	result  runner.Result
}

// summaryPatience is how long the summary may take after an interrupt.
const summaryPatience = 5 * time.Second

// printSummary prints one row a point of the session, in the order of the sweep file, also after an interrupt or an
// error: it answers from the store, so that what it shows is what was kept.
func printSummary(a *app, cmd *cobra.Command, format string, s summary) error {
	if s.result.Runs() == 0 {
		return nil
	}
	ctx := cmd.Context()
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), summaryPatience)
		defer cancel()
	}
	db, err := openForReading(ctx, []string{s.dir})
	if err != nil {
		return err
	}
	defer db.Close()
	t, err := db.SessionPoints(ctx, s.result.Session, s.counted())
	if err != nil {
		return err
	}
	position := map[string]int{}
	for i := range s.sweep.Points {
		position[s.sweep.Points[i].PointID] = i
	}
	slices.SortStableFunc(t.Rows, func(x, y []any) int {
		return position[textAt(t, x, "point_id")] - position[textAt(t, y, "point_id")]
	})
	return a.print(format, t, func() view { return a.summaryView(t, s) })
}

// counted are the runs of earlier sessions that the session counts as its own. Others of these sessions, that failed or
// were of other code, are not what it shows.
func (s summary) counted() []string {
	var all []string
	for _, p := range s.result.Plan.Launches {
		if p.Done != nil {
			all = append(all, p.Done.RunID)
		}
	}
	return all
}

// summaryView is the table at the end of bench.
func (a *app) summaryView(t answer.Table, s summary) view {
	points := map[string]bool{} // a row is one side of a point
	for _, row := range t.Rows {
		points[textAt(t, row, "point_id")] = true
	}
	t, calibration := s.split(t)
	constants, varying := axes(t, append(slices.Clone(identityColumns), "side"))
	title := append([]string{s.sweep.Suite}, constants...)
	v := view{
		above: []string{
			strings.Join(slices.Compact(title), " · "),
			fmt.Sprintf("session %s · %s · %s", shortRun(s.result.Session), s.counts(), schema.ForPeople(float64(s.elapsed), "ns")),
		},
	}
	for _, x := range varying {
		v.columns = append(v.columns, axisColumn(x))
	}
	v.columns = append(v.columns,
		viewColumn{header: "MEDIAN", right: true}, viewColumn{header: "P99", right: true, drop: 2}, viewColumn{header: "SPREAD", right: true, drop: 3},
		viewColumn{header: "RUNS × N", right: true, drop: 1}, viewColumn{header: ""})
	notes, everywhere := notes{}, common(t)
	for i, row := range t.Rows {
		var cells []cell
		for _, x := range varying {
			cells = append(cells, axisCell(x, i))
		}
		unit := textAt(t, row, "unit")
		words, failed := notes.point(t, row, everywhere)
		v.rows = append(v.rows, append(cells,
			cell{text: quantity(at(t, row, "median"), unit)}, cell{text: quantity(at(t, row, "p99"), unit)}, cell{text: percent(at(t, row, "spread"))},
			cell{text: pointRuns(t, row)}, cell{words, failed}))
	}
	v.below = append(v.below, calibrationLines(calibration, notes, everywhere)...)
	v.below = append(v.below, notes.lines()...)
	v.below = append(v.below, count(len(points), "point")+", "+count(s.result.Runs()+s.result.Plan.Done, "run"))
	if s.result.Look != nil {
		v.below = append(v.below, settledText(s.result.Look))
	}
	v.below = append(v.below, "")
	v.commands = a.nextCommands(t, s)
	return v
}

// split parts the rows of points that calibrate adds from the others, unless there are no others.
func (s summary) split(t answer.Table) (own, calibration answer.Table) {
	added := map[string]bool{}
	for i := range s.sweep.Points {
		added[s.sweep.Points[i].PointID] = s.sweep.Points[i].Calibration
	}
	own, calibration = answer.Table{Columns: t.Columns}, answer.Table{Columns: t.Columns}
	for _, row := range t.Rows {
		if added[textAt(t, row, "point_id")] {
			calibration.Rows = append(calibration.Rows, row)
		} else {
			own.Rows = append(own.Rows, row)
		}
	}
	if len(own.Rows) == 0 {
		return t, own
	}
	return own, calibration
}

// calibrationLines are a line for each kernel of calibrate and side, and an empty one. everywhere are the warnings of all
// other points.
func calibrationLines(t answer.Table, notes notes, everywhere []string) []string {
	var rows [][2]string
	for _, row := range t.Rows {
		name := textAt(t, row, "benchmark") + " " + textAt(t, row, "variant")
		if side := textAt(t, row, "side"); side != "" {
			name += " " + side
		}
		text := quantity(at(t, row, "median"), textAt(t, row, "unit")) + gap + pointRuns(t, row)
		if words, _ := notes.point(t, row, everywhere); words != "" {
			text += gap + words
		}
		rows = append(rows, [2]string{name, text})
	}
	if len(rows) == 0 {
		return nil
	}
	return append(pairs(rows), "")
}

// settledText says how a session ended that went on until it was settled: all 12 points are settled after 9 blocks, or 3 of
// 12 points are not settled after 30 blocks: noise.
func settledText(l *runner.Look) string {
	after := " after " + count(l.Blocks, "block")
	points := "all " + count(l.Points, "point") + " are"
	if l.Points == 1 {
		points = "the point is"
	}
	if len(l.Open) == 0 {
		return points + " settled" + after
	}
	if l.Points > 1 {
		are := "are"
		if len(l.Open) == 1 {
			are = "is"
		}
		points = fmt.Sprintf("%s of %s %s", thousands(len(l.Open)), count(l.Points, "point"), are)
	}
	reasons := map[string]int{}
	for _, reason := range l.Open {
		reasons[reason]++
	}
	var parts []string
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		if len(reasons) > 1 {
			reason += ": " + thousands(reasons[reason])
		}
		parts = append(parts, reason)
	}
	return points + " not settled" + after + ": " + strings.Join(parts, ", ")
}

// nextCommands are those to type next. They name the session, for the last one need not be this: another may have begun,
// or one have been imported that says a later time.
func (a *app) nextCommands(t answer.Table, s summary) []string {
	commands := []string{"ls " + s.sessions()}
	switch {
	case s.result.Failure != "":
		commands = []string{"show " + shortRun(s.result.Failure)}
		if s.result.Failed() > 1 {
			commands = append(commands, "ls "+s.sessions()+" status!=ok")
		}
	case len(t.Rows) > 0 && textAt(t, t.Rows[0], "side") != "":
		commands = []string{"compare " + s.sessions()}
	}
	for i, command := range commands {
		label := "next  "
		if i > 0 {
			label = "      "
		}
		commands[i] = label + "neurolens " + command
		if len(a.stores) > 0 {
			commands[i] += " --store " + shellQuoted(s.dir)
		}
	}
	return commands
}

// sessions is the filter for what the summary shows: its session, and those whose runs it counts as its own.
func (s summary) sessions() string {
	ids := []string{shortRun(s.result.Session)}
	for _, p := range s.result.Plan.Launches {
		if p.Done == nil {
			continue
		}
		if id := shortRun(p.Done.SessionID); !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return "session=" + strings.Join(ids, ",")
}

// counts says how the runs that the summary shows ended, and which of them are not of this session.
func (s summary) counts() string {
	all, before := runner.Result{Statuses: maps.Clone(s.result.Statuses)}, 0
	for _, p := range s.result.Plan.Launches {
		if p.Done != nil {
			all.Statuses[p.Done.Status]++
			before++
		}
	}
	text := statusCounts(all)
	if before > 0 {
		text += fmt.Sprintf(" (%s new, %s from before)", thousands(s.result.Runs()), thousands(before))
	}
	return text
}

// statusCounts says how the runs of a session ended: 60 runs: 54 ok, 5 unsupported, 1 timeout.
func statusCounts(r runner.Result) string {
	var parts []string
	for _, status := range schema.Statuses {
		if n := r.Statuses[status]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", thousands(n), status))
		}
	}
	return count(r.Runs(), "run") + ": " + strings.Join(parts, ", ")
}

// runsTimesSamples says how often a point was measured: 5 × 100, or 5 × 41…100.
func runsTimesSamples(runs int, least, most *int64) string {
	switch {
	case runs == 0 || least == nil || most == nil:
		return unknown
	case *least == *most:
		return fmt.Sprintf("%s × %s", thousands(runs), thousands(int(*least)))
	}
	return fmt.Sprintf("%s × %s…%s", thousands(runs), thousands(int(*least)), thousands(int(*most)))
}

// pointRuns is how often the point of a row was measured.
func pointRuns(t answer.Table, row []any) string {
	count := func(name string) *int64 {
		if n, ok := at(t, row, name).(int64); ok {
			return &n
		}
		return nil
	}
	return runsTimesSamples(int(*count("ok_runs")), count("samples_min"), count("samples_max"))
}
