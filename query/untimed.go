package query

import (
	"context"
	"slices"

	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// untimed reports whether the run of an id has no start.
func untimed(id schema.ULID) bool { return id.Time().UnixMilli() == 0 }

// orderUntimed sorts the runs without a start, which come after all others. With a limit, it may replace the listed ones by others. It
// reads nothing if there is no such run.
func (l *runLister) orderUntimed(ctx context.Context, r *scan.Reader, found *scan.Chosen) error {
	timed := slices.IndexFunc(found.IDs, untimed)
	if timed < 0 {
		return nil
	}
	sel, err := r.Selected(ctx, l.question)
	if err != nil {
		return err
	}
	limit := 0
	if l.req.Limit > 0 {
		limit = l.req.Limit - timed
	}
	last, err := r.Untimed(ctx, sel, limit)
	found.IDs = append(found.IDs[:timed], last...)
	l.only = nil
	return err
}
