package ingest_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"

	"github.com/neurolens/neurolens/schema"
)

// TestDuckDB reads every column of appended runs the way the query layer does, by field id with an explicit schema,
// and finds what was put in: zero is not NULL, empty is not NULL, NULL is NULL.
func TestDuckDB(t *testing.T) {
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
