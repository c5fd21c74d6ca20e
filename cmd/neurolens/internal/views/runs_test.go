package views

import (
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/schema"
)

// One sample has no tail: its p99 would be the sample again.
func TestOneSampleHasNoP99(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{1: term.Unknown, 2: "301 ms"} {
		run := query.ListedRun{Median: new(301e6), P99: new(301e6), Samples: &n}
		run.Status, run.Unit = schema.StatusOK, "ns"
		if got := measuredCells(&run, true, false)[1].Text; got != want {
			t.Errorf("%d samples: p99 %s, want %s", n, got, want)
		}
	}
}
