package query

import "context"

// HistoryInParts is History as it is done where there are very many runs: a few of them are read at a time.
func (db *DB) HistoryInParts(ctx context.Context, req HistoryRequest, runs int) (History, error) {
	return db.history(ctx, req, runs)
}
