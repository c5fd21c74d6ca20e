package summary_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// variant gives an edit of runs of a variant of a benchmark of a suite.
func variant(suite, benchmark, name string, more ...func(*schema.Run)) func(*schema.Run) {
	return func(r *schema.Run) {
		r.Suite, r.Benchmark, r.Variant = suite, benchmark, name
		for _, edit := range more {
			edit(r)
		}
	}
}

// store has two suites: in the first variant fast is twice as fast as its baseline, slow takes four times as long, broken fails, and
// wrong is the fastest with a wrong result; the second is of another machine and of two runs.
func store(t *testing.T) *query.DB {
	t.Helper()
	n := 0
	var runs []schema.Run
	add := func(edit func(*schema.Run), locations ...float64) {
		runs = append(runs, querytest.RunsOf(&n, 1, edit, locations...)...)
	}
	wrong := func(r *schema.Run) {
		r.Status, r.Stage, r.ErrorKind, r.Error = schema.StatusError, schema.StageValidate, schema.KindOutput, "max error 3"
	}
	memory := func(r *schema.Run) {
		m := querytest.MetricOf("peak_memory", "B", schema.BetterLower, 1<<20)
		r.Metrics = append(r.Metrics, m)
	}
	add(variant("one", "gemm", "baseline", memory), 1000, 1002, 998, 1001)
	add(variant("one", "gemm", "fast", memory), 500, 501, 499, 500)
	add(variant("one", "gemm", "slow"), 4000, 4000, 4000, 4000)
	add(variant("one", "gemm", "broken", querytest.Ended(schema.StatusTimeout)), 1, 1)
	add(variant("one", "gemm", "wrong", wrong), 1, 1)
	add(variant("two", "conv", "baseline", func(r *schema.Run) { r.Env.Machine = "lab4" }), 10, 11)
	add(variant("two", "conv", "skipped", querytest.Ended(schema.StatusSkipped)), 1)
	return querytest.Open(t, querytest.NewStore(t, runs...))
}

// read makes a report.
func read(t *testing.T, db *query.DB, req summary.Request) *summary.Report {
	t.Helper()
	r, _, err := summary.Read(context.Background(), db, req)
	if err != nil {
		t.Fatalf("%+v: %v", req, err)
	}
	return r
}

// checkSums checks that the counts of runs and rows add up, group by group and point by point.
func checkSums(t *testing.T, r *summary.Report) {
	t.Helper()
	sum := func(counts map[string]int) (n int) {
		for _, v := range counts {
			n += v
		}
		return n
	}
	c := &r.Counts
	if sum(c.ByStatus) != c.Runs || c.Measured+c.Profiled != c.Runs || c.OKPoints+c.BadPoints+c.OffPoints != c.Rows || len(r.Points) != c.Rows {
		t.Errorf("counts do not add up: %+v, %d points", c, len(r.Points))
	}
	runs, rows, notOK := 0, 0, 0
	for _, g := range r.Groups {
		if sum(g.ByStatus) != g.Runs {
			t.Errorf("group %s: %v are not %d runs", g.Name, g.ByStatus, g.Runs)
		}
		for _, p := range r.Points[rows : rows+g.Rows] {
			if p.Group != g.Name {
				t.Errorf("a point of %s is in %s", p.Group, g.Name)
			}
		}
		runs, rows = runs+g.Runs, rows+g.Rows
	}
	for i := range r.Points {
		if p := &r.Points[i]; sum(p.ByStatus) != p.Runs {
			t.Errorf("%s: %v are not %d runs", p.Variant, p.ByStatus, p.Runs)
		}
	}
	for _, f := range r.Failures {
		notOK += f.Runs
	}
	if runs != c.Runs || rows != c.Rows || notOK != c.Runs-c.ByStatus["ok"] {
		t.Errorf("groups have %d runs and %d rows, failures %d runs: counts are %+v", runs, rows, notOK, c)
	}
	for _, fact := range r.Environment {
		n := fact.Unknown
		for _, v := range fact.Values {
			n += v.Runs
		}
		if n != c.Runs {
			t.Errorf("%s is counted of %d runs of %d", fact.Name, n, c.Runs)
		}
	}
	for i, cmp := range r.Comparisons {
		pairs := 0
		for _, p := range r.Pairs {
			if p.Comparison == i {
				pairs++
			}
		}
		if pairs != cmp.All.Pairs || sum(cmp.Verdicts) != pairs {
			t.Errorf("%s: %d pairs, %+v, verdicts %v", cmp.Axis, pairs, cmp.All, cmp.Verdicts)
		}
		for _, part := range [][]summary.NamedRatios{cmp.Groups, cmp.Benchmarks, cmp.Values} {
			compared, slower := 0, 0
			for _, named := range part {
				compared, slower = compared+named.Compared, slower+named.Slower
			}
			if compared != cmp.All.Compared || slower != cmp.All.Slower {
				t.Errorf("parts have %d compared and %d slower pairs, all %+v", compared, slower, cmp.All)
			}
		}
	}
}

// TestCounts: each run is counted once, and all counts add up; those of the store are the same.
func TestCounts(t *testing.T) {
	t.Parallel()
	r := read(t, store(t), summary.Request{})
	checkSums(t, r)
	if got, want := fmt.Sprintf("%d %v %d %d", r.Counts.Runs, r.Counts.ByStatus, r.Counts.Points, r.Counts.Wrong), "19 map[error:2 ok:14 skipped:1 timeout:2] 7 2"; got != want {
		t.Errorf("counts are %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(r.Counts.OKPoints, r.Counts.BadPoints, r.Counts.OffPoints), "4 2 1"; got != want {
		t.Errorf("points are %s, want %s", got, want)
	}
}

// TestSpeedups: slower variants count, failed and wrong ones are in no mean, and the geometric mean is that of
// compare.
func TestSpeedups(t *testing.T) {
	t.Parallel()
	db := store(t)
	r := read(t, db, summary.Request{Filter: "suite=one"})
	checkSums(t, r)
	if len(r.Comparisons) != 1 || r.Comparisons[0].Axis != "variant" || r.Comparisons[0].Baseline != "baseline" || r.Comparisons[0].From != summary.FromVariant {
		t.Fatalf("comparisons are %+v", r.Comparisons)
	}
	a := r.Comparisons[0].All
	if a.Pairs != 4 || a.Compared != 2 || a.Slower != 1 || a.Faster != 1 {
		t.Errorf("pairs are %+v", a)
	}
	near(t, "fastest", r.Pairs[*a.FastestPair].Speedup, 2)
	near(t, "geometric mean", a.GeometricMean, math.Sqrt(.5))
	near(t, "slowest", r.Pairs[*a.SlowestPair].Speedup, .25)
	c := valuetest.Must(compare.Compare(context.Background(), db, compare.Request{Base: "suite=one", Axis: "variant", Reference: "baseline"}))
	mean, points, _, _ := c.GeometricMean("latency")
	if points != a.Compared || math.Abs(1/(1+mean)-*a.GeometricMean) > 1e-9 {
		t.Errorf("compare has a geometric mean of %g over %d points, the report %g over %d", 1/(1+mean), points, *a.GeometricMean, a.Compared)
	}
}

// near checks a number that is known to about a percent.
func near(t *testing.T, name string, got *float64, want float64) {
	t.Helper()
	if got == nil || math.Abs(*got/want-1) > .01 {
		t.Errorf("%s is %v, want about %g", name, got, want)
	}
}

// TestLeaders: points of different machines are not ranked against one another, and a wrong result never ranks first.
func TestLeaders(t *testing.T) {
	t.Parallel()
	r := read(t, store(t), summary.Request{})
	got := ""
	for _, b := range r.Leaders {
		got += fmt.Sprintf("%s:", b.Machine)
		for _, l := range b.Best {
			got += fmt.Sprintf(" %d %s", l.Rank, l.Variant)
		}
		got += "\n"
	}
	if want := "lab3: 1 fast 2 baseline 3 slow\nlab4: 1 baseline\n"; got != want {
		t.Errorf("leaders are\n%swant\n%s", got, want)
	}
}

// TestPointsInSeveralGroups: a point in several groups is compared within each of them, and counts in each.
func TestPointsInSeveralGroups(t *testing.T) {
	n := 0
	var runs []schema.Run
	for i, suite := range []string{"A", "B", ""} {
		for name, location := range map[string]float64{"baseline": 1000, "fast": []float64{500, 2000, 250}[i]} {
			runs = append(runs, querytest.RunsOf(&n, i+1, variant(suite, "gemm", name), location, location+1, location-1)...)
		}
	}
	r := read(t, querytest.Open(t, querytest.NewStore(t, runs...)), summary.Request{})
	if len(r.Comparisons) != 1 || r.Comparisons[0].All.Pairs != 3 || r.Comparisons[0].All.Slower != 1 {
		t.Fatalf("%+v", r.Comparisons)
	}
	for i, want := range []struct {
		group   string
		speedup float64
	}{{"A", 2}, {"B", .5}, {"", 4}} {
		p := r.Pairs[i]
		if string(p.Group) != want.group || p.BaseRuns != 3 || p.Runs != 3 {
			t.Errorf("%+v, want group %q", p, want.group)
		}
		near(t, want.group, p.Speedup, want.speedup)
	}
	checkSums(t, r)
}
