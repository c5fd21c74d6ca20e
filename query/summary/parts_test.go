package summary_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// report makes a store of runs and a report of it.
func report(t *testing.T, req summary.Request, runs ...schema.Run) *summary.Report {
	t.Helper()
	return read(t, querytest.Open(t, querytest.NewStore(t, runs...)), req)
}

// made makes runs of locations, in the order in which it is called.
type made struct {
	n    int
	runs []schema.Run
}

func (m *made) add(edit func(*schema.Run), locations ...float64) {
	m.runs = append(m.runs, querytest.RunsOf(&m.n, 1, edit, locations...)...)
}

// groupNames returns the names of the groups, and of how many rows each is.
func groupNames(r *summary.Report) string {
	var names []string
	for _, g := range r.Groups {
		names = append(names, fmt.Sprintf("%s:%d", g.Name, g.Rows))
	}
	return strings.Join(names, " ")
}

// TestGroups: runs without a suite are grouped by the beginning of their benchmark, numbers in names count as numbers, and other
// keys make other groups.
func TestGroups(t *testing.T) {
	t.Parallel()
	var m made
	for _, benchmark := range []string{"ch10/a", "ch2/b", "ch2/c", "alone"} {
		m.add(variant("", benchmark, ""), 10)
	}
	m.add(variant("nightly", "ch2/b", "x"), 10)
	db := querytest.Open(t, querytest.NewStore(t, m.runs...))
	r := read(t, db, summary.Request{})
	checkSums(t, r)
	if got, want := groupNames(r), "ch2:2 ch10:1 nightly:1 :1"; got != want {
		t.Errorf("groups are %q, want %q", got, want)
	}
	r = read(t, db, summary.Request{By: []string{"variant", "model"}})
	checkSums(t, r)
	if got, want := groupNames(r), "variant=null model=builtin:tiny_linear:4 variant=x model=builtin:tiny_linear:1"; got != want {
		t.Errorf("groups are %q, want %q", got, want)
	}
	for _, by := range []string{"nosuch", "p50", "params", "-benchmark"} {
		_, _, err := summary.Read(context.Background(), db, summary.Request{By: []string{by}})
		querytest.WantInput(t, err, "by")
	}
}

// TestRefused: a selection without runs is a usage error, as is a baseline that does not exist.
func TestRefused(t *testing.T) {
	t.Parallel()
	db := store(t)
	for _, c := range []struct {
		req  summary.Request
		says string
	}{
		{summary.Request{Filter: "suite=none"}, "suite=none"},
		{summary.Request{Filter: "nosuch=1"}, "nosuch"},
		{summary.Request{Axis: "variant", Reference: "nosuch"}, "nosuch"},
		{summary.Request{Axis: "status", Reference: "ok"}, "status"},
	} {
		_, _, err := summary.Read(context.Background(), db, c.req)
		querytest.WantInput(t, err, c.says)
	}
	_, _, err := summary.Read(context.Background(), querytest.Open(t, querytest.NewStore(t)), summary.Request{})
	querytest.WantInput(t, err, "no runs")
}

// TestMetrics: metrics follow the primary one in registry order; a metric that was not requested is left out; a
// single sample has no spread.
func TestMetrics(t *testing.T) {
	t.Parallel()
	var m made
	m.add(func(r *schema.Run) {
		once := schema.Metric{Name: "energy", Unit: "mJ", Better: schema.BetterLower, Level: schema.LevelProcess, Reals: []float64{7}}
		once.Summary = stat.Summarize(once.Reals)
		r.Metrics = append(r.Metrics, querytest.MetricOf("zeta", "B", "", 4), once, querytest.MetricOf("peak_memory", "B", schema.BetterLower, 1<<20))
	}, 100, 110, 120)
	db := querytest.Open(t, querytest.NewStore(t, m.runs...))
	show := func(req summary.Request) (text string) {
		r := read(t, db, req)
		for _, v := range r.Points[0].Metrics {
			text += fmt.Sprintf("%s %s %d %v %v %v %v\n", v.Metric, v.Unit, v.Runs, number(v.Median), number(v.P99) != "-", number(v.Spread) != "-", number(v.RunsSpread))
		}
		return text + fmt.Sprint(r.Selection.Known, r.Selection.Absent)
	}
	if got, want := show(summary.Request{}), `latency ns 3 110 true true 0.134781818182
peak_memory B 3 1.048576e+06 true true 0
energy mJ 3 7 false false 0
zeta B 3 4 true true 0
[latency peak_memory energy zeta] []`; got != want {
		t.Errorf("metrics are\n%s\nwant\n%s", got, want)
	}
	if got, want := show(summary.Request{Metrics: []string{"energy", "nosuch"}}), `latency ns 3 110 true true 0.134781818182
energy mJ 3 7 false false 0
[latency peak_memory energy zeta] [nosuch]`; got != want {
		t.Errorf("metrics are\n%s\nwant\n%s", got, want)
	}
}

func number(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprint(*v)
}

// TestSingleSample: of runs with one sample each, samples have no spread, runs have.
func TestSingleSample(t *testing.T) {
	t.Parallel()
	var m made
	once := func(r *schema.Run) {
		r.Metrics = []schema.Metric{querytest.RealMetric("latency", "ns", *r.Metrics[0].Summary.P50)}
	}
	m.add(once, 100, 110, 120)
	v := report(t, summary.Request{}, m.runs...).Points[0].Metrics[0]
	if got := strings.Join([]string{number(v.Median), number(v.P99), number(v.Spread), number(v.RunsSpread)}, " "); got != "110 - - 0.134781818182" {
		t.Errorf("median, p99 and spreads are %s", got)
	}
}

// TestWrongAndUnchecked: a point with a run whose result is wrong or could not be checked is neither ranked nor averaged,
// however fast its other runs are; wrong results are distinguished from other errors.
func TestWrongAndUnchecked(t *testing.T) {
	t.Parallel()
	var m made
	m.add(variant("s", "a", "baseline"), 100, 100, 100)
	m.add(variant("s", "a", "wrong"), 1, 1, 1)
	m.add(variant("s", "a", "wrong", func(r *schema.Run) {
		r.Status, r.Stage, r.ErrorKind = schema.StatusError, schema.StageValidate, schema.KindCheck
	}), 1)
	m.add(variant("s", "a", "unchecked", func(r *schema.Run) { r.Warnings = []string{schema.WarnUnchecked} }), 1, 1, 1)
	m.add(variant("s", "a", "failing", func(r *schema.Run) { r.Warnings = []string{"16 of 24 requests failed"} }), 1, 1, 1)
	m.add(variant("s", "a", "broken", querytest.Ended(schema.StatusError)), 1)
	r := report(t, summary.Request{}, m.runs...)
	checkSums(t, r)
	if b := r.Leaders[0]; b.Wrong != 2 || b.Requests != 1 || len(b.Best) != 1 || b.Best[0].Variant != "baseline" {
		t.Errorf("leaders are %+v", b)
	}
	if a := r.Comparisons[0].All; a.Pairs != 4 || a.Compared != 0 || a.GeometricMean != nil {
		t.Errorf("speed-ups are %+v", a)
	}
	if f := r.Failures; len(f) != 2 || f[0].Wrong == f[1].Wrong || f[0].Runs != 1 || f[1].Runs != 1 {
		t.Errorf("failures are %+v", f)
	}
}

// TestMixedUnits: values in different units are not combined.
func TestMixedUnits(t *testing.T) {
	t.Parallel()
	var m made
	for i, unit := range []string{"B", "ns"} {
		m.add(func(r *schema.Run) {
			r.Metrics = append(r.Metrics, querytest.MetricOf("size", unit, "", float64(1+i)))
		}, 100)
	}
	m.add(func(r *schema.Run) {
		r.Benchmark, r.Primary = "other", "size"
		r.Metrics = []schema.Metric{querytest.MetricOf("size", "B", "", 3)}
	}, 1)
	m.add(func(r *schema.Run) { r.Benchmark = "other" }, 1)
	r := report(t, summary.Request{}, m.runs...)
	for _, p := range r.Points {
		for _, v := range p.Metrics {
			if v.Metric == "size" && p.Benchmark != "other" && (v.Median != nil || v.Unit != "" || v.Runs != 2) {
				t.Errorf("%s has %+v", p.Benchmark, v)
			}
		}
		if p.Benchmark == "other" && p.Metric != "" {
			t.Errorf("%s has the primary metric %s", p.Benchmark, p.Metric)
		}
	}
	if got := rules(r); !strings.Contains(got, "mixed_metric 1/2") {
		t.Errorf("findings are %s", got)
	}
}

// TestSomeWithoutMetric: ok runs without the metric of the others are not of another metric.
func TestSomeWithoutMetric(t *testing.T) {
	t.Parallel()
	var m made
	m.add(nil, 100, 110, 120)
	m.add(func(r *schema.Run) { r.Metrics, r.Primary = []schema.Metric{}, "" }, 1)
	r := report(t, summary.Request{}, m.runs...)
	if p := r.Points[0]; len(r.Points) != 1 || p.Metric != "latency" || p.OKRuns != 4 || p.Metrics[0].Runs != 3 || *p.Metrics[0].Median != 110 {
		t.Errorf("%+v", r.Points)
	}
	if got := rules(r); strings.Contains(got, "mixed_metric") {
		t.Errorf("findings are %s", got)
	}
}

// rules returns the findings: rule, points and runs.
func rules(r *summary.Report) string {
	var all []string
	for _, f := range r.Findings {
		all = append(all, fmt.Sprintf("%s %d/%d", f.Rule, f.Points, f.Runs))
	}
	return strings.Join(all, ", ")
}

// TestFindings: each rule reports its cases and no others.
func TestFindings(t *testing.T) {
	t.Parallel()
	if got, want := rules(read(t, store(t), summary.Request{})),
		"wrong_result 1/2, failed 1/2, regressed 1/4, slower 1/4, not_compared 2/0, improved 1/4, few_runs 1/2, missing_metric 1/4, mixed_machines 7/19"; got != want {
		t.Errorf("findings are\n%s\nwant\n%s", got, want)
	}
	var m made
	m.add(variant("s", "a", "", func(r *schema.Run) { r.Env.GitDirty, r.Env.GitCommit = new(true), strings.Repeat("a", 40) }), 100, 130, 160)
	m.add(variant("s", "b", "", func(r *schema.Run) {
		r.Env.Machine, r.Warnings, r.Env.GitCommit = "", []string{"drift"}, strings.Repeat("b", 40)
	}), 100, 100, 100)
	if got, want := rules(report(t, summary.Request{}, m.runs...)), "noisy_runs 1/3, no_machine 1/3, mixed_facts 2/6, uncommitted 0/3, drift 1/3"; got != want {
		t.Errorf("findings are\n%s\nwant\n%s", got, want)
	}
	m = made{}
	m.add(variant("s", "a", "x"), 10000, 10000, 10000)
	m.add(variant("s", "a", "y"), 10, 10, 10)
	r := report(t, summary.Request{}, m.runs...)
	if c := r.Comparisons[0]; c.From != summary.FromGuess || c.Name() != "variant=x" {
		t.Errorf("without a baseline, one session is compared with %+v", c)
	}
	m.add(variant("s", "a", "y", func(r *schema.Run) { r.SessionID = querytest.SessionID(2) }), 10)
	if got, want := rules(report(t, summary.Request{}, m.runs...)), "no_baseline 2/7"; got != want {
		t.Errorf("findings are %s, want %s", got, want)
	}
	m.runs = m.runs[:6]
	if got := rules(report(t, summary.Request{Axis: "variant", Reference: "x"}, m.runs...)); !strings.Contains(got, "extreme_ratio 1/3") || strings.Contains(got, "slower") {
		t.Errorf("findings are %s", got)
	}
}

// TestContinuedSession: a report of a session that continues another one is about one session, like a grid of it.
func TestContinuedSession(t *testing.T) {
	t.Parallel()
	var m made
	m.add(variant("s", "a", "x"), 10000, 10000)
	m.add(variant("s", "a", "y"), 10, 10)
	first := len(m.runs)
	continues := func(r *schema.Run) { r.SessionID, r.Resumes = querytest.SessionID(2), querytest.SessionID(1) }
	for i := range m.runs {
		m.runs[i].SessionID = querytest.SessionID(1)
	}
	m.add(variant("s", "a", "x", continues), 10000)
	m.add(variant("s", "a", "y", continues), 10)
	for _, r := range m.runs[:first] {
		m.runs[first].Env.Facts[schema.FactCounted] += r.RunID + " "
	}
	db := querytest.Open(t, querytest.NewStore(t, m.runs...))
	r := read(t, db, summary.Request{Filter: "session=last"})
	if r.Selection.Sessions != 1 || r.Counts.Runs != 6 || len(r.Comparisons) != 1 || r.Comparisons[0].From != summary.FromGuess {
		t.Errorf("%d sessions, %d runs, comparisons %+v", r.Selection.Sessions, r.Counts.Runs, r.Comparisons)
	}
	p, err := summary.ReadPivot(t.Context(), db, summary.PivotRequest{Filter: "session=last", Axis: "variant"})
	if p.Sessions != 1 || err != nil {
		t.Errorf("a grid is of %d sessions, %v", p.Sessions, err)
	}
}

// TestBaselines: the baseline is the requested one, otherwise that of the sweep, otherwise the variant called baseline; the sides of a
// session are compared as well.
func TestBaselines(t *testing.T) {
	t.Parallel()
	comparisons := func(r *summary.Report) string {
		var all []string
		for _, c := range r.Comparisons {
			all = append(all, fmt.Sprintf("%s %s=%s %d %s", c.From, c.Axis, c.Baseline, c.All.Compared, number(c.All.GeometricMean)))
		}
		return strings.Join(all, ", ")
	}
	var m made
	sweep := func(r *schema.Run) {
		r.Env.Facts = map[string]string{schema.FactBaseline: "precision=fp32", "sweep.file": "s.yaml"}
	}
	for precision, location := range map[string]float64{"fp32": 400, "fp16": 100} {
		m.add(variant("s", "a", "baseline", sweep, func(r *schema.Run) { r.Precision = precision }), location, location, location)
	}
	m.add(variant("s", "a", "other", sweep), 200, 200, 200)
	db := querytest.Open(t, querytest.NewStore(t, m.runs...))
	r := read(t, db, summary.Request{})
	if got, want := comparisons(r), "sweep precision=fp32 1 4"; got != want || !slices.Equal(r.Selection.Sweeps, []string{"s.yaml"}) {
		t.Errorf("comparisons are %s of %v, want %s", got, r.Selection.Sweeps, want)
	}
	if first := r.Points[0]; first.Precision != "fp32" {
		t.Errorf("the first point is of %s, not the baseline", first.Precision)
	}
	if got, want := comparisons(read(t, db, summary.Request{Axis: "variant", Reference: "other"})), "asked variant=other 1 0.5"; got != want {
		t.Errorf("comparisons are %s, want %s", got, want)
	}
	m = made{}
	for bs, location := range map[int64]float64{1: 100, 8: 200} {
		m.add(func(r *schema.Run) {
			r.BatchSize, r.Env.Facts = new(bs), map[string]string{schema.FactBaseline: "batch_size=8"}
		}, location, location, location)
	}
	if got, want := comparisons(report(t, summary.Request{}, m.runs...)), "sweep batch_size=8 1 2"; got != want {
		t.Errorf("comparisons are %s, want %s", got, want)
	}
	m = made{}
	m.add(querytest.On("base", 1), 100, 100, 100)
	m.add(querytest.On("head", 1), 125, 125, 125)
	r = report(t, summary.Request{}, m.runs...)
	if got, want := comparisons(r), "sides side=base 1 0.8"; got != want {
		t.Errorf("comparisons are %s, want %s", got, want)
	}
	checkSums(t, r)
	if w := r.Comparisons[0].Wins; w["base"] != 1 || len(w) != 1 {
		t.Errorf("the fastest are %v", w)
	}
	if c := r.Comparisons[0].Thresholds; c["latency"] != .02 || len(c) != 1 {
		t.Errorf("the thresholds are %v", c)
	}
	if v := r.Comparisons[0].Values; len(v) != 1 || v[0].Name != "head" {
		t.Errorf("the values are %+v", v)
	}
}

// TestHigherIsBetter: if higher values of a metric are better, a higher value is a speedup and ranks first.
func TestHigherIsBetter(t *testing.T) {
	t.Parallel()
	var m made
	rate := func(level float64) func(*schema.Run) {
		return func(r *schema.Run) {
			r.Primary = "throughput"
			r.Metrics = []schema.Metric{querytest.MetricOf("throughput", "1/s", schema.BetterHigher, level)}
		}
	}
	m.add(variant("s", "a", "baseline", rate(100)), 1, 1, 1)
	m.add(variant("s", "a", "fast", rate(300)), 1, 1, 1)
	m.add(variant("s", "a", "slow", rate(50)), 1, 1, 1)
	r := report(t, summary.Request{}, m.runs...)
	a := r.Comparisons[0].All
	near(t, "fastest", r.Pairs[*a.FastestPair].Speedup, 3)
	near(t, "slowest", r.Pairs[*a.SlowestPair].Speedup, .5)
	if b := r.Leaders[0]; len(b.Best) != 3 || b.Best[0].Variant != "fast" || b.Best[2].Variant != "slow" {
		t.Errorf("leaders are %+v", b)
	}
	if w := r.Comparisons[0]; w.Sets != 1 || w.Wins["fast"] != 1 || len(w.Wins) != 1 {
		t.Errorf("the fastest are %v of %d", w.Wins, w.Sets)
	}
}

// TestRows: a point on two machines has a row for each, and is one point.
func TestRows(t *testing.T) {
	t.Parallel()
	var m made
	m.add(nil, 100)
	m.add(func(r *schema.Run) { r.Env.Machine = "lab4" }, 100)
	m.add(func(r *schema.Run) { r.Purpose = schema.PurposeProfile }, 100)
	r := report(t, summary.Request{}, m.runs...)
	checkSums(t, r)
	if c := r.Counts; c.Points != 1 || c.Rows != 2 || c.Profiled != 1 || c.Runs != 3 || len(r.Leaders) != 2 {
		t.Errorf("counts are %+v, and there are %d leaderboards", c, len(r.Leaders))
	}
	if p := r.Points[0]; p.OKRuns != 1 || p.Runs != 2 || p.Profiled != 1 {
		t.Errorf("the point has %+v", p)
	}
}

// TestResources: the resources of points are summed, and the maximum is located.
func TestResources(t *testing.T) {
	t.Parallel()
	var m made
	for batch, memory := range map[int64]float64{1: 10, 2: 30, 4: 20} {
		m.add(func(r *schema.Run) {
			r.BatchSize = new(batch)
			r.Metrics = append(r.Metrics, querytest.MetricOf("peak_memory", "B", schema.BetterLower, memory))
		}, 100)
	}
	r := report(t, summary.Request{}, m.runs...)
	if len(r.Resources) != 1 || *r.Resources[0].At.BatchSize != 2 {
		t.Fatalf("resources are %+v", r.Resources)
	}
	got := r.Resources[0]
	if text := strings.Join([]string{number(got.Lowest), number(got.Median), number(got.Highest)}, " "); text != "10 20 30" || got.Points != 3 {
		t.Errorf("resources are %s", text)
	}
}

// TestOrder: among points that differ only in the compared axis, the baseline is first, whatever its name; other axes are sorted,
// numbers by value.
func TestOrder(t *testing.T) {
	t.Parallel()
	var m made
	for _, mode := range []string{"a", "eager", "zz"} {
		for _, dim := range []string{"128", "64"} {
			m.add(func(r *schema.Run) { r.Params = map[string]string{"a_mode": mode, "dim": dim} }, 100)
		}
	}
	var got []string
	for _, p := range report(t, summary.Request{Axis: "a_mode", Reference: "eager"}, m.runs...).Points {
		got = append(got, p.Params["dim"]+p.Params["a_mode"])
	}
	if want := "64eager 64a 64zz 128eager 128a 128zz"; strings.Join(got, " ") != want {
		t.Errorf("the order is %v, want %s", got, want)
	}
}

// TestCausesAlike: failures whose errors differ only in amounts, or in the process that failed, have one cause, with the number of points.
func TestCausesAlike(t *testing.T) {
	var m made
	for _, run := range []struct{ variant, stage, text string }{
		{"a", "measure", "wrote 1200 B"},
		{"a", "measure", "wrote 99 B"},
		{"b", "measure", "wrote 98 B"},
		{"c", "warmup", "process 1 of warmup: exit status 1"},
		{"c", "measure", "process 2 of measure: exit status 1"},
		{"d", "measure", "exit status 2"},
	} {
		m.add(variant("s", "a", run.variant, func(r *schema.Run) {
			querytest.Ended(schema.StatusError)(r)
			r.Stage, r.Error = schema.Stage(run.stage), run.text
		}), 1)
	}
	var got []string
	for _, c := range report(t, summary.Request{}, m.runs...).Failures[0].Causes {
		got = append(got, fmt.Sprintf("%d of %d, %s: %s %s", c.Runs, c.Points, c.Example.Variant, c.Stage, c.Error))
	}
	valuetest.DeepEqual(t, got, []string{"3 of 2, a: measure wrote 1200 B", "2 of 1, c:  exit status 1", "1 of 1, d: measure exit status 2"}, "causes")
}
