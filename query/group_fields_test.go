package query_test

import (
	"testing"

	"github.com/neurolens/neurolens/query"
)

// TestSpreadDigits: a spread is computed, and is shown without rounding errors; a median is shown as measured.
func TestSpreadDigits(t *testing.T) {
	t.Parallel()
	const long = 0.12345678901234
	for _, g := range []query.Grouping{{}, {Best: true}} {
		for _, f := range g.Fields() {
			got, want := f.Of(&query.Group{Median: new(long), Spread: new(long)}), map[string]any{"spread": 0.123456789012, "median": long}[f.Name]
			if want != nil && got != want {
				t.Errorf("%s: %v, want %v", f.Name, got, want)
			}
		}
	}
	for _, f := range query.SessionPointFields() {
		if got := f.Of(&query.SessionPoint{Spread: new(long)}); f.Name == "spread" && got != 0.123456789012 {
			t.Errorf("spread of a point: %v", got)
		}
	}
}
