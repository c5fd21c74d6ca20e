package views

import "testing"

// TestNegativeMedian: values below zero have a spread like others.
func TestNegativeMedian(t *testing.T) {
	t.Parallel()
	if got, want := spread(new(1.0), new(-100.0)), spread(new(1.0), new(100.0)); got != want || got != "1.5 %" {
		t.Errorf("%s, want %s", got, want)
	}
}
