package history

import (
	"context"

	"github.com/neurolens/neurolens/query"
)

// ReadInParts is Read as it is done where there are very many runs: a few of them are read at a time.
func ReadInParts(ctx context.Context, db *query.DB, req Request, runs int) (History, error) {
	return read(ctx, db, req, runs)
}
