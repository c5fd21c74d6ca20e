package query_test

import (
	"testing"
	"time"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/schema"
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
