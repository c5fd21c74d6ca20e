package query_test

import (
	"testing"
	"time"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestLastOfAMillisecond: of sessions whose ids have the same time, the last one is the one whose first run started last.
func TestLastOfAMillisecond(t *testing.T) {
	t.Parallel()
	var runs []schema.Run
	ids := make([]string, 4)
	for k := range ids {
		at := querytest.Start.Add(time.Duration(k) * 100 * time.Microsecond)
		ids[k] = schema.ULIDFrom(at, [10]byte{byte(k * 3 % 4)}).String()
		runs = append(runs, querytest.NewRun(k, 0, func(r *schema.Run) { r.StartedAt, r.SessionID = at, ids[k] }))
	}
	db := querytest.SealedRuns(t, runs)
	for back, word := range []string{"last", "last~1", "last~2", "last~3"} {
		found, err := db.Runs(t.Context(), query.ListRequest{Filter: "session=" + word}, "session_id")
		if want := ids[len(ids)-1-back]; err != nil || len(found) != 1 || found[0].SessionID != want {
			t.Errorf("%s: %v, %v, want %s", word, found, err, want)
		}
	}
}

// TestNewestSession: a report without a filter is not about what a bisect measured after it, even if no session is of anything else.
func TestNewestSession(t *testing.T) {
	t.Parallel()
	var runs []schema.Run
	for k, warnings := range [][]string{nil, {"load"}, {"load", schema.WarnBisect}, {schema.WarnBisect}} {
		runs = append(runs, querytest.NewRun(k, 0, func(r *schema.Run) {
			r.StartedAt = querytest.Start.Add(time.Duration(k) * time.Hour)
			r.SessionID, r.Warnings = schema.ULIDFrom(r.StartedAt, [10]byte{}).String(), warnings
		}))
	}
	for want, stored := range map[string][]schema.Run{"session=" + runs[1].SessionID: runs, "session=" + runs[0].SessionID: runs[:1], "session=" + runs[3].SessionID: runs[3:]} {
		valuetest.Equal(t, valuetest.Must(querytest.SealedRuns(t, stored).NewestSession(t.Context())), want)
	}
}
