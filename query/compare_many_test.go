package query

import "context"

// CompareAsMany is Compare as it is done where there are very many runs.
func (db *DB) CompareAsMany(ctx context.Context, req CompareRequest) (Comparison, error) {
	return db.compare(ctx, &comparing{req: req, many: 0})
}
