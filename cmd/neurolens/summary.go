package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/wording"
	"github.com/neurolens/neurolens/query"
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
	points, err := db.SessionPoints(ctx, s.result.Session, s.counted())
	if err != nil {
		return err
	}
	position := map[string]int{}
	for i, p := range s.sweep.Planned() {
		position[p.PointID] = i
	}
	slices.SortStableFunc(points, func(x, y query.SessionPoint) int { return position[x.PointID] - position[y.PointID] })
	return a.print(format, answer.TableOf(query.SessionPointFields(), points), func() term.View { return a.summaryView(points, s) })
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
func (a *app) summaryView(points []query.SessionPoint, s summary) term.View {
	different := map[string]bool{} // each is one side of a point
	for _, p := range points {
		different[p.PointID] = true
	}
	points, calibration := s.split(points)
	var sides []wording.Subject
	for _, p := range points {
		sides = append(sides, wording.Subject{Point: p.Point, Side: p.Side})
	}
	constants, varying := wording.Axes(sides, append(slices.Clone(wording.IdentityColumns), "side"))
	title := append([]string{s.sweep.Suite}, constants...)
	v := term.View{
		Above: []string{
			strings.Join(slices.Compact(title), " · "),
			fmt.Sprintf("session %s · %s · %s", wording.ShortRun(s.result.Session), s.counts(), schema.ForPeople(float64(s.elapsed), "ns")),
		},
	}
	for _, x := range varying {
		v.Columns = append(v.Columns, wording.AxisColumn(x))
	}
	v.Columns = append(v.Columns,
		term.Column{Header: "MEDIAN", Right: true}, term.Column{Header: "P99", Right: true, Drop: 2}, term.Column{Header: "SPREAD", Right: true, Drop: 3},
		term.Column{Header: "RUNS × N", Right: true, Drop: 1}, term.Column{Header: ""})
	notes, everywhere := wording.Notes{}, common(points)
	for i := range points {
		p := &points[i]
		var cells []term.Cell
		for _, x := range varying {
			cells = append(cells, wording.AxisCell(x, i))
		}
		words, failed := pointWords(notes, p, everywhere)
		v.Rows = append(v.Rows, append(cells,
			term.Cell{Text: output.Quantity(answer.Value(p.Median), p.Unit)}, term.Cell{Text: output.Quantity(answer.Value(p.P99), p.Unit)}, term.Cell{Text: wording.Percent(answer.Value(p.Spread))},
			term.Cell{Text: wording.RunsTimesSamples(p.OKRuns, p.SamplesMin, p.SamplesMax)}, term.Cell{Text: words, Failed: failed}))
	}
	v.Below = append(v.Below, calibrationLines(calibration, notes, everywhere)...)
	v.Below = append(v.Below, notes.Lines()...)
	v.Below = append(v.Below, term.Count(len(different), "point")+", "+term.Count(s.result.Runs()+s.result.Plan.Done, "run"))
	if s.result.Look != nil {
		v.Below = append(v.Below, settledText(s.result.Look))
	}
	v.Below = append(v.Below, "")
	v.Commands = a.nextCommands(points, s)
	return v
}

// split parts the points that calibrate adds from the others, unless there are no others.
func (s summary) split(points []query.SessionPoint) (own, calibration []query.SessionPoint) {
	added := map[string]bool{}
	for i := range s.sweep.Points {
		added[s.sweep.Points[i].PointID] = s.sweep.Points[i].Calibration
	}
	for _, p := range points {
		if added[p.PointID] {
			calibration = append(calibration, p)
		} else {
			own = append(own, p)
		}
	}
	if len(own) == 0 {
		return points, nil
	}
	return own, calibration
}

// calibrationLines are a line for each kernel of calibrate and side, and an empty one. everywhere are the warnings of all
// other points.
func calibrationLines(points []query.SessionPoint, notes wording.Notes, everywhere []string) []string {
	var rows [][2]string
	for i := range points {
		p := &points[i]
		name := p.Benchmark + " " + p.Variant
		if p.Side != "" {
			name += " " + p.Side
		}
		text := output.Quantity(answer.Value(p.Median), p.Unit) + term.Gap + wording.RunsTimesSamples(p.OKRuns, p.SamplesMin, p.SamplesMax)
		if words, _ := pointWords(notes, p, everywhere); words != "" {
			text += term.Gap + words
		}
		rows = append(rows, [2]string{name, text})
	}
	if len(rows) == 0 {
		return nil
	}
	return append(term.Pairs(rows), "")
}

// settledText says how a session ended that went on until it was settled: all 12 points are settled after 9 blocks, or 3 of
// 12 points are not settled after 30 blocks: noise.
func settledText(l *runner.Look) string {
	after := " after " + term.Count(l.Blocks, "block")
	points := "all " + term.Count(l.Points, "point") + " are"
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
		points = fmt.Sprintf("%s of %s %s", term.Thousands(len(l.Open)), term.Count(l.Points, "point"), are)
	}
	reasons := map[string]int{}
	for _, reason := range l.Open {
		reasons[reason]++
	}
	var parts []string
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		if len(reasons) > 1 {
			reason += ": " + term.Thousands(reasons[reason])
		}
		parts = append(parts, reason)
	}
	return points + " not settled" + after + ": " + strings.Join(parts, ", ")
}

// nextCommands are those to type next. They name the session, for the last one need not be this: another may have begun,
// or one have been imported that says a later time.
func (a *app) nextCommands(points []query.SessionPoint, s summary) []string {
	commands := []string{"ls " + s.sessions()}
	switch {
	case s.result.Failure != "":
		commands = []string{"show " + wording.ShortRun(s.result.Failure)}
		if s.result.Failed() > 1 {
			commands = append(commands, "ls "+s.sessions()+" status!=ok")
		}
	case len(points) > 0 && points[0].Side != "":
		commands = []string{"compare " + s.sessions()}
	}
	for i, command := range commands {
		label := "next  "
		if i > 0 {
			label = "      "
		}
		commands[i] = label + "neurolens " + command
		if len(a.stores) > 0 {
			commands[i] += " --store " + term.ShellWord(s.dir)
		}
	}
	return commands
}

// sessions is the filter for what the summary shows: its session, and those whose runs it counts as its own.
func (s summary) sessions() string {
	ids := []string{wording.ShortRun(s.result.Session)}
	for _, p := range s.result.Plan.Launches {
		if p.Done == nil {
			continue
		}
		if id := wording.ShortRun(p.Done.SessionID); !slices.Contains(ids, id) {
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
		text += fmt.Sprintf(" (%s new, %s from before)", term.Thousands(s.result.Runs()), term.Thousands(before))
	}
	return text
}

// statusCounts says how the runs of a session ended: 60 runs: 54 ok, 5 unsupported, 1 timeout.
func statusCounts(r runner.Result) string {
	var parts []string
	for _, status := range schema.Statuses {
		if n := r.Statuses[status]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", term.Thousands(n), status))
		}
	}
	return term.Count(r.Runs(), "run") + ": " + strings.Join(parts, ", ")
}

// rowWords is how many warnings a row names; how many more there are it counts.
const rowWords = 2

// common are the warnings that every point has, where there are several: they say nothing about a point.
func common(points []query.SessionPoint) []string {
	if len(points) < 2 {
		return nil
	}
	words := slices.Clone(points[0].Warnings)
	for _, p := range points[1:] {
		words = slices.DeleteFunc(words, func(w string) bool { return !slices.Contains(p.Warnings, w) })
	}
	return words
}

// pointWords are the words of a point's row: how runs that are not ok ended, and the warnings, less those of every point.
// Each word is explained once below the table.
func pointWords(n wording.Notes, p *query.SessionPoint, everywhere []string) (words string, failed bool) {
	var all []string
	for _, status := range schema.Statuses {
		count := p.Statuses[string(status)]
		if count == 0 || status == schema.StatusOK {
			continue
		}
		failed = failed || status.Failed()
		word := string(status)
		if count < p.Runs {
			word = fmt.Sprintf("%d %s", count, status)
		}
		all = append(all, word)
	}
	for _, f := range p.Failures {
		if reason := term.FirstLine(f.Error); f.Status != reason {
			n.Add(f.Status, reason)
		}
	}
	var own []string
	for _, word := range p.Warnings {
		meaning := wording.WarningMeaning(word)
		if meaning != "" && slices.Contains(everywhere, word) { // an unknown one would be nowhere
			n.Add(word, "(all points) "+meaning)
			continue
		}
		n.Add(word, meaning)
		own = append(own, word)
	}
	if more := len(own) - rowWords; more > 0 {
		own = append(own[:rowWords], fmt.Sprintf("+%d", more))
	}
	return strings.Join(append(all, own...), ", "), failed
}
