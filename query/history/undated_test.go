package history_test

import (
	"errors"
	"testing"
	"time"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/history"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/schema"
)

// undated returns runs without a start, in sessions whose ids are in no order.
func undated(runs []schema.Run) []schema.Run {
	for i := range runs {
		r := &runs[i]
		r.StartedAt, r.TimeSource = time.Time{}, ""
		at := time.Time{}
		if i%2 == 0 { // a log that names its sessions counts them in milliseconds
			at = time.UnixMilli(int64(i + 1))
		}
		bits := [10]byte{byte(i * 89), byte(i), 1}
		r.RunID, r.SessionID = schema.ULIDFrom(time.Time{}, bits).String(), schema.ULIDFrom(at, bits).String()
	}
	return runs
}

// TestHistoryNoOrder: runs without a start have no history, and no gate passes because of them.
func TestHistoryNoOrder(t *testing.T) {
	t.Parallel()
	step := []float64{100, 101, 100, 102, 200, 203, 201, 200}
	for _, newest := range []int{0, 14} {
		req := history.Request{Newest: newest}
		_, err := history.Read(t.Context(), querytest.SealedRuns(t, undated(levelled(step...))), req)
		none, is := errors.AsType[*history.NoOrderError](err)
		if !is || none.Runs != 8 || !errors.Is(err, query.ErrInput) || err.Error() != "history: no order: 8 runs have no start time; give it with ingest --at" {
			t.Errorf("newest %d: %v", newest, err)
		}
		without := append(levelled(100, 101, 100, 102, 101, 100, 102, 100), undated(levelled(step...))...)
		h := historyOf(t, querytest.SealedRuns(t, without), req)
		if h.Undated != 8 || len(h.Rows) != 8 || len(h.Series[0].Changes) != 0 {
			t.Errorf("newest %d: %d undated, %d rows, %+v", newest, h.Undated, len(h.Rows), h.Series)
		}
		if want := (history.Gate{Series: 1, Inconclusive: 1, Undated: 1}); newest > 0 && h.Gate != want {
			t.Errorf("gate %+v, want %+v", h.Gate, want)
		}
	}
}

// TestHistoryGateUndated: a regression that is found is one, whatever else has no start.
func TestHistoryGateUndated(t *testing.T) {
	t.Parallel()
	runs := append(levelled(100, 101, 100, 102, 101, 100, 102, 100, 101, 400, 404, 401, 400, 402, 403, 401, 400), undated(levelled(100))...)
	h := historyOf(t, querytest.SealedRuns(t, runs), history.Request{Newest: 14})
	if h.Gate.Regressed != 1 || h.Gate.Undated != 0 {
		t.Errorf("%+v", h.Gate)
	}
}

// TestHistoryGateOnlyUndated: a series of which no run has a start may have regressed, beside one that has not.
func TestHistoryGateOnlyUndated(t *testing.T) {
	t.Parallel()
	other := undated(levelled(100, 400))
	for i := range other {
		other[i].BatchSize = new(int64(64))
		other[i].PointID = schema.PointID(&other[i])
	}
	runs := append(levelled(100, 101, 100, 102, 101, 100, 102, 100), other...)
	h := historyOf(t, querytest.SealedRuns(t, runs), history.Request{Newest: 14})
	if want := (history.Gate{Series: 2, Inconclusive: 1, Undated: 1}); h.Gate != want || h.Undated != 2 || h.Known != 1 {
		t.Errorf("%+v, %d undated, %d series", h.Gate, h.Undated, h.Known)
	}
}
