package duck_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/query/internal/duck"
)

// TestOneLine: of an error of DuckDB what it says stays, not what it adds.
func TestOneLine(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"Binder Error: Referenced column \"a\" not found\n\nLINE 1: SELECT a\n               ^":       `referenced column "a" not found`,
		"INTERNAL Error: Attempted to access index 0 within vector of size 0\n\nStack Trace:\n\n/a/b": "attempted to access index 0 within vector of size 0",
		"Binder Error: No function matches.\n\tCandidate functions:\n\tabs(INTEGER)":                  "no function matches",
	} {
		if got := duck.OneLine(message); got != want {
			t.Errorf("%q: %q, want %q", message, got, want)
		}
	}
}

// TestMemoryWords: an error for lack of memory is told from a full folder for temporary files, and has no advice about settings of DuckDB, which
// nobody can change.
func TestMemoryWords(t *testing.T) {
	const sorts = "SELECT * FROM range(20000000) AS t(i) ORDER BY hash(i) LIMIT 1 OFFSET 15000000"
	const keeps = "SELECT list(i) FROM range(50000000) AS t(i)"
	for _, c := range []struct {
		text, folder string
		full         bool
	}{{sorts, "200KiB", true}, {keeps, "10GiB", false}} {
		e, err := duck.Open(64<<20, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		conn, err := e.Connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(t.Context(), "SET max_temp_directory_size = '"+c.folder+"'"); err != nil {
			t.Fatal(err)
		}
		_, err = conn.Table(t.Context(), duck.Statement{SQL: c.text})
		if !duck.OutOfMemory(err) || duck.SpillFull(err) != c.full || strings.Contains(err.Error(), "SET ") || strings.Contains(err.Error(), "PRAGMA") ||
			strings.Contains(err.Error(), "olution") {
			t.Errorf("%s: %v", c.text, err)
		}
		t.Log(err)
		if err := errors.Join(conn.Close(), e.Close()); err != nil {
			t.Error(err)
		}
	}
}
