package query

import (
	"context"
	"slices"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// ofMetric puts what runs have of a metric in place of what the rows of t, a row an id, have of the primary one. others are
// the metrics that the runs have, where none has it.
func ofMetric(ctx context.Context, r *scan.Reader, t *answer.Table, ids []schema.ULID, metric string) (others []string, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var columns []*schema.Column
	for _, c := range t.Columns {
		if own, ok := schema.Samples.Column(c.Name); ok && c.Name != "run_id" {
			columns = append(columns, own)
		}
	}
	some := &scan.Reader{Conn: r.Conn, Src: r.Src.Of(ids)}
	if err := some.CheckSamples(ctx); err != nil {
		return nil, err
	}
	first, last := slices.MinFunc(ids, scan.CompareIDs).String(), slices.MaxFunc(ids, scan.CompareIDs).String()
	from := " FROM " + some.Src.Nested(schema.Samples, "run_id BETWEEN $1::VARCHAR AND $2::VARCHAR") +
		" SEMI JOIN (SELECT unnest($3::VARCHAR[]) AS run_id) USING (run_id)"
	args := []any{first, last, scan.IDTexts(ids)}
	found, err := r.Conn.Table(ctx, duck.Statement{SQL: "SELECT " + scan.ColumnNames(scan.WithRunID(columns)) + from + " WHERE metric = $4::VARCHAR", Args: append(args, metric)})
	if err != nil {
		return nil, err
	}
	replaceRows(t, found, ids, columns)
	if len(found.Rows) > 0 {
		return nil, nil
	}
	names, err := r.Conn.Table(ctx, duck.Statement{SQL: "SELECT DISTINCT metric" + from + " ORDER BY metric", Args: args})
	for _, row := range names.Rows {
		others = append(others, row[0].(string))
	}
	return others, err
}

// replaceRows puts the values of columns of other rows, by run, in place of those of the rows of ids; NULL where there is no other.
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
