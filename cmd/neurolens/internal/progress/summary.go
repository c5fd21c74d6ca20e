package progress

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// Summary is what bench says at its end.
type Summary struct {
	Reader      views.Reader
	Dir         string // of the store
	Sweep       *sweep.Sweep
	Elapsed     time.Duration
	Result      runner.Result
	Metrics     []string // that were asked for, each a column; none: the primary one of each point
	Against     bool     // two commits were compared
	Won         []string // how points stand to those that the sweep compares with
	Unfinished  bool     // it was interrupted, or stopped by --max-time
	Again       string   // the command line that measures the rest of an unfinished session, or starts it over; empty: none
	MoreRepeats string   // the command line with the repeats that would probably decide inconclusive points; empty: none
	Published   bool     // the readers do not know the sweep, so names of commands have the values of parameters in place of {parameter}
	Beside      Beside
}

// Beside are columns to the right of the measurements of each point.
type Beside struct {
	Columns []term.Column
	Cells   map[Side][]term.Cell // without an entry each cell is –
}

// Side is a point of a session and, if the session compares two commits, one of its sides.
type Side struct{ PointID, Side string }

// filledName replaces each {parameter} in the name of a command by its value. Values are not searched for further parameters.
func filledName(name string, parameters map[string]string) string {
	var pairs []string
	for parameter, value := range parameters {
		pairs = append(pairs, "{"+parameter+"}", value)
	}
	return strings.NewReplacer(pairs...).Replace(name)
}

// View is the table at the end of bench.
func (s Summary) View(points []query.SessionPoint) term.View {
	different := map[string]bool{} // each is one side of a point
	for _, p := range points {
		different[p.PointID] = true
	}
	points, calibration := s.split(points)
	if s.Published {
		points = slices.Clone(points)
		for i := range points {
			points[i].Variant = filledName(points[i].Variant, points[i].Params)
		}
	}
	var sides []views.Subject
	for _, p := range points {
		sides = append(sides, views.Subject{Point: p.Point, Side: p.Side})
	}
	constants, varying := views.Axes(sides, append(slices.Clone(views.IdentityColumns), "side"))
	primary := primaryAxis(points)
	title := titleParts(s.Sweep.Suite, constants...)
	if len(s.Metrics) == 0 && primary.all != "" {
		title = append(title, primary.all)
	}
	v := term.View{
		Above: []string{
			strings.Join(slices.Compact(title), " · "),
			fmt.Sprintf("session %s · %s · %s", views.ShortRun(s.Result.Session), s.counts(), schema.ForPeople(float64(s.Elapsed), "ns")),
		},
	}
	notes, everywhere := views.Notes{}, common(points)
	rows := pointRows{points, make([]term.Cell, len(points)), s.Beside}
	for i := range points {
		words, failed := pointWords(notes, &points[i], everywhere)
		v.Points = append(v.Points, points[i].PointID)
		rows.words[i] = term.Cell{Text: words, Failed: failed}
	}
	v = rows.table(v, s.Metrics, varying, primary)
	v.Below = append(v.Below, calibrationLines(calibration, notes, everywhere)...)
	v.Below = append(v.Below, notes.Lines()...)
	if line := exitLine(points); line != "" {
		v.Below = append(v.Below, line, "")
	}
	if line := startLine(s.Result.ProcessStart, s.Sweep, points); line != "" {
		v.Below = append(v.Below, line, "")
	}
	if len(s.Won) > 0 {
		v.Below = append(append(v.Below, s.Won...), "")
	}
	v.Below = append(v.Below, term.Count(len(different), "point")+", "+term.Count(s.Result.Runs()+s.Result.Plan.Done, "run"))
	if s.Result.Look != nil {
		v.Below = append(v.Below, verdictsText(s.Result.Look)+s.decidedBy(primary)+s.cut())
	}
	if line := precisionText(s.Result.Precision); line != "" {
		v.Below = append(v.Below, line)
	}
	v.Below = append(v.Below, "")
	v.Next = s.nextCommands(points)
	v.Compact = rows.compact(v, s.Metrics, varying, s.Reader)
	return v
}

// cut says why a session ended although points are inconclusive; empty: after its last look, or all are decided.
func (s Summary) cut() string {
	switch {
	case !s.Unfinished || len(s.Result.Look.Open) == 0:
		return ""
	case s.Result.Left > 0:
		return "; stopped by --max-time"
	}
	return "; interrupted"
}

// decidedBy names the metric by which the session decided how long to go on, where other metrics were asked for.
func (s Summary) decidedBy(primary primaryMetric) string {
	switch {
	case len(s.Metrics) == 0 || s.Metrics[0] == primary.all:
		return ""
	case primary.all == "":
		return " (by the primary metric of each point)"
	}
	return " (by " + primary.all + ", the primary metric)"
}

// split parts the points that calibrate adds from the others, unless there are no others.
func (s Summary) split(points []query.SessionPoint) (own, calibration []query.SessionPoint) {
	added := map[string]bool{}
	for i := range s.Sweep.Points {
		added[s.Sweep.Points[i].PointID] = s.Sweep.Points[i].Calibration
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

// nextCommands are those to type next. They name the session, for the last one need not be this: another may have begun,
// or one have been imported that says a later time.
func (s Summary) nextCommands(points []query.SessionPoint) []string {
	commands := []string{"ls " + s.Filter()}
	switch {
	case s.Result.Failure != "":
		commands = []string{"show " + views.ShortRun(s.Result.Failure)}
		if s.Result.Failed() > 1 {
			commands = append(commands, "ls "+s.Filter()+" status!=ok")
		}
	case len(points) > 0 && points[0].Side != "":
		commands = []string{"compare " + s.Filter()}
	}
	for i, command := range commands {
		commands[i] = "neurolens " + command
		if len(s.Reader.Stores) > 0 {
			commands[i] += " --store " + term.ShellWord(s.Dir)
		}
	}
	for _, first := range []string{s.MoreRepeats, s.Again} {
		if first != "" {
			commands = slices.Insert(commands, 0, first)
		}
	}
	for i := range commands {
		label := "next  "
		if i > 0 {
			label = "      "
		}
		commands[i] = label + commands[i]
	}
	return strings.Split(strings.Join(commands, "\n"), "\n") // a word may end with a newline, see shellwords.Quote
}

// Filter selects what the summary shows: the runs of its session, and those of earlier ones that it counts as its own.
func (s Summary) Filter() string { return filter.KeySession + "=" + views.ShortRun(s.Result.Session) }

// counts says how the runs that the summary shows ended, and which of them are not of this session.
func (s Summary) counts() string {
	all, before := runner.Result{Statuses: maps.Clone(s.Result.Statuses)}, 0
	for _, p := range s.Result.Plan.Launches {
		if p.Done != nil {
			all.Statuses[p.Done.Status]++
			before++
		}
	}
	text := statusCounts(all)
	if before > 0 {
		text += fmt.Sprintf(" (%s new, %s from before)", term.Thousands(s.Result.Runs()), term.Thousands(before))
	}
	return text
}
