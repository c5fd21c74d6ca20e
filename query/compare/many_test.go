package compare

import (
	"context"

	"github.com/neurolens/neurolens/query"
)

// CompareAsMany is Compare with the method for very many runs.
func CompareAsMany(ctx context.Context, db *query.DB, req Request) (Comparison, error) {
	return compare(ctx, db, req, 0)
}
