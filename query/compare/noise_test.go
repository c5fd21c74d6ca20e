package compare_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/schema"
)

// noisyRuns are runs of one point on two sides that differ only in latency: 20 other metrics and all stages
// are noise of 10 %, and each run has some value of 8 facts.
func noisyRuns(seed uint64) []schema.Run {
	random := rand.New(rand.NewPCG(3, seed))
	noise := func() float64 { return math.Exp(.1 * random.NormFloat64()) }
	var runs []schema.Run
	for block := range explainBlocks {
		for i, side := range []string{"base", "head"} {
			runs = append(runs, querytest.NewRun(len(runs), 0, func(r *schema.Run) {
				r.Side, r.BatchSize, r.Params, r.BlockIndex = side, new(int64(1)), nil, new(int64(block))
				took := func() *int64 { return new(int64(1e7 * noise())) }
				r.Stages = schema.Stages{Setup: took(), Warmup: took(), Validate: took(), Teardown: took()}
				r.Metrics = []schema.Metric{querytest.MetricOf("latency", "ns", schema.BetterLower, 1e5*float64(1+i)*(1+.01*noise()))}
				for k := range 20 {
					r.Metrics = append(r.Metrics, querytest.MetricOf(fmt.Sprintf("other_%d", k), "B", schema.BetterLower, 1e6*noise()))
				}
				r.Primary = "latency"
				for k := range 4 {
					r.Env.Facts[fmt.Sprint("word.", k)] = []string{"never", "always"}[random.IntN(2)]
					r.Env.Facts[fmt.Sprint("number.", k)] = fmt.Sprint(random.NormFloat64())
				}
			}))
		}
	}
	return runs
}

// TestExplainNoise: of many metrics and stages that are pure noise, hardly ever one is called changed, in any comparison,
// and facts that make no run slow are hardly ever named as a cause.
func TestExplainNoise(t *testing.T) {
	t.Parallel()
	seeds, most := 2, 1
	if querytest.Long() {
		seeds, most = 40, 6 // 2 of them by chance
	}
	with, contrasts := 0, 0
	for seed := range seeds {
		dir := querytest.NewStore(t)
		querytest.Seal(t, dir, noisyRuns(uint64(seed))...)
		x := mustExplain(t, querytest.Open(t, dir), compare.ExplainRequest{Request: compare.Request{Base: "side=base", Head: "side=head"}})
		if explained(x) != "regressed 1" || x.Tested != 24 || x.Facts+x.FewRuns != 9 { // the block is one
			t.Fatalf("%s is explained, by %d metrics and stages and %d facts", explained(x), x.Tested, x.Facts)
		}
		if slices.ContainsFunc(x.Rows, func(row compare.ExplainRow) bool {
			return explainFieldOf(row, "kind") == "contrast" && explainFieldOf(row, "verdict") != "inconclusive"
		}) {
			contrasts++
		}
		for _, row := range x.Rows[1:] {
			if kind := explainFieldOf(row, "kind"); explainFieldOf(row, "rank") != nil && (kind == "metric" || kind == "stage") {
				t.Logf("seed %d: %v", seed, row)
				with++
				break
			}
		}
	}
	t.Logf("of %d comparisons, %d have a metric or a stage that changed, %d a contrast", seeds, with, contrasts)
	if contrasts > most {
		t.Errorf("in %d of %d comparisons there is a contrast, want at most %d", contrasts, seeds, most)
	}
	if with > most {
		t.Errorf("in %d of %d comparisons noise is called a change, want at most %d", with, seeds, most)
	}
}
