package query

import (
	"context"

	"github.com/neurolens/neurolens/query/internal/scan"
)

// CountSessions returns the number of sessions of the runs that match a filter. Sessions that continue one another count as one, so that
// session=last, which selects what the newest session counts, is one session.
func (db *DB) CountSessions(ctx context.Context, filter string) (n int, err error) {
	err = db.stores.Query(ctx, func(r *scan.Reader) error {
		sel, err := r.Selected(ctx, scan.Question{Filter: filter})
		if err != nil {
			return err
		}
		n, err = r.CountSessions(ctx, sel)
		return err
	})
	return n, err
}
