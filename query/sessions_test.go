package query_test

import (
	"testing"

	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestCountSessions: sessions that continue one another count as one, also where a session between them is not selected.
func TestCountSessions(t *testing.T) {
	t.Parallel()
	var runs []schema.Run
	add := func(session, resumes int, counted string) {
		runs = append(runs, querytest.NewRun(len(runs), 1000, func(r *schema.Run) {
			r.SessionID = querytest.SessionID(session)
			if resumes > 0 {
				r.Resumes = querytest.SessionID(resumes)
			}
			if counted != "" {
				r.Env.Facts[schema.FactCounted] = counted
			}
		}))
	}
	add(1, 0, "")
	add(2, 1, "")
	add(3, 2, runs[0].RunID) // of session 2 no run counts
	add(4, 0, "")
	for name, store := range map[string]string{"live": querytest.LiveStore(t, runs...), "sealed": querytest.NewStore(t, runs...)} {
		db := querytest.Open(t, store)
		for filter, want := range map[string]int{"": 2, "session=last": 1, "session=last~1": 1, "session_id=" + querytest.SessionID(1) + "," + querytest.SessionID(4): 2, "benchmark=none": 0} {
			n, err := db.CountSessions(t.Context(), filter)
			valuetest.DeepEqual(t, []any{n, err}, []any{want, nil}, name, filter, "sessions", n)
		}
	}
}
