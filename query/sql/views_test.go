package sql_test

import (
	"context"
	stdsql "database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/sql"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// viewQueries are asked of the views of Views and of SQL: whole rows, as text.
var viewQueries = []string{
	"SELECT to_json(t)::VARCHAR FROM runs t ORDER BY run_id",
	"SELECT to_json(t)::VARCHAR FROM samples t ORDER BY run_id, metric",
	"SELECT to_json(t)::VARCHAR FROM samples_long t ORDER BY run_id, metric, i",
	"SELECT to_json(t)::VARCHAR FROM ops t ORDER BY run_id, op",
	"SELECT string_agg(column_name || ' ' || column_type) FROM (DESCRIBE runs)",
	"SELECT string_agg(column_name || ' ' || column_type) FROM (DESCRIBE samples)",
	"SELECT string_agg(column_name || ' ' || column_type) FROM (DESCRIBE ops)",
	"SELECT num(params['dim'])::VARCHAR FROM runs ORDER BY run_id",
}

// rowsOfSQL returns the values of the only column.
func rowsOfSQL(t testing.TB, db *query.DB, text string) []string {
	t.Helper()
	table := valuetest.Must(sql.Select(context.Background(), db, text))
	var all []string
	for _, row := range table.Rows {
		value, _ := row[0].(string)
		all = append(all, value)
	}
	return all
}

// rowsOfViews loads the text of Views into a DuckDB and asks that.
func rowsOfViews(t testing.TB, dir, text string) []string {
	t.Helper()
	views := valuetest.Must(sql.Views(dir))
	db := valuetest.Must(stdsql.Open("duckdb", ""))
	defer db.Close()
	db.SetMaxOpenConns(1) // the views are those of a connection
	valuetest.Must(db.Exec("SET TimeZone = 'UTC';" + views))
	rows, err := db.Query(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var value stdsql.NullString
		valuetest.OK(t, rows.Scan(&value))
		all = append(all, value.String)
	}
	return all
}

// TestViews: the printed view definitions give the same results as SQL, wherever the runs are stored.
func TestViews(t *testing.T) {
	querytest.NeedsLong(t)
	t.Parallel()
	runs := querytest.VariousRuns()
	stores := map[string]string{"empty": querytest.NewStore(t), "live": querytest.LiveStore(t, runs...), "a [b] * it's": ""}
	sealed := querytest.NewStore(t)
	querytest.Seal(t, sealed, runs[:40]...)
	querytest.Seal(t, sealed, runs[40:]...)
	stores["sealed"] = sealed
	mixed := querytest.LiveStore(t, runs[20:]...)
	querytest.Seal(t, mixed, runs[:30]...) // ten of them are live too
	querytest.SayMuch(t, mixed, runs)
	stores["mixed"] = mixed
	odd := filepath.Join(t.TempDir(), "a [b] * it's")
	valuetest.OK(t, os.CopyFS(odd, os.DirFS(mixed)))
	stores["a [b] * it's"] = odd
	for name, dir := range stores {
		if (name == "live" || name == "sealed" || name == "mixed") && !querytest.Long() {
			continue // the odd one has both
		}
		t.Run(name, func(t *testing.T) {
			db := querytest.Open(t, dir)
			for _, text := range viewQueries {
				got, want := rowsOfViews(t, dir, text), rowsOfSQL(t, db, text)
				if !slices.Equal(got, want) {
					t.Errorf("%s\n got %.2000q\nwant %.2000q", text, got, want)
				}
				if name != "empty" && len(got) == 0 {
					t.Errorf("%s: no rows", text)
				}
			}
		})
	}
}

// TestViewsOrphans: samples whose runs are not in a sealed file of the same name do not count.
func TestViewsOrphans(t *testing.T) {
	t.Parallel()
	runs := querytest.VariousRuns()
	dir := querytest.LiveStore(t, runs[:5]...)
	f := querytest.Seal(t, dir, runs[:5]...)
	valuetest.OK(t, os.Remove(filepath.Join(dir, f.Path(schema.RunsDir))))
	for _, text := range viewQueries {
		if got, want := rowsOfViews(t, dir, text), rowsOfSQL(t, querytest.Open(t, dir), text); !slices.Equal(got, want) {
			t.Errorf("%s\n got %.2000q\nwant %.2000q", text, got, want)
		}
	}
}

// TestViewTexts: statements are taken apart at a semicolon and a line break, wherever the store is; all columns are there; and the
// location is one literal.
func TestViewTexts(t *testing.T) {
	t.Parallel()
	const location = "s3a://b/it's; [a] {b,c} \\ ${d}"
	literals := map[string]string{
		"spark": `path 's3a://b/it\'s; \\[a\\] \\{b\\,c\\} \\\\ \u0024\\{d\\}/{`,
		"trino": "external_location = 's3a://b/it''s; [a] {b,c} \\ ${d}/",
	}
	texts := map[string]string{"spark": sql.SparkViews(location + "/"), "trino": sql.TrinoViews(location + "/")}
	for dialect, text := range texts {
		if n := strings.Count(text, literals[dialect]); n < 4 {
			t.Errorf("%s: the location is there %d times", dialect, n)
		}
		for _, table := range []*schema.Table{schema.Runs, schema.Samples, schema.Ops} {
			for _, c := range table.Columns {
				quoted := strings.NewReplacer("spark", "`"+c.Name+"`", "trino", `"`+c.Name+`"`).Replace(dialect)
				if !strings.Contains(text, quoted+" ") {
					t.Errorf("%s: column %s of %s has no type", dialect, c.Name, table.Name)
				}
			}
		}
	}
	var made []string
	for statement := range strings.SplitSeq(strings.TrimSuffix(sql.SparkViews(location), ";\n"), ";\n") {
		words := strings.Fields(statement)
		if at := slices.Index(words, "TEMPORARY"); at >= 0 {
			made = append(made, words[at+2])
		}
	}
	if last := made[len(made)-5:]; fmt.Sprint(last) != "[runs samples samples_long ops num(x]" {
		t.Errorf("the last statements make %s", last)
	}
}

// TestLocation: a store is named by a URL. A folder without a store is none, and a path of several lines no part of SQL.
func TestLocation(t *testing.T) {
	t.Parallel()
	store := querytest.NewStore(t)
	if got, err := sql.Location(store); err != nil || got != "file://"+store {
		t.Errorf("the store %s is at %s: %v", store, got, err)
	}
	odd := filepath.Join(t.TempDir(), "a;\nb")
	valuetest.OK(t, os.CopyFS(odd, os.DirFS(store)))
	for _, dir := range []string{t.TempDir(), odd} {
		if got, err := sql.Location(dir); err == nil {
			t.Errorf("%q is at %s", dir, got)
		}
	}
}
