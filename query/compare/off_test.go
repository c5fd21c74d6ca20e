package compare_test

import (
	"context"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/schema"
)

// offRuns are a point that neither side supports, and one that is as fast on both.
func offRuns() (runs []schema.Run) {
	n := 0
	for _, side := range []string{"base", "head"} {
		runs = append(runs, querytest.RunsOf(&n, 1, func(r *schema.Run) {
			r.Side, r.BatchSize = side, new(int64(1))
			querytest.Ended(schema.StatusUnsupported)(r)
		}, 100, 100, 100)...)
		runs = append(runs, querytest.RunsOf(&n, 1, querytest.On(side, 2), 100, 100, 100)...)
	}
	return runs
}

// TestNeitherSupports: nothing changed at a point that neither side supports, so all others come before it.
func TestNeitherSupports(t *testing.T) {
	t.Parallel()
	db := querytest.Open(t, querytest.NewStore(t, offRuns()...))
	c := mustCompare(t, db, compare.Request{Base: "side=base", Head: "side=head", Worst: compare.Verdicts})
	if first := compare.WorstOf(c.Rows, compare.Verdicts); *c.Rows[0].Identity.BatchSize != 2 || *first.Identity.BatchSize != 2 {
		t.Errorf("the first row is of batch size %d, the worst of %d", *c.Rows[0].Identity.BatchSize, *first.Identity.BatchSize)
	}
	if last := c.Rows[len(c.Rows)-1].Point; last.Verdict != compare.Unsupported || !last.NeitherSupports() {
		t.Errorf("the last row is %s", last.Verdict)
	}
}

// TestUnsupportedHasItsMetric: of several metrics that were asked for, each counts the points without any.
func TestUnsupportedHasItsMetric(t *testing.T) {
	t.Parallel()
	db := querytest.Open(t, querytest.NewStore(t, offRuns()...))
	c := mustCompare(t, db, compare.Request{Base: "side=base", Head: "side=head", Metrics: []string{"latency"}})
	for _, p := range c.Points {
		if p.Metric != "latency" {
			t.Errorf("a point is %s in %q", p.Verdict, p.Metric)
		}
	}
}

// TestPointsWithoutValues: a point that was skipped on the only side that has it has no value of any metric that was asked for.
func TestPointsWithoutValues(t *testing.T) {
	t.Parallel()
	for _, side := range []string{"base", "head"} {
		runs := slices.DeleteFunc(offRuns(), func(r schema.Run) bool { return *r.BatchSize == 1 && r.Side == side })
		db := querytest.Open(t, querytest.NewStore(t, runs...))
		c := mustCompare(t, db, compare.Request{Base: "side=base", Head: "side=head", Metrics: []string{"latency"}})
		if len(c.Points) != 2 {
			t.Fatalf("%d points, want 2", len(c.Points))
		}
		for _, p := range c.Points {
			if none := p.Verdict == compare.Missing || p.Verdict == compare.Added; p.NoValue != none || none != (p.Better == "") {
				t.Errorf("%s: no value: %v, better: %q", p.Verdict, p.NoValue, p.Better)
			}
		}
	}
}

// TestProfilesAreNotCompared: the error of a selection of profiles names them, and does not deny that the runs exist.
func TestProfilesAreNotCompared(t *testing.T) {
	t.Parallel()
	runs := offRuns()
	for i := range runs {
		runs[i].Purpose = schema.PurposeProfile
	}
	db := querytest.Open(t, querytest.NewStore(t, runs...))
	_, err := compare.Compare(context.Background(), db, compare.Request{Base: "bs=1", Head: "bs=2"})
	querytest.WantInput(t, err, "compare: bs=1 matches only runs under a profiler, which are not compared: `neurolens ls --like RUN`")
}
