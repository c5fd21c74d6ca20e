package export_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/export"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/sql"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// exportArrow exports a table as a stream.
func exportArrow(t testing.TB, db *query.DB, table, filter string) querytest.ArrowTable {
	t.Helper()
	var stream bytes.Buffer
	done, err := export.Write(context.Background(), db, export.Request{Dest: "-", Format: export.Arrow, Tables: tablesOf(table), Filter: filter, Stdout: &stream})
	if err != nil {
		t.Fatalf("%s: %v", table, err)
	}
	got, err := querytest.ReadArrow(t, &stream)
	if err != nil {
		t.Fatalf("%s: %v", table, err)
	}
	if len(done.Files) != 1 || done.Files[0].Rows != int64(len(got.Rows)) {
		t.Errorf("%s: %d rows, and export says %v", table, len(got.Rows), done.Files)
	}
	return got
}

// TestExportArrow: the tables of the selected runs have the values that SQL gives, in the order of the runs; removed runs are
// not in them, and tags are the changed ones.
func TestExportArrow(t *testing.T) {
	t.Parallel()
	store := querytest.MixedStore(t)
	db := querytest.Open(t, store)
	all := valuetest.Must(sql.Select(context.Background(), db, "SELECT run_id FROM runs WHERE suite = 'nightly' ORDER BY run_id LIMIT 2"))
	removed, tagged := all.Rows[0][0].(string), all.Rows[1][0].(string)
	s := valuetest.Must(ingest.Open(store, "test"))
	for _, a := range []ingest.Annotation{
		{Kind: schema.EventRemove, Runs: []string{removed}}, {Kind: schema.EventTag, Runs: []string{tagged}, Key: "seen", Value: "yes"},
	} {
		valuetest.Must(s.Annotate(a))
	}
	valuetest.OK(t, s.Close())
	for _, filter := range []string{"", "suite=nightly", "benchmark=nothing"} {
		where := map[string]string{"": "true", "suite=nightly": "suite = 'nightly'", "benchmark=nothing": "false"}[filter]
		for table, order := range map[string]string{"runs": "run_id", "samples": "run_id, metric", "samples_long": "run_id, metric, i", "ops": "run_id, op"} {
			got := exportArrow(t, db, table, filter)
			want, err := sql.Select(context.Background(), db, "SELECT * FROM "+table+" SEMI JOIN (FROM runs WHERE "+where+") USING (run_id) ORDER BY "+order)
			valuetest.OK(t, err)
			if !slices.EqualFunc(got.Rows, want.Rows, func(a, b []any) bool { return slices.EqualFunc(a, b, querytest.EqualValues) }) {
				t.Errorf("%s %q: %d rows are not the %d of SQL", table, filter, len(got.Rows), len(want.Rows))
			}
			if len(got.Schema.Fields()) != len(want.Columns) {
				t.Errorf("%s: %d columns, want %d", table, len(got.Schema.Fields()), len(want.Columns))
			}
		}
	}
	if got := exportArrow(t, db, "runs", "tag.seen=yes"); len(got.Rows) != 1 || got.Rows[0][0] != tagged {
		t.Errorf("the run tagged later is %v", got.Rows)
	}
}

// TestExportSession: the runs of a session and counted runs, but no others. No runs are a table without rows.
func TestExportSession(t *testing.T) {
	t.Parallel()
	const earlier = 20
	runs := querytest.ManyRuns(earlier + 3)
	var counted []string
	for i := range runs {
		if i < earlier {
			counted = append(counted, runs[i].RunID)
		} else {
			runs[i].SessionID = querytest.SessionID(2 + i%2)
		}
	}
	dir := t.TempDir()
	valuetest.OK(t, ingest.Init(dir+"/runs_store"))
	querytest.Seal(t, dir+"/runs_store", runs...)
	db := querytest.Open(t, dir+"/runs_store")
	for _, c := range []struct {
		session int
		counted []string
		want    int
	}{{2, counted, earlier + 2}, {3, nil, 1}, {4, nil, 0}, {4, counted[:1], 1}} {
		var stream bytes.Buffer
		_, err := export.Write(t.Context(), db, export.Request{Dest: "-", Format: export.Arrow, Session: querytest.SessionID(c.session), Counted: c.counted, Stdout: &stream})
		if err != nil {
			t.Fatalf("session %d: %v", c.session, err)
		}
		got := valuetest.Must(querytest.ReadArrow(t, &stream))
		if len(got.Rows) != c.want || len(got.Schema.Fields()) == 0 {
			t.Errorf("session %d and %d runs: %d rows, want %d", c.session, len(c.counted), len(got.Rows), c.want)
		}
	}
}

// TestExportArrowFiles: in a directory each table is an Arrow file.
func TestExportArrowFiles(t *testing.T) {
	t.Parallel()
	db := querytest.Open(t, querytest.MixedStore(t))
	dest := filepath.Join(t.TempDir(), "out")
	done := valuetest.Must(export.Write(context.Background(), db, export.Request{Dest: dest, Format: export.Arrow}))
	for i, table := range []string{"runs", "samples", "ops"} {
		f := valuetest.Must(os.Open(filepath.Join(dest, table+".arrow")))
		r := valuetest.Must(ipc.NewFileReader(f))
		var rows int64
		for k := range r.NumRecords() {
			batch := valuetest.Must(r.RecordBatch(k))
			rows += batch.NumRows()
		}
		if rows == 0 || done.Files[i].Table != table || done.Files[i].Rows != rows {
			t.Errorf("%s: %d rows, and export says %v", table, rows, done.Files)
		}
		valuetest.OK(t, f.Close())
	}
}

// TestExportArrowLargeRuns: runs that are too large to be read many at a time are read a few at a time.
func TestExportArrowLargeRuns(t *testing.T) {
	t.Parallel()
	many := 24
	if querytest.Long() {
		many = 70
	}
	runs := make([]schema.Run, many)
	for i := range runs {
		runs[i] = querytest.NewRun(i, 100, func(r *schema.Run) {
			ticks := make([]int64, 50_000)
			for j := range ticks {
				ticks[j] = int64(i*len(ticks) + j)
			}
			r.Metrics = []schema.Metric{{Name: "latency", Unit: "ns", Tick: 1, Ticks: ticks}}
			r.Primary = "latency"
		})
	}
	db := querytest.Open(t, querytest.NewStore(t, runs...))
	var stream bytes.Buffer
	if _, err := export.Write(context.Background(), db, export.Request{Dest: "-", Format: export.Arrow, Tables: []string{"samples"}, Stdout: &stream}); err != nil {
		t.Fatal(err)
	}
	r := valuetest.Must(ipc.NewReader(&stream))
	defer r.Release()
	n := 0
	for ; r.Next(); n += int(r.RecordBatch().NumRows()) {
		batch := r.RecordBatch()
		if batch.NumRows() > 16 {
			t.Errorf("a batch of %d rows", batch.NumRows())
		}
		lists := batch.Column(batch.Schema().FieldIndices("ticks")[0]).(*array.List)
		ticks := lists.ListValues().(*array.Int64)
		for i := range lists.Len() {
			first, last := lists.ValueOffsets(i)
			if want := int64((n + i) * 50_000); last-first != 50_000 || ticks.Value(int(first)) != want || ticks.Value(int(last-1)) != want+49_999 {
				t.Errorf("run %d: %d ticks from %d", n+i, last-first, ticks.Value(int(first)))
			}
		}
	}
	if r.Err() != nil || n != len(runs) {
		t.Errorf("%d rows of %d runs: %v", n, len(runs), r.Err())
	}
}
