package sql_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/sql"
	"github.com/neurolens/neurolens/schema"
)

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
		words := strings.Fields(statement[strings.Index(statement, "CREATE"):])
		made = append(made, words[slices.Index(words, "TEMPORARY")+2])
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
	if err := os.CopyFS(odd, os.DirFS(store)); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{t.TempDir(), odd} {
		if got, err := sql.Location(dir); err == nil {
			t.Errorf("%q is at %s", dir, got)
		}
	}
}
