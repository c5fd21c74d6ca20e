package query

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// Detail is everything that is known about one run.
type Detail struct {
	// Run has the columns of the table runs. It has only the primary metric, with its summary and without samples.
	Run       schema.Run
	Digest    string
	Metrics   []schema.Metric // with their samples; the primary one first, then by name
	Notes     []schema.Note   // notes that were added later, in order
	Baselines []string        // names of the baselines that it belongs to, ascending

	Lost map[string]string // tables (samples, ops) of the run that were lost to damage, and why
}

// Table returns the run as a table with one row and every column of runs.
func (d *Detail) Table() answer.Table {
	t := answer.Table{Columns: answer.RunColumns(), Rows: [][]any{answer.RunRow(&d.Run, d.Digest)}}
	for i, c := range t.Columns {
		t.Rows[0][i] = answer.OfRun(c, t.Rows[0][i])
	}
	return t
}

// Show returns one run by its id, or by a unique prefix or suffix of it; upper and lower case do not matter. An id that no run has, or
// that is ambiguous, is an ErrInput.
func (db *DB) Show(ctx context.Context, id string) (Detail, error) {
	var d Detail
	err := db.stores.Query(ctx, func(r *scan.Reader) error {
		like, err := r.RunsLike(ctx, id)
		switch {
		case errors.Is(err, answer.ErrInput):
			return answer.InputError("run: %v", err)
		case err != nil:
			return err
		case len(like) == 0:
			if removed, err := r.Src.Removed(id); removed || err != nil {
				return cmp.Or(err, answer.InputError("run: %q was removed; restore brings it back", answer.Brief(id)))
			}
			hint := "; ls lists them"
			switch lower := strings.ToLower(id); {
			case strings.Contains(lower, "last"), lower == "latest", lower == "newest":
				hint = "; last is the run that started last, and ls session=last lists those of the newest session"
			case strings.ContainsAny(id, "=<>~"):
				hint = "; ls takes a filter and lists ids"
			}
			return answer.InputError("run: no run has the id %q%s", answer.Brief(id), hint)
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
	notes, err := r.Src.Events.NotesOf(run)
	if err != nil {
		return Detail{}, err
	}
	d := Detail{Notes: notes, Lost: r.Src.Events.Lost[run.String()]}
	for name, runs := range r.Src.Events.Baselines {
		if slices.Contains(runs, run.String()) {
			d.Baselines = append(d.Baselines, name)
		}
	}
	slices.Sort(d.Baselines)
	t, err := r.Rows(ctx, ids, schema.Runs.Columns)
	if err != nil {
		return d, err
	}
	d.Run, d.Digest = schema.StoredRunOf(scan.NewStoredRows(schema.Runs, schema.Runs.Columns).Row(t.Rows[0]))
	src := r.Src.Of(ids)
	if err := (&scan.Reader{Conn: r.Conn, Src: src}).CheckSamples(ctx); err != nil {
		return d, err
	}
	d.Metrics, err = metrics(ctx, r.Conn, src, &d.Run)
	return d, err
}

// metrics reads the metrics of a run, the primary one first, then by name.
func metrics(ctx context.Context, conn *duck.Conn, src *scan.Sources, run *schema.Run) ([]schema.Metric, error) {
	columns := schema.Samples.Columns[1:] // all but run_id
	t, err := conn.Table(ctx, duck.Statement{
		SQL:  "SELECT " + scan.ColumnNames(columns) + " FROM " + src.Nested(schema.Samples, "run_id = $1::VARCHAR") + " ORDER BY metric",
		Args: []any{run.RunID},
	})
	if err != nil {
		return nil, err
	}
	rows := scan.NewStoredRows(schema.Samples, columns)
	all := make([]schema.Metric, len(t.Rows))
	for i, row := range t.Rows {
		all[i] = schema.MetricOf(rows.Row(row)[1:])
	}
	return primaryFirst(all, run.Primary), nil
}
