package query

import (
	"context"
	"slices"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// Absent has the requested metrics that none of some runs has, and the metrics that these runs have instead.
type Absent struct{ Metrics, Others []string }

// metricsOf adds the requested metrics to the runs of a page: a single metric replaces the primary one, several are added.
func metricsOf(ctx context.Context, metrics []string, p *part) error {
	if len(metrics) == 0 || len(p.ids) == 0 {
		return nil
	}
	s, err := sampled(ctx, p.reader, p.ids)
	if err != nil {
		return err
	}
	var found map[string]bool
	if len(metrics) == 1 {
		found, err = s.inPlace(ctx, &p.Table, p.ids, metrics[0])
	} else {
		p.beside, found, err = s.beside(ctx, p.ids, metrics)
	}
	if err != nil {
		return err
	}
	p.Absent, err = s.absent(ctx, metrics, found)
	return err
}

// samplesOf reads the rows of samples of some runs.
type samplesOf struct {
	reader *scan.Reader
	from   duck.Statement // the statement from FROM on
}

// sampled returns the rows of samples of the runs with these ids; there must be at least one.
func sampled(ctx context.Context, r *scan.Reader, ids []schema.ULID) (samplesOf, error) {
	some := &scan.Reader{Conn: r.Conn, Src: r.Src.Of(ids)}
	if err := some.CheckSamples(ctx); err != nil {
		return samplesOf{}, err
	}
	first, last := slices.MinFunc(ids, scan.CompareIDs).String(), slices.MaxFunc(ids, scan.CompareIDs).String()
	return samplesOf{some, duck.Statement{
		SQL: " FROM " + some.Src.Nested(schema.Samples, "run_id BETWEEN $1::VARCHAR AND $2::VARCHAR") +
			" SEMI JOIN (SELECT unnest($3::VARCHAR[]) AS run_id) USING (run_id)",
		Args: []any{first, last, scan.IDTexts(ids)},
	}}, nil
}

// table reads columns of the rows of some metrics.
func (s samplesOf) table(ctx context.Context, columns string, metrics []string) (answer.Table, error) {
	return s.reader.Conn.Table(ctx, duck.Statement{
		SQL:  "SELECT " + columns + s.from.SQL + " WHERE metric IN (SELECT unnest($4::VARCHAR[]))",
		Args: append(slices.Clone(s.from.Args), metrics),
	})
}

// absent returns the metrics that were not found and, if there are any, the metrics that the runs have.
func (s samplesOf) absent(ctx context.Context, metrics []string, found map[string]bool) (a Absent, err error) {
	for _, metric := range metrics {
		if !found[metric] {
			a.Metrics = append(a.Metrics, metric)
		}
	}
	if len(a.Metrics) == 0 {
		return a, nil
	}
	t, err := s.reader.Conn.Table(ctx, duck.Statement{SQL: "SELECT DISTINCT metric" + s.from.SQL + " ORDER BY metric", Args: s.from.Args})
	for _, row := range t.Rows {
		a.Others = append(a.Others, row[0].(string))
	}
	return a, err
}

// inPlace replaces the values of the primary metric in the rows of t, one row per id, by those of a metric. found has the metric if
// any run has it.
func (s samplesOf) inPlace(ctx context.Context, t *answer.Table, ids []schema.ULID, metric string) (found map[string]bool, err error) {
	var columns []*schema.Column
	for _, c := range t.Columns {
		if own, ok := schema.Samples.Column(c.Name); ok && c.Name != "run_id" {
			columns = append(columns, own)
		}
	}
	rows, err := s.table(ctx, scan.ColumnNames(scan.WithRunID(columns)), []string{metric})
	if err != nil {
		return nil, err
	}
	replaceRows(t, rows, ids, columns)
	return map[string]bool{metric: len(rows.Rows) > 0}, nil
}

// replaceRows replaces the values of columns by those of other rows, matched by run; NULL for runs without another row.
func replaceRows(t *answer.Table, other answer.Table, ids []schema.ULID, columns []*schema.Column) {
	byID, runID := map[string][]any{}, other.Index("run_id")
	for _, row := range other.Rows {
		id, _ := row[runID].(string)
		byID[id] = row
	}
	for i, id := range ids {
		row := slices.Clone(t.Rows[i])
		for _, c := range columns {
			row[t.Index(c.Name)] = nil
			if found := byID[id.String()]; found != nil {
				row[t.Index(c.Name)] = found[other.Index(c.Name)]
			}
		}
		t.Rows[i] = row
	}
}
