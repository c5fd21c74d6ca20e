package query

import (
	"context"
	"slices"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// wholePage is how many runs are in memory with their samples.
const wholePage = 256

// Whole hands over the runs that match, in the order wanted, each with all its metrics and their samples, the primary one
// first, then by name. Operators are left out. An error of each ends it and is returned.
func (db *DB) Whole(ctx context.Context, req ListRequest, each func(schema.Run) error) (Found, error) {
	var found Found
	err := db.pages(ctx, lister{req: req, counts: true}, nil, func(p part) error {
		found = p.Found
		stored := scan.NewStored(schema.Runs, p.columns)
		for start := 0; start < len(p.ids); start += wholePage {
			end := min(start+wholePage, len(p.ids))
			metrics, err := metricsOfRuns(ctx, p.reader, p.ids[start:end])
			if err != nil {
				return err
			}
			for _, row := range p.Rows[start:end] {
				run := stored.Run(row)
				run.Metrics = primaryFirst(metrics[run.RunID], run.Primary)
				if err := each(run); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return found, err
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

// metricsByRun are metrics of rows of samples, by the id of their run.
func metricsByRun(t answer.Table) map[string][]schema.Metric {
	stored, byRun := scan.NewStored(schema.Samples, schema.Samples.Columns), map[string][]schema.Metric{}
	for _, row := range t.Rows {
		values := stored.Row(row)
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
