package history_test

import (
	"slices"
	"testing"

	"github.com/neurolens/neurolens/query/history"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestBisected: sessions of bisect neither end a level nor fail, whatever they measured, and are counted.
func TestBisected(t *testing.T) {
	t.Parallel()
	runs := levelled(slices.Concat(nights(10), slices.Repeat([]float64{130, 131}, 5), nights(4))...)
	runs = append(runs, failedRun(24, 0, schema.StatusError, false))
	for i := 20; i < len(runs); i++ {
		runs[i].Warnings = []string{"load", schema.WarnBisect}
	}
	h := historyOf(t, querytest.SealedRuns(t, runs), history.Request{Newest: 14})
	valuetest.Equal(t, h.Bisected, 5, "sessions of bisect")
	valuetest.Equal(t, h.Gate.Regressed, 1, "regressions")
	valuetest.Equal(t, len(h.Rows), 20, "sessions")
	valuetest.Equal(t, h.Failed, 0, "failed runs")
	h = historyOf(t, querytest.SealedRuns(t, runs[20:]), history.Request{})
	if h.Bisected != 5 || h.Known != 0 {
		t.Errorf("bisect alone: %d sessions, %d series", h.Bisected, h.Known)
	}
}
