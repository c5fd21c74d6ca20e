package summary

import (
	"fmt"
	"testing"

	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestWindows: the answer does not depend on how many runs are compared at a time, also where files hold runs of two parts.
func TestWindows(t *testing.T) {
	var runs []schema.Run
	for n := range 40 {
		runs = append(runs, querytest.NewRun(n, 100, func(r *schema.Run) {
			r.Purpose, r.Ops = schema.PurposeProfile, []schema.Op{
				{Index: 0, Type: "MatMul", DurationNS: new(int64(100 + n%7))}, {Index: 1, Type: "Softmax", DurationNS: new(int64(50))},
			}
		}))
	}
	dir := querytest.NewStore(t)
	for first := range 3 {
		var some []schema.Run
		for n := first; n < len(runs); n += 3 {
			some = append(some, runs[n])
		}
		querytest.Seal(t, dir, some...)
	}
	db := querytest.Open(t, dir)
	answer := func(window int) string {
		n := nearest{req: SimilarRequest{Run: &runs[5], Filter: "batch_size>=2"}, window: window}
		valuetest.OK(t, db.Stores().Query(t.Context(), func(r *scan.Reader) error {
			n.reader = r
			return n.find(t.Context())
		}))
		text := fmt.Sprint(n.found.Compared, n.found.Without)
		for _, row := range n.found.Rows {
			text += fmt.Sprintf(" %s:%v", row.RunID[20:], row.Distance)
		}
		return text
	}
	want := answer(runsPerWindow)
	for _, window := range []int{1, 3, 7} {
		if got := answer(window); got != want {
			t.Errorf("%d at a time:\n%s\nwant\n%s", window, got, want)
		}
	}
}
