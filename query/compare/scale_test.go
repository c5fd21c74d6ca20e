package compare_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// valued returns the runs of both sides of a point in one session, in blocks, with a sample each.
func valued(n *int, batch int64, metric, unit string, base, head []float64) (runs []schema.Run) {
	for i, values := range [][]float64{base, head} {
		side := []string{"base", "head"}[i]
		all := querytest.RunsOf(n, 1, querytest.On(side, batch), values...)
		for k := range all {
			all[k].Metrics, all[k].Primary = []schema.Metric{querytest.RealMetric(metric, unit, values[k])}, metric
		}
		runs = append(runs, all...)
	}
	return runs
}

func times(n int, value float64) []float64 { return slices.Repeat([]float64{value}, n) }

// TestCompareZeros: values of 0 or less are compared by difference, with their medians on both sides; a move from or to 0 counts whatever the
// share of the threshold is, and an amount asks for differences of positive values too.
func TestCompareZeros(t *testing.T) {
	t.Parallel()
	amount := judge.Thresholds{"allocs/op": {Value: .5, Absolute: true}}
	for _, c := range []struct {
		what              string
		base, head        []float64
		thresholds        judge.Thresholds
		verdict           judge.Verdict
		reason            judge.Reason
		scale             schema.Scale
		cells             string // base, head, change
		equivalenceMargin float64
	}{
		{"appears", times(6, 0), times(6, 3), nil, judge.Regressed, "", schema.ScaleDifference, "0 3 3", 0},
		{"disappears", times(6, 3), times(6, 0), nil, judge.Improved, "", schema.ScaleDifference, "3 0 -3", 0},
		{"appears, by an amount", times(6, 0), times(6, 3), amount, judge.Regressed, "", schema.ScaleDifference, "0 3 3", .5},
		{"less than the amount", times(6, 0), times(6, .25), amount, judge.Unchanged, "", schema.ScaleDifference, "0 0.25 0.25", .5},
		{"zero as before", times(6, 0), times(6, 0), nil, judge.Unchanged, "", schema.ScaleDifference, "0 0 0", 0},
		{"three runs", times(3, 0), times(3, 3), nil, judge.Inconclusive, judge.FewRuns, schema.ScaleDifference, "0 3 3", 0},
		{"two runs", times(2, 0), times(2, 3), nil, judge.Inconclusive, judge.FewRuns, schema.ScaleDifference, "0 3 3", 0},
		{"one run of zero", []float64{100, 101, 0, 100, 99, 100}, []float64{300, 301, 299, 300, 302, 300}, nil, judge.Regressed, "", schema.ScaleDifference, "100 300 201.5", 2},
		{"negative", times(6, -2), times(6, -5), nil, judge.Improved, "", schema.ScaleDifference, "-2 -5 -3", .04},
		{"of either sign", []float64{-3, -1, 1, 1, -2, -1}, []float64{6, 7, 8, 6, 7, 9}, nil, judge.Regressed, "", schema.ScaleDifference, "-1 7 8", .02},
		{"positive, by an amount", times(6, 2), times(6, 3), amount, judge.Regressed, "", schema.ScaleDifference, "2 3 1", .5},
		{"positive", times(6, 2), times(6, 3), nil, judge.Regressed, "", schema.ScaleRatio, "2 3 0.5", .02},
	} {
		var n int
		db := querytest.SealedRuns(t, valued(&n, 1, "allocs/op", "allocs/op", c.base, c.head))
		got := mustCompare(t, db, compare.Request{Base: "session=last", Thresholds: c.thresholds})
		only(t, got)
		r := &got.Rows[0]
		cells := cellOf(got, 0, "base") + " " + cellOf(got, 0, "head") + " " + cellOf(got, 0, "change")
		if r.Verdict != c.verdict || r.Reason != c.reason || r.Scale != c.scale || cells != c.cells || math.Abs(r.Estimates.Margin-c.equivalenceMargin) > 1e-12 {
			t.Errorf("%s: %s %s by %s, %s, threshold %g; want %s %s by %s, %s, %g", c.what, r.Verdict, r.Reason, r.Scale, cells, r.Estimates.Margin, c.verdict, c.reason, c.scale, c.cells, c.equivalenceMargin)
		}
		if regressed := got.Gate().Regressions == 1; regressed != (c.verdict == judge.Regressed) {
			t.Errorf("%s: the gate says %+v", c.what, got.Gate())
		}
	}
}

// TestCompareZerosAmongRatios: points by difference are in the family of the others and borrow no variance from them, and the geometric mean
// leaves them out. A side that is alone has its zeros too.
func TestCompareZerosAmongRatios(t *testing.T) {
	t.Parallel()
	var n int
	var runs []schema.Run
	for batch := range int64(12) {
		runs = append(runs, valued(&n, batch+1, "latency", "ns", wobble(1000), wobble(1001))...)
	}
	runs = append(runs, valued(&n, 13, "latency", "ns", []float64{0, 1e6, 2e6, 0, 1e6, 2e6, 1e6}, []float64{1e6, 0, 2e6, 1e6, 0, 1e6, 2e6})...)
	runs = append(runs, valued(&n, 14, "latency", "ns", times(6, 0), nil)...)
	runs = append(runs, valued(&n, 15, "latency", "ns", nil, times(6, 0))...)
	got := mustCompare(t, querytest.SealedRuns(t, runs), compare.Request{Base: "session=last"})
	if _, points, others, _ := got.GeometricMean("latency"); points != 12 || others != 1 {
		t.Errorf("the mean is of %d points, %d are left out", points, others)
	}
	for i := range got.Rows {
		switch r := &got.Rows[i]; *r.Identity.BatchSize {
		case 13:
			if r.Scale != schema.ScaleDifference || r.Inputs.Family != 13 || r.Inputs.PriorDF != 0 || *r.Base.Value != 1e6 {
				t.Errorf("by difference: %s, %+v, base %g", r.Scale, r.Inputs, *r.Base.Value)
			}
		case 14:
			if r.Verdict != compare.Missing || *r.Base.Value != 0 || r.Base.Runs != 6 {
				t.Errorf("only on the base: %s %+v", r.Verdict, r.Base)
			}
		case 15:
			if r.Verdict != compare.Added || *r.Head.Value != 0 {
				t.Errorf("only on the head: %s %+v", r.Verdict, r.Head)
			}
		default:
			if r.Scale != schema.ScaleRatio || r.Inputs.Family != 13 || !(r.Inputs.PriorVariance > 0 && r.Inputs.PriorVariance < 1) || r.Verdict != judge.Unchanged {
				t.Errorf("by ratio: %s %s, %+v", r.Scale, r.Verdict, r.Inputs)
			}
		}
	}
}

// TestSettledZeros: a session is judged while it is measured as it is once it is stored, also where values are 0.
func TestSettledZeros(t *testing.T) {
	t.Parallel()
	var n int
	runs := slices.Concat(valued(&n, 1, "latency", "ns", wobble(1000), wobble(1100)), valued(&n, 2, "latency", "ns", times(7, 0), times(7, 3)),
		valued(&n, 3, "latency", "ns", []float64{0, 3, 0, 3, 0, 0, 3}, []float64{3, 0, 0, 0, 3, 0, 3}), valued(&n, 4, "latency", "ns", times(7, -1003), times(7, -1003)))
	got := mustCompare(t, querytest.SealedRuns(t, runs), compare.Request{Base: "session=last", Rules: judge.Rules{Gate: true}})
	decided := compare.JudgeSession(runs)
	for i, want := range []judge.Verdict{judge.Regressed, judge.Regressed, judge.Inconclusive, judge.Unchanged} {
		r := &got.Rows[i]
		if d := decided[r.HeadID]; r.Verdict != want || d.Verdict != r.Verdict || d.Reason != r.Reason {
			t.Errorf("point %d: %s (%s) stored, %s (%s) measured, want %s", i+1, r.Verdict, r.Reason, d.Verdict, d.Reason, want)
		}
	}
}

// TestWorstZeroFirst: a change from 0 is larger than one by a ratio, whatever its unit makes of it.
func TestWorstZeroFirst(t *testing.T) {
	t.Parallel()
	var n int
	runs := slices.Concat(valued(&n, 1, "faults", "", times(6, 2), times(6, 4)), valued(&n, 2, "faults", "", times(6, 0), times(6, .001)),
		valued(&n, 3, "faults", "", []float64{-1, 1000, 1001, 1000, 999, 1002}, []float64{1101, 1100, 1099, 1100, 1102, 1100}), valued(&n, 4, "faults", "", times(6, 0), times(6, .01)))
	got := mustCompare(t, querytest.SealedRuns(t, runs), compare.Request{Base: "session=last", Worst: compare.Verdicts})
	var order []int64
	for i := range got.Rows {
		order = append(order, *got.Rows[i].Identity.BatchSize)
	}
	valuetest.Equal(t, fmt.Sprint(order), "[4 2 1 3]", "the order", order)
}

// TestCompareZeroNights: an earlier session of 0 makes the point one by difference; sessions that were all 0 let a head of 3 regress.
func TestCompareZeroNights(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		nights, base, head float64
		every              int // so many nights is 5; 0: none
		verdict            judge.Verdict
	}{{0, 0, 3, 0, judge.Regressed}, {3, 3, 0, 0, judge.Improved}, {0, 0, 0, 0, judge.Unchanged}, {0, 5, 5, 2, judge.Inconclusive}} {
		n := 1000
		var runs []schema.Run
		for k := range 10 {
			value := c.nights
			if c.every > 0 && k%c.every == 1 {
				value = 5
			}
			if k == 8 {
				value = c.base
			} else if k == 9 {
				value = c.head
			}
			night := querytest.RunsOf(&n, 10+k, nil, times(6, value)...)
			for i := range night {
				night[i].Metrics, night[i].Primary = []schema.Metric{querytest.RealMetric("faults", "", value)}, "faults"
			}
			runs = append(runs, night...)
		}
		got := mustCompare(t, querytest.SealedRuns(t, runs), compare.Request{Base: "session=last~1", Head: "session=last"})
		r := &got.Rows[0]
		if history := r.Inputs.History; r.Verdict != c.verdict || r.Scale != schema.ScaleDifference || len(history) != 9 || math.Abs(history[0]-c.nights) > 1e-9 || math.Abs(*r.Head.Value-c.head) > 1e-9 {
			t.Errorf("%+v: %s (%s) by %s, history %g", c, r.Verdict, r.Reason, r.Scale, r.Inputs.History)
		}
	}
}

// around returns values of a side around 0, of several kinds.
func around(random *rand.Rand, kind, runs int, shift float64) []float64 {
	values := make([]float64, runs)
	for i := range values {
		switch kind % 7 {
		case 0:
			values[i] = random.NormFloat64()
		case 1:
			values[i] = float64(random.IntN(3))
		case 2: // constant
		case 3:
			values[i] = max(random.NormFloat64(), 0)
		case 4: // one that is not positive
			if values[i] = 5 + random.Float64(); i == 2 {
				values[i] = -float64(random.IntN(2))
			}
		case 5:
			values[i] = -3 - random.Float64()
		case 6: // one positive
			if i == 1 {
				values[i] = 4
			}
		}
		values[i] += shift
	}
	return values
}

// TestAroundZero: of values around 0, what is shown of a side and of the change is that of all runs, on both sides of 0; nothing is NaN; sides
// that are exchanged have the opposite verdict; and a tiny amount on all values never makes a change one in the other direction.
func TestAroundZero(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(44, 1))
	const points, tiny = 140, 1e-9
	var n int
	var runs []schema.Run
	values := map[int64][2][]float64{}
	for i := range int64(points) {
		count := 3 + random.IntN(8)
		shift := []float64{0, 0, 3, -3}[random.IntN(4)]
		kinds := random.IntN(7)
		base, head := around(random, kinds, count, 0), around(random, kinds+random.IntN(2), count, shift)
		for k, more := range []float64{0, tiny} {
			var sides [2][]float64
			for s, side := range [][]float64{base, head} {
				for _, v := range side {
					sides[s] = append(sides[s], v+more)
				}
			}
			batch := 2*i + int64(k)
			values[batch] = sides
			runs = append(runs, valued(&n, batch, "delta", "", sides[0], sides[1])...)
		}
	}
	db := querytest.SealedRuns(t, runs)
	ways := [2]compare.Comparison{
		mustCompare(t, db, compare.Request{Base: "side=base", Head: "side=head"}), mustCompare(t, db, compare.Request{Base: "side=head", Head: "side=base"}),
	}
	opposite := map[judge.Verdict]judge.Verdict{judge.Regressed: judge.Improved, judge.Improved: judge.Regressed}
	verdicts := map[int64]judge.Verdict{}
	found := map[judge.Verdict]int{}
	for i := range ways[0].Rows {
		r, back := &ways[0].Rows[i], &ways[1].Rows[i]
		batch := *r.Identity.BatchSize
		verdicts[batch] = r.Verdict
		found[r.Verdict]++
		sides := values[batch]
		if want, turned := r.Verdict, opposite[r.Verdict]; *back.Identity.BatchSize != batch || turned != "" && back.Verdict != turned || turned == "" && back.Verdict != want {
			t.Errorf("%v: %s, exchanged %s", sides, r.Verdict, back.Verdict)
		}
		mixed := slices.Min(slices.Concat(sides[0], sides[1])) <= 0
		valuetest.Equal(t, mixed, (r.Scale == schema.ScaleDifference), sides, "by", r.Scale)
		if !mixed {
			continue
		}
		e := r.Estimates
		shift := stat.Shift(sides[0], sides[1], .95).Value
		if blocks := realsOf(ways[0], i, "block_differences"); r.Method == judge.MethodBlocks {
			shift = stat.PairedShift(blocks, .95).Value
		}
		for what, pair := range map[string][2]float64{"base": {*r.Base.Value, stat.Median(slices.Clone(sides[0]))}, "head": {*r.Head.Value, stat.Median(slices.Clone(sides[1]))}, "change": {e.Change, shift}} {
			if !(math.Abs(pair[0]-pair[1]) <= 1e-12) || math.IsNaN(pair[0]) {
				t.Errorf("%v: %s is %g, of all runs %g", sides, what, pair[0], pair[1])
			}
		}
		if r.Base.Runs != int64(len(sides[0])) || r.Head.Runs != int64(len(sides[1])) || fmt.Sprint(r.Reason) == "nonpositive" {
			t.Errorf("%v: %d and %d runs, %s", sides, r.Base.Runs, r.Head.Runs, r.Reason)
		}
		if called := r.Verdict == judge.Regressed || r.Verdict == judge.Improved; called && (e.Change > 0) != (r.Verdict == judge.Regressed) {
			t.Errorf("%v: %s by %g", sides, r.Verdict, e.Change)
		}
	}
	for i := range int64(points) {
		if a, b := verdicts[2*i], verdicts[2*i+1]; opposite[a] == b && b != "" || a == judge.Unchanged && opposite[b] != "" && !constant(values[2*i]) {
			t.Errorf("%v: %s, and %s with %g more", values[2*i], a, b, tiny)
		}
	}
	for _, v := range []judge.Verdict{judge.Regressed, judge.Improved, judge.Unchanged, judge.Inconclusive} {
		if found[v] < 5 {
			t.Errorf("only %d points are %s", found[v], v)
		}
	}
}

// constant reports whether all values of both sides are equal.
func constant(sides [2][]float64) bool {
	all := slices.Concat(sides[0], sides[1])
	return slices.Min(all) == slices.Max(all)
}
