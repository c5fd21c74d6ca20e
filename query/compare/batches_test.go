package compare

import (
	"math/rand/v2"
	"testing"

	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestBatchMedians: equal processes whose iterations are correlated seldom differ by the medians of batches, and nearly always by the iterations.
func TestBatchMedians(t *testing.T) {
	t.Parallel()
	valuetest.DeepEqual(t, batchMedians([]float64{1, 2, 3}), []float64{1, 2, 3})
	many := make([]float64, 65)
	for i := range many {
		many[i] = float64(i)
	}
	valuetest.DeepEqual(t, batchMedians(many)[:2], []float64{1, 4})
	valuetest.Equal(t, len(batchMedians(many)), maxBatches)

	random := rand.New(rand.NewPCG(47, 1))
	process := func() []float64 { // each iteration is near the one before
		values, level := make([]float64, 2000), 0.
		for i := range values {
			level = .9*level + random.NormFloat64()
			values[i] = level
		}
		return values
	}
	const comparisons = 200
	batches, iterations := 0, 0
	for range comparisons {
		base, head := process(), process()
		significant := func(base, head []float64) int {
			if judge.Judge([][]judge.Pair{{{Base: base, Head: head}}}, judge.Rules{})[0].Outcomes[0].P < judge.Level {
				return 1
			}
			return 0
		}
		batches += significant(batchMedians(base), batchMedians(head))
		iterations += significant(base, head)
	}
	t.Logf("of %d pairs of equal processes %d differ by batches, %d by iterations", comparisons, batches, iterations)
	if batches > comparisons/10 || iterations < comparisons/3 {
		t.Errorf("of %d pairs of equal processes %d differ by batches, %d by iterations", comparisons, batches, iterations)
	}
}
