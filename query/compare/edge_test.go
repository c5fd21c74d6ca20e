package compare_test

import (
	"context"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/schema"
)

// TestCompareNoSession: runs without a session have no session in common.
func TestCompareNoSession(t *testing.T) {
	t.Parallel()
	n := 0
	in := func(side, session string) func(*schema.Run) {
		return querytest.Of(1, func(r *schema.Run) { r.Side, r.SessionID = side, session })
	}
	for _, c := range []struct{ what, base, head string }{
		{"none at all", "", ""}, {"one side alone", "", querytest.SessionID(1)}, {"the other", querytest.SessionID(1), ""},
	} {
		runs := slices.Concat(querytest.RunsOf(&n, 1, in("base", c.base), wobble(1000)...), querytest.RunsOf(&n, 1, in("head", c.head), wobble(1500)...))
		got := mustCompare(t, querytest.SealedRuns(t, runs), compare.Request{Base: "benchmark=tiny_linear"})
		if v := cellOf(got, 0, "verdict"); v != "inconclusive" {
			t.Errorf("%s: %s", c.what, v)
		}
	}
	mixed := slices.Concat(querytest.RunsOf(&n, 1, in("base", ""), wobble(1000)...), querytest.RunsOf(&n, 1, in("base", querytest.SessionID(1)), wobble(1000)...),
		querytest.RunsOf(&n, 1, in("head", querytest.SessionID(1)), wobble(1500)...))
	if got := mustCompare(t, querytest.SealedRuns(t, mixed), compare.Request{Base: "benchmark=tiny_linear"}); cellOf(got, 0, "verdict") != "inconclusive" {
		t.Errorf("partly of a session: %s", cellOf(got, 0, "verdict"))
	}
}

// TestCompareMixedMetrics: a limit applies to each metric, also if metrics alternate.
func TestCompareMixedMetrics(t *testing.T) {
	t.Parallel()
	n := 0
	var runs []schema.Run
	for batch := range int64(6) {
		for _, side := range []string{"base", "head"} {
			runs = append(runs, querytest.RunsOf(&n, 1, querytest.Of(batch+1, func(r *schema.Run) {
				r.Side = side
				if batch%2 == 1 {
					r.Metrics, r.Primary = []schema.Metric{querytest.RealMetric("ttft", "ns", r.Metrics[0].Reals...)}, "ttft"
				}
			}), wobble(1000)...)...)
		}
	}
	got := mustCompare(t, querytest.SealedRuns(t, runs), compare.Request{Base: "session=last", Limit: 2})
	if len(got.Rows) != 4 || len(got.Points) != 6 {
		t.Errorf("%d rows of %d points, want 2 of each metric of 6", len(got.Rows), len(got.Points))
	}
}

// TestCompareAxis: only what points differ in is an axis.
func TestCompareAxis(t *testing.T) {
	t.Parallel()
	n := 0
	db := querytest.SealedRuns(t, slices.Concat(querytest.RunsOf(&n, 1, querytest.Of(1, func(r *schema.Run) { r.Suite = "a" }), wobble(1000)...),
		querytest.RunsOf(&n, 1, querytest.Of(1, func(r *schema.Run) { r.Suite = "b" }), wobble(1000)...)))
	for _, axis := range []string{"suite", "tag.who", "session", "run", "env.governor", "status", "p50"} {
		_, err := compare.Compare(context.Background(), db, compare.Request{Base: "session=last", Axis: axis, Reference: "a"})
		querytest.WantInput(t, err, "compare: "+axis+" is not an axis: want a parameter, or one of benchmark, variant, ")
	}
	_, err := compare.Compare(context.Background(), db, compare.Request{Base: "session=last", Axis: "tile", Reference: "null"})
	querytest.WantInput(t, err, "")
}
