package summary_test

import (
	"slices"
	"testing"

	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestRatiosOfPrinted: all ratios of programs and of the results that they printed are of the results; those of the program alone are its own.
func TestRatiosOfPrinted(t *testing.T) {
	t.Parallel()
	n := 0
	point := func(benchmark string, printed bool, base, head float64) (runs []schema.Run) {
		for side, value := range map[string]float64{"base": base, "head": head} {
			runs = append(runs, querytest.RunsOf(&n, 1, func(r *schema.Run) {
				if r.Benchmark, r.Side = benchmark, side; printed {
					r.Env.Facts[schema.FactRead] = "go-bench"
				}
				r.PointID = schema.PointID(r)
			}, value, value, value, value, value, value)...)
		}
		return runs
	}
	runs := slices.Concat(point("program", false, 1000, 8000), point("x", true, 100, 200), point("y", true, 400, 100))
	r := read(t, querytest.SealedRuns(t, runs), summary.Request{Filter: "session=" + querytest.SessionID(1)})
	c := r.Comparisons[0]
	a := c.All
	if a.Pairs != 3 || a.Compared != 2 || a.Slower != 1 || a.Faster != 1 {
		t.Errorf("all: %+v", a)
	}
	near(t, "geometric mean", a.GeometricMean, 1.41421)
	near(t, "median", a.Median, 1.41421)
	near(t, "slowest", r.Pairs[*a.SlowestPair].Speedup, .5)
	near(t, "fastest", r.Pairs[*a.FastestPair].Speedup, 4)
	valuetest.Equal(t, string(c.Benchmarks[0].Name), "program")
	near(t, "program", c.Benchmarks[0].Median, .125)
	for _, f := range r.Findings {
		if f.Rule == summary.RuleSlower {
			valuetest.Equal(t, f.Points, a.Slower)
			valuetest.Equal(t, *f.Numbers[0].Value, 2)
		}
	}
}
