package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/iceberg-go/table"
	"github.com/spf13/pflag"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// madeStore makes a store with a sealed file for each number of runs, and one of a run with every column. It returns the ids of all runs.
func madeStore(t *testing.T, dir string, files ...int) []string {
	t.Helper()
	valuetest.OK(t, ingest.Init(dir))
	sweep := runtest.NewSweep(1, 10)
	ids := appendRuns(t, dir, runtest.Full())
	for _, n := range files {
		runs := make([]schema.Run, n)
		for i := range runs {
			runs[i] = sweep.Next()
		}
		ids = append(ids, appendRuns(t, dir, runs...)...)
	}
	return ids
}

// appendRuns seals runs in a file of their own.
func appendRuns(t *testing.T, dir string, runs ...schema.Run) (ids []string) {
	t.Helper()
	store := valuetest.Must(ingest.Open(dir, "test"))
	valuetest.Must(store.AppendAll(runtest.Each(runs...)))
	valuetest.OK(t, store.Close())
	for _, r := range runs {
		ids = append(ids, r.RunID)
	}
	return ids
}

func annotate(t *testing.T, dir string, kind schema.EventKind, key, value string, runs ...string) {
	t.Helper()
	store := valuetest.Must(ingest.Open(dir, "test"))
	valuetest.Must(store.Annotate(ingest.Annotation{Kind: kind, Key: key, Value: value, Runs: runs}))
	valuetest.OK(t, store.Close())
}

// updatedTables runs the command, and returns what it prints.
func updatedTables(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	valuetest.OK(t, run(context.Background(), args, &out, io.Discard))
	return out.String()
}

// scanned returns the ids of the runs in a table, ascending, each as often as it is there.
func scanned(t *testing.T, dir, name string) []string {
	t.Helper()
	w := valuetest.Must(openWarehouse(dir, ""))
	defer w.close()
	tbl := valuetest.Must(w.LoadTable(context.Background(), table.Identifier{name}))
	rows := valuetest.Must(tbl.Scan(table.WithSelectedFields("run_id")).ToArrowTable(context.Background()))
	var ids []string
	for _, chunk := range rows.Column(0).Data().Chunks() {
		for i := range chunk.Len() {
			ids = append(ids, chunk.ValueStr(i))
		}
	}
	slices.Sort(ids)
	return ids
}

// TestSchemas: the columns of the tables are those of the files, with their ids, types and parts. A reader finds columns by id.
func TestSchemas(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	madeStore(t, dir)
	for _, of := range []*schema.Table{schema.Runs, schema.Samples, schema.Ops} {
		found := valuetest.Must(filepath.Glob(filepath.Join(dir, schema.TableFolders[of], "*", "*.parquet")))
		parsed := valuetest.Must(file.OpenParquetFile(found[0], false))
		arrow := valuetest.Must(pqarrow.FromParquet(parsed.MetaData().Schema, nil, parsed.MetaData().KeyValueMetadata()))
		valuetest.OK(t, parsed.Close())
		want := valuetest.Must(table.ArrowSchemaToIceberg(arrow, false, nil))
		for i, f := range schemaOf(of).Fields() {
			f.Doc = ""
			if w := want.Field(i); f.ID != w.ID || f.Name != w.Name || f.Required != w.Required || !f.Type.Equals(w.Type) {
				t.Errorf("%s: column %v, the file has %v", of.Name, f, w)
			}
		}
		valuetest.Equal(t, schemaOf(of).NumFields(), want.NumFields(), of.Name)
	}
}

// TestUpdate: after each change of a store the tables have its runs, once each, without those that are removed, and an update without a
// change writes nothing.
func TestUpdate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	ids := madeStore(t, dir, 24, 30)
	shown := slices.Clone(ids)
	check := func(what, want string) {
		t.Helper()
		slices.Sort(shown)
		valuetest.Equal(t, updatedTables(t, dir), want, what)
		valuetest.DeepEqual(t, scanned(t, dir, "runs"), shown, what, "runs")
		samples := scanned(t, dir, "samples")
		valuetest.DeepEqual(t, slices.Compact(samples), shown, what, "samples")
		before := valuetest.Must(filepath.Glob(filepath.Join(dir, tablesDir, "*", "*", "*")))
		updatedTables(t, dir)
		valuetest.DeepEqual(t, valuetest.Must(filepath.Glob(filepath.Join(dir, tablesDir, "*", "*", "*"))), before, what, "without a change")
	}
	gone := func(some ...string) {
		shown = slices.DeleteFunc(shown, func(id string) bool { return slices.Contains(some, id) })
	}
	lines := func(samples, ops, tags, runs string) string {
		return fmt.Sprintf("samples: %s\nops: %s\ntags: %s\nruns: %s\n", samples, ops, tags, runs)
	}
	check("made", lines("58 rows in 3 files, 0 of them hidden; 3 files added, 0 dropped", "2 rows in 1 files, 0 of them hidden; 1 files added, 0 dropped",
		"0 rows in 0 files, 0 of them hidden; 0 files added, 0 dropped", "55 rows in 3 files, 0 of them hidden; 3 files added, 0 dropped"))
	annotate(t, dir, schema.EventRemove, "", "", ids[1], ids[5], ids[30])
	gone(ids[1], ids[5], ids[30])
	annotate(t, dir, schema.EventTag, "cooling", "air", ids[2], ids[5])
	annotate(t, dir, schema.EventUntag, "branch", "", ids[3])
	check("removed and tagged", lines("58 rows in 3 files, 3 of them hidden; 0 files added, 0 dropped", "2 rows in 1 files, 0 of them hidden; 0 files added, 0 dropped",
		"2 rows in 1 files, 0 of them hidden; 1 files added, 0 dropped", "55 rows in 3 files, 3 of them hidden; 0 files added, 0 dropped"))

	annotate(t, dir, schema.EventRestore, "", "", ids[5])
	shown = append(shown, ids[5])
	sweep := runtest.NewSweep(2, 10)
	shown = append(shown, appendRuns(t, dir, sweep.Next(), sweep.Next())...)
	check("restored and appended", lines("60 rows in 4 files, 2 of them hidden; 1 files added, 0 dropped", "2 rows in 1 files, 0 of them hidden; 0 files added, 0 dropped",
		"3 rows in 1 files, 0 of them hidden; 1 files added, 1 dropped", "57 rows in 4 files, 2 of them hidden; 1 files added, 0 dropped"))

	annotate(t, dir, schema.EventRestore, "", "", ids[1], ids[30])
	annotate(t, dir, schema.EventTag, "branch", "main", ids[3])
	shown = append(shown, ids[1], ids[30])
	for _, zone := range []string{schema.RunsDir, schema.SamplesDir} { // as repair does
		found := valuetest.Must(filepath.Glob(filepath.Join(dir, zone, "*", "*-24.parquet")))
		valuetest.OK(t, os.Remove(found[0]))
	}
	gone(ids[1:25]...)
	check("a file is gone, nothing is hidden", lines("36 rows in 3 files, 0 of them hidden; 0 files added, 1 dropped", "2 rows in 1 files, 0 of them hidden; 0 files added, 0 dropped",
		"3 rows in 1 files, 0 of them hidden; 1 files added, 1 dropped", "33 rows in 3 files, 0 of them hidden; 0 files added, 1 dropped"))

	annotate(t, dir, schema.EventRemove, "", "", ids[0])
	gone(ids[0])
	check("the run with every column is removed", lines("36 rows in 3 files, 4 of them hidden; 0 files added, 0 dropped", "2 rows in 1 files, 2 of them hidden; 0 files added, 0 dropped",
		"3 rows in 1 files, 0 of them hidden; 0 files added, 0 dropped", "33 rows in 3 files, 1 of them hidden; 0 files added, 0 dropped"))
}

// TestOrphans: samples whose name no file of runs has are in no table, and a warning counts live runs, which are in none.
func TestOrphans(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	ids := madeStore(t, dir, 24)
	found := valuetest.Must(filepath.Glob(filepath.Join(dir, schema.RunsDir, "*", "*-24.parquet")))
	valuetest.OK(t, os.Remove(found[0]))
	store := valuetest.Must(ingest.Open(dir, "test"))
	valuetest.OK(t, store.Append(runtest.Small()))
	var said bytes.Buffer
	valuetest.OK(t, run(context.Background(), []string{dir}, io.Discard, &said))
	valuetest.OK(t, store.Close())
	valuetest.DeepEqual(t, slices.Compact(scanned(t, dir, "samples")), ids[:1])
	valuetest.Contains(t, said.String(), "1 runs are not sealed")
}

// TestLocation: files of the tables have the names that they have at the location, and tables made for one location are not continued for
// another.
func TestLocation(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	ids := madeStore(t, dir, 24)
	annotate(t, dir, schema.EventRemove, "", "", ids[1])
	updatedTables(t, dir, "--location", "s3://bench/compact/")
	for _, name := range []string{"v1", "v2"} {
		text := string(valuetest.Must(os.ReadFile(filepath.Join(dir, tablesDir, "runs", "metadata", name+".metadata.json"))))
		valuetest.Contains(t, text, `"location":"s3://bench/compact/iceberg/runs"`)
		if strings.Contains(text, dir) {
			t.Errorf("%s names %s", name, dir)
		}
	}
	valuetest.Equal(t, string(valuetest.Must(os.ReadFile(filepath.Join(dir, tablesDir, "runs", "metadata", "version-hint.text")))), "2")
	valuetest.Fails(t, run(context.Background(), []string{dir}, io.Discard, io.Discard), "its location is s3://bench/compact/iceberg/samples, not file://")
}

// TestRefusals: each refusal gives its reason, and the tables stay as they are.
func TestRefusals(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	madeStore(t, dir, 24)
	fails := func(says string, args ...string) {
		t.Helper()
		valuetest.Fails(t, run(context.Background(), args, io.Discard, io.Discard), says, args)
	}
	fails("want one store, got []: usage")
	fails("want one store, got [", dir, dir)
	fails("unknown flag: --nonsense: usage", dir, "--nonsense")
	fails("opening store "+filepath.Dir(dir)+": ", filepath.Dir(dir))
	for _, location := range []string{"s3://b/a b", "s3://b/a%20b", "bench/compact", "s3://b/ü"} {
		fails("want an absolute path or a URL", dir, "--location", location)
	}
	w := valuetest.Must(openWarehouse(dir, ""))
	fails("another process updates the tables", dir)
	valuetest.OK(t, w.close())
	updatedTables(t, dir)

	found := valuetest.Must(filepath.Glob(filepath.Join(dir, schema.RunsDir, "*", "*-24.parquet")))
	content := valuetest.Must(os.ReadFile(found[0]))
	valuetest.OK(t, os.WriteFile(found[0], append(content, 0), 0o666))
	fails("was repaired", dir)
	valuetest.OK(t, os.WriteFile(found[0], content, 0o666))
	updatedTables(t, dir)

	valuetest.OK(t, w.Remove(w.url(tablesDir+"/runs/metadata/version-hint.text")))
	valuetest.ErrorIs(t, w.Remove(w.url(schema.HeaderFile)), os.ErrPermission)
	valuetest.ErrorIs(t, valuetest.Error(w.Open("s3://elsewhere/x")), os.ErrInvalid)
	if err := run(context.Background(), []string{"--help"}, io.Discard, io.Discard); !errors.Is(err, pflag.ErrHelp) {
		t.Error(err)
	}
}
