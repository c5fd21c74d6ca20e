package compare_test

import (
	"context"
	"math"
	"testing"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/schema"
)

// TestMeansAlone: a metric for which another tool's file has a mean but no median is listed, grouped and compared by the mean.
func TestMeansAlone(t *testing.T) {
	t.Parallel()
	n := 0
	mean := func(variant string, ns float64) func(*schema.Run) {
		return querytest.Of(1, func(r *schema.Run) {
			r.Variant, r.Warnings = variant, []string{"mean"}
			r.Metrics = []schema.Metric{{Name: "latency", Unit: "ns", Better: schema.BetterLower, Summary: schema.Summary{Mean: &ns}}}
		})
	}
	runs := append(querytest.RunsOf(&n, 1, mean("a", 1000), 1), querytest.RunsOf(&n, 1, mean("b", 1500), 1)...)
	db := querytest.SealedRuns(t, runs)
	got := mustCompare(t, db, compare.Request{Base: "variant=a", Head: "variant=b"})
	if change := realOf(t, got, 0, "change"); math.Abs(change-.5) > 1e-9 {
		t.Errorf("change %g, want 0.5", change)
	}
	if flags := cellOf(got, 0, "flags"); flags != "[few_runs order mean]" {
		t.Errorf("flags %s", flags)
	}
	groups, err := db.Groups(context.Background(), query.GroupRequest{By: []string{"variant"}})
	if err != nil {
		t.Fatal(err)
	}
	if all := groups.Groups; *all[0].Median != 1000 || *all[1].Median != 1500 {
		t.Errorf("groups %v", all)
	}
}
