package query

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/neurolens/neurolens/schema"
)

// copyTo has DuckDB write a table to a path. It counts the rows.
func (x *exporter) copyTo(ctx context.Context, table, path string) (int64, error) {
	path, err := filepath.Abs(path) // DuckDB takes ~ and s3: at the beginning of a path for more than a name
	if err != nil {
		return 0, fmt.Errorf("export: %w", err)
	}
	text := "SELECT * FROM (" + tableSQL(table, x.files) + ") ORDER BY " + tableOrder[table]
	n, err := x.conn.exec(ctx, "COPY ("+written(table, text, x.req.Format)+") TO "+literal(path)+" ("+copyOptions[x.req.Format]+")")
	if err == nil && table == "runs" {
		err = oneRowEach(n, x.files)
	}
	return n, err
}

// oneRowEach checks that as many runs were read as there are files.
func oneRowEach(rows int64, files []file) error {
	if rows != int64(len(files)) {
		return &engineErr{message: fmt.Sprintf("%d rows in %d files", rows, len(files)), kind: duckdb.ErrorTypeIO}
	}
	return nil
}

var tableOrder = map[string]string{
	"runs": "run_id", "samples": "run_id, metric", "samples_long": "run_id, metric, i", "ops": "run_id, op",
}

var copyOptions = map[Format]string{
	FormatParquet: "FORMAT parquet, COMPRESSION zstd",
	FormatCSV:     "FORMAT csv, HEADER true",
	FormatJSONL:   "FORMAT json",
}

// tableSQL is the text of a table that can be exported; empty where there is none of that name.
func tableSQL(table string, files []file) string {
	switch table {
	case "runs":
		return runsSQL(files)
	case "samples":
		return samplesSQL(files)
	case "samples_long":
		return samplesLongSQL("(" + samplesSQL(files) + ")")
	case "ops":
		return opsSQL(files)
	default:
		return ""
	}
}

// written dresses the values of a table for a text format.
func written(table, text string, format Format) string {
	if format == FormatParquet {
		return text
	}
	var replaced []string
	for _, c := range viewColumns(table) {
		if expression := dressed(c, format); expression != "" {
			replaced = append(replaced, expression+" AS "+identifier(c.Name))
		}
	}
	if len(replaced) == 0 {
		return text
	}
	return "SELECT * REPLACE (" + strings.Join(replaced, ", ") + ") FROM (" + text + ")"
}

// viewColumns are the columns of a view that a text format may want otherwise than they are.
func viewColumns(table string) []*schema.Column {
	real := &schema.Column{Name: "element", Kind: schema.KindReal}
	switch table {
	case "runs":
		return schema.Runs.Columns
	case "samples":
		values := &schema.Column{Name: "values", Kind: schema.KindList, Children: []*schema.Column{real}}
		return append(append([]*schema.Column{}, schema.Samples.Columns...), values)
	case "samples_long":
		return []*schema.Column{{Name: "value", Kind: schema.KindReal}}
	default:
		return schema.Ops.Columns
	}
}

// dressed is the SQL of a column's value in a text format; empty where it is right as it is.
func dressed(c *schema.Column, format Format) string {
	x := identifier(c.Name)
	switch {
	case c.Kind == schema.KindTime:
		return "strftime(" + x + " AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%S.%fZ')"
	case c.Kind == schema.KindReal && format == FormatJSONL:
		return "CASE WHEN isfinite(" + x + ") THEN " + x + " END"
	case c.Kind == schema.KindList && c.Children[0].Kind == schema.KindReal:
		x = "list_transform(" + x + ", lambda v: CASE WHEN isfinite(v) THEN v END)"
	case c.Kind == schema.KindMap && c.Children[1].Kind == schema.KindReal:
		x = "map_from_entries(list_transform(map_entries(" + x + "), lambda e: (e.key, CASE WHEN isfinite(e.value) THEN e.value END)))"
	case c.Kind != schema.KindList && c.Kind != schema.KindMap:
		return ""
	}
	if format == FormatCSV {
		x = "to_json(" + x + ")"
	}
	return x
}
