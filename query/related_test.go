package query_test

import (
	"fmt"
	"testing"

	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestRelated: a run is shown beside the newest one of its point, machine and side in an earlier session, and a session with two
// sides beside the commit of its base. Facts that differ are listed, the most relevant first.
func TestRelated(t *testing.T) {
	t.Parallel()
	made := func(n, session int, edit func(*schema.Run)) schema.Run {
		return querytest.NewRun(n, 1000, func(r *schema.Run) {
			r.SessionID, r.BatchSize, r.Params = querytest.SessionID(session), new(int64(1)), nil
			edit(r)
		})
	}
	side := func(side, commit string) func(*schema.Run) {
		return func(r *schema.Run) { r.Side, r.Env.GitCommit = side, commit }
	}
	runs := []schema.Run{
		made(0, 1, side("", "older")), made(1, 2, side("base", "old")), made(2, 2, side("head", "new")),
		made(3, 3, func(r *schema.Run) { r.Env.Machine = "lab4" }),
		made(4, 4, side("base", "left")), made(5, 4, func(r *schema.Run) {
			side("head", "right")(r)
			r.Env.MemoryBytes = new(int64(1 << 40))
			r.Env.Facts = map[string]string{"governor": "powersave", "new": "x"}
		}),
		made(6, 5, func(r *schema.Run) { r.BatchSize = new(int64(2)) }),
	}
	db := querytest.Open(t, querytest.NewStore(t, runs...))
	for n, want := range map[int]struct {
		before, against string
		changes         string
	}{
		0: {"", "", "[]"}, 1: {runs[0].RunID, "old", "[{code git_commit [older] [old]}]"}, 2: {runs[0].RunID, "old", "[{code git_commit [older] [new]}]"},
		3: {"", "", "[]"}, 4: {runs[1].RunID, "left", "[{code git_commit [old] [left]}]"},
		5: {runs[2].RunID, "left", "[{hardware memory_bytes [17179869184] [1099511627776]} {code git_commit [new] [right]} {environment env.governor [performance] [powersave]} {environment env.new [] [x]}]"},
		6: {"", "", "[]"},
	} {
		d := valuetest.Must(db.Show(t.Context(), runs[n].RunID))
		got := valuetest.Must(db.Related(t.Context(), d))
		if changes := fmt.Sprint(got.Changes); got.Before != want.before || got.Against != want.against || changes != want.changes {
			t.Errorf("run %d: before %q against %q, changed %s, want %+v", n, got.Before, got.Against, changes, want)
		}
	}
	valuetest.Equal(t, valuetest.Must(db.Newest(t.Context())), runs[6].RunID, "the newest run")
	valuetest.Equal(t, valuetest.Must(querytest.Open(t, querytest.NewStore(t)).Newest(t.Context())), "", "the newest run of none")
}
