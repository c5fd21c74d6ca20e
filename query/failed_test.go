package query_test

import (
	"fmt"
	"testing"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestFailed: the points of the newest failed runs, with how many of their runs failed, and whether there are older ones.
func TestFailed(t *testing.T) {
	t.Parallel()
	runOf := func(n int, status schema.Status) schema.Run {
		return querytest.NewRun(n, 1000, func(r *schema.Run) {
			r.BatchSize, r.Params = nil, map[string]string{"fourth": fmt.Sprint(n%4 == 0)}
			if status != schema.StatusOK {
				querytest.Ended(status)(r)
			}
		})
	}
	var runs []schema.Run
	for n := range query.MaxFailed {
		runs = append(runs, runOf(n, schema.StatusError))
	}
	runs = append(runs, runOf(query.MaxFailed, schema.StatusOK), runOf(query.MaxFailed+1, schema.StatusTimeout))
	for older, want := range map[bool]string{false: "[75 25]", true: "[76 24]"} {
		some := runs
		if !older {
			some = runs[:query.MaxFailed+1]
		}
		points, more, err := querytest.SealedRuns(t, some).Failed(t.Context(), query.ListRequest{})
		valuetest.OK(t, err)
		var counts []int
		for _, p := range points {
			counts = append(counts, p.Runs)
		}
		valuetest.Equal(t, fmt.Sprint(counts), want, "failed runs of each point")
		valuetest.Equal(t, more, older, "older failed runs")
		valuetest.Equal(t, points[0].Run.Status == schema.StatusTimeout, older, "the newest run is first")
	}
}
