package query_test

import (
	"context"
	"testing"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/schema"
)

// TestGroupsOfMetric: groups and the best point use the requested metric, in its direction; a failed run, and one
// without the metric, give no number.
func TestGroupsOfMetric(t *testing.T) {
	t.Parallel()
	run := func(i int, status schema.Status, accuracy ...float64) schema.Run {
		return querytest.NewRun(i, 1000, func(r *schema.Run) {
			r.Variant, r.Params, r.BatchSize, r.Status = "v", nil, new(int64(1+i)), status
			if accuracy != nil {
				r.Metrics = append(r.Metrics, schema.Metric{Name: "accuracy", Unit: "ratio", Better: schema.BetterHigher, Reals: accuracy})
			}
			if status != schema.StatusOK {
				r.Stage, r.ErrorKind, r.Error = schema.StageMeasure, "raise", "it failed"
			}
		})
	}
	runs := []schema.Run{run(0, schema.StatusOK, .5, .6, .7), run(1, schema.StatusOK, .9), run(2, schema.StatusError, 1), run(3, schema.StatusOK)}
	for name, db := range map[string]*query.DB{"live": querytest.Open(t, querytest.NewStore(t, runs...)), "sealed": querytest.SealedRuns(t, runs)} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			g, err := db.Groups(ctx, query.GroupRequest{By: []string{"variant"}, Metric: "accuracy"})
			if err != nil || len(g.Groups) != 1 || *g.Groups[0].Lowest != .6 || *g.Groups[0].Highest != .9 || g.Groups[0].OKRuns != 3 || g.Same.Metric != "accuracy" {
				t.Errorf("%+v, %v", g, err)
			}
			g, err = db.Groups(ctx, query.GroupRequest{Best: true, Metric: "accuracy"})
			if err != nil || g.Groups[0].Best == nil || *g.Groups[0].Best.BatchSize != 2 || *g.Groups[0].Median != .9 || g.Groups[0].Better != "higher" {
				t.Errorf("%+v, %v", g, err)
			}
			_, err = db.Groups(ctx, query.GroupRequest{Best: true, Metric: "acuracy"})
			querytest.WantInput(t, err, `ls: no run has the metric "acuracy"; did you mean accuracy?`)
		})
	}
}
