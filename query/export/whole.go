package export

import (
	"context"
	"strings"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema"
)

// wholeTable is the table of whole runs: one row per run with the columns of runs, and its rows of samples and ops as lists. It is only
// written as JSON Lines. NaN and the infinities are the texts "NaN", "Infinity" and "-Infinity", so that nothing is lost.
const wholeTable = "whole"

// gather makes the tables whole_runs, whole_samples and whole_ops of the chosen runs, one after the other, because one statement for all
// three needs several times the memory.
func (x *exporter) gather(ctx context.Context) error {
	for _, made := range []struct{ name, text string }{
		{"whole_runs", "SELECT " + exact(schema.Runs.Columns) + " FROM (" + x.tableSQL("runs") + ")"},
		{"whole_samples", nestedSQL(schema.Samples, x.tableSQL("samples"), "metric")},
		{"whole_ops", nestedSQL(schema.Ops, x.tableSQL("ops"), "op")},
	} {
		if _, err := x.Conn.Exec(ctx, "CREATE OR REPLACE TEMP TABLE "+made.name+" AS "+made.text); err != nil {
			return err
		}
	}
	return nil
}

// wholeSQL is the SQL of the table of whole runs, from the tables of gather.
const wholeSQL = "SELECT r.*, coalesce(s.nested, []) AS samples, coalesce(o.nested, []) AS ops FROM whole_runs AS r " +
	"LEFT JOIN whole_samples AS s USING (run_id) LEFT JOIN whole_ops AS o USING (run_id)"

// nestedSQL returns the SQL of the rows of a table as one list per run.
func nestedSQL(t *schema.Table, rows, order string) string {
	return "SELECT run_id, list(one ORDER BY place) AS nested FROM (SELECT run_id, place, struct_pack(" + packed(t.Columns[1:]) +
		") AS one FROM (SELECT run_id, " + order + " AS place, " + exact(t.Columns[1:]) + " FROM (" + rows + "))) GROUP BY run_id"
}

// exact converts columns so that JSON can represent every value.
func exact(columns []*schema.Column) string {
	list := make([]string, len(columns))
	for i, c := range columns {
		name := duck.Identifier(c.Name)
		list[i] = exactValue(c, name) + " AS " + name
	}
	return strings.Join(list, ", ")
}

func exactValue(c *schema.Column, x string) string {
	switch {
	case c.Kind == schema.KindTime:
		return dressed(c, JSONL)
	case c.Kind == schema.KindReal:
		return exactReal(x)
	case c.Kind == schema.KindList && c.Children[0].Kind == schema.KindReal:
		return "list_transform(" + x + ", lambda v: " + exactReal("v") + ")"
	case c.Kind == schema.KindMap && c.Children[1].Kind == schema.KindReal:
		return "map_from_entries(list_transform(map_entries(" + x + "), lambda e: (e.key, " + exactReal("e.value") + ")))"
	}
	return x
}

// exactReal returns a number, or a text for NaN and infinities.
func exactReal(x string) string {
	return "CASE WHEN isfinite(" + x + ") THEN to_json(" + x + ") WHEN isnan(" + x + `) THEN '"NaN"'::JSON WHEN ` + x +
		` > 0 THEN '"Infinity"'::JSON WHEN ` + x + ` < 0 THEN '"-Infinity"'::JSON END`
}

// packed returns the SQL of columns as the fields of a struct.
func packed(columns []*schema.Column) string {
	fields := make([]string, len(columns))
	for i, c := range columns {
		name := duck.Identifier(c.Name)
		fields[i] = name + " := " + name
	}
	return strings.Join(fields, ", ")
}
