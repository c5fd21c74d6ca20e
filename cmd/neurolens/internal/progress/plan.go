package progress

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/judge"
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

// settingCells returns what a point is measured with: what expressions and scale have made of it, too.
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

// withoutAlike returns a plan without the columns that say nothing: those of which no launch has a value, settings and marks that are the
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
	some := answer.Table{Columns: views.Picked(t.Columns, kept)}
	for _, row := range t.Rows {
		some.Rows = append(some.Rows, views.Picked(row, kept))
	}
	return some
}

// foreknown counts the launches known to fail and the launches known to be skipped, of those that no earlier session has, and the launches
// of points that the change under test cannot touch.
func foreknown(p *runner.Plan) (fail, skip, controls int) {
	for _, planned := range p.Launches {
		if planned.Launch.Point.Control {
			controls++
		}
		switch {
		case planned.Done != nil:
		case planned.Fails != "":
			fail++
		case planned.Skips != "" || planned.Launch.Point.Skip != nil:
			skip++
		}
	}
	return fail, skip, controls
}

// PlanView shows what is planned, and counts it: what looks at the data may add is not in the table.
func PlanView(t answer.Table, p *runner.Plan, s *sweep.Sweep, page term.Page) term.View {
	v := term.TableView(withoutAlike(withFactNames(t)), page)
	v.Above = append([]string{term.OneLine(strings.Join(titleParts(s.Suite, describe(s).constants...), " · "))}, planLines(p)...)
	fails, skips, controls := foreknown(p)
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
	if controls > 0 {
		left += "; " + term.Thousands(controls) + " of control points"
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

// changedFacts begins the reason of a launch because of what changed, names separated by commas.
const changedFacts = "changed: "

// withFactNames returns a plan whose reasons name facts as people do.
func withFactNames(t answer.Table) answer.Table {
	at := t.Index("reason")
	rows := slices.Clone(t.Rows)
	for i, row := range rows {
		reason, _ := row[at].(string)
		if facts, is := strings.CutPrefix(reason, changedFacts); is {
			names := term.Texts(strings.Split(facts, ", "), func(fact string) string { name, _ := views.FactName(fact); return name })
			rows[i] = slices.Clone(row)
			rows[i][at] = changedFacts + strings.Join(names, ", ")
		}
	}
	t.Rows = rows
	return t
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

// description is a sweep in words, worked out once.
type description struct {
	sweep     *sweep.Sweep
	constants []string          // what all points share
	names     map[string]string // what a point differs in, by point_id: bs=1 seq=64 fp32
	against   bool              // two commits are compared
	metrics   []string          // that were asked for, in place of the primary one of each run

	calibration int // points of calibrate, where there are others

	foresight compare.Prediction // of a session with two sides
}

// pointColumns are the columns of a point, besides the parameters.
var pointColumns = []string{"benchmark", "variant", "backend", "model", "batch_size", "seq_len", "precision"}

// PointNames returns what the points of a sweep differ in, in words, by their ids: bs=1 seq=64 fp32.
func PointNames(s *sweep.Sweep) map[string]string { return describe(s).names }

func describe(s *sweep.Sweep) description {
	d := description{sweep: s, names: make(map[string]string, len(s.Points))}
	own := ownPoints(s)
	points := make([]views.Subject, len(own))
	for i, p := range own {
		points[i].Point = pointOf(p)
	}
	constants, varying := views.Axes(points, pointColumns)
	d.constants = constants
	for i, name := range term.ShortNames(views.PointNames(varying, len(points))) {
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

// ownPoints returns the points of a sweep, those that are skipped too, without those that calibrate adds, unless there are no others.
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

// pointOf returns what makes a point of a sweep.
func pointOf(p *sweep.Point) query.Point {
	params := map[string]string{}
	maps.Copy(params, p.Params)
	return query.Point{
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

// sides returns how many launches a point has in a repeat.
func (d description) sides() int {
	if d.against {
		return len(sides)
	}
	return 1
}

// titleParts returns the parts of a title: the suite, if there is one, and what follows it.
func titleParts(suite string, others ...string) []string {
	var parts []string
	if suite != "" {
		parts = append(parts, term.Short(suite))
	}
	for _, other := range others {
		parts = append(parts, term.Short(other))
	}
	return slices.Compact(parts)
}

// headline says what is going to run: quickstart · builtin · tiny_linear · 12 points × 5 repeats = 60 runs · lab3. With
// those of calibrate it is (12 points + 3 of calibrate) × 5 repeats = 75 runs. See repeatsOfEach.
func (d description) headline(e runner.Event) string {
	parts := titleParts(d.sweep.Suite, d.constants...)
	points := term.Count(len(d.sweep.Points)-d.calibration, "point")
	if d.calibration > 0 {
		points = fmt.Sprintf("(%s + %d of calibrate)", points, d.calibration)
	}
	repeats := term.Count(d.sweep.Repeats, "repeat")
	if d.sweep.Looks != nil && d.sweep.MaxRepeats > d.sweep.Repeats {
		repeats = fmt.Sprintf("%d to %s", d.sweep.Repeats, term.Count(d.sweep.MaxRepeats, "repeat"))
	}
	factors, product, runs := points+" × "+repeats, 0, e.Launches
	if several := d.repeatsOfEach(); several != "" {
		factors = several
	}
	for i := range d.sweep.Points {
		product += d.sweep.Points[i].Repeats
	}
	if d.against {
		factors, product = factors+" × "+term.Count(d.sides(), "side"), product*d.sides()
	}
	skipped := len(d.sweep.Skipped)
	runs -= skipped * d.sides()
	passes := slices.ContainsFunc(d.sweep.Points, func(p sweep.Point) bool { return len(p.Profile) > 0 })
	switch {
	case d.sweep.Looks == nil && passes && runs > product:
		factors, runs = factors+" =", product
	case d.sweep.Looks == nil && runs == product:
		factors, passes = factors+" =", false
	default: // more may come
		factors, passes = factors+",", false
	}
	text := factors + " " + term.Count(runs, "run")
	if passes {
		text += " + profiler passes"
	}
	parts = append(parts, text)
	if skipped > 0 {
		parts = append(parts, term.Count(skipped, "point")+" skipped")
	}
	if e.Env.Machine != "" {
		parts = append(parts, e.Env.Machine)
	}
	return term.OneLine(strings.Join(parts, " · "))
}

// repeatsOfEach says how many points have which number of repeats, and of which benchmarks those are that are fewer; empty: all have the
// same. (23 points × 1 repeat + 1 point of sort × 10 repeats)
func (d description) repeatsOfEach() string {
	points, names := map[int]int{}, map[int][]string{}
	for i := range d.sweep.Points {
		p := &d.sweep.Points[i]
		if points[p.Repeats]++; !slices.Contains(names[p.Repeats], p.Benchmark) {
			names[p.Repeats] = append(names[p.Repeats], p.Benchmark)
		}
	}
	if len(points) < 2 {
		return ""
	}
	const enough = 2
	most := slices.Max(slices.Collect(maps.Values(points)))
	var parts []string
	for _, repeats := range slices.Sorted(maps.Keys(points)) {
		part := term.Count(points[repeats], "point")
		if of := names[repeats]; points[repeats] < most && len(of) <= enough {
			part += " of " + strings.Join(of, " and ")
		}
		parts = append(parts, part+" × "+term.Count(repeats, "repeat"))
	}
	return "(" + strings.Join(parts, " + ") + ")"
}

// tooFew says how to get a verdict where the sweep compares points and some have too few runs for one; empty elsewhere.
func (d description) tooFew() string {
	if d.against || d.sweep.RelError > 0 {
		return ""
	}
	for i := range d.sweep.Points {
		p := &d.sweep.Points[i]
		if p.Repeats < judge.MinRuns && !p.Control && (d.sweep.Baseline != "" || p.Thresholds != nil) {
			return fmt.Sprintf("%s per point %s no verdict; --repeats %d gives one", term.Count(p.Repeats, "run"), term.Verb(p.Repeats, "gives", "give"), views.EnoughRepeats)
		}
	}
	return ""
}

// seeable says before a session of two sides which change it is likely to find; empty where no session before it tells.
func (d description) seeable(e runner.Event) string {
	change, blocks, ok := d.seeableChange(e)
	if !ok {
		return ""
	}
	return fmt.Sprintf("with %s, a change of %s will probably be found at half of the points, if noise is as in session %s",
		term.Count(blocks, "block"), strings.TrimPrefix(views.Signed(change), "+"), views.ShortRun(d.foresight.Session))
}

// known returns what is known before the first run: what the session can find, and that the machine is busy.
func (d description) known(e runner.Event) []string {
	return slices.DeleteFunc([]string{d.seeable(e), d.tooFew(), lostText(d.sweep), loadText(e.Env)}, func(line string) bool { return line == "" })
}

// seeableChange returns the change that a session of two sides is likely to find, as a ratio less 1, and with how many blocks; ok is
// false where no session before it tells.
func (d description) seeableChange(e runner.Event) (change float64, blocks int, ok bool) {
	blocks, looks := d.sweep.Repeats, 1
	if d.sweep.Looks != nil {
		blocks, looks = d.sweep.MaxRepeats, len(d.sweep.Looks)
	}
	change, ok = d.foresight.MinDetectableEffect(blocks, looks)
	return change, blocks, ok && d.against && e.Env.Machine == d.foresight.Machine
}
