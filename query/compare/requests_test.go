package compare_test

import (
	"testing"

	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/schema"
)

// TestFailedRequestsOfANight: an earlier session in which more requests failed than are allowed does not count, however fast it was.
func TestFailedRequestsOfANight(t *testing.T) {
	t.Parallel()
	var all [][]float64
	for _, warnings := range [][]string{nil, {"16 of 24 requests failed"}} {
		n := 1000
		var runs []schema.Run
		for k := range 10 {
			night := querytest.RunsOf(&n, 10+k, nil, times(6, 100+float64(k))...)
			if k == 4 {
				for i := range night {
					night[i].Warnings = warnings
				}
			}
			runs = append(runs, night...)
		}
		got := mustCompare(t, querytest.SealedRuns(t, runs), compare.Request{Base: "session=last~1", Head: "session=last"})
		all = append(all, got.Rows[0].Inputs.History)
	}
	if len(all[0]) != 9 || len(all[1]) != 8 || all[1][4] != all[0][5] {
		t.Errorf("history %g, with failed requests %g", all[0], all[1])
	}
}
