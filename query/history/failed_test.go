package history_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/history"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/schema"
)

// failedRun returns a run of a session with some status. It has no metric unless one is given.
func failedRun(k, n int, status schema.Status, metric bool) schema.Run {
	r := historyRun(k, n, 100_000)
	r.Status = status
	if !metric {
		r.Metrics, r.Primary = nil, ""
	}
	r.PointID = schema.PointID(&r)
	return r
}

// TestHistoryWrong: a session with a wrong result of a point gives no value for the speed of the point.
func TestHistoryWrong(t *testing.T) {
	t.Parallel()
	var runs []schema.Run
	for k := range 10 {
		runs = append(runs, historyRun(k, 0, 100_000))
	}
	for k := 10; k < 20; k++ {
		wrong := failedRun(k, 0, schema.StatusError, true)
		wrong.Stage, wrong.ErrorKind = schema.StageValidate, schema.KindNotDeterministic
		right := historyRun(k, 2, 10_000)
		runs = append(runs, wrong, right)
	}
	h := historyOf(t, querytest.Open(t, querytest.NewStore(t, runs...)), history.Request{})
	if len(h.Series) != 1 || len(h.Series[0].Changes) > 0 || len(h.Rows) != 10 || h.Series[0].Failed != 10 {
		t.Errorf("%d rows, %+v", len(h.Rows), h.Series)
	}
}

// TestHistoryFailedRequests: a run in which requests failed gives no value, and counts as failed: a series whose newest sessions have no others is
// failing, and no improvement.
func TestHistoryFailedRequests(t *testing.T) {
	t.Parallel()
	var runs []schema.Run
	for k := range 20 {
		r := historyRun(k, 0, 100_000)
		if k >= 10 {
			r = historyRun(k, 0, 10_000)
			r.Warnings = []string{"16 of 24 requests failed"}
		}
		runs = append(runs, r)
	}
	h := historyOf(t, querytest.Open(t, querytest.NewStore(t, runs...)), history.Request{})
	if len(h.Series) != 1 || len(h.Series[0].Changes) > 0 || len(h.Rows) != 10 || h.Series[0].Failed != 10 || h.Requests != 10 || h.Failed != 10 {
		t.Errorf("%d rows, %d of %d failed, %+v", len(h.Rows), h.Requests, h.Failed, h.Series)
	}
}

// TestHistoryFailedSessions: the sessions after the last value of a series in which its point failed and no
// run of it was ok are counted.
func TestHistoryFailedSessions(t *testing.T) {
	t.Parallel()
	var runs []schema.Run
	for k := range 10 {
		runs = append(runs, historyRun(k, 0, 100_000), historyRun(k, 1, 100_000))
	}
	runs = append(runs, failedRun(3, 2, schema.StatusError, false), failedRun(9, 2, schema.StatusError, false))
	runs = append(
		runs,
		failedRun(10, 0, schema.StatusError, false), failedRun(10, 2, schema.StatusOOM, false), // one session
		failedRun(11, 0, schema.StatusTimeout, true),
		failedRun(12, 0, schema.StatusSkipped, false), failedRun(13, 0, schema.StatusCancelled, false), // not tried
		failedRun(14, 0, schema.StatusError, false), failedRun(14, 2, schema.StatusOK, false), // one without a value is ok
		failedRun(15, 0, schema.StatusCrashed, false),
	)
	base := failedRun(16, 0, schema.StatusError, false)
	base.Side = "base"
	elsewhere := failedRun(17, 0, schema.StatusError, false)
	elsewhere.Env.Machine = "another"
	profiled := failedRun(18, 0, schema.StatusError, false)
	profiled.Purpose = schema.PurposeProfile
	runs = append(runs, base, elsewhere, profiled)
	for name, db := range map[string]*query.DB{"live": querytest.Open(t, querytest.NewStore(t, runs...)), "sealed": querytest.SealedRuns(t, runs)} {
		for metric, want := range map[string]int{"": 3, "latency": 3, "accuracy": 3} {
			h := historyOf(t, db, history.Request{Metric: metric})
			if len(h.Series) != 2 || h.Series[0].Failed != want || h.Series[1].Failed != 0 {
				t.Fatalf("%s, %q: %+v", name, metric, h.Series)
			}
			for i, row := range h.Rows {
				failed := row.FailedSessions
				if (i < h.Series[0].End) != (failed == want) || i >= h.Series[0].End && failed != 0 {
					t.Errorf("%s, %q: row %d says %d", name, metric, i, failed)
				}
			}
		}
		h := historyOf(t, db, history.Request{Since: querytest.Start.Add(10*24*time.Hour - time.Hour)})
		if len(h.Series) != 0 || h.Discontinued != 1 {
			t.Errorf("%s: %d series, %d are gone", name, len(h.Series), h.Discontinued)
		}
		if h = historyOf(t, db, history.Request{Filter: "status=timeout"}); len(h.Rows) != 0 || h.Failed != 1 {
			t.Errorf("%s: %d rows, %d failed", name, len(h.Rows), h.Failed)
		}
	}
}

// TestHistoryUndated: runs without a start and a session have no order, and are counted.
func TestHistoryUndated(t *testing.T) {
	t.Parallel()
	var runs []schema.Run
	for k := range 12 {
		runs = append(runs, historyRun(k, 0, 100_000))
	}
	for k := range 5 {
		r := historyRun(20+k, 0, 200_000)
		r.SessionID, r.StartedAt, r.TimeSource = "", time.Time{}, ""
		r.RunID = schema.ULIDFrom(r.StartedAt, [10]byte{byte(k)}).String()
		runs = append(runs, r)
	}
	h := historyOf(t, querytest.SealedRuns(t, runs), history.Request{})
	if len(h.Rows) != 12 || h.Undated != 5 || h.NoValue != 0 {
		t.Errorf("%d rows, %d unplaced, %d useless", len(h.Rows), h.Undated, h.NoValue)
	}
}

// TestHistoryByCommit: a session of several commits has a value for each, and a note.
func TestHistoryByCommit(t *testing.T) {
	t.Parallel()
	for _, several := range []bool{false, true} {
		var runs []schema.Run
		for k := range 6 {
			for i := range 2 {
				r := historyRun(k, 2*i, 100_000)
				r.Env.GitCommit = fmt.Sprintf("%040x", k)
				if several {
					r.Env.GitCommit = fmt.Sprintf("%040x", 2*k+i)
				}
				runs = append(runs, r)
			}
		}
		h := historyOf(t, querytest.SealedRuns(t, runs), history.Request{})
		want := 6
		if several {
			want = 12
		}
		if s := h.Series[0]; len(h.Series) != 1 || s.Sessions != want || s.ByCommit != several || h.Sessions != 6 {
			t.Errorf("%+v, %d sessions", s, h.Sessions)
		}
	}
}
