package history_test

import (
	"math"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/query/history"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// countedIn returns sessions of one point with these values of a metric that is unknown to NeuroLens and of which less is better.
func countedIn(values ...float64) []schema.Run {
	var runs []schema.Run
	for k, v := range values {
		r := historyRun(k, 0, 1000)
		m := schema.Metric{Name: "allocs", Better: schema.BetterLower, Level: schema.LevelIteration, Reals: []float64{v}}
		m.Summary = stat.Summarize(m.Values())
		r.Metrics, r.Primary = []schema.Metric{m}, "allocs"
		runs = append(runs, r)
	}
	return runs
}

// TestHistoryOfZero: zero and what is below it are values, compared by difference.
func TestHistoryOfZero(t *testing.T) {
	t.Parallel()
	of := func(n int, values ...float64) []float64 { return slices.Repeat(values, n/len(values)) }
	for _, c := range []struct {
		name    string
		values  []float64
		scale   schema.Scale
		at      int // of a change; -1: there is none
		verdict judge.Verdict
		shift   float64
	}{
		{"0, then 5", slices.Concat(of(10, 0), of(10, 5)), schema.ScaleDifference, 10, judge.Regressed, 5},
		{"3, then 0", slices.Concat(of(10, 3), of(10, 0)), schema.ScaleDifference, 10, judge.Improved, -3},
		{"negative", slices.Concat(of(10, -4, -4.1), of(10, -2, -2.1)), schema.ScaleDifference, 10, judge.Regressed, 2},
		{"across zero", slices.Concat(of(10, -1, -1.1), of(10, 1, 1.1)), schema.ScaleDifference, 10, judge.Regressed, 2.1},
		{"all zero", of(20, 0), schema.ScaleDifference, -1, "", 0},
		{"a zero within", slices.Concat(of(10, 7), []float64{0}, of(10, 7)), schema.ScaleDifference, 10, history.Spike, -7},
		{"less than 2 % of the level", slices.Concat([]float64{0, 0}, of(10, 1000), of(10, 1015)), schema.ScaleDifference, -1, "", 0},
		{"positive", slices.Concat(of(10, 4, 4.1), of(10, 8, 8.1)), schema.ScaleRatio, 10, judge.Regressed, .9753},
	} {
		h := historyOf(t, querytest.SealedRuns(t, countedIn(c.values...)), history.Request{Metric: "allocs"})
		if len(h.Rows) != len(c.values) || h.NoValue != 0 {
			t.Errorf("%s: %d rows, %d without a value", c.name, len(h.Rows), h.NoValue)
			continue
		}
		for i, row := range h.Rows {
			want := judge.Verdict("")
			if i == c.at {
				want = c.verdict
			}
			if row.Scale != c.scale || math.Abs(row.Location-c.values[i]) > 1e-9 || row.Verdict != want || want != "" && math.Abs(*row.Shift-c.shift) > .03 {
				t.Errorf("%s: session %d is %q: %+v", c.name, i, row.Verdict, row)
			}
		}
	}
	gate := historyOf(t, querytest.SealedRuns(t, countedIn(slices.Concat(of(10, 0), of(10, 5))...)), history.Request{Metric: "allocs", Newest: 14}).Gate
	if gate.Regressed != 1 {
		t.Errorf("a gate: %+v", gate)
	}
}

// TestHistoryWithoutValues: what has no value is missing, and no zero.
func TestHistoryWithoutValues(t *testing.T) {
	t.Parallel()
	runs := countedIn(slices.Repeat([]float64{0}, 10)...)
	runs[3].Metrics[0].Reals = []float64{math.NaN()}
	runs[3].Metrics[0].Summary = stat.Summarize(runs[3].Metrics[0].Reals)
	h := historyOf(t, querytest.SealedRuns(t, runs), history.Request{Metric: "allocs"})
	if len(h.Rows) != 9 || h.NoValue != 1 {
		t.Errorf("%d rows, %d without a value", len(h.Rows), h.NoValue)
	}
}

// TestHistoryOfLogarithms: a run that has only the median of the logarithms has a value, as in a comparison.
func TestHistoryOfLogarithms(t *testing.T) {
	t.Parallel()
	runs := levelled(100, 101, 100, 102, 101, 100, 102, 100)
	for i := range runs {
		m := &runs[i].Metrics[0]
		m.Ticks, m.Summary = nil, schema.Summary{LogMedian: m.Summary.LogMedian}
	}
	h := historyOf(t, querytest.SealedRuns(t, runs), history.Request{})
	if h.NoValue != 0 || len(h.Rows) != 8 {
		t.Errorf("%d without a value, %d rows", h.NoValue, len(h.Rows))
	}
}
