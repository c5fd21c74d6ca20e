package compare_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestRepeats: imported results without a verdict, because their machine or earlier sessions are unknown, say whether their repeats differ,
// and rows whose repeats do come first. The samples of two runs are their repeats, and so say the interval and Sampled. Measured runs do not:
// bench can measure both sides in one session.
func TestRepeats(t *testing.T) {
	t.Parallel()
	both := func(source, machine string) compare.Comparison {
		n := 0
		var runs []schema.Run
		for session, level := range []map[string]float64{{"a": 1000, "b": 1000, "c": 1000}, {"a": 1100, "b": 1001, "c": 1300}} {
			for _, name := range []string{"a", "b", "c"} {
				values := wobble(level[name])
				if name == "c" {
					values = values[:2]
				}
				runs = append(runs, querytest.RunsOf(&n, session+1, querytest.Of(1, func(r *schema.Run) { r.Benchmark, r.Source, r.Env.Machine = name, source, machine }), values...)...)
			}
		}
		return mustCompare(t, querytest.SealedRuns(t, runs), compare.Request{Base: "session=last~1", Head: "session=last", Worst: compare.Verdicts})
	}
	for machine, verdict := range map[string]judge.Verdict{"": judge.Estimate, "m": judge.Inconclusive} {
		c := both("go-bench", machine)
		var order, said []string
		for i := range c.Rows {
			r := &c.Rows[i]
			valuetest.Equal(t, r.Verdict, verdict)
			order, said = append(order, r.Identity.Benchmark), append(said, r.Repeats.Result)
			valuetest.Equal(t, math.IsNaN(r.Estimates.Adjusted), true)
			valuetest.Equal(t, r.Repeats.Adjusted < judge.Level, r.Identity.Benchmark != "b")
			valuetest.Equal(t, r.Repeats.Sampled, r.Identity.Benchmark == "c")
			valuetest.Equal(t, !math.IsInf(r.Estimates.Low, 0), true)
		}
		valuetest.Equal(t, strings.Join(order, " "), "c a b")
		valuetest.Equal(t, strings.Join(said, " "), "differ differ alike")
		valuetest.Equal(t, cellOf(c, 0, "repeats_result"), compare.RepeatsDiffer)
	}
	c := both(schema.SourceNeuroLens, "m")
	valuetest.Equal(t, slices.ContainsFunc(c.Points, func(p compare.Point) bool { return p.Repeats != nil }), false)
}
