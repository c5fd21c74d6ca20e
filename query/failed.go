package query

import (
	"context"

	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/schema"
)

// NewestPoint is a point with its newest matching run.
type NewestPoint struct {
	Run     schema.Run // what names it, the facts about it, and why it failed
	Runs    int        // how many match
	Against string     // as in Related
}

// MaxFailed is how many runs NewestOfPoints and Failed count: the newest.
const MaxFailed = 100

// Failed returns the points of which matching runs failed, as NewestOfPoints does.
func (db *DB) Failed(ctx context.Context, req ListRequest) (points []NewestPoint, more bool, err error) {
	req.Filter = filter.JoinArguments(req.Filter, "status="+filter.Failed)
	return db.NewestOfPoints(ctx, req)
}

// NewestOfPoints returns the points of matching runs, the newest run first. Of more than MaxFailed runs the newest count, and more is true.
func (db *DB) NewestOfPoints(ctx context.Context, req ListRequest) (points []NewestPoint, more bool, err error) {
	req = ListRequest{Filter: req.Filter, Since: req.Since, Until: req.Until, Limit: MaxFailed + 1}
	runs, err := db.Runs(ctx, req, "run_id", "session_id", "source", "executor", "suite", "side", "benchmark", "variant", "backend", "model", "precision", "batch_size", "seq_len",
		"params", "point_id", "repeat_index", "machine", "status", "stage", "error_kind", "error", "env")
	if err != nil {
		return nil, false, err
	}
	place, commits := map[[3]string]int{}, map[string]string{}
	for i := range runs[:min(len(runs), MaxFailed)] {
		r := &runs[i]
		of := [3]string{r.PointID, r.Side, r.Env.Machine}
		at, known := place[of]
		if !known {
			commit, known := commits[r.SessionID]
			if !known {
				if commit, err = db.baseCommit(ctx, r); err != nil {
					return nil, false, err
				}
				commits[r.SessionID] = commit
			}
			at = len(points)
			place[of], points = at, append(points, NewestPoint{*r, 0, commit})
		}
		points[at].Runs++
	}
	return points, len(runs) > MaxFailed, nil
}
