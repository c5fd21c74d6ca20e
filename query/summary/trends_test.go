package summary_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/history"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
	"github.com/neurolens/neurolens/schema/valuetest"
)

const nights = 30

// nightly returns a store of nights with two runs of each benchmark: step got 20 % slower in night 12 and 10 % faster in night 22, gain 15
// % faster in night 20, late has only failed since night 26, steady never changed, and new has three nights.
func nightly(t *testing.T, dated bool) *query.DB {
	t.Helper()
	random := rand.New(rand.NewPCG(7, 7))
	var runs []schema.Run
	for k := range nights {
		for i, benchmark := range []string{"steady", "step", "gain", "late", "new"} {
			level := 100_000.
			switch {
			case benchmark == "step" && k >= 22:
				level *= 1.08
			case benchmark == "step" && k >= 12:
				level *= 1.2
			case benchmark == "gain" && k >= 20:
				level *= .85
			case benchmark == "new" && k < nights-3:
				continue
			}
			for n := range 2 {
				runs = append(runs, querytest.NewRun(100*k+10*i+n, int64(level*(1+.005*random.NormFloat64())), func(r *schema.Run) {
					r.Benchmark, r.Variant, r.Params, r.BatchSize = benchmark, "", nil, nil
					r.Env.GitCommit = fmt.Sprintf("%040x", 7000+k)
					r.StartedAt = querytest.Start.Add(time.Duration(24*k) * time.Hour)
					r.SessionID = schema.ULIDFrom(r.StartedAt, [10]byte{9: byte(k)}).String()
					if !dated {
						r.StartedAt, r.SessionID = time.Time{}, schema.ULIDFrom(time.Time{}, [10]byte{9: byte(k)}).String()
					}
					if benchmark == "late" && k >= 26 {
						r.Status, r.Metrics, r.Primary = schema.StatusTimeout, nil, ""
					}
				}))
			}
		}
	}
	return querytest.Open(t, querytest.NewStore(t, runs...))
}

// TestTrends: a report over sessions has the verdicts, levels, dates and commits of history, what got worse first, and findings about them.
func TestTrends(t *testing.T) {
	db := nightly(t, true)
	r := read(t, db, summary.Request{})
	h := valuetest.Must(history.Read(t.Context(), db, history.Request{}))
	var got []string
	for i := range r.Trends {
		trend := &r.Trends[i]
		got = append(got, fmt.Sprintf("%s %s %d", trend.Benchmark, trend.Verdict, trend.Failed))
		at := slices.IndexFunc(h.Series, func(s history.Series) bool { return h.Rows[s.First].PointID == string(trend.PointID) })
		checkTrend(t, trend, &h, h.Series[at])
	}
	want := []string{"late unchanged 4", "gain improved 0", "step improved 0", "steady unchanged 0", "new few_sessions 0"}
	if !slices.Equal(got, want) {
		t.Errorf("trends are %q, want %q", got, want)
	}
	if step := r.Trends[2]; string(step.Base) != fmt.Sprintf("%040x", 7021) || string(step.Head) != fmt.Sprintf("%040x", 7022) || !step.Since.Equal(querytest.Start.AddDate(0, 0, 22)) {
		t.Errorf("step changed %s, %s to %s", step.Since, step.Base, step.Head)
	}
	if e := r.Trends[2].Earlier; len(e) != 1 || e[0].Verdict != judge.Regressed || *e[0].OldLevel >= *e[0].Level || *e[0].Level != *r.Trends[2].OldLevel || !e[0].Since.Before(r.Trends[2].Since.Time) {
		t.Errorf("before its last change, step has %+v", e)
	}
	var rules []string
	for _, f := range r.Findings {
		rules = append(rules, fmt.Sprint(f.Rule, " ", f.Points))
	}
	if !slices.Contains(rules, "improved_over_sessions 2") || !slices.Contains(rules, "fails_lately 1") || slices.Contains(rules, "regressed_over_sessions 1") {
		t.Errorf("findings are %q", rules)
	}
	before := read(t, db, summary.Request{Filter: "started_at<" + querytest.Start.AddDate(0, 0, 20).Format(time.DateOnly)})
	if worst := before.Trends[0]; worst.Benchmark != "step" || worst.Verdict != judge.Regressed || *worst.Shift < .19 || *worst.Shift > .21 {
		t.Errorf("before it got better, %+v", worst)
	}
	if few := read(t, db, summary.Request{Filter: "benchmark=new"}); len(few.Trends) != 0 {
		t.Errorf("3 sessions have %d trends", len(few.Trends))
	}
}

// TestTrendOffClock: a trend whose last change is between different clocks of the GPU has both, and no finding says that it got worse.
func TestTrendOffClock(t *testing.T) {
	t.Parallel()
	var runs []schema.Run
	for k := range 20 {
		level, clock := int64(1000+k%3), int64(1980)
		if k >= 12 {
			level, clock = 2*level, 1000
		}
		run := querytest.NewRun(k, level, func(r *schema.Run) {
			r.Params, r.BatchSize = nil, nil
			r.StartedAt = querytest.Start.Add(time.Duration(24*k) * time.Hour)
			r.SessionID = schema.ULIDFrom(r.StartedAt, [10]byte{9: byte(k)}).String()
		})
		runs = append(runs, runtest.Telemetry(run, clock))
	}
	r := read(t, querytest.Open(t, querytest.NewStore(t, runs...)), summary.Request{})
	if len(r.Trends) != 1 {
		t.Fatalf("%d trends", len(r.Trends))
	}
	trend := &r.Trends[0]
	valuetest.Equal(t, fmt.Sprint(trend.Verdict, " ", trend.Reason), "estimate off_clock")
	valuetest.Equal(t, fmt.Sprint(*trend.OldClock, *trend.NewClock), "1980 1000")
	if slices.ContainsFunc(r.Findings, func(f summary.Finding) bool { return f.Rule == summary.RuleLevelRegressed }) {
		t.Errorf("%+v", r.Findings)
	}
}

// checkTrend compares a trend with the rows of a history.
func checkTrend(t *testing.T, trend *summary.Trend, h *history.History, s history.Series) {
	t.Helper()
	rows := h.Rows[s.First:s.End]
	from, to := 0, 0 // the level before the last change, and the last one
	for _, c := range s.Changes {
		from, to = to, c.Row-s.First
	}
	median := func(rows []history.Row) any {
		values := make([]float64, len(rows))
		for i := range rows {
			values[i] = rows[i].Location
		}
		return answer.Computed(stat.Median(values))
	}
	if trend.Sessions != len(rows) || *trend.Level != median(rows[to:]) {
		t.Errorf("%s has %d sessions and the level %v, want %d, %v", trend.Benchmark, trend.Sessions, *trend.Level, len(rows), median(rows[to:]))
	}
	if len(s.Changes) == 0 {
		if trend.OldLevel != nil || trend.Shift != nil || trend.Since != nil {
			t.Errorf("%s did not change: %+v", trend.Benchmark, trend)
		}
		return
	}
	row := &rows[to]
	if trend.Verdict != row.Verdict || *trend.OldLevel != median(rows[from:to]) || *trend.Shift != answer.Computed(*row.Shift) || *trend.Low != answer.Computed(*row.ShiftLow) ||
		*trend.High != answer.Computed(*row.ShiftHigh) || !trend.Since.Equal(*row.StartedAt) || string(trend.Session) != row.SessionID {
		t.Errorf("%+v, want %+v", trend, row)
	}
}

// TestTrendsOfOneSession: a report of one session has the history of its points over all sessions, with the numbers of history for the
// filter that it names.
func TestTrendsOfOneSession(t *testing.T) {
	t.Parallel()
	n := 0
	var runs []schema.Run
	for k := range 16 {
		level := 1000 + float64(k%3)
		if k >= 8 {
			level *= 1.3
		}
		runs = append(runs, querytest.RunsOf(&n, k+1, variant("one", "step", ""), level, level)...)
		runs = append(runs, querytest.RunsOf(&n, k+1, variant("one", "flat", ""), 500+float64(k%2))...)
	}
	others := querytest.RunsOf(&n, 1, variant("two", "other", ""), 7)
	for name, want := range map[string]string{"alone": "", "of a suite": "suite=one", "of a part of a suite": "point_id="} {
		all := runs
		switch name {
		case "of a suite":
			all = slices.Concat(runs, others)
		case "of a part of a suite":
			all = slices.Concat(runs, querytest.RunsOf(&n, 1, variant("one", "gone", ""), 7))
		}
		db := querytest.Open(t, querytest.NewStore(t, all...))
		r := read(t, db, summary.Request{Filter: "session=last"})
		if r.Selection.Sessions != 1 || r.Counts.Runs != 3 || len(r.Trends) != 2 || r.Trends[0].Benchmark != "step" || r.Trends[0].Verdict != judge.Regressed ||
			!strings.HasPrefix(r.Selection.HistoryFilter, want) || want == "" && r.Selection.HistoryFilter != "" || r.Selection.History != 16 {
			t.Fatalf("%s: selection %+v, trends %+v", name, r.Selection, r.Trends)
		}
		h := valuetest.Must(history.Read(t.Context(), db, history.Request{Filter: r.Selection.HistoryFilter}))
		if len(h.Series) != 2 || h.Sessions != 16 {
			t.Fatalf("%s: history %s has %d series, %d sessions", name, r.Selection.HistoryFilter, len(h.Series), h.Sessions)
		}
		for i := range r.Trends {
			at := slices.IndexFunc(h.Series, func(s history.Series) bool { return h.Rows[s.First].PointID == string(r.Trends[i].PointID) })
			checkTrend(t, &r.Trends[i], &h, h.Series[at])
		}
		if got := rules(r); !strings.Contains(got, summary.RuleLevelRegressed+" 1/2") {
			t.Errorf("%s: findings %s", name, got)
		}
		if r = read(t, db, summary.Request{Filter: "session=last", Axis: "benchmark", Reference: "step"}); len(r.Trends) != 0 {
			t.Errorf("%s: with a baseline there are %d trends", name, len(r.Trends))
		}
	}
	few := runs[:9]
	db := querytest.Open(t, querytest.NewStore(t, few...))
	for filter, want := range map[string]struct {
		other string
		later bool
	}{"session=last": {few[5].SessionID, false}, "session=last~1": {few[8].SessionID, true}} {
		r := read(t, db, summary.Request{Filter: filter})
		if other, later := r.OtherSession(); len(r.Trends) != 0 || r.PastSessions() != 3 || other != want.other || later != want.later {
			t.Errorf("%s: of 3 sessions there are %d trends, %d sessions, and the other is %s, later %v", filter, len(r.Trends), r.PastSessions(), other, later)
		}
	}
}

// TestOtherTrends: a report of one session has the series of other points and machines that got worse, as history has them, and counts
// the runs that have no place in its own series.
func TestOtherTrends(t *testing.T) {
	t.Parallel()
	n, last := 0, 0
	var runs []schema.Run
	for k := range 16 {
		level := 1000 + float64(k%3)
		if k >= 8 {
			level *= 1.3
		}
		elsewhere := func(r *schema.Run) { r.Env.Machine = "other" }
		runs = append(runs, querytest.RunsOf(&n, 2*k+1, variant("one", "step", ""), level)...)
		runs = append(runs, querytest.RunsOf(&n, 2*k+1, variant("one", "flat", ""), 500+float64(k%2))...)
		runs = append(runs, querytest.RunsOf(&n, 2*k+1, variant("one", "step", "", elsewhere), level)...)
		last = 2*k + 2
		runs = append(runs, querytest.RunsOf(&n, last, variant("two", "own", ""), 500+float64(k%2))...)
	}
	runs = append(runs, querytest.RunsOf(&n, 99, variant("two", "own", "", func(r *schema.Run) {
		r.StartedAt, r.SessionID = time.Time{}, schema.ULIDFrom(time.Time{}, [10]byte{9: 1}).String()
	}), 700)...)
	db := querytest.Open(t, querytest.NewStore(t, runs...))
	r := read(t, db, summary.Request{Filter: "session=" + querytest.SessionID(last)})
	if len(r.Trends) != 1 || len(r.OtherTrends) != 2 || r.OtherTrends[0].Benchmark != "step" || r.OtherTrends[0].Verdict != judge.Regressed || r.OtherTrends[1].Benchmark != "step" || r.Selection.OtherSeries != 3 || r.Selection.Undated != 1 {
		t.Fatalf("%+v, %d trends, others %+v", r.Selection, len(r.Trends), r.OtherTrends)
	}
	h := valuetest.Must(history.Read(t.Context(), db, history.Request{}))
	at := slices.IndexFunc(h.Series, func(s history.Series) bool {
		row := &h.Rows[s.First]
		return row.PointID == string(r.OtherTrends[0].PointID) && row.Machine == string(r.OtherTrends[0].Machine)
	})
	checkTrend(t, &r.OtherTrends[0], &h, h.Series[at])
	if r := read(t, db, summary.Request{Filter: "suite=two session=" + querytest.SessionID(last)}); len(r.OtherTrends) != 0 || r.Selection.OtherSeries != 0 {
		t.Errorf("a part of a session has others: %+v", r.OtherTrends)
	}
}

// TestTrendsWithoutOrder: sessions without a start time have no history, and the report knows it.
func TestTrendsWithoutOrder(t *testing.T) {
	r := read(t, nightly(t, false), summary.Request{})
	if len(r.Trends) != 0 || !r.Selection.Unordered {
		t.Errorf("%d trends, unordered %v", len(r.Trends), r.Selection.Unordered)
	}
}

// TestTrendsOff: newest sessions that are far off their level are what history says, those for the worse first.
func TestTrendsOff(t *testing.T) {
	n := 0
	var runs []schema.Run
	for k := range 10 {
		for i, newest := range []float64{300, 1300} {
			level := 1000 + float64(k%3)
			if k == 9 {
				level = newest
			}
			runs = append(runs, querytest.RunsOf(&n, k+1, variant("one", []string{"gain", "loss"}[i], ""), level)...)
		}
	}
	db := querytest.Open(t, querytest.NewStore(t, runs...))
	r := read(t, db, summary.Request{})
	h := valuetest.Must(history.Read(t.Context(), db, history.Request{}))
	if len(r.Trends) != 2 || len(h.Departures) != 2 {
		t.Fatalf("%d trends, %d departures", len(r.Trends), len(h.Departures))
	}
	for i, name := range []summary.Text{"loss", "gain"} {
		trend, d := r.Trends[i], h.Departures[i]
		if trend.Benchmark != name || d.Row.Benchmark != string(name) || trend.Off != d.Sessions || trend.Missing != d.Missing || string(trend.OffScale) != string(d.Row.Scale) {
			t.Errorf("%+v is not %+v", trend, d)
		}
		valuetest.Equal(t, string(trend.OffBase+" "+trend.OffHead), d.Before+" "+d.Row.SessionID)
		near(t, "shift", trend.OffShift, *d.Row.Shift)
		near(t, "value", trend.OffValue, d.Row.Location)
		near(t, "level", trend.Level, d.Level)
	}
}

// TestTrendsUndecided: of many points with few sessions the step that may be chance says how many more decide it, and the others are too
// short for a step to be found among so many.
func TestTrendsUndecided(t *testing.T) {
	var runs []schema.Run
	for k := range 12 {
		for point := range 20 {
			level := 100_000 + int64(k*7%5)*100
			if point == 0 && k >= 6 {
				level = level * 6 / 5
			}
			runs = append(runs, querytest.NewRun(100*k+point, level, func(r *schema.Run) {
				r.Params, r.BatchSize = nil, new(int64(point+1))
				r.StartedAt = querytest.Start.Add(time.Duration(24*k) * time.Hour)
				r.SessionID = schema.ULIDFrom(r.StartedAt, [10]byte{9: byte(k)}).String()
			}))
		}
	}
	r := read(t, querytest.SealedRuns(t, runs), summary.Request{})
	if first := &r.Trends[0]; len(r.Trends) != 20 || r.Selection.HistoryNeeds != 13 || first.Verdict != judge.Inconclusive || first.Missing != 1 || first.Low != nil || first.High != nil {
		t.Errorf("%d trends, %d sessions needed, %+v", len(r.Trends), r.Selection.HistoryNeeds, first)
	}
	for i := range r.Trends[1:] {
		if trend := &r.Trends[1+i]; trend.Verdict != summary.FewSessions || trend.Missing != 0 {
			t.Errorf("%+v", trend)
		}
	}
}

// TestBestValues: a value is the best where its verdict says so; where two are better than the baseline, their intervals tell them apart.
func TestBestValues(t *testing.T) {
	n := 0
	var runs []schema.Run
	add := func(benchmark, name string, locations ...float64) {
		runs = append(runs, querytest.RunsOf(&n, 1, variant("one", benchmark, name), locations...)...)
	}
	around := func(level float64) []float64 {
		return []float64{level, level * 1.002, level * .998, level * 1.001, level * .999, level}
	}
	noisy := []float64{500, 1500, 800, 1200, 700, 1300}
	for benchmark, levels := range map[string][3]float64{"a": {1000, 500, 700}, "b": {1000, 500, 500}, "c": {1000, 2000, 1500}, "d": {1000, 1000, 1000}} {
		for i, name := range []string{"baseline", "x", "y"} {
			add(benchmark, name, around(levels[i])...)
		}
	}
	add("e", "baseline", noisy...)
	add("e", "x", noisy...)
	add("f", "baseline", around(1000)...)
	add("f", "y", around(1000)...)
	add("f", "x", 1000)
	broken := &runs[len(runs)-1]
	broken.Status, broken.Metrics, broken.Primary = schema.StatusOOM, nil, ""
	add("g", "baseline", around(1000)...)
	add("g", "x", 1000)
	broken = &runs[len(runs)-1]
	broken.Status, broken.Metrics, broken.Primary = schema.StatusOOM, nil, ""
	r := read(t, querytest.Open(t, querytest.NewStore(t, runs...)), summary.Request{})
	c := &r.Comparisons[0]
	if len(c.Best) != 2 || c.Best[0].Points != 2 || c.Best[0].Tied != 1 || c.Best[1].Value != "baseline" || c.Best[1].Points != 1 || c.Best[1].Most != nil || c.Equal != 1 || c.Undecided != 2 || c.Alone != 1 {
		t.Fatalf("best %+v, equal %d, undecided %d, verdicts %v", c.Best, c.Equal, c.Undecided, c.Verdicts)
	}
	if most := r.Pairs[*c.Best[0].Most]; *most.Speedup < 1.9 {
		t.Errorf("the largest improvement is %+v", most)
	}
	if x, baseline := c.Best[0], c.Best[1]; x.Failed != 2 || x.Next == nil || baseline.Near != nil || baseline.Failed != 0 || baseline.Next == nil || r.Pairs[*baseline.Next].Variant != "y" {
		t.Errorf("what failed and what comes closest: %+v", c.Best)
	} else if near, next := r.Pairs[*x.Near], r.Pairs[*x.Next]; near.Benchmark != "b" || next.Benchmark != "b" || near.Variant != "x" || next.Variant != "y" {
		t.Errorf("%+v comes closest to %+v", next, near)
	}
}

// TestSidesOfComparison: two selections say when each was measured, and of which commit.
func TestSidesOfComparison(t *testing.T) {
	base, head := "session="+querytest.SessionID(1), "session="+querytest.SessionID(2)
	c := read(t, twoSessions(t), summary.Request{Base: base, Filter: head}).Comparisons[0]
	if len(c.Sides) != 2 || c.Sides[0].Side != "base" || !slices.Equal(c.Sides[0].Commits, []string{"aaaaaaa"}) || !slices.Equal(c.Sides[1].Commits, []string{"bbbbbbb"}) || c.Sides[0].Since == nil || c.Sides[0].Runs == 0 || c.Sides[0].Dirty != c.Sides[0].Runs || c.Sides[1].Dirty != 0 {
		t.Errorf("sides are %+v", c.Sides)
	}
}
