package sql

import (
	"context"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// FuzzCheckSelect: every text is either an ErrInput of one line, or what DuckDB itself calls a SELECT.
func FuzzCheckSelect(f *testing.F) {
	for _, text := range []string{
		"SELECT 1", "FROM runs", "WITH x AS (SELECT 1) FROM x", "VALUES (1)", "COPY runs TO 'x'", "SELECT 1; SELECT 2", "", ";", "/*", "--", "PIVOT runs ON x",
		"SELECT 'a;b'", "DESCRIBE runs", "SELECT $1", "SELECT ?", "SELECT 1 UNION SELECT 2 AS x", "select \"a\"\"b\" as \"p50\"", "SELEC", "(SELECT 1)",
	} {
		f.Add(text)
	}
	ctx, c := context.Background(), querytest.Connect(f)
	f.Fuzz(func(t *testing.T, text string) {
		_, err := checkSelect(ctx, c, text)
		if err != nil {
			if !errors.Is(err, answer.ErrInput) || strings.ContainsAny(err.Error(), "\n\r\x00") || !utf8.ValidString(err.Error()) {
				t.Fatalf("%q: %q", text, err)
			}
			return
		}
		// As a subquery it parses exactly where it is a query. DESCRIBE and its like are queries too, but stand alone.
		row, err := c.One(ctx, duck.Statement{SQL: "SELECT json_serialize_sql($1::VARCHAR)::VARCHAR", Args: []any{"SELECT * FROM (" + text + "\n)"}})
		if err != nil || !strings.HasPrefix(row[0].(string), `{"error":false`) && !strings.Contains(text, ";") {
			t.Fatalf("%q passes: %v, %v", text, row, err)
		}
	})
}

// TestSandboxKnowsWhatSteers: every table function of this DuckDB that changes the engine is refused.
func TestSandboxKnowsWhatSteers(t *testing.T) {
	t.Parallel()
	c := querytest.Connect(t)
	all, err := c.Table(t.Context(), duck.Statement{SQL: `SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type = 'table'
		AND regexp_matches(function_name, 'able_|checkpoint|truncate|^set|^reset|write|execute|^query$') AND NOT regexp_matches(function_name, '_table_')`})
	if err != nil || len(all.Rows) < 8 {
		t.Fatalf("%v, %v", all.Rows, err)
	}
	for _, row := range all.Rows {
		if name := row[0].(string); !steers(name) {
			t.Errorf("%s passes", name)
		}
	}
}

// TestSandboxIsLocked: besides the check, the engine's own lock refuses.
func TestSandboxIsLocked(t *testing.T) {
	t.Parallel()
	c := querytest.Connect(t)
	for _, s := range sandbox(&scan.Sources{}, checked{}) {
		valuetest.Must(c.Exec(t.Context(), s))
	}
	for _, s := range []string{"SET threads = 1", "SET lock_configuration = false", "SET enable_external_access = true"} {
		if _, err := c.Exec(t.Context(), s); err == nil {
			t.Errorf("%s works", s)
		}
	}
}
