package query_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/sql"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// foreignFile writes a sealed file of one run with columns of another version: its columns are given as SQL and as field
// ids.
func foreignFile(t *testing.T, dir, zone, columns, ids string, run schema.ULID) {
	t.Helper()
	name := schema.NewSealedFile(schema.ULIDFrom(run.Time(), [10]byte{9: 0xff}), []schema.ULID{run})
	path := filepath.Join(dir, name.Path(zone))
	valuetest.OK(t, os.MkdirAll(filepath.Dir(path), 0o777))
	querytest.DuckDB(t, fmt.Sprintf("COPY (SELECT '%s' AS run_id, %s) TO '%s' (FORMAT parquet, FIELD_IDS {run_id: 1, %s})", run, columns, path, ids))
}

// TestOtherVersions: sealed files that lack columns, have columns that are not known here, or have them in another
// order or under another name, are read exactly beside those of this version.
func TestOtherVersions(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	runs := querytest.ManyRuns(3)
	dir := querytest.NewStore(t)
	querytest.Seal(t, dir, runs[0])
	id := func(i int) schema.ULID {
		run := valuetest.Must(schema.ParseULID(runs[i].RunID))
		return run
	}
	foreignFile(t, dir, schema.RunsDir, "7.5 AS p50, 'ns' AS unit, 'latency' AS metric, 'ok' AS status", "p50: 75, unit: 65, metric: 64, status: 38", id(1))
	foreignFile(t, dir, schema.SamplesDir, "'latency' AS metric, 'ns' AS unit, 1.0::DOUBLE AS tick, [7, 8] AS ticks",
		"metric: 2, unit: 3, tick: 7, ticks: {__duckdb_field_id: 8, element: 30}", id(1))
	foreignFile(t, dir, schema.RunsDir,
		"'new' AS p50, {'a': 1} AS brand_new, 8.5 AS median_of_then, 'latency' AS metric, 'ns' AS unit, MAP {'dim': '9'} AS params, "+
			"[{'bytes': 5, 'kind': 'report', 'colour': 'red'}] AS artifacts",
		"p50: 4711, brand_new: {__duckdb_field_id: 4712, a: 4713}, median_of_then: 75, metric: 64, unit: 65, params: {__duckdb_field_id: 23, key: 85, value: 86}, "+
			"artifacts: {__duckdb_field_id: 45, element: {__duckdb_field_id: 92, bytes: 96, kind: 93, colour: 4714}}", id(2))
	foreignFile(t, dir, schema.SamplesDir, "[1.5] AS reals, 'latency' AS metric, true AS brand_new, 'ns' AS unit",
		"reals: {__duckdb_field_id: 9, element: 31}, metric: 2, brand_new: 4711, unit: 3", id(2))
	db := querytest.Open(t, dir)
	l := querytest.Pages(t, db, query.ListRequest{}, "p50", "status", "params", "artifacts")
	artifact := map[string]any{"kind": "report", "path": nil, "sha256": nil, "bytes": int64(5)}
	want := fmt.Sprint([][]any{
		{8.5, nil, map[string]any{"dim": "9"}, []any{artifact}},
		{7.5, "ok", nil, nil},
		{100_010.0, "ok", map[string]any{"dim": "64"}, nil},
	})
	valuetest.Equal(t, fmt.Sprint(l.Rows), want, l.Rows)
	for filter, total := range map[string]int{"p50>=8ns p50<9ns": 1, "dim=9": 1, "status=null": 1, "status=ok": 2, "batch_size=null": 2} {
		valuetest.Equal(t, valuetest.Must(db.List(ctx, query.ListRequest{Filter: filter, Limit: 9})).Total, total, filter)
	}
	r, err := sql.Select(ctx, db, `SELECT run_id, "values" FROM samples ORDER BY run_id`)
	if err != nil || fmt.Sprint(r.Rows) != fmt.Sprintf("[[%s [100000 100010 100020 101000 100005]] [%s [7 8]] [%s [1.5]]]", runs[0].RunID, runs[1].RunID, runs[2].RunID) {
		t.Errorf("got %v, %v", r.Rows, err)
	}
}
