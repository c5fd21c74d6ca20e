package query

import (
	"context"
	"database/sql/driver"
	"time"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
)

// ArtifactsKeptSince returns the artifacts, by hash, of the runs that started at a time or later, and of runs without a start. Removed runs
// count, because they may be restored. A store that cannot be read completely is an error, because its runs may need any artifact.
func ArtifactsKeptSince(ctx context.Context, db *DB, since time.Time) (map[string]bool, error) {
	columns, err := scan.RunColumns([]string{"artifacts", "started_at"})
	if err != nil {
		return nil, err
	}
	kept := map[string]bool{}
	err = db.Stores().WithRemoved().Query(ctx, func(r *scan.Reader) error {
		clear(kept)
		for _, part := range r.Src.Parts() {
			text := "SELECT DISTINCT a.sha256 FROM (SELECT unnest(artifacts) AS a, started_at FROM " + part.Scan(columns, "") + ") " +
				"WHERE a.sha256 IS NOT NULL AND (started_at IS NULL OR started_at >= $1::TIMESTAMPTZ)"
			err := r.Conn.Query(ctx, duck.Statement{SQL: text, Args: []any{since}}, func(row []driver.Value) error {
				if hash, ok := row[0].(string); ok {
					kept[hash] = true
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return kept, err
}
