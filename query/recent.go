package query

import (
	"context"

	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// Recent returns the n runs that started last, newest first, with the given columns, as Runs does. It only opens files that may have
// these runs, so its time does not depend on the size of the store.
func (db *DB) Recent(ctx context.Context, n int, columns ...string) ([]schema.Run, error) {
	var runs []schema.Run
	err := db.pages(ctx, lister{req: ListRequest{Limit: n}}, columns, func(p part) error {
		rows := scan.NewStoredRows(schema.Runs, p.columns)
		for _, row := range p.Rows {
			runs = append(runs, rows.Run(row))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return runs, nil
}
