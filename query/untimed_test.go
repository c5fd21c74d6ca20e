package query_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// untimedRun returns a run without a start, of a file, whose id says nothing of its place there.
func untimedRun(n int, session, file string) schema.Run {
	return querytest.NewRun(n, int64(100_000+n), func(r *schema.Run) {
		at := uint64(n+1) * 0x9e3779b97f4a7c15
		r.RunID = schema.ULIDFrom(time.Time{}, [10]byte{byte(at >> 56), byte(at >> 48), byte(at >> 40), byte(at >> 32), byte(at >> 24)}).String()
		r.StartedAt, r.TimeSource = time.Time{}, ""
		r.SessionID, r.PositionIndex = session, new(int64(n%1000))
		r.Env.Facts = map[string]string{"source.path": file}
	})
}

// TestUntimed: runs without a start come after those with one, by session, then by file, in the order of the file, in as many
// pages as they take, with a limit or a filter, live or sealed. Those that do not say their place come last.
func TestUntimed(t *testing.T) {
	t.Parallel()
	const files, perFile = 5, 1000
	early, late := schema.ULIDFrom(time.UnixMilli(1), [10]byte{}).String(), schema.ULIDFrom(time.UnixMilli(2), [10]byte{}).String()
	var untimed []schema.Run // in the order wanted
	for f := range files {
		session := []string{late, early, "", "", ""}[f]
		for n := range perFile {
			untimed = append(untimed, untimedRun(f*perFile+n, session, fmt.Sprintf("log.%d", f)))
		}
	}
	last := &untimed[len(untimed)-1]
	last.PositionIndex = nil
	timed := querytest.ManyRuns(3)
	dir := querytest.NewStore(t)
	querytest.Seal(t, dir, append(slices.Clone(untimed[:2500]), timed[0])...)
	querytest.Seal(t, dir, untimed[2503:]...)
	querytest.Append(t, dir, append(slices.Clone(untimed[2500:2503]), timed[1:]...)...)
	var want []string
	for _, r := range slices.Concat([]schema.Run{timed[2], timed[1], timed[0]}, untimed) {
		want = append(want, r.RunID)
	}
	db := querytest.Open(t, dir)
	for _, filter := range []string{"", "status=ok", "precision=fp32,bf16"} {
		for _, limit := range []int{0, 1, 3, 5, 2600, 4500, 6000} {
			var got []string
			var columns []string
			if limit == 5 {
				columns = []string{"run_id", "params", "tags"}
			} else {
				columns = []string{"run_id"}
			}
			err := db.Pages(context.Background(), query.ListRequest{Filter: filter, Limit: limit}, columns, func(page query.Page) error {
				for _, row := range page.Rows {
					got = append(got, row[0].(string))
				}
				return nil
			})
			n := len(want)
			if limit > 0 {
				n = min(n, limit)
			}
			if err != nil || !slices.Equal(got, want[:n]) {
				t.Errorf("%q, limit %d: %d runs in another order: %v", filter, limit, len(got), err)
			}
		}
	}
	l := valuetest.Must(db.List(context.Background(), query.ListRequest{Limit: 5}))
	valuetest.Equal(t, l.Total, len(want), "Total")
}
