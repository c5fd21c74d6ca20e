package compare_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestPasses: passes of profilers are compared by a metric that no measured run has, those alone that have it, and by no other one.
func TestPasses(t *testing.T) {
	t.Parallel()
	n := 0
	runs := func(side, tool, metric string, locations ...float64) []schema.Run {
		runs := querytest.RunsOf(&n, 1, querytest.On(side, 1), locations...)
		for i := range runs {
			if tool != "" {
				runs[i].Purpose, runs[i].Env.Facts = schema.PurposeProfile, map[string]string{schema.FactProfile: tool}
			}
			if metric != "" {
				runs[i].Metrics = append(runs[i].Metrics, querytest.RealMetric(metric, "1", locations[i]))
			}
		}
		return runs
	}
	all := slices.Concat(runs("base", "", "", wobble(1000)...), runs("head", "", "", wobble(1000)...),
		runs("base", "nsys", "", 9000), runs("head", "nsys", "", 9000))
	counted := slices.Concat(all, runs("base", "cachegrind", "instructions", 1e6, 1e6, 1e6, 1e6, 1e6), runs("head", "cachegrind", "instructions", 1.01e6, 1.01e6, 1.01e6, 1.01e6, 1.01e6))
	own := slices.Concat(counted, runs("base", "", "instructions", wobble(500)...), runs("head", "", "instructions", wobble(500)...))
	gate := compare.Request{Base: "session=last", Metrics: []string{"instructions"}, Thresholds: judge.Thresholds{"": {Value: .005}}, Rules: judge.Rules{Gate: true}}

	got := mustCompare(t, querytest.SealedRuns(t, counted), gate)
	only(t, got)
	valuetest.Equal(t, strings.Join(got.Passes, " "), "cachegrind")
	valuetest.Equal(t, got.Rows[0].Verdict, judge.Regressed)
	valuetest.Equal(t, [2]int{got.Base.Runs, got.Head.Runs}, [2]int{5, 5})

	got = mustCompare(t, querytest.SealedRuns(t, own), gate)
	only(t, got)
	valuetest.Equal(t, len(got.Passes), 0, "measured runs have the metric")
	valuetest.Equal(t, got.Rows[0].Metric, "instructions")

	db := querytest.SealedRuns(t, all)
	_, err := compare.Compare(t.Context(), db, gate)
	valuetest.ErrorIs(t, err, query.ErrInput)
	valuetest.Contains(t, err.Error(), `compare: no run has the metric "instructions"`)

	got = mustCompare(t, querytest.SealedRuns(t, counted), compare.Request{Base: "session=last"})
	only(t, got)
	valuetest.Equal(t, [3]int{len(got.Passes), got.Base.Runs, got.Head.Runs}, [3]int{0, len(wobble(1)), len(wobble(1))}, "without a metric")
}
