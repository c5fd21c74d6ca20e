package history

import (
	"context"

	"github.com/neurolens/neurolens/query"
)

// ReadInParts is Read with the method for very many runs: a few of them are read at a time.
func ReadInParts(ctx context.Context, db *query.DB, req Request, runs int) (History, error) {
	return read(ctx, db, req, runs)
}
