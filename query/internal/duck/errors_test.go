package duck_test

import (
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
