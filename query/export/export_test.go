package export_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/export"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/sql"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

func TestExportDirectory(t *testing.T) {
	t.Parallel()
	db := querytest.Open(t, querytest.NewStore(t, append(querytest.ManyRuns(4), querytest.Everything())...))
	ctx := context.Background()
	for _, format := range []export.Format{export.Parquet, export.CSV, export.JSONL} {
		dest := t.TempDir() + "/new/dir"
		done := valuetest.Must(export.Write(ctx, db, export.Request{Dest: dest, Format: format}))
		want := fmt.Sprintf("[{%[1]s/runs.%[2]s runs 5} {%[1]s/samples.%[2]s samples 7} {%[1]s/ops.%[2]s ops 1}]", dest, format)
		if got := fmt.Sprint(done.Files); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		names, err := filepath.Glob(dest + "/*")
		if hidden, _ := filepath.Glob(dest + "/.*"); err != nil || len(names) != 3 || len(hidden) != 0 {
			t.Errorf("%s: left %v %v, %v", format, names, hidden, err)
		}
		read := map[export.Format]string{export.Parquet: "read_parquet", export.CSV: "read_csv", export.JSONL: "read_json"}[format]
		from := fmt.Sprintf(" FROM %s('%s/runs.%s')", read, dest, format)
		if got := querytest.DuckDB(t, "SELECT concat_ws('|', count(*), count(p50), sum(epoch_us(started_at)), max(error))"+from); got != "5|5|"+startSum()+"|it's \"odd\"\nvery" {
			t.Errorf("%s: got %s", format, got)
		}
		_, err = export.Write(ctx, db, export.Request{Dest: dest, Format: format})
		querytest.WantInput(t, err, "runs."+string(format)+" already exists; --overwrite replaces it")
		done, err = export.Write(ctx, db, export.Request{Dest: dest, Format: format, Filter: "status=error", Overwrite: true})
		if err != nil || len(done.Files) != 2 || done.Files[0].Rows != 0 {
			t.Errorf("%s: %v, %v", format, done, err)
		}
		if _, err := os.Stat(dest + "/ops." + string(format)); err == nil {
			t.Errorf("%s: the ops of the earlier export are still there", format)
		}
	}
}

// startSum returns the sum of the start times of the test's runs in microseconds.
func startSum() string {
	sum := int64(0)
	for _, n := range []int64{0, 1, 2, 3, 300} {
		sum += querytest.Start.UnixMicro() + n*1_000_000
	}
	return fmt.Sprint(sum)
}

// TestExportParquet: the files have the rows of the views with their types.
func TestExportParquet(t *testing.T) {
	t.Parallel()
	db := querytest.Open(t, querytest.NewStore(t, append(querytest.ManyRuns(2), querytest.Everything())...))
	ctx := context.Background()
	dest := t.TempDir()
	for _, table := range []string{"runs", "samples", "samples_long", "ops"} {
		valuetest.Must(export.Write(ctx, db, export.Request{Dest: dest, Format: export.Parquet, Tables: []string{table}}))
		r := valuetest.Must(sql.Select(ctx, db, "SELECT count(*), md5(string_agg(x::VARCHAR ORDER BY x::VARCHAR)) FROM "+table+" AS x"))
		got := querytest.DuckDB(t, "SELECT [count(*)::VARCHAR, md5(string_agg(x::VARCHAR ORDER BY x::VARCHAR))] FROM '"+dest+"/"+table+".parquet' AS x")
		if want := fmt.Sprint(r.Rows[0]); got != want {
			t.Errorf("%s: got %s, want %s", table, got, want)
		}
	}
}

// tablesOf returns the request for one table; "" is the default.
func tablesOf(table string) []string {
	if table == "" {
		return nil
	}
	return []string{table}
}

// TestExportTables: a folder gets all tables that were asked for, and no other one.
func TestExportTables(t *testing.T) {
	t.Parallel()
	db, dest := querytest.Open(t, querytest.NewStore(t, querytest.ManyRuns(2)...)), t.TempDir()
	done, err := export.Write(t.Context(), db, export.Request{Dest: dest, Format: export.CSV, Tables: []string{"samples_long", "runs"}})
	if err != nil || len(done.Files) != 2 || done.Files[0].Table != "samples_long" || done.Files[1].Table != "runs" {
		t.Fatalf("%v, %v", done, err)
	}
	entries, err := os.ReadDir(dest)
	if err != nil || len(entries) != 2 || entries[0].Name() != "runs.csv" || entries[1].Name() != "samples_long.csv" {
		t.Errorf("%v, %v", entries, err)
	}
}

func TestExportStdout(t *testing.T) {
	t.Parallel()
	odd := querytest.NewRun(0, 0, func(r *schema.Run) {
		r.Error, r.Suite, r.Tags = "a,\"b\"\nc", "", map[string]string{"k": `v"w`}
		r.Metrics = []schema.Metric{{Name: "loss", Unit: "ratio", Reals: []float64{1.5, math.NaN(), math.Inf(-1)}}}
	})
	db := querytest.Open(t, querytest.NewStore(t, odd))
	ctx := context.Background()
	write := func(format export.Format, table string) string {
		var out bytes.Buffer
		done, err := export.Write(ctx, db, export.Request{Dest: "-", Format: format, Tables: tablesOf(table), Stdout: &out})
		if err != nil || len(done.Files) != 1 || done.Files[0].Path != "-" {
			t.Fatalf("%v, %v", done, err)
		}
		return out.String()
	}
	records, err := csv.NewReader(strings.NewReader(write(export.CSV, ""))).ReadAll()
	if err != nil || len(records) != 2 {
		t.Fatalf("%v, %v", records, err)
	}
	for column, want := range map[string]string{
		"error": odd.Error, "suite": "", "tags": `{"k":"v\"w"}`, "started_at": "2026-11-21T06:45:12.345678Z", "batch_size": "1", "warnings": "",
	} {
		if got := records[1][slices.Index(records[0], column)]; got != want {
			t.Errorf("csv, %s: got %q, want %q", column, got, want)
		}
	}
	var row map[string]any
	valuetest.OK(t, json.Unmarshal([]byte(write(export.JSONL, "runs")), &row))
	for column, want := range map[string]any{
		"error": odd.Error, "suite": nil, "tags": map[string]any{"k": `v"w`}, "started_at": "2026-11-21T06:45:12.345678Z", "batch_size": 1.0,
	} {
		if fmt.Sprint(row[column]) != fmt.Sprint(want) {
			t.Errorf("jsonl, %s: got %v, want %v", column, row[column], want)
		}
	}
	if err := json.Unmarshal([]byte(write(export.JSONL, "samples")), &row); err != nil || fmt.Sprint(row["values"]) != "[1.5 <nil> <nil>]" {
		t.Errorf("got %v, %v", row["values"], err)
	}
	if got := write(export.CSV, "samples_long"); !strings.HasSuffix(got, ",0,1.5,\n"+odd.RunID+",loss,ratio,1,nan,\n"+odd.RunID+",loss,ratio,2,-inf,\n") {
		t.Errorf("got %s", got)
	}
	if got := write(export.Parquet, "ops"); !strings.HasPrefix(got, "PAR1") || !strings.HasSuffix(got, "PAR1") {
		t.Errorf("not a Parquet file: %.20q", got)
	}
}

// TestExportOrder: rows are in the order of the runs, and of the metrics and samples in them.
func TestExportOrder(t *testing.T) {
	t.Parallel()
	db := querytest.Open(t, querytest.NewStore(t, append(querytest.ManyRuns(9), querytest.Everything())...))
	for table, order := range map[string]string{"runs": "run_id", "samples": "run_id || metric", "samples_long": "run_id || metric || lpad(i::VARCHAR, 6, '0')", "ops": "run_id || op"} {
		dest := t.TempDir()
		valuetest.Must(export.Write(context.Background(), db, export.Request{Dest: dest, Format: export.Parquet, Tables: []string{table}}))
		text := "SELECT list(" + order + ") = list_sort(list(" + order + ")) FROM '" + dest + "/" + table + ".parquet'"
		if got := querytest.DuckDB(t, text); got != "true" {
			t.Errorf("%s is not in order", table)
		}
	}
}

func TestExportRefusals(t *testing.T) {
	t.Parallel()
	store := querytest.NewStore(t, querytest.ManyRuns(1)...)
	db := querytest.Open(t, store)
	link := t.TempDir() + "/link"
	valuetest.OK(t, os.Symlink(store+"/live", link))
	before := querytest.Snapshot(t, store)
	for _, c := range []struct {
		req  export.Request
		want string
	}{
		{export.Request{Dest: store, Format: "csv"}, "is inside the store"},
		{export.Request{Dest: store + "/new/x", Format: "csv"}, "is inside the store"},
		{export.Request{Dest: store + "/../" + filepath.Base(store) + "/x", Format: "csv"}, "is inside the store"},
		{export.Request{Dest: link + "/x", Format: "csv"}, "is inside the store"},
		{export.Request{Format: "csv"}, "the destination is missing"},
		{export.Request{Dest: link + ".csv", Format: "parquet"}, "link.csv: want a directory, because there are several files; for one file: neurolens export - --format csv > "},
		{export.Request{Dest: link + ".json", Format: "parquet"}, "for one file: neurolens export - --format jsonl > "},
		{export.Request{Dest: link + "/../OUT.NDJSON", Format: "csv"}, "for one file: neurolens export - --format jsonl > "},
		{export.Request{Dest: "-", Format: "xml"}, `format "xml": want parquet, arrow, csv, jsonl or openmetrics`},
		{export.Request{Dest: link + ".prom", Format: "csv"}, "for one file: neurolens export - --format openmetrics > "},
		{export.Request{Dest: "out", Format: "openmetrics"}, "openmetrics is one text, got the folder out: neurolens export - --format openmetrics > FILE"},
		{export.Request{Dest: "-", Format: "openmetrics", Tables: []string{"runs"}}, "openmetrics has the newest result of each point, and no tables"},
		{export.Request{Dest: "-", Format: "openmetrics", Flat: true}, "openmetrics has the newest result of each point, and no tables"},
		{export.Request{Dest: "-", Format: "csv", Tables: []string{"nope"}}, `table "nope": want one of runs samples samples_long ops`},
		{export.Request{Dest: "-", Format: "jsonl", Tables: []string{"nope"}}, `table "nope": want one of runs samples samples_long ops whole`},
		{export.Request{Dest: "-", Format: "csv", Filter: "x"}, "filter: "},
		{export.Request{Dest: "-", Format: "csv", Tables: []string{"runs", "samples"}}, "standard output takes one table, got runs samples: name a folder for several"},
		{export.Request{Dest: store + "/../out", Format: "csv", Tables: []string{"runs", "runs"}}, "table runs appears twice"},
	} {
		_, err := export.Write(context.Background(), db, c.req)
		querytest.WantInput(t, err, c.want)
	}
	if after := querytest.Snapshot(t, store); after != before {
		t.Error("the store was changed")
	}
}

// TestExportDestinations: an impossible destination is a usage error; one without write permission is not.
func TestExportDestinations(t *testing.T) {
	t.Parallel()
	db := querytest.Open(t, querytest.NewStore(t, querytest.ManyRuns(1)...))
	base := t.TempDir()
	plain, locked := base+"/plain", base+"/locked"
	valuetest.OK(t, errors.Join(os.WriteFile(plain, nil, 0o666), os.Mkdir(locked, 0o755)))
	querytest.Protect(t, locked)
	dests := map[string]string{
		plain: "not a directory", plain + "/x": "not a directory", plain + "/x/y": "not a directory", "/dev/null/x": "not a directory",
		"/proc/foo": "no such file or directory", base + "/" + strings.Repeat("x", 300): "file name too long", base + "/new\nline\x00": "invalid argument",
	}
	if os.Getuid() != 0 {
		dests[locked], dests[locked+"/x"] = "permission denied", "permission denied"
	}
	for dest, want := range dests {
		_, err := export.Write(context.Background(), db, export.Request{Dest: dest, Format: export.CSV, Overwrite: true})
		message := "export: " + strings.NewReplacer("\n", "�", "\x00", "�").Replace(dest) + ": " + want
		if want == "permission denied" {
			if err == nil || err.Error() != message || errors.Is(err, query.ErrInput) {
				t.Errorf("%s: %v", dest, err)
			}
			continue
		}
		querytest.WantInput(t, err, message)
	}
}

// TestExportOddDestination: a destination is always a plain path.
func TestExportOddDestination(t *testing.T) {
	db := querytest.Open(t, querytest.NewStore(t, querytest.ManyRuns(2)...))
	t.Chdir(t.TempDir())
	t.Setenv("HOME", t.TempDir())
	for _, dest := range []string{"~", "~/x", "file:/x", "s3:/x", "a*{b}?[c]", "it's", `back\slash`} {
		if _, err := export.Write(context.Background(), db, export.Request{Dest: dest, Format: export.Parquet}); err != nil {
			t.Errorf("%s: %v", dest, err)
		}
		if names := entries(t, dest); !slices.Contains(names, "runs.parquet") || !slices.Contains(names, "samples.parquet") {
			t.Errorf("%s: left %q", dest, names)
		}
	}
}

// TestExportAllOrNothing: if one table cannot be written, the files of an earlier export remain unchanged.
func TestExportAllOrNothing(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	store, broken := querytest.NewStore(t, querytest.ManyRuns(1)...), querytest.NewStore(t, querytest.FullRun(2))
	breakSamples(t, querytest.LiveFiles(t, broken)[0])
	for name, c := range map[string]struct {
		store  string
		before func(dest string) error
		want   error
	}{
		"a directory in the way": {store, func(dest string) error {
			return errors.Join(os.Remove(dest+"/samples.parquet"), os.Mkdir(dest+"/samples.parquet", 0o777))
		}, query.ErrInput},
		"a stale directory in the way": {store, func(dest string) error { return os.Mkdir(dest+"/ops.parquet", 0o777) }, query.ErrInput},
		"unreadable samples":           {broken, func(string) error { return nil }, schema.ErrDamaged},
	} {
		dest := t.TempDir()
		valuetest.Must(export.Write(ctx, querytest.Open(t, store), export.Request{Dest: dest, Format: export.Parquet}))
		valuetest.OK(t, c.before(dest))
		names, runs := entries(t, dest), querytest.DuckDB(t, "SELECT md5(content) FROM read_blob('"+dest+"/runs.parquet')")
		_, err := export.Write(ctx, querytest.Open(t, c.store), export.Request{Dest: dest, Format: export.Parquet, Overwrite: true, Filter: "batch_size>=2 or bs=1"})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
		if after := entries(t, dest); !slices.Equal(after, names) {
			t.Errorf("%s: left %q, want %q", name, after, names)
		}
		if querytest.DuckDB(t, "SELECT md5(content) FROM read_blob('"+dest+"/runs.parquet')") != runs {
			t.Errorf("%s: runs.parquet was replaced", name)
		}
	}
}

// entries returns the names in a directory.
func entries(t *testing.T, dir string) []string {
	t.Helper()
	all := valuetest.Must(os.ReadDir(dir))
	var names []string
	for _, e := range all {
		names = append(names, e.Name())
	}
	return names
}

// breakSamples makes the samples of a run unreadable and leaves the rest of its file as it was.
func breakSamples(t *testing.T, path string) {
	t.Helper()
	at := querytest.DuckDB(t, "SELECT min(data_page_offset) FROM parquet_metadata('"+path+"') WHERE path_in_schema LIKE 'samples%, ticks, %'")
	offset := valuetest.Must(strconv.ParseInt(at, 10, 64))
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	valuetest.OK(t, err)
	_, err = f.WriteAt(bytes.Repeat([]byte{0xff}, 64), offset)
	valuetest.OK(t, errors.Join(err, f.Close()))
}

// TestExportWholeManyFiles: whole runs of a store of many files are written in parts of hundreds of runs, not one by one:
// about as much is read as for their tables.
func TestExportWholeManyFiles(t *testing.T) {
	dir := t.TempDir() + "/store"
	s := querytest.Synthetic{Runs: 600, PerFile: 12, Samples: 20}
	querytest.SyntheticStore(t, dir, s)
	db := querytest.Open(t, dir)
	write := func(table string) int {
		var out bytes.Buffer
		before := bytesRead(t)
		done, err := export.Write(context.Background(), db, export.Request{Dest: "-", Format: export.JSONL, Tables: tablesOf(table), Stdout: &out})
		if err != nil || table != "ops" && done.Files[0].Rows != int64(s.Runs) {
			t.Fatalf("%s: %+v, %v", table, done, err)
		}
		return bytesRead(t) - before
	}
	tables := write("runs") + write("samples") + write("ops")
	whole := write("whole")
	t.Logf("bytes read for the tables %d, for whole runs %d", tables, whole)
	if whole > 8*tables {
		t.Errorf("%d bytes were read for whole runs, %d for their tables", whole, tables)
	}
}

// bytesRead returns the number of bytes that this process has read since its start.
func bytesRead(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/io")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip(err)
	}
	var n int
	if _, scanErr := fmt.Sscanf(string(text), "rchar: %d", &n); err != nil || scanErr != nil {
		t.Fatal(err, scanErr)
	}
	return n
}
