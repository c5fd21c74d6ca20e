package query_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/sql"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// removedStore returns a store with an event that removes some of its runs, and as many others that it does not have.
func removedStore(t *testing.T, others int) string {
	runs := querytest.VariousRuns()
	dir := querytest.LiveStore(t, runs[40:]...)
	querytest.Seal(t, dir, runs[:40]...)
	e := schema.Event{Kind: schema.EventRemove, At: querytest.Start}
	for i := range runs {
		if i%3 > 0 {
			e.Runs = append(e.Runs, runs[i].RunID)
		}
	}
	for i := range others {
		e.Runs = append(e.Runs, schema.ULIDFrom(querytest.Start.Add(time.Duration(i)*time.Millisecond), [10]byte{1, 2, 3}).String())
	}
	slices.Sort(e.Runs)
	querytest.WriteEvent(t, dir, schema.ULIDFrom(e.At, [10]byte{}), e)
	return dir
}

// TestVeryManyRemoved: no answer depends on how many runs a removal names besides those that the store has.
func TestVeryManyRemoved(t *testing.T) {
	t.Parallel()
	answers := func(db *query.DB) (all []string) {
		say := func(v any, err error) { all = append(all, fmt.Sprint(v, err)) }
		for _, req := range []query.ListRequest{
			{Limit: 5},
			{Limit: 5, Filter: "status=ok"},
			{Filter: "p50>1us", Sort: []string{"-p50"}},
			{Filter: "tag.who=me"},
			{Filter: "nothing=1"},
			{Since: querytest.Start.Add(10 * time.Second)},
		} {
			var rows []any
			err := db.Pages(t.Context(), req, []string{"run_id", "p50", "tags"}, func(p query.Page) error {
				rows = append(rows, p.Total, p.Rows)
				return nil
			})
			say(rows, err)
		}
		groups, err := db.Groups(t.Context(), query.GroupRequest{By: []string{"backend"}})
		for _, g := range groups.Groups {
			say(g.Runs, err)
		}
		census, err := db.Census(t.Context())
		say([]int64{census.Runs, census.Machines, census.Samples}, err)
		for _, text := range []string{
			"SELECT run_id, p50, tags FROM runs ORDER BY run_id", "SELECT count(*) FROM runs WHERE p50 > 1000", "SELECT run_id, metric FROM samples ORDER BY ALL",
			"SELECT backend, count(*) FROM runs JOIN samples USING (run_id) GROUP BY ALL ORDER BY ALL", "SELECT count(*) FROM ops",
		} {
			t, err := sql.Select(t.Context(), db, text)
			say(t.Rows, err)
		}
		return all
	}
	want := answers(querytest.Open(t, removedStore(t, 0)))
	for _, others := range []int{100, 5000} {
		for i, got := range answers(querytest.Open(t, removedStore(t, others))) {
			valuetest.Equal(t, got, want[i], others, "others, answer", i)
		}
	}
}
