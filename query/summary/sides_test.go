package summary_test

import (
	"context"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// twoSessions has two sessions of a suite, of different commits: gemm took twice as long in the second one, conv did not change, gone is in
// the first one alone, and new in the second.
func twoSessions(t *testing.T) *query.DB {
	t.Helper()
	n := 0
	var runs []schema.Run
	for session, commit := range []string{"aaaaaaa", "bbbbbbb"} {
		add := func(benchmark string, location float64) {
			edit := variant("one", benchmark, "", func(r *schema.Run) { r.Env.GitCommit, r.Env.GitDirty = commit, new(session == 0) })
			runs = append(runs, querytest.RunsOf(&n, session+1, edit, location, location+1, location-1, location+2)...)
		}
		add("gemm", []float64{1000, 2000}[session])
		add("conv", 500)
		add([]string{"gone", "new"}[session], 10)
	}
	return querytest.Open(t, querytest.NewStore(t, runs...))
}

// TestTwoSelections: a report of two selections has the points of both with their sides, the pairs and verdicts of compare, points that one
// side lacks, and the differences between the sides.
func TestTwoSelections(t *testing.T) {
	db := twoSessions(t)
	base, head := "session="+querytest.SessionID(1), "session="+querytest.SessionID(2)
	r := read(t, db, summary.Request{Base: base, Filter: head})
	checkSums(t, r)
	var sides []string
	for i := range r.Points {
		p := &r.Points[i]
		sides = append(sides, string(p.Benchmark+" "+p.Side))
	}
	if want := []string{"conv base", "conv head", "gemm base", "gemm head", "gone base", "new head"}; !slices.Equal(sides, want) {
		t.Errorf("points are %q, want %q", sides, want)
	}
	if r.Counts.Runs != 24 || r.Counts.Points != 4 || r.Selection.Sessions != 2 || string(r.Selection.Base) != base || string(r.Selection.Head) != head {
		t.Errorf("counts are %+v, the selection is %+v", r.Counts, r.Selection)
	}
	want := valuetest.Must(compare.Compare(context.Background(), db, compare.Request{Base: base, Head: head}))
	if len(r.Comparisons) != 1 || len(r.Pairs) != len(want.Rows) || len(r.Pairs) != 4 {
		t.Fatalf("%d comparisons, %d pairs, compare has %d rows", len(r.Comparisons), len(r.Pairs), len(want.Rows))
	}
	for i := range r.Pairs {
		p := &r.Pairs[i]
		at := slices.IndexFunc(want.Rows, func(row compare.Row) bool { return row.Identity.Benchmark == string(p.Benchmark) })
		row := &want.Rows[at]
		if string(row.Verdict) != p.Verdict || p.Side != "head" || p.PointID == "" || row.Base != nil && row.Base.Value != nil && *p.Base != answer.Computed(*row.Base.Value) {
			t.Errorf("%s is %s with base %v, compare says %s", p.Benchmark, p.Verdict, p.Base, row.Verdict)
		}
		if p.Benchmark == "gemm" && (p.Speedup == nil || *p.Speedup > .51 || *p.Speedup < .49) {
			t.Errorf("the speed-up of gemm is %v", p.Speedup)
		}
	}
	c := &r.Comparisons[0]
	at := slices.IndexFunc(c.Differs, func(d summary.Difference) bool { return d.Name == "git_commit" })
	if c.From != summary.FromSelections || at < 0 || !slices.Equal(c.Differs[at].Base, []string{"aaaaaaa"}) || !slices.Equal(c.Differs[at].Head, []string{"bbbbbbb"}) || c.Verdicts["missing"] != 1 || c.Verdicts["added"] != 1 {
		t.Errorf("the comparison is %+v", c)
	}
}

// TestTwoSelectionsByAxis: an axis that is constant on each side but differs between them does not keep points apart, as in a comparison.
func TestTwoSelectionsByAxis(t *testing.T) {
	r := read(t, store(t), summary.Request{Base: "variant=baseline suite=one", Filter: "variant=fast"})
	if len(r.Points) != 2 || len(r.Pairs) != 1 || r.Pairs[0].Speedup == nil || r.Pairs[0].BaseID == r.Pairs[0].PointID || len(r.Comparisons) != 1 {
		t.Errorf("%d points, pairs %+v", len(r.Points), r.Pairs)
	}
}

// TestTwoSelectionsOfSides: a session with two sides stands for its newer side, as for compare.
func TestTwoSelectionsOfSides(t *testing.T) {
	n := 0
	runs := querytest.RunsOf(&n, 1, variant("one", "gemm", ""), 100, 101, 102)
	for _, side := range []string{"base", "head"} {
		runs = append(runs, querytest.RunsOf(&n, 2, variant("one", "gemm", "", func(r *schema.Run) { r.Side = side }), 300, 301, 302)...)
	}
	db := querytest.Open(t, querytest.NewStore(t, runs...))
	r := read(t, db, summary.Request{Base: "session=" + querytest.SessionID(1), Filter: "session=" + querytest.SessionID(2)})
	if len(r.Points) != 2 || r.Points[1].Side != "head" || r.Points[1].Runs != 3 || r.Pairs[0].Runs != 3 {
		t.Errorf("points %+v, pairs %+v", r.Points, r.Pairs)
	}
}

// TestTwoSelectionsRefused: selections with a common run, or without a common point, are refused with the messages of compare.
func TestTwoSelectionsRefused(t *testing.T) {
	db := twoSessions(t)
	for says, req := range map[string]summary.Request{
		"match both BASE and HEAD":       {Base: "benchmark=gemm", Filter: "session=" + querytest.SessionID(2)},
		"report: suite=x matches no run": {Base: "suite=x", Filter: "benchmark=gemm"},
	} {
		_, _, err := summary.Read(context.Background(), db, req)
		querytest.WantInput(t, err, says)
	}
}

// TestPairOfMeans: a pair whose runs are compared by their means says so, and its values are these means.
func TestPairOfMeans(t *testing.T) {
	t.Parallel()
	n := 0
	side := func(name string, level schema.Level) func(*schema.Run) {
		return func(r *schema.Run) {
			m := &r.Metrics[0]
			r.Side, m.Level, m.Reals = name, level, []float64{m.Reals[0], m.Reals[0], 4 * m.Reals[0]}
			m.Summary = stat.Summarize(m.Reals)
		}
	}
	db := querytest.Open(t, querytest.NewStore(t, slices.Concat(
		querytest.RunsOf(&n, 1, side("base", schema.LevelIteration), 100_000, 100_400, 99_700, 100_200, 99_500, 100_100),
		querytest.RunsOf(&n, 1, side("head", schema.LevelMean), 1000, 1004, 997, 1002, 995, 1001))...))
	p := read(t, db, summary.Request{Filter: "session=" + querytest.SessionID(1)}).Pairs[0]
	valuetest.Equal(t, p.Estimator, summary.Text("run_means"))
	if *p.Base < 199_000 || *p.Base > 201_000 {
		t.Errorf("the base is %g, its mean is 2e5", *p.Base)
	}
}
