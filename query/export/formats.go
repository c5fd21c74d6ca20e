package export

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// copyTo writes a table to a path, and returns the number of rows.
func (x *exporter) copyTo(ctx context.Context, table, path string) (int64, error) {
	if x.req.Format == OpenMetrics {
		return x.openMetricsTo(ctx, path)
	}
	path, err := filepath.Abs(path) // DuckDB interprets ~ and s3: at the beginning of a path
	if err != nil {
		return 0, fmt.Errorf("export: %w", err)
	}
	r := &scan.Reader{Conn: x.Conn, Src: x.src}
	if table == "runs" || table == wholeTable || x.req.Flat {
		err = r.ApplyEvents(ctx)
	}
	if err == nil && slices.Contains([]string{"samples", "samples_long", wholeTable}, table) {
		err = r.CheckSamples(ctx)
	}
	if err != nil {
		return 0, err
	}
	n, err := x.writeTo(ctx, table, path)
	if err == nil && (table == "runs" || table == wholeTable) && x.runs >= 0 && n != int64(x.runs) {
		err = &duck.Error{Message: fmt.Sprintf("%d rows of %d runs", n, x.runs), Kind: duckdb.ErrorTypeIO}
	}
	return n, err
}

func (x *exporter) writeTo(ctx context.Context, table, path string) (int64, error) {
	switch {
	case x.req.Format == Arrow:
		return x.arrowTo(ctx, table, path)
	case len(x.ids) > atOnce:
		return x.inParts(ctx, table, path)
	}
	return x.copyAtOnce(ctx, table, path, copyOptions[x.req.Format])
}

// copyAtOnce writes a table to a path in one statement, and returns the number of rows.
func (x *exporter) copyAtOnce(ctx context.Context, table, path, options string) (int64, error) {
	if table == wholeTable {
		if err := x.gather(ctx); err != nil {
			return 0, err
		}
	}
	return x.Conn.Exec(ctx, x.copySQL(table, path, options))
}

// atOnce is the number of runs that are sorted and written in one statement.
const atOnce = 1000

// copySQL returns the statement that writes a table to a path.
func (x *exporter) copySQL(table, path, options string) string {
	if table == wholeTable {
		return "COPY (SELECT * FROM (" + wholeSQL + ") ORDER BY run_id) TO " + duck.Literal(path) + " (" + options + ")"
	}
	text := "SELECT * FROM (" + x.tableSQL(table) + ") ORDER BY " + tableOrder[table]
	return "COPY (" + x.written(table, text) + ") TO " + duck.Literal(path) + " (" + options + ")"
}

var tableOrder = map[string]string{
	"runs": "run_id", "samples": "run_id, metric", "samples_long": "run_id, metric, i", "ops": "run_id, op",
}

var copyOptions = map[Format]string{
	Parquet: "FORMAT parquet, COMPRESSION zstd",
	CSV:     "FORMAT csv, HEADER true",
	JSONL:   "FORMAT json",
}

// tableSQL returns the SQL of a table of the chosen runs.
func (x *exporter) tableSQL(table string) string {
	if x.req.Flat {
		return x.flatSQL(table)
	}
	return x.storedSQL(table)
}

// storedSQL returns the SQL of a table of the chosen runs, with the columns of the store.
func (x *exporter) storedSQL(table string) string {
	switch table {
	case "runs":
		return "SELECT * FROM " + x.src.Scan(schema.Runs.Columns, x.where) + x.among
	case "samples":
		return "SELECT * FROM (" + x.src.SamplesSQL(x.where) + ")" + x.among
	case "samples_long":
		return scan.SamplesLongSQL("(SELECT * FROM (" + x.src.SamplesSQL(x.where) + ")" + x.among + ")")
	default:
		return "SELECT * FROM (" + x.src.OpsSQL(x.where) + ")" + x.among
	}
}

// written converts the values of a table for a text format.
func (x *exporter) written(table, text string) string {
	if x.req.Format == Parquet {
		return text
	}
	var replaced []string
	for _, c := range x.columns(table) {
		expression := dressed(c, x.req.Format)
		if c.Kind == schema.KindString && x.req.Format == CSV && !x.req.CSVRaw {
			expression = noFormula(duck.Identifier(c.Name))
		}
		if expression != "" {
			replaced = append(replaced, expression+" AS "+duck.Identifier(c.Name))
		}
	}
	if len(replaced) == 0 {
		return text
	}
	return "SELECT * REPLACE (" + strings.Join(replaced, ", ") + ") FROM (" + text + ")"
}

// noFormula returns the SQL of a text with an apostrophe in front if a spreadsheet would treat it as a formula.
func noFormula(x string) string {
	return "CASE WHEN regexp_matches(" + x + `, '^[-=+@\t\r]') AND NOT regexp_full_match(` + x +
		`, '[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?') THEN chr(39) || ` + x + " ELSE " + x + " END"
}

// columns returns the columns of a table that may have to be converted for a text format.
func (x *exporter) columns(table string) (columns []*schema.Column) {
	if !x.req.Flat {
		return viewColumns(table)
	}
	flat, _ := x.flatColumns(table)
	for _, f := range flat {
		columns = append(columns, f.Column)
	}
	return columns
}

// viewColumns returns the columns of a view that may have to be converted for a text format.
func viewColumns(table string) []*schema.Column {
	real := &schema.Column{Name: "element", Kind: schema.KindReal}
	switch table {
	case "runs":
		return schema.Runs.Columns
	case "samples":
		values := &schema.Column{Name: "values", Kind: schema.KindList, Children: []*schema.Column{real}}
		return append(append([]*schema.Column{}, schema.Samples.Columns...), values)
	case "samples_long":
		return []*schema.Column{
			{Name: "metric", Kind: schema.KindString},
			{Name: "unit", Kind: schema.KindString},
			{Name: "i", Kind: schema.KindInt},
			{Name: "value", Kind: schema.KindReal, Unit: schema.UnitOfRow},
			{Name: "at_ns", Kind: schema.KindInt, Unit: "ns"},
		}
	default:
		return schema.Ops.Columns
	}
}

// dressed returns the SQL of a column's value in a text format; empty if no conversion is needed.
func dressed(c *schema.Column, format Format) string {
	x := duck.Identifier(c.Name)
	switch {
	case c.Kind == schema.KindTime:
		return "strftime(" + x + " AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%S.%fZ')"
	case c.Kind == schema.KindReal && format == JSONL:
		return "CASE WHEN isfinite(" + x + ") THEN " + x + " END"
	case c.Kind == schema.KindList && c.Children[0].Kind == schema.KindReal:
		x = "list_transform(" + x + ", lambda v: CASE WHEN isfinite(v) THEN v END)"
	case c.Kind == schema.KindMap && c.Children[1].Kind == schema.KindReal:
		x = "map_from_entries(list_transform(map_entries(" + x + "), lambda e: (e.key, CASE WHEN isfinite(e.value) THEN e.value END)))"
	case c.Kind != schema.KindList && c.Kind != schema.KindMap:
		return ""
	}
	if format == CSV {
		x = "to_json(" + x + ")"
	}
	return x
}
