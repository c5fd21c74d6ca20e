package summary_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestParts: operators of one type are added up; operators that contain others are left out, and unknown values stay unknown.
func TestParts(t *testing.T) {
	unknown := op("Conv", "c", 10)
	unknown.Count = nil
	waiting := schema.Op{Name: "view", Type: "Reshape"}
	runs := []schema.Run{
		profile(0, op("MatMul", "a", 300), op("Softmax", "s", 360), op("MatMul", "b", 340), unknown, op("Conv", "d", 30), waiting, op("nvtx", "all", 5000)),
		profile(1, op("kernel", "gemm <b>", 70), op("cuda_api", "launch", 900)),
		profile(2),
	}
	db := querytest.Open(t, querytest.NewStore(t, runs...))
	found := valuetest.Must(summary.OperatorMixes(t.Context(), db, []string{runs[2].RunID, runs[0].RunID, runs[1].RunID}))
	texts := func(run string) string {
		text := ""
		for _, p := range found[run] {
			count := "-"
			if p.Count != nil {
				count = fmt.Sprint(*p.Count)
			}
			text += fmt.Sprintf("%s %d %.4f %s; ", p.Operator, p.DurationNS, p.Share, count)
		}
		return text
	}
	for i, want := range []string{"MatMul 640 0.6154 2; Softmax 360 0.3462 1; Conv 40 0.0385 -; ", "gemm <b> 70 1.0000 1; ", ""} {
		if got := texts(runs[i].RunID); got != want {
			t.Errorf("run %d: got %s, want %s", i, got, want)
		}
	}
	// The same as show --ops has it.
	var sums int64
	all := valuetest.Must(summary.Operators(t.Context(), db, &runs[0], ""))
	for _, o := range all {
		if o.Type == "MatMul" {
			sums += *o.DurationNS
		}
	}
	if sums != found[runs[0].RunID][0].DurationNS {
		t.Error(sums)
	}
	if _, err := summary.OperatorMixes(context.Background(), db, []string{"no id"}); err == nil {
		t.Error("of no run there are parts")
	}
}
