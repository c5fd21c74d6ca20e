package history_test

import (
	"testing"

	"github.com/neurolens/neurolens/query/history"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/schema"
)

// TestHistoryTied: sessions that began at the same time have no order. They are one value, whatever the order of their ids, and neither a step nor a
// spike is found among them.
func TestHistoryTied(t *testing.T) {
	t.Parallel()
	step := []float64{100, 101, 100, 102, 103, 101, 100, 102, 100, 101, 200, 203, 201, 200, 205, 201, 204, 200, 203, 202}
	for _, starts := range []int{1, 2} {
		runs := levelled(step...)
		for i := range runs {
			runs[i].StartedAt = runs[i*starts/len(runs)*len(runs)/starts].StartedAt
			runs[i].RunID = schema.ULIDFrom(runs[i].StartedAt, [10]byte{byte(i * 89), byte(i)}).String()
		}
		h := historyOf(t, querytest.SealedRuns(t, runs), history.Request{Newest: 14})
		if h.Tied != len(runs) || h.TiedStarts != starts || h.Sessions != starts || h.Matching != starts || len(h.Rows) != starts || h.Few != 1 || len(h.Series[0].Changes) != 0 || len(h.Series[0].Spikes) != 0 {
			t.Fatalf("%d starts: %d tied at %d, %d sessions, %d matching, %d rows, %+v", starts, h.Tied, h.TiedStarts, h.Sessions, h.Matching, len(h.Rows), h.Series)
		}
		if want := (history.Gate{Series: 1, Short: 1}); h.Gate != want {
			t.Errorf("%d starts: gate %+v, want %+v", starts, h.Gate, want)
		}
		for _, row := range h.Rows {
			if row.Runs != len(runs)/starts {
				t.Errorf("%d starts: %+v", starts, row)
			}
		}
	}
}

// TestHistoryTiedSeries: a session counts once, whatever its series share: of the three sessions of a time one has both points, and one each has
// the first or the second alone.
func TestHistoryTiedSeries(t *testing.T) {
	t.Parallel()
	var runs []schema.Run
	for night := range 2 {
		for i, point := range []string{"one", "one", "two", "two"} {
			r := levelled(100)[0]
			r.Benchmark = point
			r.PointID = schema.PointID(&r)
			r.StartedAt = r.StartedAt.AddDate(0, 0, night)
			r.RunID = schema.ULIDFrom(r.StartedAt, [10]byte{byte(90 - i), byte(night)}).String()
			r.SessionID = schema.ULIDFrom(r.StartedAt, [10]byte{1, byte((i + 1) / 2)}).String()
			runs = append(runs, r)
		}
	}
	h := historyOf(t, querytest.SealedRuns(t, runs), history.Request{})
	if len(h.Series) != 2 || h.Series[0].Sessions != 2 || h.Series[1].Sessions != 2 || h.Sessions != 2 || h.Tied != 6 || h.TiedStarts != 2 {
		t.Errorf("%d sessions, %d tied at %d, %+v", h.Sessions, h.Tied, h.TiedStarts, h.Series)
	}
}
