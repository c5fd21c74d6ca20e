package compare_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
	"github.com/neurolens/neurolens/schema/valuetest"
)

func mustCompare(t testing.TB, db *query.DB, req compare.Request) compare.Comparison {
	t.Helper()
	req.Inputs = true
	c, err := compare.Compare(context.Background(), db, req)
	valuetest.OK(t, err, req)
	return c
}

// fieldOf returns a value of a row of a comparison.
func fieldOf(c compare.Comparison, row int, name string) any {
	fields := compare.Fields(true)
	i := slices.IndexFunc(fields, func(f answer.Field[compare.Row]) bool { return f.Name == name })
	return fields[i].Of(&c.Rows[row])
}

// cellOf is fieldOf as text.
func cellOf(c compare.Comparison, row int, name string) string {
	return fmt.Sprint(fieldOf(c, row, name))
}

func realOf(t testing.TB, c compare.Comparison, row int, name string) float64 {
	t.Helper()
	v, ok := fieldOf(c, row, name).(float64)
	if !ok {
		t.Fatalf("row %d: %s is %v", row, name, fieldOf(c, row, name))
	}
	return v
}

func realsOf(c compare.Comparison, row int, name string) []float64 {
	values, _ := fieldOf(c, row, name).([]float64)
	return values
}

// wobble returns seven runs around a location, which differ by up to a percent.
func wobble(location float64) []float64 {
	var all []float64
	for _, f := range []float64{1, 1.004, .997, 1.002, .995, 1.008, .999} {
		all = append(all, location*f)
	}
	return all
}

// twoSides returns a session with both sides of three points, in blocks: the first is slower, the second faster, the third
// unchanged.
func twoSides() []schema.Run {
	var n int
	var runs []schema.Run
	for i, head := range []float64{1.1, .9, 1} {
		runs = append(runs, querytest.RunsOf(&n, 1, querytest.On("base", int64(1<<i)), wobble(1000)...)...)
		others := wobble(1000 * head)
		slices.Reverse(others)
		runs = append(runs, querytest.RunsOf(&n, 1, querytest.On("head", int64(1<<i)), others...)...)
	}
	return runs
}

func TestCompareTwoSides(t *testing.T) {
	t.Parallel()
	db := querytest.Open(t, querytest.NewStore(t, twoSides()...))
	c := mustCompare(t, db, compare.Request{Base: "session=last"})
	for row, want := range []judge.Verdict{judge.Regressed, judge.Improved, judge.Unchanged} {
		valuetest.Equal(t, cellOf(c, row, "verdict"), string(want), "point", row, want)
	}
	valuetest.Equal(t, cellOf(c, 0, "method"), string(judge.MethodBlocks), "method")
	valuetest.Near(t, realOf(t, c, 0, "change"), .1, .002, "change")
	valuetest.Equal(t, len(c.Differs), 0, "what differs", c.Differs)
	if g := c.Gate(); g.Regressions != 1 || g.Inconclusive != 0 || g.Points != 3 || g.Looks != 1 {
		t.Errorf("gate %+v", g)
	}
	mean, points, _, _ := c.GeometricMean("latency")
	if want := math.Cbrt(1.1*.9) - 1; points != 3 || math.Abs(mean-want) > .002 {
		t.Errorf("geometric mean %g of %d points, want %g", mean, points, want)
	}
	by, err := c.By([]string{"bs"})
	if err != nil || len(by) != 3 || by[0].Keys[0] != int64(1) || by[0].Verdicts[judge.Regressed] != 1 || by[0].Points != 1 {
		t.Errorf("by batch size: %v, %v", by, err)
	}
	_, err = c.By([]string{"nonsense"})
	querytest.WantInput(t, err, "compare: --by nonsense: no point has this key")
}

// TestCompareAgain: everything in a row can be recomputed from its lists.
func TestCompareAgain(t *testing.T) {
	t.Parallel()
	db := querytest.Open(t, querytest.NewStore(t, append(twoSides(), sessionsOf(8, 1)...)...))
	for _, req := range []compare.Request{{Base: "session=" + querytest.SessionID(1)}, {Base: "session=" + querytest.SessionID(20), Head: "session=" + querytest.SessionID(21)}} {
		c := mustCompare(t, db, req)
		for row := range c.Rows {
			base, head, blocks := realsOf(c, row, "base_locations"), realsOf(c, row, "head_locations"), realsOf(c, row, "block_differences")
			change := stat.Shift(base, head, judge.Confidence)
			test, _ := stat.Welch(base, head)
			if len(blocks) > 0 {
				change = stat.PairedShift(blocks, judge.Confidence)
				test, _ = stat.OneSample(blocks)
			}
			p := test.P()
			if cellOf(c, row, "rule") == string(judge.RuleFlips) {
				p = flipped(blocks)
			}
			if history := realsOf(c, row, "history"); len(history) > 0 {
				noise, _ := stat.SessionNoise(history)
				among := stat.TTest{StdErr: math.Sqrt2 * noise.SD, DF: float64(len(history) - 1)}
				half := among.Interval(judge.Confidence).High
				change.Low, change.High = min(change.Low, change.Value-half), max(change.High, change.Value+half)
				among.Difference, among.DF = test.Difference, 1+.4*float64(len(history))
				p = max(p, among.P(), shareOf(noise.Differences, .9*math.Abs(change.Value)))
			}
			for name, want := range map[string]float64{
				"change": math.Expm1(change.Value), "low": math.Expm1(change.Low), "high": math.Expm1(change.High), "p": p,
				"base": math.Exp(stat.Quantile(slices.Sorted(slices.Values(base)), .5)),
			} {
				valuetest.Near(t, realOf(t, c, row, name), want, 1e-9*max(1, math.Abs(want)), "row", row, name)
			}
		}
	}
}

// flipped returns the share of all signs of the differences for which their sum is at least as far from 0.
func flipped(differences []float64) float64 {
	var sums []float64
	for signs := range 1 << len(differences) {
		sum := 0.
		for i, d := range differences {
			if signs>>i&1 == 1 {
				d = -d
			}
			sum += d
		}
		sums = append(sums, math.Abs(sum))
	}
	return shareOf(sums, sums[0]*(1-1e-9))
}

// shareOf returns the share of values that are at least as large.
func shareOf(values []float64, least float64) float64 {
	n := 0
	for _, v := range values {
		if v >= least {
			n++
		}
	}
	return float64(n) / float64(len(values))
}

// sessionsOf returns past sessions of one point and two more, 20 and 21: the last is slower by a factor. Sessions differ by
// a few permille.
func sessionsOf(past int, factor float64) []schema.Run {
	n := 1000
	var runs []schema.Run
	for k := range past {
		runs = append(runs, querytest.RunsOf(&n, 10+k, nil, wobble(1000*(1+.002*float64(k%3-1)))...)...)
	}
	runs = append(runs, querytest.RunsOf(&n, 20, nil, wobble(1002)...)...)
	return append(runs, querytest.RunsOf(&n, 21, nil, wobble(1000*factor)...)...)
}

func TestCompareSessions(t *testing.T) {
	t.Parallel()
	req := compare.Request{Base: "session=last~1", Head: "session=last"}
	for _, c := range []struct {
		past    int
		factor  float64
		verdict judge.Verdict
		reason  judge.Reason
	}{
		{0, 1.3, judge.Inconclusive, judge.Sessions},
		{3, 1.3, judge.Inconclusive, judge.Sessions}, // and the base's is the fourth
		{8, 1.3, judge.Regressed, ""},
		{8, .7, judge.Improved, ""},
		{8, 1.0, judge.Unchanged, ""},
		{8, 1.021, judge.Inconclusive, judge.Noise},
	} {
		got := mustCompare(t, querytest.SealedRuns(t, sessionsOf(c.past, c.factor)), req)
		if v, r := cellOf(got, 0, "verdict"), got.Points[0].Reason; v != string(c.verdict) || r != c.reason {
			t.Errorf("%d earlier sessions, factor %g: %s %s, want %s %s (history %d)", c.past, c.factor, v, r, c.verdict, c.reason, got.Points[0].History)
		}
	}
	// The head's own session is no part of what sessions differ by, nor is another machine's.
	runs := sessionsOf(8, 1.3)
	n := 5000
	runs = append(runs, querytest.RunsOf(&n, 19, func(r *schema.Run) { r.Env.Machine = "other" }, wobble(9000)...)...)
	got := mustCompare(t, querytest.SealedRuns(t, runs), req)
	if history := realsOf(got, 0, "history"); len(history) != 9 || slices.Max(history) > math.Log(1100) {
		t.Errorf("history %v", history)
	}
}

// TestCompareSense: whatever the values, there is a row, and no verdict that they do not support.
func TestCompareSense(t *testing.T) {
	querytest.NeedsLong(t)
	t.Parallel()
	values := func(metric string, all ...float64) func(*schema.Run) {
		return func(r *schema.Run) {
			r.Metrics, r.Primary = []schema.Metric{querytest.RealMetric(metric, "ns", all...)}, metric
		}
	}
	ended := func(status schema.Status) func(*schema.Run) {
		return func(r *schema.Run) { r.Status, r.Stage, r.Metrics, r.Primary = status, schema.StageMeasure, nil, "" }
	}
	edited := func(edit func(*schema.Metric)) func(*schema.Run) {
		return func(r *schema.Run) { edit(&r.Metrics[0]) }
	}
	five := []float64{1000, 1004, 997, 1002, 995}
	same := []float64{1003, 1003, 1003, 1003, 1003} // in no step that could be the clock's
	for _, c := range []struct {
		what             string
		base, head       []float64
		editBase, edited func(*schema.Run)
		verdict          judge.Verdict
		reason           judge.Reason
		flag             string
	}{
		{what: "one run", base: five[:1], head: []float64{2000}, verdict: judge.Inconclusive, reason: judge.FewRuns, flag: string(judge.FewRuns)},
		{what: "two runs", base: five[:2], head: []float64{2000, 2001}, verdict: judge.Inconclusive, reason: judge.FewRuns, flag: string(judge.FewRuns)},
		{what: "all equal", base: same, head: same, verdict: judge.Unchanged},
		{what: "all equal, but to each other", base: same, head: []float64{2003, 2003, 2003, 2003, 2003}, verdict: judge.Regressed},
		{what: "one huge outlier", base: five, head: []float64{1000, 1003, 1e9, 1001, 996}, verdict: judge.Inconclusive, reason: judge.Noise},
		{
			what: "one side after the other", base: five, head: []float64{1523, 1527, 1520, 1525, 1518}, edited: func(r *schema.Run) { r.StartedAt = r.StartedAt.Add(time.Minute) },
			verdict: judge.Inconclusive, reason: judge.Order, flag: compare.FlagOrder,
		},
		{what: "zeros", base: five, head: five, edited: values("latency", 0, 0, 0), verdict: judge.Improved},
		{what: "negative", base: five, head: five, edited: values("latency", -5, -6), verdict: judge.Improved},
		{what: "not a number", base: five, head: five, edited: values("latency", 1, math.NaN()), verdict: judge.Estimate, reason: judge.NoValues},
		{what: "infinity", base: five, head: five, edited: values("latency", 1, math.Inf(1)), verdict: judge.Estimate, reason: judge.NoValues},
		{what: "no samples", base: five, head: five, edited: values("latency"), verdict: judge.Estimate, reason: judge.NoValues},
		{what: "another unit", base: five, head: five, edited: edited(func(m *schema.Metric) { m.Unit = "B" }), verdict: judge.Estimate, reason: judge.Units},
		{what: "another metric", base: five, head: five, edited: values("wall", 1, 2, 3), verdict: judge.Estimate, reason: judge.Units},
		{what: "another clock", base: five, head: five, edited: edited(func(m *schema.Metric) { m.Clock = "cuda_event" }), verdict: judge.Estimate, reason: judge.Clocks},
		{what: "means beside single iterations", base: five, head: five, edited: edited(func(m *schema.Metric) { m.Level = schema.LevelMean }), verdict: judge.Estimate, reason: judge.Levels},
		{what: "another level", base: five, head: five, edited: edited(func(m *schema.Metric) { m.Level = schema.LevelProcess }), verdict: judge.Estimate, reason: judge.Levels},
		{
			what: "nobody knows which way is better", base: five, head: []float64{2000, 2001, 2002, 2003, 2004}, editBase: edited(func(m *schema.Metric) { m.Better = "" }),
			edited: edited(func(m *schema.Metric) { m.Better = "" }), verdict: judge.Changed,
		},
		{what: "missing", base: five, verdict: compare.Missing},
		{what: "added", head: five, verdict: compare.Added},
		{what: "failed", base: five, head: five, edited: ended(schema.StatusCrashed), verdict: compare.Failed, flag: compare.FlagFailures},
		{what: "unsupported", base: five, head: five, edited: ended(schema.StatusUnsupported), verdict: compare.Unsupported},
		{what: "both unsupported", base: five, head: five, editBase: ended(schema.StatusUnsupported), edited: ended(schema.StatusUnsupported), verdict: compare.Unsupported},
		{what: "fixed", base: five, head: five, editBase: ended(schema.StatusTimeout), verdict: compare.Fixed},
		{
			what: "unchecked", base: five, head: []float64{100, 101, 102, 103, 104}, edited: func(r *schema.Run) { r.Warnings = []string{schema.WarnUnchecked} },
			verdict: judge.Estimate, reason: judge.Unchecked, flag: schema.WarnUnchecked,
		},
		{
			what: "requests failed on the head", base: five, head: []float64{100, 101, 102, 103, 104}, edited: func(r *schema.Run) { r.Warnings = []string{"16 of 24 requests failed"} },
			verdict: judge.Estimate, reason: judge.FailedRequests, flag: "16 of 24 requests failed",
		},
		{
			what: "requests failed on the base, as an earlier version says it", base: five, head: five,
			editBase: func(r *schema.Run) { r.Warnings = []string{"1 requests failed"} }, verdict: judge.Estimate, reason: judge.FailedRequests,
		},
		{
			what: "failed requests that are allowed", base: five, head: five, edited: func(r *schema.Run) { r.Warnings = []string{"1 of 24 requests failed, as allow_failed: 5% allows"} },
			verdict: judge.Unchanged,
		},
		{
			what: "failed requests are what is measured", base: five, head: five, editBase: values(schema.MetricFailedRequests, 1), edited: func(r *schema.Run) {
				values(schema.MetricFailedRequests, 16)(r)
				r.Warnings = []string{"16 requests failed"}
			}, verdict: judge.Regressed,
		},
		{what: "warned", base: five, head: five, edited: func(r *schema.Run) { r.Warnings = []string{"drift"} }, verdict: judge.Unchanged, flag: "drift"},
	} {
		n := 0
		edit := func(side string, more func(*schema.Run)) func(*schema.Run) {
			return func(r *schema.Run) {
				r.Side, r.BlockIndex = side, nil
				if more != nil {
					more(r)
				}
			}
		}
		// A second point makes sure that there is something on both sides.
		runs := slices.Concat(querytest.RunsOf(&n, 1, edit("base", c.editBase), c.base...), querytest.RunsOf(&n, 1, edit("head", c.edited), c.head...),
			querytest.RunsOf(&n, 1, querytest.On("base", 64), five...), querytest.RunsOf(&n, 1, querytest.On("head", 64), five...))
		got := mustCompare(t, querytest.SealedRuns(t, runs), compare.Request{Base: "session=last"})
		row := slices.IndexFunc(got.Rows, func(r compare.Row) bool { return *r.Identity.BatchSize == 1 })
		if row < 0 || len(got.Rows) != 2 {
			t.Errorf("%s: no row of it in %v", c.what, got.Rows)
			continue
		}
		if v, r := cellOf(got, row, "verdict"), cellOf(got, row, "reason"); v != string(c.verdict) || r != string(c.reason) && (r != "<nil>" || c.reason != "") {
			t.Errorf("%s: %s %s, want %s %s", c.what, v, r, c.verdict, c.reason)
		}
		if flags := cellOf(got, row, "flags"); c.flag != "" && !strings.Contains(flags, c.flag) {
			t.Errorf("%s: flags %s, want %s", c.what, flags, c.flag)
		}
	}
}

// TestCompareWrong: a point with a result that is wrong or could not be checked is no improvement, whatever its other runs show:
// it has no verdict, is in no mean, and fails a gate.
func TestCompareWrong(t *testing.T) {
	t.Parallel()
	slow, fast := []float64{1000, 1004, 997, 1002, 995, 1001}, []float64{100, 101, 102, 103, 104, 105}
	wrong := func(r *schema.Run) {
		if r.Side == "head" && *r.RepeatIndex == 4 {
			r.Status, r.Stage, r.ErrorKind, r.Error = schema.StatusError, schema.StageValidate, schema.KindCheck, "rmse < 1 does not hold"
		}
	}
	unchecked := func(r *schema.Run) { r.Warnings = []string{schema.WarnUnchecked} }
	n := 0
	var runs []schema.Run
	for point, edit := range []func(*schema.Run){wrong, unchecked, func(*schema.Run) {}, func(*schema.Run) {}} {
		for side, values := range map[string][]float64{"base": slow, "head": fast} {
			runs = append(runs, querytest.RunsOf(&n, 1, func(r *schema.Run) { querytest.On(side, int64(1+point))(r); edit(r) }, values...)...)
		}
	}
	got := mustCompare(t, querytest.Open(t, querytest.NewStore(t, runs...)), compare.Request{Base: "session=last"})
	var said []string
	for row := range got.Rows {
		said = append(said, strings.Join([]string{cellOf(got, row, "verdict"), cellOf(got, row, "reason"), cellOf(got, row, "change")}, " ")[:20])
	}
	slices.Sort(said)
	valuetest.DeepEqual(t, said, []string{"estimate unchecked <", "estimate wrong_resul", "improved <nil> -0.89", "improved <nil> -0.89"})
	if _, points, _, _ := got.GeometricMean("latency"); points != 2 {
		t.Errorf("the mean is over %d points, want 2", points)
	}
	if g := got.Gate(); g.Inconclusive != 2 || g.Regressions != 0 {
		t.Errorf("%+v", g)
	}
}

// TestCompareAsMany: of very many runs less is read, and the answer is the same.
func TestCompareAsMany(t *testing.T) {
	querytest.NeedsLong(t)
	t.Parallel()
	n := 2000
	runs := sessionsOf(8, 1.3)
	for k := range 30 {
		edit := func(r *schema.Run) { r.BatchSize = new(int64(2 + k)) }
		runs = append(runs, querytest.RunsOf(&n, 20, edit, wobble(1000)...)...)
		runs = append(runs, querytest.RunsOf(&n, 21, edit, wobble(1000+float64(k))...)...)
	}
	runs = append(runs, querytest.RunsOf(&n, 21, func(r *schema.Run) {
		r.BatchSize, r.Status, r.Stage, r.Metrics, r.Primary = new(int64(2)), schema.StatusTimeout, schema.StageMeasure, nil, ""
	}, 1)...)
	db := querytest.Open(t, querytest.NewStore(t, runs...))
	req := compare.Request{Base: "session=last~1", Head: "session=last", Limit: 7, Worst: compare.Verdicts, Inputs: true}
	few := mustCompare(t, db, req)
	many, err := compare.CompareAsMany(context.Background(), db, req)
	if err != nil {
		t.Fatal(err)
	}
	valuetest.DeepEqual(t, []any{len(few.Rows), len(many.Rows), len(few.Points), len(many.Points)}, []any{7, 7, 31, 31})
	// What all points have in common is not what the rows have, of which there may be but one.
	req.Limit = 1
	if one := mustCompare(t, db, req); !slices.Equal(one.Common, few.Common) || slices.Contains(one.Common, "batch_size") || !slices.Contains(one.Common, "precision") {
		t.Errorf("in common: %q with one row, %q with 7", one.Common, few.Common)
	}
	valuetest.DeepEqual(t, many.Common, []string{"benchmark", "backend"}, "known to be in common of many")
	for row := range few.Rows {
		for _, f := range compare.Fields(true) {
			if strings.HasSuffix(f.Name, "_locations") { // in another order
				continue
			}
			x, isReal := f.Of(&few.Rows[row]).(float64)
			if y, _ := f.Of(&many.Rows[row]).(float64); isReal && math.Abs(x-y) < 1e-9*math.Abs(x) {
				continue
			}
			valuetest.Equal(t, fmt.Sprint(f.Of(&few.Rows[row])), fmt.Sprint(f.Of(&many.Rows[row])), "row", row, f.Name)
		}
	}
	_, err = compare.CompareAsMany(context.Background(), db, compare.Request{Base: "batch_size=1", Head: "batch_size=5", Limit: 3})
	valuetest.NoError(t, err, "points that match by their fields")
}

// TestPagesEnd: an error of Pages ends a comparison, and so does a context that is cancelled meanwhile.
func TestPagesEnd(t *testing.T) {
	t.Parallel()
	db := querytest.Open(t, querytest.NewStore(t, twoSides()...))
	full := errors.New("the disk is full")
	_, err := compare.Compare(t.Context(), db, compare.Request{Pages: func([]compare.Row) error { return full }})
	valuetest.ErrorIs(t, err, full)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err = compare.Compare(ctx, db, compare.Request{Pages: func([]compare.Row) error { cancel(); return nil }})
	valuetest.ErrorIs(t, err, context.Canceled)
}

// TestCompareDirty: the number of runs of a side whose code has uncommitted changes.
func TestCompareDirty(t *testing.T) {
	t.Parallel()
	n := 0
	code := func(side string, dirty bool) func(*schema.Run) {
		return querytest.Of(1, func(r *schema.Run) { r.Side, r.Env.GitCommit, r.Env.GitDirty = side, "ab", &dirty })
	}
	db := querytest.SealedRuns(t, slices.Concat(querytest.RunsOf(&n, 1, code("base", false), wobble(1000)...), querytest.RunsOf(&n, 1, code("head", true), wobble(1000)...)))
	got := mustCompare(t, db, compare.Request{Base: "session=last"})
	valuetest.DeepEqual(t, []any{got.Base.Dirty, got.Head.Dirty, got.Head.Runs}, []any{0, got.Head.Runs, 7}, "base")
}

// TestCompareCommits: sessions of different commits differ by more than noise, which more runs do not change; those of one pair by noise.
func TestCompareCommits(t *testing.T) {
	t.Parallel()
	for commit, want := range map[string]judge.Reason{"b": judge.Commits, "a": judge.Noise} {
		n := 0
		var runs []schema.Run
		for session, slowdown := range []float64{1, 1.6} {
			for _, side := range []string{"base", "head"} {
				of := querytest.Of(1, func(r *schema.Run) {
					if r.Side, r.Env.GitCommit = side, "a"; session == 1 && side == "head" {
						r.Env.GitCommit = commit
					}
					r.BlockIndex = new(*r.RepeatIndex)
				})
				level := 1000.
				if side == "head" {
					level *= slowdown
				}
				runs = append(runs, querytest.RunsOf(&n, 1+session, of, wobble(level)...)...)
			}
		}
		got := mustCompare(t, querytest.SealedRuns(t, runs), compare.Request{Base: "side=base", Head: "side=head"})
		only(t, got)
		if r := got.Rows[0]; r.Verdict != judge.Inconclusive || r.Reason != want || want == judge.Commits && r.MoreRuns > 0 {
			t.Errorf("commit %s: %s %s, %d more runs", commit, r.Verdict, r.Reason, r.MoreRuns)
		}
	}
}

// TestCompareNoSession: runs without a session have no session in common.
func TestCompareNoSession(t *testing.T) {
	t.Parallel()
	n := 0
	in := func(side, session string) func(*schema.Run) {
		return querytest.Of(1, func(r *schema.Run) { r.Side, r.SessionID = side, session })
	}
	for _, c := range []struct{ what, base, head string }{
		{"none at all", "", ""}, {"one side alone", "", querytest.SessionID(1)}, {"the other", querytest.SessionID(1), ""},
	} {
		runs := slices.Concat(querytest.RunsOf(&n, 1, in("base", c.base), wobble(1000)...), querytest.RunsOf(&n, 1, in("head", c.head), wobble(1500)...))
		got := mustCompare(t, querytest.SealedRuns(t, runs), compare.Request{Base: "benchmark=tiny_linear"})
		valuetest.Equal(t, cellOf(got, 0, "verdict"), "inconclusive", c.what)
	}
	mixed := slices.Concat(querytest.RunsOf(&n, 1, in("base", ""), wobble(1000)...), querytest.RunsOf(&n, 1, in("base", querytest.SessionID(1)), wobble(1000)...),
		querytest.RunsOf(&n, 1, in("head", querytest.SessionID(1)), wobble(1500)...))
	if got := mustCompare(t, querytest.SealedRuns(t, mixed), compare.Request{Base: "benchmark=tiny_linear"}); cellOf(got, 0, "verdict") != "inconclusive" {
		t.Errorf("partly of a session: %s", cellOf(got, 0, "verdict"))
	}
}

// TestCompareMixedMetrics: a limit applies to each metric, also if metrics alternate.
func TestCompareMixedMetrics(t *testing.T) {
	t.Parallel()
	n := 0
	var runs []schema.Run
	for batch := range int64(6) {
		for _, side := range []string{"base", "head"} {
			runs = append(runs, querytest.RunsOf(&n, 1, querytest.Of(batch+1, func(r *schema.Run) {
				r.Side = side
				if batch%2 == 1 {
					r.Metrics, r.Primary = []schema.Metric{querytest.RealMetric("ttft", "ns", r.Metrics[0].Reals...)}, "ttft"
				}
			}), wobble(1000)...)...)
		}
	}
	got := mustCompare(t, querytest.SealedRuns(t, runs), compare.Request{Base: "session=last", Limit: 2})
	valuetest.Equal(t, len(got.Rows), 4)
	valuetest.Equal(t, len(got.Points), 6)
}

// TestSecondLook: the second metric is compared only if the latency is undecided, and its absence is no error.
func TestSecondLook(t *testing.T) {
	t.Parallel()
	noisy := []float64{1000, 1900, 600, 1500, 700, 1300, 800}
	for name, c := range map[string]struct {
		base  []float64 // latencies; the head's are all about 1100
		sides string    // those that have a processor time, of which the head takes a third more
		want  []judge.Verdict
	}{
		"latency decides": {wobble(1000), "base head", nil},
		"undecided":       {noisy, "base head", []judge.Verdict{judge.Regressed}},
		"no run has it":   {noisy, "", nil},
		"one side has it": {noisy, "head", []judge.Verdict{"added"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 0
			var runs []schema.Run
			for side, values := range map[string][]float64{"base": c.base, "head": wobble(1100)} {
				runs = append(runs, querytest.RunsOf(&n, 1, querytest.Of(1, func(r *schema.Run) {
					r.Side = side
					user := wobble(600)[*r.RepeatIndex]
					if side == "head" {
						user *= 4. / 3
					}
					if strings.Contains(c.sides, side) {
						r.Metrics = append(r.Metrics, querytest.RealMetric("cpu_user", "ns", user, 1.001*user, .999*user))
					}
				}), values...)...)
			}
			got := mustCompare(t, querytest.SealedRuns(t, runs), compare.Request{Base: "session=last", SecondLook: "cpu_user"})
			var verdicts []judge.Verdict
			for _, r := range got.SecondLook {
				verdicts = append(verdicts, r.Verdict)
			}
			valuetest.DeepEqual(t, verdicts, c.want)
			valuetest.Equal(t, len(got.Rows)+len(got.Absent.Metrics), 1)
		})
	}
}

// TestCompareAxis: only what points differ in is an axis.
func TestCompareAxis(t *testing.T) {
	t.Parallel()
	n := 0
	db := querytest.SealedRuns(t, slices.Concat(querytest.RunsOf(&n, 1, querytest.Of(1, func(r *schema.Run) { r.Suite = "a" }), wobble(1000)...),
		querytest.RunsOf(&n, 1, querytest.Of(1, func(r *schema.Run) { r.Suite = "b" }), wobble(1000)...)))
	for _, axis := range []string{"suite", "tag.who", "session", "run", "env.governor", "status", "p50"} {
		_, err := compare.Compare(context.Background(), db, compare.Request{Base: "session=last", Axis: axis, Reference: "a"})
		querytest.WantInput(t, err, "compare: "+axis+" is not an axis: want a parameter, or one of benchmark, variant, ")
	}
	_, err := compare.Compare(context.Background(), db, compare.Request{Base: "session=last", Axis: "tile", Reference: "null"})
	querytest.WantInput(t, err, "")
}

// offRuns returns a point that neither side supports, and one that is as fast on both.
func offRuns() (runs []schema.Run) {
	n := 0
	for _, side := range []string{"base", "head"} {
		runs = append(runs, querytest.RunsOf(&n, 1, func(r *schema.Run) {
			r.Side, r.BatchSize = side, new(int64(1))
			querytest.Ended(schema.StatusUnsupported)(r)
		}, 100, 100, 100)...)
		runs = append(runs, querytest.RunsOf(&n, 1, querytest.On(side, 2), 100, 100, 100)...)
	}
	return runs
}

// TestNeitherSupports: nothing changed at a point that neither side supports, so all others come before it.
func TestNeitherSupports(t *testing.T) {
	t.Parallel()
	db := querytest.Open(t, querytest.NewStore(t, offRuns()...))
	c := mustCompare(t, db, compare.Request{Base: "side=base", Head: "side=head", Worst: compare.Verdicts})
	if first := compare.WorstOf(c.Rows, compare.Verdicts); *c.Rows[0].Identity.BatchSize != 2 || *first.Identity.BatchSize != 2 {
		t.Errorf("the first row is of batch size %d, the worst of %d", *c.Rows[0].Identity.BatchSize, *first.Identity.BatchSize)
	}
	if last := c.Rows[len(c.Rows)-1].Point; last.Verdict != compare.Unsupported || !last.NeitherSupports() {
		t.Errorf("the last row is %s", last.Verdict)
	}
}

// TestChangedBeforeFailed: a point that regressed or improved comes before one that failed, and that before an undecided one.
func TestChangedBeforeFailed(t *testing.T) {
	var rows []compare.Row
	for _, v := range []judge.Verdict{judge.Inconclusive, compare.Failed, judge.Improved, judge.Regressed} {
		rows = append(rows, compare.Row{Point: compare.Point{Verdict: v}})
	}
	for n := 1; n <= len(rows); n++ { // the last of the first n
		valuetest.Equal(t, compare.WorstOf(rows[:n], compare.Verdicts).Verdict, rows[n-1].Verdict)
	}
}

// TestUnsupportedHasItsMetric: of several metrics that were asked for, each counts the points without any.
func TestUnsupportedHasItsMetric(t *testing.T) {
	t.Parallel()
	db := querytest.Open(t, querytest.NewStore(t, offRuns()...))
	c := mustCompare(t, db, compare.Request{Base: "side=base", Head: "side=head", Metrics: []string{"latency"}})
	for _, p := range c.Points {
		valuetest.Equal(t, p.Metric, "latency", "a point", p.Verdict)
	}
}

// TestPointsWithoutValues: a point that was skipped on the only side that has it has no value of any metric that was asked for.
func TestPointsWithoutValues(t *testing.T) {
	t.Parallel()
	for _, side := range []string{"base", "head"} {
		runs := slices.DeleteFunc(offRuns(), func(r schema.Run) bool { return *r.BatchSize == 1 && r.Side == side })
		db := querytest.Open(t, querytest.NewStore(t, runs...))
		c := mustCompare(t, db, compare.Request{Base: "side=base", Head: "side=head", Metrics: []string{"latency"}})
		valuetest.Equal(t, len(c.Points), 2)
		for _, p := range c.Points {
			if none := p.Verdict == compare.Missing || p.Verdict == compare.Added; p.NoValue != none || none != (p.Better == "") {
				t.Errorf("%s: no value: %v, better: %q", p.Verdict, p.NoValue, p.Better)
			}
		}
	}
}

// TestProfilesAreNotCompared: the error of a selection of profiles names them, and does not deny that the runs exist.
func TestProfilesAreNotCompared(t *testing.T) {
	t.Parallel()
	runs := offRuns()
	for i := range runs {
		runs[i].Purpose = schema.PurposeProfile
	}
	db := querytest.Open(t, querytest.NewStore(t, runs...))
	_, err := compare.Compare(context.Background(), db, compare.Request{Base: "bs=1", Head: "bs=2"})
	querytest.WantInput(t, err, "compare: bs=1 matches only runs under a profiler, which are not compared: `neurolens ls --like RUN`")
}
