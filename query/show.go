package query

import (
	"context"

	"github.com/neurolens/neurolens/schema"
)

// Detail is all there is about one run.
type Detail struct {
	Run     Table // one row: every column of runs
	Metrics Table // a row a metric: every column of samples and `values`, the primary metric first, then by name
}

// Show gives one run by its id, or by a prefix or suffix of the id that no other run has, in any case of letters. An
// id that no run has, or several could mean, is an ErrInput.
func (db *DB) Show(ctx context.Context, id string) (Detail, error) {
	var d Detail
	err := db.ask(ctx, func(c *conn, all []file) error {
		files, err := runsLike(all, id)
		if err != nil {
			return input("run: %v", err)
		}
		if len(files) == 0 {
			return input("run: no run has the id %q", brief(id))
		}
		d, err = c.detail(ctx, files)
		return err
	})
	if err != nil {
		return Detail{}, err
	}
	return d, nil
}

// detail reads the only run in files.
func (c *conn) detail(ctx context.Context, files []file) (Detail, error) {
	var d Detail
	var err error
	if d.Run, err = c.rows(ctx, files, schema.Runs.Columns); err != nil {
		return d, err
	}
	primary := d.Run.Rows[0][d.Run.Index("metric")]
	order := " ORDER BY metric"
	var args []any
	if primary != nil {
		order, args = " ORDER BY metric <> $1::VARCHAR, metric", []any{primary}
	}
	if d.Metrics, err = c.table(ctx, statement{samplesSQL(files) + order, args}); err != nil {
		return d, err
	}
	d.Metrics.setUnits(nil)
	return d, nil
}
