package progress

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/export"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// Summary is what bench says at its end.
type Summary struct {
	Reader      views.Display
	Dir         string // of the store
	Sweep       *sweep.Sweep
	Elapsed     time.Duration
	PerRepeat   time.Duration // which one repeat of all points takes; 0: unknown
	Result      runner.Result
	Metrics     []string // that were asked for, each a column; none: the primary one of each point
	Against     bool     // two commits were compared
	Won         []string // how points stand to those that the sweep compares with
	Unfinished  bool     // it was interrupted, or stopped by --max-time
	Again       string   // the command line that measures the rest of an unfinished session, or starts it over; empty: none
	Rerun       []string // the commands that measure failed points again
	MoreRepeats string   // the command line with the repeats that would probably decide inconclusive points; empty: none
	ReadResults string   // the command line that stores results which a program printed and nothing has read; empty: none
	Published   bool     // the readers do not know the sweep, so names of commands have the values of parameters in place of {parameter}
	Beside      Beside
	Processor   bool // beside the latency of programs stand the processor times
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

// perRun returns how long a run of all points of a sweep with rel_error took; 0: unknown, as some were measured before.
func (s Summary) perRun() time.Duration {
	if p := s.Result.Precision; p != nil && p.Repeats > 0 && s.Result.Plan.Done == 0 {
		return s.Elapsed / time.Duration(p.Repeats)
	}
	return 0
}

// View returns the table at the end of bench.
func (s Summary) View(points []query.SessionPoint) term.View {
	different := term.CountDistinct(term.Texts(points, func(p query.SessionPoint) string { return p.PointID })) // each is one side of a point
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
	if u := s.Result.Unread; u != nil {
		v.Above = append(v.Above, fmt.Sprintf("%s of %s that it printed %s not read: these are its own times",
			term.Count(u.Results, "result"), u.Format, term.Verb(u.Results, "was", "were")))
	}
	won := s.Won
	if scrolls := len(points)+s.lines(won) > longTable && !s.Published; len(won) > 0 && !scrolls {
		v.Above, won = append(append(v.Above, ""), won...), nil
	}
	notes, everywhere := views.Notes{}, common(points)
	rows := pointRows{points, make([]term.Cell, len(points)), s.Beside}
	for i := range points {
		words, failed := pointWords(notes, &points[i], everywhere)
		v.Points = append(v.Points, points[i].PointID)
		rows.words[i] = term.Cell{Text: words, Failed: failed}
	}
	v = rows.table(v, s.Metrics, varying, primary)
	nameFailed(notes, points, views.PointNames(varying, len(points)))
	v.Below = append(v.Below, calibrationLines(calibration, notes, everywhere)...)
	v.Below = append(v.Below, notes.Lines()...)
	if line := exitLine(points); line != "" {
		v.Below = append(v.Below, line, "")
	}
	if line := startLine(s.Result.ProcessStart, s.Sweep, points); line != "" {
		v.Below = append(v.Below, line, "")
	}
	for _, note := range s.Result.Passes {
		v.Below = append(v.Below, term.OneLine(note))
	}
	if len(s.Result.Passes) > 0 {
		v.Below = append(v.Below, "")
	}
	v.Below = append(v.Below, term.Count(different, "point")+", "+term.Count(s.Result.Runs()+s.Result.Plan.Done, "run"))
	if s.Result.Look != nil {
		v.Below = append(v.Below, verdictsText(s.Result.Look)+s.decidedBy(primary)+s.cut())
	}
	if line := cmp.Or(precisionText(s.Result.Precision, s.perRun()), s.precision(points)); line != "" {
		v.Below = append(v.Below, line)
	}
	if len(won) > 0 {
		v.Below = append(append(v.Below, ""), won...)
	}
	v.Below = append(v.Below, "")
	v.Next = s.nextCommands(points)
	v.Compact = rows.compact(v, s.Metrics, varying, s.Reader)
	return v
}

// precisionHeader is the column of SessionPoint.RelError.
const precisionHeader = "± 95 %"

// precision says how precise the medians of a session without --rel-error are and, if that is less than views.UsualPrecision, how many runs would
// be enough; empty: unknown for some point. Where metrics were asked for, the table has no column of it.
func (s Summary) precision(points []query.SessionPoint) string {
	worst, needed, most := 0., 0, 0
	for i := range points {
		p := &points[i]
		if p.OKRuns == 0 {
			continue
		}
		reached, n, ok := views.RunsFor(p.Locations)
		if !ok {
			return ""
		}
		worst, needed, most = max(worst, reached), max(needed, n), max(most, len(p.Locations))
	}
	if most == 0 || len(s.Metrics) > 0 || s.Result.Look != nil {
		return ""
	}
	return views.PrecisionText("runs", worst, len(points) > 1, needed, s.PerRepeat)
}

// lines returns how many lines of the terminal some texts take.
func (s Summary) lines(texts []string) int {
	n := len(texts)
	if s.Reader.Width > 0 {
		for _, text := range texts {
			n += max(term.Width(text)-1, 0) / s.Reader.Width
		}
	}
	return n
}

// longTable is how many rows and lines of verdicts a terminal of 24 lines shows together with the lines around them. If there are more, the
// verdicts stand below the table, where they do not scroll off.
const longTable = 10

// cut says why a session ended although points are inconclusive; empty: after its last look, or all are decided.
func (s Summary) cut() string {
	switch {
	case !s.Unfinished || len(s.Result.Look.Inconclusive) == 0:
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

// nextCommands returns what to type next: the command that goes on or measures enough, commands that show failures, and the command that
// shows the comparison. It names the session, for the last one need not be this: another may have begun, or one have been imported that
// says a later time.
func (s Summary) nextCommands(points []query.SessionPoint) []string {
	var commands []string
	if first := cmp.Or(s.Again, s.ReadResults, s.MoreRepeats); first != "" {
		commands = append(commands, first)
	}
	own := func(command string) {
		command = "neurolens " + command
		if len(s.Reader.Stores) > 0 {
			command += " --store " + term.ShellWord(s.Dir)
		}
		commands = append(commands, command)
	}
	goesOn, failed := len(commands) > 0, s.Result.Failure != ""
	if failed {
		own("show " + views.ShortRun(s.Result.Failure))
		if s.Result.Failed() > 1 {
			own("ls " + s.Filter() + " status=" + filter.Failed)
		}
		commands = append(commands, s.Rerun...)
	}
	measured := slices.ContainsFunc(points, func(p query.SessionPoint) bool { return p.ValuedRuns > 0 })
	shown := s.Filter()
	if len(s.Metrics) > 0 {
		shown += " --metric " + term.ShellWord(strings.Join(s.Metrics, ","))
	}
	switch contrast, _ := s.Contrast(points); {
	case goesOn, failed && !measured:
	case len(points) > 0 && points[0].Side != "", s.Sweep.Baseline != "" && len(points) > 1:
		own("compare " + shown)
	case contrast.Axis != "":
		own("compare " + shown + " --matrix " + term.ShellWord(contrast.String()))
	case !failed:
		own("ls " + shown)
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

// Contrast returns an axis that can be compared if the sweep names none, and whether it probably is the amount of work.
func (s Summary) Contrast(points []query.SessionPoint) (c query.Contrast, work bool) {
	if s.Against || s.Sweep.Baseline != "" {
		return query.Contrast{}, false
	}
	var measured []query.Point
	var medians []*float64
	for i := range points {
		if points[i].ValuedRuns > 0 {
			measured, medians = append(measured, points[i].Point), append(medians, points[i].Median)
		}
	}
	return query.ContrastOf(measured, medians)
}

// NeedsRepeats returns the number of repeats that give a verdict on points without a named baseline, and the sentence that the measured
// repeats are too few, with the time that enough of them take. It is 0 if the points have enough runs or cannot be compared.
func (s Summary) NeedsRepeats(points []query.SessionPoint) (repeats int, why string) {
	least := LeastRepeats(s.Sweep)
	if contrast, _ := s.Contrast(points); least >= judge.MinRuns || s.Result.Failure != "" || contrast.Axis == "" {
		return 0, ""
	}
	why = fmt.Sprintf("%s per point: no verdict; --repeats %d gives one", term.Count(least, "run"), views.EnoughRepeats)
	if s.PerRepeat > 0 {
		why += ", in about " + views.TimeText(views.EnoughRepeats*s.PerRepeat)
	}
	return views.EnoughRepeats, why
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

// pointWords returns the words of a point's row: how runs that are not ok ended, and the warnings, less those of every point.
// Each word is explained once below the table.
func pointWords(n views.Notes, p *query.SessionPoint, everywhere []string) (words string, failed bool) {
	ended := maps.Clone(p.Statuses)
	for _, f := range p.Failures {
		word := failureWord(&f)
		if word != f.Status {
			ended[word] += f.Runs
			ended[f.Status] -= f.Runs
		}
		if reason := schema.WithoutProcess(term.FirstLine(f.Error)); word != reason {
			n.Add(word, reason)
		}
	}
	var all []string
	add := func(word string) {
		count := ended[word]
		if count > 0 && count < p.Runs {
			word = fmt.Sprintf("%d %s", count, word)
		}
		if count > 0 {
			all = append(all, word)
		}
	}
	for _, status := range schema.Statuses {
		if status != schema.StatusOK {
			failed = failed || status.Failed() && p.Statuses[string(status)] > 0
			add(string(status))
		}
	}
	add(views.WrongResult)
	var own []string
	for _, word := range wordsOf(p) {
		meaning := views.WarningMeaning(word)
		if meaning != "" && slices.Contains(everywhere, word) { // an unknown one would be nowhere
			n.EveryPoint(word, meaning)
			continue
		}
		n.Add(word, meaning)
		own = append(own, word)
	}
	slices.SortStableFunc(own, func(a, b string) int { return doubt(b) - doubt(a) })
	if more := len(own) - rowWords; more > 0 {
		own = append(own[:rowWords], fmt.Sprintf("+%d", more))
	}
	return strings.Join(append(all, own...), ", "), failed
}

// failureWord says how runs failed.
func failureWord(f *query.Failure) string {
	status := schema.Status(f.Status)
	return views.Ended(status, schema.IsWrong(status, schema.Stage(f.Stage), f.ErrorKind))
}

// maxNamed is how many points the explanation of a failure names.
const maxNamed = 3

// nameFailed adds the names of the points to each reason why runs failed: a long table scrolls off.
func nameFailed(n views.Notes, points []query.SessionPoint, names []string) {
	failed := map[*string][]string{}
	for i := range points {
		for _, f := range points[i].Failures {
			word := failureWord(&f)
			at := n.Index(word, term.FirstLine(f.Error))
			if at < 0 {
				continue
			}
			if reason := &n[word][at]; !slices.Contains(failed[reason], names[i]) {
				failed[reason] = append(failed[reason], names[i])
			}
		}
	}
	for reason, of := range failed {
		if len(of) == len(points) {
			continue
		}
		if more := len(of) - maxNamed; more > 0 {
			of = append(of[:maxNamed], term.Thousands(more)+" more")
		}
		*reason = strings.Join(of, ", ") + ": " + *reason
	}
}

// exitLine says how exit statuses are no failures, where runs have failed by them; empty elsewhere.
func exitLine(points []query.SessionPoint) string {
	for i := range points {
		for _, f := range points[i].Failures {
			if hint := views.IgnoreExit(f.ErrorKind, f.Error); hint != "" {
				return hint
			}
		}
	}
	return ""
}

// wordsOf returns the warnings of a point, and what its samples are where they are no single measurements.
func wordsOf(p *query.SessionPoint) []string {
	if p.Level != schema.LevelMean {
		return p.Warnings
	}
	return append(slices.Clone(p.Warnings), views.Means)
}

// common returns the warnings that every point has, where there are several: they say nothing about a point.
func common(points []query.SessionPoint) []string {
	if len(points) < 2 {
		return nil
	}
	words := slices.Clone(wordsOf(&points[0]))
	for i := range points[1:] {
		words = slices.DeleteFunc(words, func(w string) bool { return !slices.Contains(wordsOf(&points[1+i]), w) })
	}
	return words
}

// doubt is 1 for a warning that doubts what was measured, else 0.
func doubt(word string) int {
	if views.AboutWork(word) {
		return 1
	}
	return 0
}

// rowWords is how many warnings a row names; how many more there are it counts.
const rowWords = 2

// calibrationLines returns a line for each kernel of calibrate and side, and an empty one. everywhere are the warnings of all
// other points.
func calibrationLines(points []query.SessionPoint, notes views.Notes, everywhere []string) []string {
	var rows [][2]string
	for i := range points {
		p := &points[i]
		name := p.Benchmark + " " + p.Variant
		if p.Side != "" {
			name += " " + p.Side
		}
		text := term.Quantity(answer.Value(p.Median), p.Unit) + term.Gap + views.RunsTimesSamples(p.ValuedRuns, p.OKRuns, p.SamplesMin, p.SamplesMax)
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

// Read answers from the store, so that what is shown is what was kept: a point and side after the other, in the order of the
// sweep. absent are metrics that no run has.
func (s Summary) Read(ctx context.Context, db *query.DB) (points []query.SessionPoint, absent query.Absent, err error) {
	if points, err = db.SessionPoints(ctx, s.Result.Session, s.counted()); err != nil {
		return nil, absent, err
	}
	if named := s.named(points); len(named) > 0 {
		if absent, err = db.AddMetrics(ctx, points, s.Result.Session, s.counted(), named); err != nil {
			return nil, absent, err
		}
	}
	if s.Processor && len(s.Metrics) == 0 && s.hasPrograms() {
		if _, err := db.AddMetrics(ctx, points, s.Result.Session, s.counted(), processorTimes); err != nil {
			return nil, absent, err
		}
	}
	position := map[string]int{}
	for i, p := range s.Sweep.Planned() {
		position[p.PointID] = i
	}
	for _, p := range points { // results that a tool printed come after the points that were planned
		if _, known := position[p.PointID]; !known {
			position[p.PointID] = len(position)
		}
	}
	slices.SortStableFunc(points, func(x, y query.SessionPoint) int {
		return cmp.Or(position[x.PointID]-position[y.PointID], cmp.Compare(x.Side, y.Side)) // base, then head
	})
	return points, absent, nil
}

// processorTimes are the metrics that stand beside the latency of programs, as USER and SYSTEM.
var processorTimes = []string{"cpu_user", "cpu_system"}

// hasPrograms reports whether the sweep starts programs, which have processor times.
func (s Summary) hasPrograms() bool {
	return slices.ContainsFunc(s.Sweep.Points, func(p sweep.Point) bool { return p.Executor == schema.ExecutorCommand })
}

// Table returns the summary for programs.
func (s Summary) Table(points []query.SessionPoint) answer.Table {
	return answer.TableOf(append(query.SessionPointFields(), query.SessionMetricFields(s.Metrics)...), points)
}

// counted returns the runs of earlier sessions that the session counts as its own. Others of these sessions, that failed or
// were of other code, are not what it shows.
func (s Summary) counted() []string {
	var all []string
	for _, p := range s.Result.Plan.Launches {
		if p.Done != nil {
			all = append(all, p.Done.RunID)
		}
	}
	return all
}

// FormatArrow is the format of Stream, for the flag --format.
const FormatArrow = string(export.Arrow)

// Stream writes the runs that the summary counts as an Arrow stream.
func (s Summary) Stream(ctx context.Context, db *query.DB, w io.Writer) error {
	_, err := export.Write(ctx, db, export.Request{Dest: "-", Format: export.Arrow, Session: s.Result.Session, Counted: s.counted(), Stdout: w})
	return err
}

// named returns the metrics that are looked for among those of the runs: those that were asked for, or the primary ones of points
// whose ok runs have none.
func (s Summary) named(points []query.SessionPoint) []string {
	if len(s.Metrics) > 0 {
		return s.Metrics
	}
	primary := map[string]string{}
	for _, p := range s.Sweep.Points {
		primary[p.PointID] = p.Primary
	}
	var named []string
	for _, p := range points {
		if name := primary[p.PointID]; name != "" && p.OKRuns > 0 && p.Metric == "" && !slices.Contains(named, name) {
			named = append(named, name)
		}
	}
	return named
}

// primaryMetric is the primary metric of all points that have one, or an axis where they differ in it.
type primaryMetric struct {
	all  string
	axis []views.Axis // none or one
}

func primaryAxis(points []query.SessionPoint) (p primaryMetric) {
	x := views.AxisOf(points, "metric", func(p *query.SessionPoint) string { return p.Metric })
	named := slices.DeleteFunc(slices.Clone(x.Values), func(name string) bool { return name == "" })
	slices.Sort(named)
	switch named = slices.Compact(named); len(named) {
	case 0:
	case 1:
		p.all = named[0]
	default:
		p.axis = []views.Axis{x}
	}
	return p
}

// pointRows are the rows of the points of a session, each with its words.
type pointRows struct {
	points []query.SessionPoint
	words  []term.Cell
	beside Beside
}

// besideCells returns the cells of a point in the columns of Beside.
func (r pointRows) besideCells(point int) []term.Cell {
	if cells, there := r.beside.Cells[Side{r.points[point].PointID, r.points[point].Side}]; there {
		return cells
	}
	return slices.Repeat([]term.Cell{{Text: term.Unknown}}, len(r.beside.Columns))
}

// table adds the table to a view: of the primary metric, or of those that were asked for.
func (r pointRows) table(v term.View, metrics []string, varying []views.Axis, primary primaryMetric) term.View {
	if len(metrics) > 0 {
		return r.wide(v, metrics, varying)
	}
	varying = slices.Concat(varying, primary.axis)
	v.Columns = append(views.AxisColumns(varying),
		term.Column{Header: "MEDIAN", Right: true}, term.Column{Header: precisionHeader, Right: true, Drop: 2}, term.Column{Header: "USER", Right: true, Drop: 3}, term.Column{Header: "SYSTEM", Right: true, Drop: 3},
		term.Column{Header: "P99", Right: true, Drop: 4}, term.Column{Header: "SPREAD", Right: true, Drop: 5}, term.Column{Header: "RUNS × N", Right: true, Drop: 1})
	v.Columns = append(append(v.Columns, r.beside.Columns...), term.Column{Header: ""})
	for i := range r.points {
		p := &r.points[i]
		v.Rows = append(v.Rows, append(views.AxisCells(varying, i),
			term.Cell{Text: views.QuantityOf(answer.Value(p.Median), p.Unit, p.Metric)}, term.Cell{Text: views.Percent(answer.Value(p.RelError()))}, r.processor(i, 0), r.processor(i, 1),
			term.Cell{Text: views.QuantityOf(answer.Value(p.P99), p.Unit, p.Metric)}, term.Cell{Text: views.Percent(answer.Value(p.Spread))},
			term.Cell{Text: views.RunsTimesSamples(p.ValuedRuns, p.OKRuns, p.SamplesMin, p.SamplesMax)}))
		v.Rows[i] = append(append(v.Rows[i], r.besideCells(i)...), r.words[i])
	}
	return v.WithoutUnknown(precisionHeader, "USER", "SYSTEM", "P99", "SPREAD")
}

// processor returns a mean processor time of a program, by its place in processorTimes. Kernels that count ticks give most iterations
// 0 ns and some a whole tick: the median of these says nothing, and their mean is close to the truth.
func (r pointRows) processor(point, place int) term.Cell {
	if p := &r.points[point]; p.Metric == schema.PrimaryMetric && len(p.Metrics) == len(processorTimes) {
		own := &p.Metrics[place]
		return term.Cell{Text: views.QuantityOf(answer.Value(own.Mean), own.Unit, processorTimes[place])}
	}
	return term.Cell{Text: term.Unknown}
}

// compact returns how a table of several metrics is shown that is too wide; nil of the primary metric.
func (r pointRows) compact(v term.View, metrics []string, varying []views.Axis, reader views.Display) func() term.View {
	if len(metrics) == 0 {
		return nil
	}
	v.Columns, v.Rows = nil, nil
	return func() term.View {
		merged := reader.MergedAxes(varying)
		if narrow := r.wide(v, metrics, merged); narrow.Fits(reader.Page()) {
			return narrow
		}
		return r.stacked(v, metrics, merged)
	}
}

// wide has a column a metric.
func (r pointRows) wide(v term.View, metrics []string, varying []views.Axis) term.View {
	v.Columns = views.AxisColumns(varying)
	for _, metric := range metrics {
		v.Columns = append(v.Columns, views.MetricColumn(metric))
	}
	v.Columns = append(append(append(v.Columns, term.Column{Header: "RUNS", Right: true, Drop: 1}), r.beside.Columns...), term.Column{Header: ""})
	for i := range r.points {
		cells := views.AxisCells(varying, i)
		for k := range metrics {
			cells = append(cells, r.value(i, k, metrics[k]))
		}
		v.Rows = append(v.Rows, append(append(append(cells, r.runs(i)), r.besideCells(i)...), r.words[i]))
	}
	return v
}

// runs returns the number of the ok runs of a point, and how many of them have values, if that is the same for all metrics.
func (r pointRows) runs(point int) term.Cell {
	p := &r.points[point]
	valued := p.Metrics[0].Runs
	if slices.ContainsFunc(p.Metrics, func(m query.PointMetric) bool { return m.Runs != valued }) {
		valued = p.OKRuns
	}
	return term.Cell{Text: views.SomeOf(valued, p.OKRuns)}
}

// stacked has a row a metric.
func (r pointRows) stacked(v term.View, metrics []string, varying []views.Axis) term.View {
	v.Columns = append(views.AxisColumns(varying), term.Column{Header: "METRIC"}, term.Column{Header: "MEDIAN", Right: true},
		term.Column{Header: "RUNS", Right: true, Drop: 1}, term.Column{Header: ""})
	for i := range r.points {
		for k, metric := range metrics {
			v.Rows = append(v.Rows, append(views.AxisCells(varying, i), term.Cell{Text: metric}, r.value(i, k, metric),
				term.Cell{Text: views.SomeOf(r.points[i].Metrics[k].Runs, r.points[i].OKRuns)}, r.words[i]))
		}
	}
	v.Below = append([]string{views.RowAMetric, ""}, v.Below...)
	return v
}

// value returns what a point has of a metric, by its place and its name.
func (r pointRows) value(point, place int, metric string) term.Cell {
	own := &r.points[point].Metrics[place]
	return term.Cell{Text: views.QuantityOf(answer.Value(own.Median), own.Unit, metric)}
}
