package query

import (
	"context"

	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/schema"
)

// FailedPoint is a point with failed runs.
type FailedPoint struct {
	Run     schema.Run // the newest failed one: what names it, the facts about it, and why it failed
	Runs    int        // how many failed
	Against string     // as in Related
}

// maxFailed is how many failed runs Failed reads: the newest.
const maxFailed = 1000

// Failed returns the points of which matching runs failed, the newest run first. At most 1,000 failed runs count.
func (db *DB) Failed(ctx context.Context, req ListRequest) ([]FailedPoint, error) {
	req = ListRequest{Filter: filter.JoinArguments(req.Filter, "status="+filter.Failed), Since: req.Since, Until: req.Until, Limit: maxFailed}
	runs, err := db.Runs(ctx, req, "run_id", "session_id", "source", "executor", "suite", "side", "benchmark", "variant", "backend", "model", "precision", "batch_size", "seq_len",
		"params", "point_id", "machine", "status", "stage", "error_kind", "error", "env")
	if err != nil {
		return nil, err
	}
	var points []FailedPoint
	place := map[[3]string]int{}
	for i := range runs {
		r := &runs[i]
		of := [3]string{r.PointID, r.Side, r.Env.Machine}
		at, known := place[of]
		if !known {
			at = len(points)
			place[of], points = at, append(points, FailedPoint{Run: *r})
			if points[at].Against, err = db.baseCommit(ctx, r); err != nil {
				return nil, err
			}
		}
		points[at].Runs++
	}
	return points, nil
}
