package query

import (
	"context"
	"slices"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// wholePage is the number of runs that are in memory with their samples.
const wholePage = 256

// Whole calls each with the matching runs, in the requested order, with all their metrics and samples; the primary metric comes first,
// then by name. Operators are left out. An error of each ends it and is returned.
func (db *DB) Whole(ctx context.Context, req ListRequest, each func(schema.Run) error) (Found, error) {
	var found Found
	w, before := whole{each: each}, 0
	err := db.pages(ctx, runLister{req: req, counts: true}, nil, func(p part) error {
		found = p.Found
		for start := 0; start < len(p.ids); start += wholePage {
			end := min(start+wholePage, len(p.ids))
			if err := w.handOver(ctx, p.reader, before+start, p.ids[start:end], p.Rows[start:end]); err != nil {
				return err
			}
		}
		before += len(p.ids)
		return nil
	})
	return found, err
}

// WholeOf is Whole for the runs with these ids, in their order. A missing run is an error.
func (db *DB) WholeOf(ctx context.Context, ids []string, each func(schema.Run) error) error {
	runs, err := parseIDs(ids)
	if err != nil {
		return err
	}
	w := whole{each: each}
	return db.stores.Query(ctx, func(r *scan.Reader) error {
		for start := w.handed; start < len(runs); start = w.handed {
			some := runs[start:min(start+wholePage, len(runs))]
			t, err := r.Rows(ctx, some, schema.Runs.Columns)
			if err == nil {
				err = w.handOver(ctx, r, start, some, t.Rows)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// parseIDs parses ids of runs. A malformed id is an ErrInput.
func parseIDs(texts []string) ([]schema.ULID, error) {
	ids, err := schema.ParseULIDs(texts)
	if err != nil {
		err = answer.InputError("run: %v", err)
	}
	return ids, err
}

// SetOperators sets the operators of a stored run, by index.
func (db *DB) SetOperators(ctx context.Context, run *schema.Run) error {
	ids, err := parseIDs([]string{run.RunID})
	if err != nil {
		return err
	}
	return db.stores.Query(ctx, func(r *scan.Reader) error {
		t, err := r.Conn.Table(ctx, duck.Statement{
			SQL:  "SELECT " + scan.ColumnNames(schema.Ops.Columns) + " FROM " + r.Src.Of(ids).Nested(schema.Ops, "") + scan.OfRuns + " ORDER BY op",
			Args: []any{scan.IDTexts(ids)},
		})
		if err != nil {
			return err
		}
		run.Ops = nil
		table := scan.NewStoredRows(schema.Ops, schema.Ops.Columns)
		for _, row := range t.Rows {
			run.Ops = append(run.Ops, schema.OpOf(table.Row(row)[1:]))
		}
		return nil
	})
}

// whole hands over each run once, although reading may start again if a file was moved meanwhile.
type whole struct {
	each   func(schema.Run) error
	handed int
}

// handOver passes the runs of rows, with every column, to the caller. first is the number of runs before them.
func (w *whole) handOver(ctx context.Context, r *scan.Reader, first int, ids []schema.ULID, rows [][]any) error {
	metrics, err := metricsOfRuns(ctx, r, ids)
	if err != nil {
		return err
	}
	table := scan.NewStoredRows(schema.Runs, schema.Runs.Columns)
	for i, row := range rows {
		if first+i < w.handed {
			continue
		}
		run := table.Run(row)
		run.Metrics = primaryFirst(metrics[run.RunID], run.Primary)
		w.handed++
		if err := w.each(run); err != nil {
			return err
		}
	}
	return nil
}

// metricsOfRuns reads the metrics of some runs, by name.
func metricsOfRuns(ctx context.Context, r *scan.Reader, ids []schema.ULID) (map[string][]schema.Metric, error) {
	s, err := sampled(ctx, r, ids)
	if err != nil {
		return nil, err
	}
	t, err := s.reader.Conn.Table(ctx, duck.Statement{
		SQL: "SELECT " + scan.ColumnNames(schema.Samples.Columns) + s.from.SQL + " ORDER BY run_id, metric", Args: s.from.Args,
	})
	if err != nil {
		return nil, err
	}
	return metricsByRun(t), nil
}

// metricsByRun converts rows of samples to metrics, by run id.
func metricsByRun(t answer.Table) map[string][]schema.Metric {
	table, byRun := scan.NewStoredRows(schema.Samples, schema.Samples.Columns), map[string][]schema.Metric{}
	for _, row := range t.Rows {
		values := table.Row(row)
		id, _ := values[0].(string)
		byRun[id] = append(byRun[id], schema.MetricOf(values[1:]))
	}
	return byRun
}

// primaryFirst moves the primary metric before the others.
func primaryFirst(all []schema.Metric, name string) []schema.Metric {
	if at := slices.IndexFunc(all, func(m schema.Metric) bool { return m.Name == name }); at > 0 {
		first := all[at]
		copy(all[1:at+1], all[:at])
		all[0] = first
	}
	return all
}
