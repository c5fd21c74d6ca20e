package summary_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// kernelOp is a kernel of a profile.
func kernelOp(name string, duration, count int64) schema.Op {
	return schema.Op{Name: name, Type: "kernel", DurationNS: new(duration), Count: new(count)}
}

// profileOf returns a profiled run of a point.
func profileOf(n *int, batch int64, iterations string, ops ...schema.Op) schema.Run {
	return querytest.RunsOf(n, *n, querytest.Of(batch, func(r *schema.Run) {
		r.Purpose, r.Ops = schema.PurposeProfile, ops
		for i := range ops {
			ops[i].Index = int64(i)
		}
		r.Env.Facts = map[string]string{"profile.iterations": iterations}
		r.Tags = map[string]string{"side": fmt.Sprint(*n)}
	}), 1000)[0]
}

// TestCompareOperators: operators are paired by their folded names, per iteration, and their changes add up to that of the total. Ranges that
// contain others do not count, nor does an older profile of the point.
func TestCompareOperators(t *testing.T) {
	t.Parallel()
	n := 0
	rangeOp := schema.Op{Name: "step", Type: "nvtx", DurationNS: new(int64(1 << 40)), Count: new(int64(1))}
	old := profileOf(&n, 1, "1", kernelOp("gemm", 1<<50, 1))
	base := profileOf(&n, 1, "10", rangeOp, kernelOp("void gemm<64>(float*)", 1000, 10), kernelOp("void gemm<128>(float*)", 500, 10), kernelOp("copy", 300, 30), kernelOp("same", 1000, 10))
	head := profileOf(&n, 1, "20", kernelOp("void gemm<256>(float*)", 6000, 20), kernelOp("softmax", 200, 20), kernelOp("same", 2020, 20), rangeOp)
	other := profileOf(&n, 2, "20", kernelOp("elsewhere", 6000, 20))
	db := querytest.SealedRuns(t, []schema.Run{old, base, head, other})
	got := valuetest.Must(summary.CompareOperators(t.Context(), db, "tag.side=1 or tag.side=2", "tag.side=3"))
	valuetest.Equal(t, fmt.Sprint(got.Points, got.PerIteration, got.Base, got.Head), "1 true 280 411")
	var rows []string
	sum := 0.
	for _, r := range got.Rows {
		sum += r.Head - r.Base
		counts := ""
		for _, count := range []*float64{r.BaseCount, r.HeadCount} {
			if count != nil {
				counts += fmt.Sprint(" ", *count)
			}
		}
		rows = append(rows, fmt.Sprint(r.Operator, " ", r.State, " ", r.Base, " ", r.Head, counts))
	}
	valuetest.DeepEqual(t, rows, []string{"gemm<…> slower 150 300 2 1", "copy vanished 30 0 3", "softmax appeared 0 10 1", "same same 100 101 1 1"})
	if math.Abs(sum-(got.Head-got.Base)) > 1e-9 {
		t.Errorf("the changes add up to %g, and the totals differ by %g", sum, got.Head-got.Base)
	}
	_, err := summary.CompareOperators(t.Context(), db, "tag.side=2", "tag.side=none")
	querytest.WantInput(t, err, "no profiled run matches")
	stack := schema.Op{Name: "main;f", Type: "stack", Count: new(int64(7))}
	m := 0
	stacks := querytest.SealedRuns(t, []schema.Run{profileOf(&m, 1, "1", stack), profileOf(&m, 1, "1", stack)})
	_, err = summary.CompareOperators(t.Context(), stacks, "tag.side=1", "tag.side=2")
	querytest.WantInput(t, err, "the profiled runs have no operators with times")
	// Points of another identity are compared where there is one on each side.
	valuetest.Equal(t, valuetest.Must(summary.CompareOperators(t.Context(), db, "tag.side=2", "tag.side=4")).Points, 1)
}
