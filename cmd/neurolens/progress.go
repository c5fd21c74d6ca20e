package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/wording"
	"github.com/neurolens/neurolens/query/facts"
	"github.com/neurolens/neurolens/query/foresight"
	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// progress says on standard error what a sweep is doing: a live view on a terminal, JSON lines where the result is
// JSON lines, else one line a run.
type progress struct {
	reporter reporter
	now      func() time.Time
	started  time.Time
	begun    bool
}

// reporter is one way to show a session. Its methods are called one after another.
type reporter interface {
	begin(e runner.Event)    // the first event, whatever it is
	prepare(e runner.Event)  // Plan, Waiting or Build is set
	looked(e runner.Event)   // Look is set
	stage(e runner.Event)    // Progress is set
	finished(e runner.Event) // Run is set
	end(result runner.Result, elapsed time.Duration)
}

// newProgress is told what a sweep was read with, and the format of the summary.
func newProgress(a *app, s *sweep.Sweep, o sweep.Overrides, format string, known foresight.Foresight) *progress {
	p := &progress{now: a.now, started: a.now()}
	d := describe(s)
	d.against, d.foresight = o.Against, known
	switch {
	case format == output.FormatJSONL:
		p.reporter = &jsonReporter{w: a.stderr, description: d}
	case a.errTerminal && a.getenv("TERM") != "dumb":
		p.reporter = newLiveReporter(a, d)
	default:
		p.reporter = &plainReporter{w: a.stderr, description: d}
	}
	return p
}

func (p *progress) elapsed() time.Duration { return p.now().Sub(p.started) }

// observe is told every event of the session.
func (p *progress) observe(e runner.Event) {
	if !p.begun {
		p.begun = true
		p.reporter.begin(e)
	}
	switch {
	case e.Run != nil:
		p.reporter.finished(e)
	case e.Progress != nil:
		p.reporter.stage(e)
	case e.Look != nil:
		p.reporter.looked(e)
	default:
		p.reporter.prepare(e)
	}
}

// close leaves the terminal ready for the summary.
func (p *progress) close(result runner.Result) {
	if p.begun {
		p.reporter.end(result, p.elapsed())
	}
}

// description is a sweep in words, worked out once.
type description struct {
	sweep     *sweep.Sweep
	constants []string          // what all points share
	names     map[string]string // what a point differs in, by point_id: bs=1 seq=64 fp32
	against   bool              // two commits are compared

	calibration int // points of calibrate, where there are others

	foresight foresight.Foresight // of a session with two sides
}

// pointColumns are the columns of a point, besides the parameters.
var pointColumns = []string{"benchmark", "variant", "backend", "model", "batch_size", "seq_len", "precision"}

func describe(s *sweep.Sweep) description {
	d := description{sweep: s, names: make(map[string]string, len(s.Points))}
	own := ownPoints(s)
	points := make([]wording.Subject, len(own))
	for i, p := range own {
		points[i].Point = pointOf(p)
	}
	constants, varying := wording.Axes(points, pointColumns)
	d.constants = constants
	for i, name := range wording.PointNames(varying, len(points)) {
		if name == "" { // the only point
			name = own[i].Benchmark
		}
		d.names[own[i].PointID] = name
	}
	for i := range s.Points {
		if p := &s.Points[i]; d.names[p.PointID] == "" {
			d.names[p.PointID] = p.Benchmark + " " + p.Variant
			d.calibration++
		}
	}
	return d
}

// ownPoints are the points of a sweep, those that are skipped too, without those that calibrate adds, unless there are no others.
func ownPoints(s *sweep.Sweep) []*sweep.Point {
	var own, all []*sweep.Point
	for _, p := range s.Planned() {
		if all = append(all, p); !p.Calibration {
			own = append(own, p)
		}
	}
	if len(own) == 0 {
		return all
	}
	return own
}

// pointOf is what makes a point of a sweep.
func pointOf(p *sweep.Point) facts.Point {
	params := map[string]string{}
	maps.Copy(params, p.Params)
	return facts.Point{
		Benchmark: p.Benchmark, Variant: p.Variant, Backend: p.Backend, Model: p.Model, Precision: p.Precision,
		BatchSize: p.BatchSize, SeqLen: p.SeqLen, Params: params,
	}
}

// sides are the words for sweep.Launch.Side.
var sides = [...]string{"base", "head"}

// launch names a launch by what tells it from the others of its repeat: bs=1 seq=64 fp32 head.
func (d description) launch(l sweep.Launch) string {
	name := d.names[l.Point.PointID]
	if d.against {
		name += " " + sides[l.Side]
	}
	if l.Profile != "" {
		name += " profile " + l.Profile
	}
	return term.OneLine(name)
}

// sidesLine says what is compared: base 1f552b0 · head 4668a7e + uncommitted changes.
func sidesLine(sides []runner.Side) string {
	const enough = 7
	var parts []string
	for _, s := range sides {
		part := s.Name + " " + s.Commit[:min(len(s.Commit), enough)]
		if s.Dirty {
			part += wording.Uncommitted
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " · ")
}

// planLines say what a session compares, what it goes on from, and why runs that are there do not count.
func planLines(p *runner.Plan) []string {
	var lines []string
	if len(p.Sides) > 0 {
		lines = append(lines, sidesLine(p.Sides))
	}
	if p.Resumes != "" {
		lines = append(lines, fmt.Sprintf("goes on from session %s: %s of %s are there (--rerun all runs them again)",
			wording.ShortRun(p.Resumes), term.Thousands(p.Done), term.Count(len(p.Launches), "run")))
	}
	for _, c := range p.Changes {
		lines = append(lines, term.OneLine(fmt.Sprintf("%s was %s, is %s: %s again", c.What, wording.HashText(c.From), wording.HashText(c.To), term.Count(c.Runs, "run"))))
	}
	return lines
}

// lookText says what a look has found: look 2 of 5 after 9 blocks: 9 of 12 points are settled.
func lookText(l *runner.Look) string {
	return fmt.Sprintf("look %d of %d after %s: %s of %s settled", l.Number, l.Planned, term.Count(l.Blocks, "block"), term.Thousands(l.Settled()), term.Count(l.Points, "point"))
}

// preparation says what is being done before something can be measured.
func preparation(e runner.Event) string {
	if e.Waiting != "" {
		return term.OneLine("waiting  " + e.Waiting)
	}
	words := make([]string, len(e.Build))
	for i, word := range e.Build {
		words[i] = term.ShellWord(word)
	}
	return term.OneLine("build  " + strings.Join(words, " "))
}

// sides are how many launches a point has in a repeat.
func (d description) sides() int {
	if d.against {
		return len(sides)
	}
	return 1
}

// headline says what is going to run: quickstart · builtin · tiny_linear · 12 points × 5 repeats = 60 runs · lab3. With
// those of calibrate it is (12 points + 3 of calibrate) × 5 repeats = 75 runs.
func (d description) headline(e runner.Event) string {
	parts := slices.Compact(append([]string{d.sweep.Suite}, d.constants...))
	points := term.Count(len(d.sweep.Points)-d.calibration, "point")
	if d.calibration > 0 {
		points = fmt.Sprintf("(%s + %d of calibrate)", points, d.calibration)
	}
	repeats := term.Count(d.sweep.Repeats, "repeat")
	if d.sweep.Looks != nil && d.sweep.MaxRepeats > d.sweep.Repeats {
		repeats = fmt.Sprintf("%d to %s", d.sweep.Repeats, term.Count(d.sweep.MaxRepeats, "repeat"))
	}
	factors, product, runs := points+" × "+repeats, len(d.sweep.Points)*d.sweep.Repeats, e.Launches
	if d.against {
		factors, product = factors+" × "+term.Count(d.sides(), "side"), product*d.sides()
	}
	skipped := len(d.sweep.Skipped)
	if runs -= skipped * d.sides(); product != runs || d.sweep.Looks != nil { // some are done, or there are passes of a profiler, or more to come
		factors += ","
	} else {
		factors += " ="
	}
	parts = append(parts, factors+" "+term.Count(runs, "run"))
	if skipped > 0 {
		parts = append(parts, term.Count(skipped, "point")+" skipped")
	}
	if e.Env.Machine != "" {
		parts = append(parts, e.Env.Machine)
	}
	return term.OneLine(strings.Join(parts, " · "))
}

// seeable says before a session of two sides which change it is likely to find; empty where no session before it tells.
func (d description) seeable(e runner.Event) string {
	change, blocks, ok := d.seeableChange(e)
	if !ok {
		return ""
	}
	return fmt.Sprintf("with %s a change of %s is likely to be seen at half of the points, if it is as noisy as in session %s",
		term.Count(blocks, "block"), strings.TrimPrefix(wording.Signed(change), "+"), wording.ShortRun(d.foresight.Session))
}

// known is what is known before the first run: what the session can find, and that the machine is busy.
func (d description) known(e runner.Event) []string {
	return slices.DeleteFunc([]string{d.seeable(e), loadText(e.Env)}, func(line string) bool { return line == "" })
}

// seeableChange is the change that a session of two sides is likely to find, as a ratio less 1, and with how many blocks; ok is
// false where no session before it tells.
func (d description) seeableChange(e runner.Event) (change float64, blocks int, ok bool) {
	blocks, looks := d.sweep.Repeats, 1
	if d.sweep.Looks != nil {
		blocks, looks = d.sweep.MaxRepeats, len(d.sweep.Looks)
	}
	change, ok = d.foresight.Seeable(blocks, looks)
	return change, blocks, ok && d.against && e.Env.Machine == d.foresight.Machine
}

// loadText says that the machine is busy, if it is.
func loadText(env *schema.Env) string {
	load := sessionLoad(env)
	if load == nil || env.CPUCount == nil || *load <= float64(*env.CPUCount)/2 {
		return ""
	}
	return fmt.Sprintf("load %.1f on %s: expect noise", *load, term.Count(int(*env.CPUCount), "core"))
}

// sessionLoad is how many threads wanted to run when the session began; nil where that is not known.
func sessionLoad(env *schema.Env) *float64 {
	load, err := strconv.ParseFloat(env.Facts["load.1m"], 64)
	if err != nil {
		return nil
	}
	return &load
}

// primary summarises the primary metric of a run; nil where it has none.
func primary(r *schema.Run) (*schema.Metric, schema.Summary) {
	m := r.Metric(r.Primary)
	if m == nil {
		return nil, schema.Summary{}
	}
	return m, stat.Summarize(m.Values())
}

// resultText is how a run ended, in a few words.
func resultText(r *schema.Run) string {
	m, s := primary(r)
	if r.Status == schema.StatusOK && m != nil && s.P50 != nil {
		return fmt.Sprintf("%s  median of %d", schema.ForPeople(*s.P50, m.Unit), *s.N)
	}
	text := string(r.Status)
	if r.Stage != "" {
		text += " in " + string(r.Stage)
	}
	if reason := term.FirstLine(r.Error); reason != "" && reason != string(r.Status) {
		text += ": " + reason
	}
	return term.OneLine(text)
}

// plainReporter writes one line a run.
type plainReporter struct {
	w io.Writer
	description
}

func (p *plainReporter) begin(e runner.Event) {
	fmt.Fprintln(p.w, p.headline(e))
	for _, line := range p.known(e) {
		fmt.Fprintln(p.w, line)
	}
}

func (p *plainReporter) prepare(e runner.Event) {
	if e.Plan == nil {
		fmt.Fprintln(p.w, preparation(e))
		return
	}
	for _, line := range planLines(e.Plan) {
		fmt.Fprintln(p.w, line)
	}
}

func (p *plainReporter) stage(runner.Event) {}

func (p *plainReporter) looked(e runner.Event) {
	fmt.Fprintln(p.w, lookText(e.Look))
	if l := e.Look; l.Number == l.Planned || l.Settled() == l.Points { // the last one
		fmt.Fprintln(p.w, settledText(l))
	}
}

func (p *plainReporter) finished(e runner.Event) {
	name := p.launch(e.Launch)
	if e.Launch.Profile == "" {
		name += fmt.Sprintf("  repeat %d", e.Launch.Repeat+1)
	}
	fmt.Fprintf(p.w, "%*d/%d  %s  %s  %s\n", len(strconv.Itoa(e.Launches)), e.Index+1, e.Launches, wording.ShortRun(e.Run.RunID), name, resultText(e.Run))
}

func (p *plainReporter) end(runner.Result, time.Duration) {}
