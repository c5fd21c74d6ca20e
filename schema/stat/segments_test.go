package stat

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// scan gives the strongest change of each interval that steadyStart looks at.
func scan(series []float64, yield func(change)) {
	segmentation{least: segmentLeast}.scan(series, yield)
}

// plainScores returns the normal scores of values, of which equal ones have the mean of their scores, by the definition.
func plainScores(values []float64) []float64 {
	sorted, quantiles := ordered(values), normalScores(len(values))
	scores := make([]float64, len(values))
	for i, v := range values {
		first, _ := slices.BinarySearch(sorted, v)
		var sum float64
		next := first
		for ; next < len(sorted) && sorted[next] == v; next++ {
			sum += quantiles[next]
		}
		if next-first == len(values) {
			sum = 0
		}
		scores[i] = sum / float64(next-first)
	}
	return scores
}

// TestScores holds the scores of intervals of series with no, few and many equal values, to the last bit.
func TestScores(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	for _, different := range []int{1 << 30, 5000, 100, 3, 1} {
		series := make([]float64, 200)
		for i := range series {
			series[i] = float64(random.IntN(different) - different/2)
		}
		r := newRanks(series)
		seeded(len(series), 2, func(low, size int) {
			got, want := r.scores(low, normalScores(size)), plainScores(series[low:low+size])
			valuetest.DeepEqual(t, got, want, different, "different values, the scores of", size, "from", low, "on")
		})
	}
}
