package query

import (
	"context"
	"errors"
	"slices"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/fault"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// Detail is all there is about one run.
type Detail struct {
	Run       answer.Table  // one row: every column of runs
	Metrics   answer.Table  // a row a metric: every column of samples and `values`, the primary metric first, then by name
	Notes     []schema.Note // what was noted later, in order
	Baselines []string      // names of those that it belongs to, ascending

	Lost map[string]string // of samples and ops what damage took of it, and why
}

// Show gives one run by its id, or by a prefix or suffix of the id that no other run has, in any case of letters. An
// id that no run has, or several could mean, is an ErrInput.
func (db *DB) Show(ctx context.Context, id string) (Detail, error) {
	var d Detail
	err := db.stores.Ask(ctx, func(r *scan.Reader) error {
		like, err := r.RunsLike(ctx, id)
		switch {
		case errors.Is(err, fault.ErrInput):
			return fault.Input("run: %v", err)
		case err != nil:
			return err
		case len(like) == 0 && r.Src.Removed(id):
			return fault.Input("run: %q was removed; restore brings it back", fault.Brief(id))
		case len(like) == 0:
			return fault.Input("run: no run has the id %q", fault.Brief(id))
		}
		run, err := schema.ParseULID(like[0])
		if err != nil {
			return err
		}
		d, err = detail(ctx, r, run)
		return err
	})
	if err != nil {
		return Detail{}, err
	}
	return d, nil
}

// detail reads a run.
func detail(ctx context.Context, r *scan.Reader, run schema.ULID) (Detail, error) {
	ids := []schema.ULID{run}
	d := Detail{Notes: r.Src.Said.Notes[run.String()], Lost: r.Src.Said.Lost[run.String()]}
	for name, runs := range r.Src.Said.Baselines {
		if slices.Contains(runs, run.String()) {
			d.Baselines = append(d.Baselines, name)
		}
	}
	slices.Sort(d.Baselines)
	var err error
	if d.Run, err = r.Rows(ctx, ids, schema.Runs.Columns); err != nil {
		return d, err
	}
	order := " ORDER BY metric"
	args := []any{run.String()}
	if primary := d.Run.Rows[0][d.Run.Index("metric")]; primary != nil {
		order, args = " ORDER BY metric <> $2::VARCHAR, metric", append(args, primary)
	}
	src := r.Src.Of(ids)
	if err := (&scan.Reader{Conn: r.Conn, Src: src}).CheckSamples(ctx); err != nil {
		return d, err
	}
	if d.Metrics, err = r.Conn.Table(ctx, duck.Statement{SQL: src.SamplesSQL("run_id = $1::VARCHAR") + order, Args: args}); err != nil {
		return d, err
	}
	d.Metrics.SetUnits(nil)
	return d, nil
}
