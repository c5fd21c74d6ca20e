package compare_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// only checks that a comparison has one row.
func only(t testing.TB, c compare.Comparison) {
	t.Helper()
	valuetest.Equal(t, len(c.Rows), 1, c.Rows)
}

// TestCompareNewerSide: a session with two sides is represented by the newer one, unless a filter names a side or only selects one.
func TestCompareNewerSide(t *testing.T) {
	t.Parallel()
	n := 0
	side := func(name, commit string) func(*schema.Run) {
		return querytest.Of(1, func(r *schema.Run) { r.Side, r.Env.GitCommit = name, commit })
	}
	db := querytest.SealedRuns(t, slices.Concat(querytest.RunsOf(&n, 1, nil, wobble(1000)...),
		querytest.RunsOf(&n, 2, side("base", "aa"), wobble(1000)...), querytest.RunsOf(&n, 2, side("head", "bb"), wobble(1500)...)))
	for _, c := range []struct {
		base, head string
		change     float64
	}{
		{"session=last~1", "session=last", .5},
		{"session=last~1", "session=last side=base", 0},
		{"commit=aa", "commit=bb", .5},
	} {
		got := mustCompare(t, db, compare.Request{Base: c.base, Head: c.head})
		only(t, got)
		if change := realOf(t, got, 0, "change"); math.Abs(change-c.change) > .005 || cellOf(got, 0, "head_runs") != "7" {
			t.Errorf("%s, %s: change %g of %s runs, want %g", c.base, c.head, change, cellOf(got, 0, "head_runs"), c.change)
		}
	}
}

// TestCompareUnbalanced: if sessions have different shares of the sides, the variation between sessions looks like a change.
func TestCompareUnbalanced(t *testing.T) {
	t.Parallel()
	n := 0
	slow := wobble(1050)
	runs := func(side string, first, second int) []schema.Run {
		edit := querytest.Of(1, func(r *schema.Run) { r.Variant = side })
		return slices.Concat(querytest.RunsOf(&n, 1, edit, wobble(1000)[:first]...), querytest.RunsOf(&n, 2, edit, slow[:second]...))
	}
	req := compare.Request{Base: "variant=a", Head: "variant=b"}
	skewed := mustCompare(t, querytest.SealedRuns(t, slices.Concat(runs("a", 7, 1), runs("b", 1, 7))), req)
	if got := skewed.Points[0]; got.Verdict != judge.Inconclusive || got.Reason != judge.Sessions {
		t.Errorf("7+1 against 1+7 runs: %s %s", got.Verdict, got.Reason)
	}
	even := mustCompare(t, querytest.SealedRuns(t, slices.Concat(runs("a", 6, 6), runs("b", 6, 6))), req)
	if got := even.Points[0]; got.Verdict == judge.Regressed || got.Reason == judge.Sessions {
		t.Errorf("6+6 against 6+6 runs: %s %s", got.Verdict, got.Reason)
	}
}

// TestCompareTick: two steps of a coarse clock are no difference; another metric of the same runs is not affected.
func TestCompareTick(t *testing.T) {
	t.Parallel()
	n := 0
	ticking := func(side string, ticks int64, accuracy float64) func(*schema.Run) {
		return querytest.Of(1, func(r *schema.Run) {
			r.Side, r.Warnings = side, []string{"quantised"}
			r.Metrics = []schema.Metric{
				{Name: "latency", Unit: "ns", Better: schema.BetterLower, Clock: "c", Level: schema.LevelIteration, Tick: 1e6, Ticks: []int64{ticks, ticks, ticks}},
				querytest.RealMetric("accuracy", "ratio", accuracy, accuracy, accuracy),
			}
		})
	}
	five := []float64{1, 2, 3, 4, 5}
	db := querytest.SealedRuns(t, slices.Concat(querytest.RunsOf(&n, 1, ticking("base", 20, .95), five...), querytest.RunsOf(&n, 1, ticking("head", 21, .10), five...)))
	got := mustCompare(t, db, compare.Request{Base: "session=last", Metrics: []string{"latency", "accuracy"}})
	if latency, accuracy := got.Points[0], got.Points[1]; latency.Verdict != judge.Inconclusive || latency.MoreRuns != 0 || accuracy.Verdict != judge.Regressed {
		t.Errorf("20 -> 21 ticks is %s, accuracy 0.95 -> 0.10 is %s", latency.Verdict, accuracy.Verdict)
	}
	if zone := realOf(t, got, 0, "threshold"); zone < .09 {
		t.Errorf("equivalence margin %g, want two ticks of 20", zone)
	}
}

// TestCompareMetricOfOneSide: a metric that the head has lost is missing; one that no run of a point has gives no row.
func TestCompareMetricOfOneSide(t *testing.T) {
	t.Parallel()
	n := 0
	with := func(side string, batch int64, has bool) func(*schema.Run) {
		return querytest.Of(batch, func(r *schema.Run) {
			r.Side = side
			if has {
				r.Metrics = append(r.Metrics, querytest.RealMetric("throughput", "1/s", 10, 11, 12))
			}
		})
	}
	db := querytest.SealedRuns(t, slices.Concat(
		querytest.RunsOf(&n, 1, with("base", 1, true), wobble(1000)...), querytest.RunsOf(&n, 1, with("head", 1, false), wobble(1000)...),
		querytest.RunsOf(&n, 1, with("base", 2, false), wobble(1000)...), querytest.RunsOf(&n, 1, with("head", 2, false), wobble(1000)...)))
	got := mustCompare(t, db, compare.Request{Base: "session=last", Metrics: []string{"throughput"}})
	if only(t, got); got.Points[0].Verdict != compare.Missing || got.Gate().Regressions != 1 {
		t.Errorf("%s, gate %+v", got.Points[0].Verdict, got.Gate())
	}
}

// TestCompareMatrixMissing: each value of the axis has each point of the reference, or misses it.
func TestCompareMatrixMissing(t *testing.T) {
	t.Parallel()
	n := 0
	var runs []schema.Run
	for _, variant := range []string{"baseline", "fused", "tiled"} {
		for _, batch := range []int64{1, 2} {
			if variant != "tiled" || batch != 2 {
				runs = append(runs, querytest.RunsOf(&n, 1, querytest.Of(batch, func(r *schema.Run) { r.Variant = variant }), wobble(1000)...)...)
			}
		}
	}
	got := mustCompare(t, querytest.SealedRuns(t, runs), compare.Request{Base: "session=last", Axis: "variant", Reference: "baseline"})
	found := false
	for row := range got.Rows {
		found = found || cellOf(got, row, "variant")+cellOf(got, row, "batch_size")+cellOf(got, row, "verdict") == "tiled2missing"
	}
	valuetest.DeepEqual(t, []any{found, len(got.Rows)}, []any{true, 4})
}

// TestCompareFailures: a significant increase of failures is a regression for a gate; an increase that may be chance is inconclusive.
func TestCompareFailures(t *testing.T) {
	t.Parallel()
	ended := func(side string, status schema.Status) func(*schema.Run) {
		return querytest.Of(1, func(r *schema.Run) {
			r.Side = side
			if status != schema.StatusOK {
				r.Status, r.Stage, r.Error, r.Metrics, r.Primary = status, schema.StageMeasure, "it broke", nil, ""
			}
		})
	}
	for _, c := range []struct {
		ok, crashed          int
		status               schema.Status
		regressions, settled int
	}{
		{6, 0, schema.StatusCrashed, 0, 0},
		{5, 1, schema.StatusCrashed, 0, 1},
		{1, 6, schema.StatusCrashed, 1, 0},
		{0, 6, schema.StatusCrashed, 1, 0},
		{0, 6, schema.StatusSkipped, 0, 1},
		{6, 3, schema.StatusCancelled, 0, 0},
	} {
		n := 0
		head := slices.Concat(querytest.RunsOf(&n, 1, ended("base", schema.StatusOK), wobble(1000)[:6]...), querytest.RunsOf(&n, 1, ended("head", schema.StatusOK), wobble(1000)[:c.ok]...),
			querytest.RunsOf(&n, 1, ended("head", c.status), make([]float64, c.crashed)...))
		got := mustCompare(t, querytest.SealedRuns(t, head), compare.Request{Base: "session=last"})
		g := got.Gate()
		if c.ok == 1 { // too few runs besides
			g.Inconclusive = 0
		}
		if c.ok >= 5 && got.Points[0].Verdict == judge.Inconclusive { // one after the other
			g.Inconclusive = 0
			if got.Points[0].Failures {
				g.Inconclusive = 1
			}
		}
		if g.Regressions != c.regressions || g.Inconclusive != c.settled {
			t.Errorf("%d ok and %d %s: %+v, verdict %s", c.ok, c.crashed, c.status, g, got.Points[0].Verdict)
		}
		if c.status == schema.StatusCrashed && c.crashed > 0 && cellOf(got, 0, "failure") != "it broke" {
			t.Errorf("%d crashed: failure %s", c.crashed, cellOf(got, 0, "failure"))
		}
	}
}

// TestCompareUnknown: unknown machines are not the same machine, unknown sessions not the same session, but both are one point.
func TestCompareUnknown(t *testing.T) {
	t.Parallel()
	n := 0
	at := func(side, machine string) func(*schema.Run) {
		return querytest.Of(1, func(r *schema.Run) { r.Side, r.Env.Machine = side, machine })
	}
	crash := func(r *schema.Run) {
		r.Side, r.BatchSize, r.Env.Machine, r.Status, r.Stage, r.Metrics, r.Primary = "head", new(int64(1)), "lab3", schema.StatusCrashed, schema.StageMeasure, nil, ""
	}
	runs := slices.Concat(querytest.RunsOf(&n, 1, at("base", ""), wobble(1000)...), querytest.RunsOf(&n, 1, at("base", "lab3"), wobble(1000)...),
		querytest.RunsOf(&n, 1, at("head", ""), wobble(1000)...), querytest.RunsOf(&n, 1, at("head", "lab3"), wobble(1000)...), querytest.RunsOf(&n, 1, crash, 1))
	got := mustCompare(t, querytest.SealedRuns(t, runs), compare.Request{Base: "session=last"})
	valuetest.Equal(t, len(got.Rows), 2)
	for row := range got.Rows {
		want := "estimate"
		if got.Rows[row].Identity.Machine != "" {
			want = "unchanged"
		}
		if v := cellOf(got, row, "verdict"); v != want && v != "inconclusive" || want == "estimate" && v != want {
			t.Errorf("machine %s: %s, want %s", cellOf(got, row, "machine"), v, want)
		}
	}
}

// TestCompareThresholds: a text that would silently be no threshold is refused.
func TestCompareThresholds(t *testing.T) {
	t.Parallel()
	n := 0
	db := querytest.SealedRuns(t, slices.Concat(querytest.RunsOf(&n, 1, querytest.On("base", 1), wobble(1000)...), querytest.RunsOf(&n, 1, querytest.On("head", 1), wobble(1000)...)))
	for metric, says := range map[string]string{"latency": "compare: the threshold for latency is in B, but the metric is measured in ns", "latancy": "compare: threshold for latancy: no point has this metric; did you mean latency?"} {
		memory := judge.Threshold{Value: 1 << 30, Absolute: true, Unit: "B"}
		_, err := compare.Compare(context.Background(), db, compare.Request{Base: "session=last", Thresholds: judge.Thresholds{metric: memory}})
		querytest.WantInput(t, err, says)
	}
}

// TestCompareUnnamedStep: without the name of the clock, the values show its resolution: 10 ms every time and then 11 is one step.
// Five steps are a change. Counts, which no clock reads, have no resolution.
func TestCompareUnnamedStep(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		unit       string
		base, head int64
		want       judge.Verdict
	}{
		{"ns", 10e6, 11e6, judge.Inconclusive},
		{"ns", 10e6, 15e6, judge.Regressed},
		{"ns", 10e6, 10e6, judge.Inconclusive}, // up to a step less or more
		{"ns", 10_000_001, 11_000_001, judge.Regressed},
		{"B", 10e6, 11e6, judge.Regressed},
	} {
		n := 0
		reading := func(side string, ticks int64) func(*schema.Run) {
			return querytest.Of(1, func(r *schema.Run) {
				r.Side = side
				r.Metrics = []schema.Metric{{Name: "latency", Unit: c.unit, Better: schema.BetterLower, Clock: "c", Level: schema.LevelIteration, Tick: 1, Ticks: []int64{ticks, ticks, ticks}}}
			})
		}
		six := []float64{1, 2, 3, 4, 5, 6}
		db := querytest.SealedRuns(t, slices.Concat(querytest.RunsOf(&n, 1, reading("base", c.base), six...), querytest.RunsOf(&n, 1, reading("head", c.head), six...)))
		got := mustCompare(t, db, compare.Request{Base: "session=last"})
		flags := got.Rows[0].Flags
		if p := got.Points[0]; p.Verdict != c.want || slices.Contains(flags, "quantised") != (c.base%10 == 0 && c.unit == "ns") {
			t.Errorf("%d to %d %s: %s, flags %v, want %s", c.base, c.head, c.unit, p.Verdict, flags, c.want)
		}
	}
}

// TestCompareFailureOfMany: of several errors of failed runs, a row has the most frequent one, and of equally frequent ones the first of the
// alphabet, in whatever order they came.
func TestCompareFailureOfMany(t *testing.T) {
	t.Parallel()
	for _, errors := range [][]string{{"late", "early", "late", "early", "rare"}, {"early", "rare", "late", "early", "late"}} {
		n := 0
		runs := querytest.RunsOf(&n, 1, querytest.On("base", 1), wobble(1000)[:6]...)
		for _, text := range errors {
			runs = append(runs, querytest.RunsOf(&n, 1, querytest.Of(1, func(r *schema.Run) {
				querytest.Ended(schema.StatusCrashed)(r)
				r.Side, r.Error = "head", text
			}), 0)...)
		}
		got := mustCompare(t, querytest.SealedRuns(t, runs), compare.Request{Base: "session=last"})
		valuetest.Equal(t, cellOf(got, 0, "failure"), "early", "failures", errors)
	}
}

// TestNightsThatDoNotCount: neither an earlier session in which more requests failed than are allowed, however fast it was, nor one of bisect
// counts.
func TestNightsThatDoNotCount(t *testing.T) {
	t.Parallel()
	var all [][]float64
	for _, warnings := range [][]string{nil, {"16 of 24 requests failed"}, {schema.WarnBisect}} {
		n := 1000
		var runs []schema.Run
		for k := range 10 {
			night := querytest.RunsOf(&n, 10+k, nil, times(6, 100+float64(k))...)
			if k == 4 {
				for i := range night {
					night[i].Warnings = warnings
				}
			}
			runs = append(runs, night...)
		}
		got := mustCompare(t, querytest.SealedRuns(t, runs), compare.Request{Base: "session=last~1", Head: "session=last"})
		all = append(all, got.Rows[0].Inputs.History)
	}
	for _, left := range all[1:] {
		if len(all[0]) != 9 || len(left) != 8 || left[4] != all[0][5] {
			t.Errorf("history %g, with a night that does not count %g", all[0], left)
		}
	}
}

// TestNightsBetween: a night between the two that are compared does not count, as it has the change that is looked for.
func TestNightsBetween(t *testing.T) {
	t.Parallel()
	n := 0
	var runs []schema.Run
	for k := range 22 {
		level := 1000 * (1 + .005*float64(k%3-1))
		if k >= 20 {
			level *= 1.2
		}
		runs = append(runs, querytest.RunsOf(&n, 1+k, nil, wobble(level)...)...)
	}
	store := querytest.SealedRuns(t, runs)
	for base, want := range map[string]judge.Verdict{"session=last~2": judge.Regressed, "session=last~1": judge.Inconclusive} {
		got := mustCompare(t, store, compare.Request{Base: base, Head: "session=last"})
		valuetest.Equal(t, judge.Verdict(cellOf(got, 0, "verdict")), want, base)
	}
}
