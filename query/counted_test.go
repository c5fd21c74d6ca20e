package query_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestSessionThatContinues: session= selects the runs of a session and those of earlier ones that it counts, and no others;
// session_id= its own. A store without the ids of the counted runs gets a remark.
func TestSessionThatContinues(t *testing.T) {
	t.Parallel()
	var runs []schema.Run
	add := func(session, resumes int, counted ...int) {
		runs = append(runs, querytest.NewRun(len(runs), 1000, func(r *schema.Run) {
			r.SessionID = querytest.SessionID(session)
			if resumes > 0 {
				r.Resumes = querytest.SessionID(resumes)
			}
			var ids []string
			for _, n := range counted {
				ids = append(ids, runs[n].RunID)
			}
			if len(ids) > 0 {
				r.Env.Facts[schema.FactCounted] = strings.Join(ids, " ")
			}
		}))
	}
	add(1, 0)
	add(1, 0)
	add(1, 0)
	add(2, 1)
	add(2, 1, 0) // it has counted a run after its first run
	add(2, 1, 0, 2)
	add(3, 2, 2, 5)
	runs[6].Env.Facts[schema.FactCounted] += " '); DROP TABLE runs" // no id
	for name, store := range map[string]string{"live": querytest.LiveStore(t, runs...), "sealed": querytest.NewStore(t, runs...)} {
		var said []string
		db := valuetest.Must(query.Open(t.Context(), []string{store}, query.Options{Remark: func(text string) { said = append(said, text) }}))
		defer db.Close()
		for filter, want := range map[string]string{
			"session=last":                                        "[2 5 6]",
			"session=" + querytest.SessionID(3):                   "[2 5 6]",
			"session_id=" + querytest.SessionID(3):                "[6]",
			"session=last~1":                                      "[0 2 3 4 5]",
			"session=last~2":                                      "[0 1 2]",
			"session!=last":                                       "[0 1 3 4]",
			"session=last,last~2":                                 "[0 1 2 5 6]",
			"session=last and run=" + runs[5].RunID:               "[5]",
			"(session=last~1 or session=last) not session=last~2": "[3 4 5 6]",
		} {
			var got []int
			ids, err := db.RunIDs(t.Context(), filter)
			for _, id := range ids {
				for n := range runs {
					if runs[n].RunID == id {
						got = append(got, n)
					}
				}
			}
			valuetest.DeepEqual(t, []any{fmt.Sprint(got), err}, []any{want, nil}, name, filter, "selects", got)
		}
		valuetest.DeepEqual(t, said, nil, name, "remarks")
		querytest.Annotate(t, store, ingest.Annotation{Kind: schema.EventRemove, Runs: []string{runs[2].RunID}})
		if ids, err := db.RunIDs(t.Context(), "session=last"); len(ids) != 2 || err != nil {
			t.Errorf("%s: %v, %v", name, ids, err)
		}
		if want := "of the runs of earlier sessions that session " + short(3) + " counts, 1 of 2 were removed"; fmt.Sprint(said) != "["+want+"]" {
			t.Errorf("%s: remarks %q", name, said)
		}
		said = nil
		querytest.Annotate(t, store, ingest.Annotation{Kind: schema.EventRemove, Runs: []string{runs[6].RunID, runs[4].RunID, runs[5].RunID}})
		if ids, err := db.RunIDs(t.Context(), "session=last"); len(ids) != 1 || ids[0] != runs[3].RunID || err != nil {
			t.Errorf("%s: %v, %v", name, ids, err)
		}
		if want := "which of its runs it counts is not stored: session=" + short(2) + "," + short(1) + " selects all runs of both"; len(said) != 1 || !strings.HasSuffix(said[0], want) {
			t.Errorf("%s: remarks %q", name, said)
		}
	}
}

func short(session int) string { id := querytest.SessionID(session); return id[len(id)-8:] }
