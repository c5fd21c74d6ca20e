package export_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/neurolens/neurolens/query/export"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// flatRuns are runs whose parameters have values of several kinds, and names that are those of other columns.
func flatRuns() []schema.Run {
	params := []map[string]string{
		{"dim": "64", "rate": "1", "version": "1.10", "N": "1", "huge": "12345678901234567890", "p50": "a"},
		{"dim": "128", "rate": "2.5e-7", "version": "1.9", "n": "2", "mixed": "9007199254740993", "it's \"odd\".x": "[1,2]"},
		{"dim": "-3", "mixed": "0.5", "values": "x", "flag": "true", "zero": "007", "inf": "1e+999"},
	}
	var runs []schema.Run
	for i, own := range params {
		runs = append(runs, querytest.NewRun(i, 0, func(r *schema.Run) {
			r.Params, r.Tags = own, map[string]string{"Branch": "1.10"}
			r.Metrics, r.Primary = []schema.Metric{querytest.RealMetric("latency", "ns", 1.5e9, 2.5e9), querytest.RealMetric("power", "mW", 1500)}, "latency"
			if i == 2 {
				r.Metrics, r.Primary, r.Warnings = []schema.Metric{querytest.RealMetric("clock_sm", "MHz", 1410)}, "clock_sm", []string{"drift", "spread"}
			}
		}))
	}
	return append(runs, querytest.Everything())
}

// TestFlat: each parameter is a column with the type of all its values, in every table and format; a name that is taken is another one.
func TestFlat(t *testing.T) {
	t.Parallel()
	db := querytest.Open(t, querytest.NewStore(t, flatRuns()...))
	ctx := context.Background()
	dest := t.TempDir()
	for _, format := range []export.Format{export.Parquet, export.CSV, export.JSONL} {
		done := valuetest.Must(export.Write(ctx, db, export.Request{Dest: dest, Format: format, Flat: true, SI: true, Tables: []string{"runs", "samples", "samples_long", "ops"}}))
		valuetest.Equal(t, fmt.Sprint(done.Renamed), "map[n:param_n p50:param_p50 values:param_values]")
	}
	ask := func(question string) string { return querytest.DuckDB(t, "SELECT "+question) }
	types := `string_agg(name || ' ' || type, ', ' ORDER BY name) FROM parquet_schema('` + dest + `/%s.parquet') WHERE name IN `
	valuetest.Equal(t, ask(fmt.Sprintf(types, "runs")+`('dim', 'rate', 'version', 'huge', 'mixed', 'flag', 'zero', 'inf', 'N', 'param_n', 'param_p50', 'values', 'tag_Branch', 'measure_s', 'it''s "odd".x')`),
		`N INT64, dim INT64, flag BYTE_ARRAY, huge BYTE_ARRAY, inf BYTE_ARRAY, it's "odd".x BYTE_ARRAY, measure_s DOUBLE, mixed BYTE_ARRAY, param_n INT64, param_p50 BYTE_ARRAY, rate DOUBLE, tag_Branch BYTE_ARRAY, values BYTE_ARRAY, version BYTE_ARRAY, zero BYTE_ARRAY`)
	valuetest.Equal(t, ask("count(*) FROM parquet_schema('"+dest+"/runs.parquet') WHERE name IN ('params', 'tags', 'env', 'digest')"), "0")
	for table, want := range map[string]string{
		"runs":         "[-3 1410000000.0 Hz drift, spread 128 2.0 s 2.5e-07 1.9 64 0.000125413 s drift, throttled 64 2.0 s 1.0 1.10]",
		"samples":      "[-3 clock_sm Hz 1410000000.0 1410000000.0 128 latency s 2.0 1.5 128 power W 1.5 1.5 64 latency s 0.000125413 0.00014915 64 latency s 2.0 1.5",
		"samples_long": "[-3 clock_sm Hz 0 1410000000.0 128 latency s 0 1.5 128 latency s 1 2.5 128 power W 0 1.5",
		"ops":          "[64 MatMul 9e-09",
	} {
		row := map[string]string{
			"runs": "dim, p50, unit, rate, version, warnings", "samples": `dim, metric, unit, p50, "values"[1]`,
			"samples_long": "dim, metric, unit, i, value", "ops": "dim, name, duration_s",
		}[table]
		got := ask("list(concat_ws(' ', " + row + ") ORDER BY concat_ws(' ', " + row + ")) FROM (FROM '" + dest + "/" + table + ".parquet')")
		if len(got) < len(want) || got[:len(want)] != want {
			t.Errorf("%s: got\n%s, want\n%s", table, got, want)
		}
		same := "(SELECT COLUMNS(c -> c NOT IN ('values', 'started_at'))::VARCHAR FROM %s('" + dest + "/" + table + ".%s'%s))"
		for format, options := range map[string]string{"csv": ", all_varchar = true", "json": ", maximum_sample_files = -1, sample_size = -1"} {
			file := map[string]string{"csv": "csv", "json": "jsonl"}[format]
			valuetest.Equal(t, ask("count(*) FROM "+fmt.Sprintf(same, "read_"+format, file, options)), ask("count(*) FROM '"+dest+"/"+table+".parquet'"), table, format)
		}
	}
	_, err := export.Write(ctx, db, export.Request{Dest: "-", Format: export.JSONL, Tables: []string{"whole"}, Flat: true})
	querytest.WantInput(t, err, "whole runs are not flat")
}

// TestFlatStreams: on standard output, flat runs are the default in every format, also of no runs.
func TestFlatStreams(t *testing.T) {
	t.Parallel()
	db := querytest.Open(t, querytest.NewStore(t, flatRuns()...))
	for filter, rows := range map[string]int64{"": 4, "dim>100": 1, "benchmark=nothing": 0} {
		for _, format := range []export.Format{export.Parquet, export.Arrow, export.CSV, export.JSONL} {
			var out bytes.Buffer
			done := valuetest.Must(export.Write(context.Background(), db, export.Request{Dest: "-", Format: format, Filter: filter, Flat: true, SI: true, Stdout: &out}))
			if len(done.Files) != 1 || done.Files[0].Table != "runs" || done.Files[0].Rows != rows {
				t.Errorf("%s %q: %v", format, filter, done)
			}
			if format == export.Arrow {
				got := valuetest.Must(querytest.ReadArrow(t, &out))
				valuetest.Equal(t, int64(len(got.Rows)), rows)
			}
		}
	}
}

// TestFlatParts: runs that are written in parts have the columns of all runs.
func TestFlatParts(t *testing.T) {
	t.Parallel()
	const runs = 1001 // atOnce + 1
	db := querytest.Open(t, querytest.NewStore(t, append(querytest.ManyRuns(runs-1), querytest.NewRun(runs, 0, func(r *schema.Run) { r.Params = map[string]string{"rare": "1"} }))...))
	dest := t.TempDir()
	for _, format := range []export.Format{export.Parquet, export.CSV} {
		valuetest.Must(export.Write(context.Background(), db, export.Request{Dest: dest, Format: format, Flat: true, Tables: []string{"runs"}}))
		got := querytest.DuckDB(t, fmt.Sprintf("SELECT concat_ws(' ', count(*), count(dim), sum(rare)) FROM '%s/runs.%s'", dest, format))
		valuetest.Equal(t, got, fmt.Sprint(runs, " ", runs-1, " ", 1))
	}
}
