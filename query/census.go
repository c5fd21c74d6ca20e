package query

import (
	"context"
	"database/sql/driver"
	"slices"
	"time"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// Census describes the content of the stores, without removed runs.
type Census struct {
	Runs     int64
	Machines int64 // number of different names
	Samples  int64 // of the primary metrics
	Events   int64 // different ones, whether they are in files or in packs alone

	// Oldest is the start of the oldest run whose start is known. It is read if a sealed file has a run without a start, because then
	// the name of the file does not determine when its other runs began; otherwise it is zero.
	Oldest time.Time

	Listings []*schema.Listing // the files in which these runs were found, one listing per store
}

// Census counts the content of the stores. It reads some files at a time, because DuckDB keeps the metadata of a file in memory until a
// query ends.
func (db *DB) Census(ctx context.Context) (Census, error) {
	columns, err := scan.RunColumns([]string{"machine", "n_samples", "started_at"})
	if err != nil {
		return Census{}, err
	}
	var found Census
	err = db.stores.Query(ctx, func(r *scan.Reader) error {
		found = Census{Listings: r.Src.Listings, Events: int64(r.Src.Events.Count)}
		machines, oldest := map[string]bool{}, "NULL"
		if slices.ContainsFunc(found.Listings, undated) {
			oldest = "min(started_at)"
		}
		for _, part := range r.Src.Parts() {
			text := "SELECT machine, count(*), sum(n_samples)::BIGINT, " + oldest + " FROM " + part.Scan(columns, "") + " GROUP BY machine"
			err := r.Conn.Query(ctx, duck.Statement{SQL: text}, func(row []driver.Value) error {
				if machine, ok := row[0].(string); ok {
					machines[machine] = true
				}
				runs, _ := row[1].(int64)
				samples, _ := row[2].(int64)
				found.Runs, found.Samples = found.Runs+runs, found.Samples+samples
				if began, ok := row[3].(time.Time); ok && (found.Oldest.IsZero() || began.Before(found.Oldest)) {
					found.Oldest = began
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		found.Machines = int64(len(machines))
		return nil
	})
	return found, err
}

// undated reports whether a sealed file of a store has a run without a start.
func undated(l *schema.Listing) bool {
	return slices.ContainsFunc(l.Sealed, func(f schema.SealedFile) bool { return f.First == 0 })
}
