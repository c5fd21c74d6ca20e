package compare_test

import (
	"math/rand/v2"
	"testing"

	"github.com/neurolens/neurolens/query/compare"
)

// BenchmarkJudge compares 100,000 points of 10 runs a side.
func BenchmarkJudge(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	pairs := make([]compare.Pair, 100_000)
	for i := range pairs {
		pairs[i] = twoPercent(normal(random, 10, 0, .01), normal(random, 10, 0, .01))
	}
	b.ReportAllocs()
	for b.Loop() {
		compare.Judge(pairs, compare.Rules{})
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(pairs)), "ns/pair")
}

// TestJudgeNothing: there may be no family to judge, as where nothing of a comparison is of different sessions.
func TestJudgeNothing(t *testing.T) {
	t.Parallel()
	for _, rules := range []compare.Rules{{}, {Gate: true}} {
		if got := compare.JudgeAll(nil, rules); len(got) != 0 {
			t.Errorf("%+v: %+v", rules, got)
		}
	}
}
