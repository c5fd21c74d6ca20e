package ingest_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
)

// TestDuckDB reads every column of appended runs the way the query layer does, by field id with an explicit schema,
// and finds what was put in: zero is not NULL, empty is not NULL, NULL is NULL.
func TestDuckDB(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	runs := appendVariety(t, dir)
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()

	for _, r := range runs {
		got := readRow(t, db, filepath.Join(dir, pathOf(t, dir, r)))
		want := liveRow(r)
		for i, c := range schema.LiveColumns() {
			sameValue(t, c, got[i], want[i])
		}
	}
}

func readRow(t *testing.T, db *sql.DB, file string) []any {
	t.Helper()
	var columns []string
	for _, c := range schema.LiveColumns() {
		columns = append(columns, fmt.Sprintf("%d: {name: '%s', type: '%s', default_value: NULL}", c.ID, c.Name, c.SQLType()))
	}
	query := fmt.Sprintf("FROM read_parquet('%s', schema=MAP {%s})", file, strings.Join(columns, ", "))
	row := make([]any, len(columns))
	pointers := make([]any, len(columns))
	for i := range row {
		pointers[i] = &row[i]
	}
	if err := db.QueryRow(query).Scan(pointers...); err != nil {
		t.Fatal(err)
	}
	return row
}

// TestDuckDBSealed reads every column of sealed files with DuckDB and nothing but their names.
func TestDuckDBSealed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := open(t, dir)
	runs := []schema.Run{ingest.FullRun(), ingest.SmallRun(), ingest.FullRun()}
	done, err := store.AppendAll(runtest.Each(runs...))
	if err != nil || done.Added != len(runs) {
		t.Fatalf("%+v, %v", done, err)
	}
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, r := range runs {
		want := liveRow(r)
		for _, rows := range []struct {
			table *schema.Table
			want  [][]any
		}{
			{schema.Runs, [][]any{want[:len(schema.Runs.Columns)]}},
			{schema.Samples, keyed(r.RunID, want[len(want)-2])},
			{schema.Ops, keyed(r.RunID, want[len(want)-1])},
		} {
			got := sealedRows(t, db, dir, rows.table, r.RunID)
			if len(got) != len(rows.want) {
				t.Fatalf("%s: %d rows of %s, want %d", r.RunID, len(got), rows.table.Name, len(rows.want))
			}
			slices.SortFunc(rows.want, func(a, b []any) int { return strings.Compare(fmt.Sprint(a[1]), fmt.Sprint(b[1])) })
			for i := range got {
				for j, c := range rows.table.Columns {
					sameValue(t, c, got[i][j], rows.want[i][j])
				}
			}
		}
	}
}

// keyed puts the id of the run before each of the nested rows.
func keyed(run string, nested any) [][]any {
	rows, _ := nested.([][]any)
	var all [][]any
	for _, row := range rows {
		all = append(all, append([]any{run}, row...))
	}
	return all
}

// sealedRows reads the rows of a run in the order of the file.
func sealedRows(t *testing.T, db *sql.DB, dir string, of *schema.Table, run string) [][]any {
	t.Helper()
	rows, err := db.Query(fmt.Sprintf("FROM read_parquet('%s/%s/**/*.parquet') WHERE run_id = '%s'", dir, schema.TableZones[of], run))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var all [][]any
	for rows.Next() {
		row := make([]any, len(of.Columns))
		pointers := make([]any, len(row))
		for i := range row {
			pointers[i] = &row[i]
		}
		if err := rows.Scan(pointers...); err != nil {
			t.Fatal(err)
		}
		all = append(all, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
