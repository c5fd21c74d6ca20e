package query_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestReadParquet: runs that an engine selected come back whole, in whatever order and types it wrote them, and a run that is not whole
// does not have its digest.
func TestReadParquet(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "store")
	runs := append(querytest.ManyRuns(5), querytest.Everything())
	querytest.Seal(t, store, runs...)
	table := func(name string) string { return fmt.Sprintf("read_parquet('%s/%s/*/*.parquet')", store, name) }
	const all = "SELECT * FROM "
	for _, test := range []struct {
		name               string
		runs, samples, ops string // what is selected; empty: no folder
		whole              int    // how many of the runs have their digest
	}{
		{"as it is", all + table("runs"), all + table("samples"), all + table("ops"), len(runs)},
		{"in any order", all + table("runs") + " ORDER BY random()", all + table("samples") + " ORDER BY random()", all + table("ops") + " ORDER BY random()", len(runs)},
		{
			"times without a zone, and a number as a text", "SELECT * REPLACE (make_timestamp(epoch_us(started_at)) AS started_at, repeat_index::VARCHAR AS repeat_index) FROM " + table("runs"),
			all + table("samples"), all + table("ops"), len(runs),
		},
		{"twice", all + table("runs") + " UNION ALL " + all + table("runs"), all + table("samples") + " UNION ALL " + all + table("samples"), all + table("ops"), len(runs)},
		{"one more column", "SELECT *, 7 AS rank FROM " + table("runs"), all + table("samples"), all + table("ops"), len(runs)},
		{"samples of other runs", all + table("runs") + " WHERE repeat_index = 0", all + table("samples"), all + table("ops"), 1},
		{"no samples", all + table("runs"), "", all + table("ops"), 0},
		{"a column less", "SELECT * EXCLUDE (benchmark) FROM " + table("runs"), all + table("samples"), all + table("ops"), 0},
		{"rounded times", "SELECT * REPLACE (date_trunc('second', started_at) AS started_at) FROM " + table("runs"), all + table("samples"), all + table("ops"), 0},
		{"a sample less", all + table("runs"), "SELECT * REPLACE (ticks[2:] AS ticks) FROM " + table("samples"), all + table("ops"), 0},
	} {
		dir := t.TempDir()
		for folder, selected := range map[string]string{"runs": test.runs, "samples": test.samples, "ops": test.ops} {
			if selected != "" {
				valuetest.OK(t, os.MkdirAll(filepath.Join(dir, folder, "part=1"), 0o777))
				querytest.DuckDB(t, fmt.Sprintf("COPY (%s) TO '%s/%s/part=1/x.parquet'", selected, dir, folder))
				valuetest.OK(t, os.WriteFile(filepath.Join(dir, folder, "_SUCCESS"), nil, 0o666))
			}
		}
		whole, read := 0, 0
		valuetest.OK(t, query.ReadParquet(t.Context(), dir, query.Options{}, func(r schema.Run, digest string) error {
			if read++; schema.DigestOf(&r) == digest {
				whole++
			}
			return nil
		}), test.name)
		valuetest.Equal(t, whole, test.whole, test.name, "whole of", read)
	}
}

// TestReadParquetRefuses: what is no selection of a store is one line, and an error of the input.
func TestReadParquetRefuses(t *testing.T) {
	t.Parallel()
	for says, file := range map[string]string{
		"no such file":          "",
		"no Parquet files":      "runs/_SUCCESS",
		"too small to be":       "runs/x.parquet",
		"no column run_id":      "SELECT 1 AS x",
		"no column digest":      "SELECT 'x' AS run_id",
		"a row without run_id":  "SELECT NULL::VARCHAR AS run_id, 'x' AS digest",
		"could not convert str": "SELECT 'x' AS run_id, 'x' AS digest, 'many' AS repeat_index",
	} {
		dir := t.TempDir()
		switch {
		case strings.HasPrefix(file, "SELECT"):
			valuetest.OK(t, os.Mkdir(filepath.Join(dir, "runs"), 0o777))
			querytest.DuckDB(t, fmt.Sprintf("COPY (%s) TO '%s/runs/x.parquet'", file, dir))
		case file != "":
			valuetest.OK(t, os.Mkdir(filepath.Join(dir, "runs"), 0o777))
			valuetest.OK(t, os.WriteFile(filepath.Join(dir, file), []byte("x"), 0o666))
		}
		querytest.WantInput(t, query.ReadParquet(t.Context(), dir, query.Options{}, func(schema.Run, string) error { return nil }), says)
	}
}
