package history_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/query/history"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// levelled returns sessions of one point with these levels, in hundreds of nanoseconds and with a little noise.
func levelled(levels ...float64) []schema.Run {
	var runs []schema.Run
	for k, level := range levels {
		runs = append(runs, historyRun(k, 0, 1000*level*(1+.001*float64(k*7%5))))
	}
	return runs
}

// TestHistoryInconclusive: a visible step is reported even if it may be chance, and --regressions counts it.
func TestHistoryInconclusive(t *testing.T) {
	t.Parallel()
	// Such noise wanders, and the step is of two standard deviations.
	db := querytest.SealedRuns(t, levelled(100, 103, 106, 104, 101, 103, 110, 113, 110, 112, 109, 107))
	h := historyOf(t, db, history.Request{})
	if len(h.Series) != 1 || len(h.Series[0].Changes) != 1 || h.Inconclusive != 1 {
		t.Fatalf("%d inconclusive, %+v", h.Inconclusive, h.Series)
	}
	row := h.Rows[h.Series[0].Changes[0].Row]
	if row.ChangePoint || row.Verdict != judge.Inconclusive || row.P != nil || row.PAdjusted != nil || row.ShiftLow != nil || row.ShiftHigh != nil || row.Shift == nil || math.Abs(*row.Shift-.07) > .02 {
		t.Errorf("%+v", row)
	}
	h = historyOf(t, db, history.Request{Regressions: true})
	if len(h.Series) != 0 || h.Inconclusive != 1 {
		t.Errorf("%d inconclusive, %+v", h.Inconclusive, h.Series)
	}
	h = historyOf(t, db, history.Request{Regressions: true, Since: querytest.Start.Add(11 * 24 * time.Hour)})
	if h.Inconclusive != 0 {
		t.Errorf("a step before what was asked for counts: %d", h.Inconclusive)
	}
}

// manySeries returns sessions of points whose levels differ by chance; the first point has another level from the session step on.
func manySeries(points, sessions, step int) (runs []schema.Run) {
	for point := range points {
		for k := range sessions {
			level := 1000 * float64(100+point) * (1 + .001*float64((k*7+point*3)%5))
			if point == 0 && k >= step {
				level *= 1.2
			}
			r := historyRun(k, 2*point, level)
			r.Params = map[string]string{"n": strconv.Itoa(point)}
			r.PointID = schema.PointID(&r)
			runs = append(runs, r)
		}
	}
	return runs
}

// TestHistoryUndecided: of many series with few sessions the largest step is named, and so many more sessions decide it as are missing.
func TestHistoryUndecided(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ points, sessions, step, needs, missing int }{{1, 12, 6, 8, 0}, {20, 12, 6, 13, 1}, {60, 20, 17, 14, 1}, {60, 12, 9, 14, 3}} {
		h := historyOf(t, querytest.SealedRuns(t, manySeries(c.points, c.sessions, c.step)), history.Request{Regressions: true})
		valuetest.Equal(t, h.Needs, c.needs, c)
		if c.missing == 0 {
			if h.Undecided != nil || len(h.Series) != 1 {
				t.Errorf("%v: %+v", c, h.Undecided)
			}
			continue
		}
		u := h.Undecided
		if u == nil || h.Inconclusive != 1 || u.Missing != c.missing || u.At.Params["n"] != "0" || u.Head != fmt.Sprintf("%040x", c.step) || math.Abs(*u.At.Shift-.2) > .01 || u.NewLevel < u.OldLevel {
			t.Errorf("%v: %+v", c, u)
		}
		for more := range c.missing + 1 {
			h := historyOf(t, querytest.SealedRuns(t, manySeries(c.points, c.sessions+more, c.step)), history.Request{Regressions: true})
			if (len(h.Series) == 1) != (more == c.missing) {
				t.Errorf("%v: %d more sessions: %d series regressed", c, more, len(h.Series))
			}
		}
	}
}

// TestHistoryFew: series that are too short for a change are counted, also by --regressions, which lists none of them.
func TestHistoryFew(t *testing.T) {
	t.Parallel()
	for sessions, few := range map[int]int{history.MinSessions - 1: 1, history.MinSessions: 0} {
		db := querytest.SealedRuns(t, levelled(slices.Repeat([]float64{100}, sessions)...))
		for _, regressions := range []bool{false, true} {
			if h := historyOf(t, db, history.Request{Regressions: regressions}); h.Few != few {
				t.Errorf("%d sessions, regressions %v: %d, want %d", sessions, regressions, h.Few, few)
			}
		}
	}
}

// TestHistoryLargeSteps: a doubled time is not chance, from the eighth session on; with 6 sessions it is inconclusive.
func TestHistoryLargeSteps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		levels  []float64
		at      int
		verdict judge.Verdict
	}{
		{[]float64{100, 101, 100, 102, 200, 203, 201, 200}, 4, "regressed"},
		{[]float64{100, 101, 100, 203, 200, 203, 201, 200}, 3, "regressed"},
		{[]float64{100, 101, 100, 203, 200, 203}, 3, "inconclusive"},
		{[]float64{100, 100, 100, 100, 100, 100, 100, 100}, 0, ""},
	} {
		h := historyOf(t, querytest.SealedRuns(t, levelled(c.levels...)), history.Request{})
		for i, row := range h.Rows {
			want := judge.Verdict("")
			if i == c.at {
				want = c.verdict
			}
			if row.Verdict != want {
				t.Errorf("%v: session %d is %q, want %q", c.levels, i, row.Verdict, want)
			}
		}
	}
}

// TestHistorySpike: a single session far off the level is a spike, not a change.
func TestHistorySpike(t *testing.T) {
	t.Parallel()
	levels := []float64{100, 101, 100, 102, 140, 101, 100, 99, 101, 100, 102, 101}
	h := historyOf(t, querytest.SealedRuns(t, levelled(levels...)), history.Request{})
	if len(h.Series) != 1 || len(h.Series[0].Changes) != 0 || len(h.Series[0].Spikes) != 1 || h.Series[0].Spikes[0] != 4 {
		t.Fatalf("%+v", h.Series)
	}
	row := h.Rows[4]
	if row.Shift == nil || math.Abs(*row.Shift-.39) > .02 || row.ShiftLow != nil || row.ShiftHigh != nil || row.Verdict != history.Spike || row.ChangePoint {
		t.Errorf("%+v", row)
	}
	outline := historyOf(t, querytest.SealedRuns(t, levelled(levels...)), history.Request{Outline: true})
	if s := outline.Series[0]; len(outline.Rows) != 3 || len(s.Spikes) != 1 || s.Spikes[0] != 1 {
		t.Errorf("%+v", outline.Series)
	}
}

// TestGate: a slowdown in the newest sessions counts while it lasts, if it is significant for a year of daily gates.
func TestGate(t *testing.T) {
	t.Parallel()
	levels := func(all ...float64) (levels []float64) {
		for i := 0; i < len(all); i += 2 {
			for k := range int(all[i+1]) {
				levels = append(levels, all[i]+float64(k*3%4))
			}
		}
		return levels
	}
	for _, c := range []struct {
		name   string
		levels []float64
		newest int
		want   history.Gate
	}{
		{"worse", levels(100, 30, 200, 5), 14, history.Gate{Series: 1, Regressed: 1}},
		{"worse before", levels(100, 30, 200, 15), 14, history.Gate{Series: 1, Earlier: 1}},
		{"in more sessions", levels(100, 30, 200, 15), 15, history.Gate{Series: 1, Regressed: 1}},
		{"undone", levels(100, 30, 200, 5, 100, 5), 14, history.Gate{Series: 1}},
		{"undone in part", levels(100, 30, 200, 12, 150, 5), 20, history.Gate{Series: 1, Regressed: 1}},
		{"undone in part, soon", levels(100, 30, 200, 5, 150, 5), 14, history.Gate{Series: 1, Regressed: 1}},
		{"undone in part, at once", levels(100, 30, 200, 3, 150, 3), 14, history.Gate{Series: 1, Inconclusive: 1, Once: 1, Missing: 2}},
		{"better", levels(200, 30, 100, 5), 14, history.Gate{Series: 1}},
		{"of few sessions, which may be one of many looks", levels(100, 4, 112, 4), 14, history.Gate{Series: 1, Inconclusive: 1, Once: 1, Missing: 20, Newest: 24}},
		{"better, and of few sessions", levels(112, 4, 100, 4), 14, history.Gate{Series: 1}},
		{"nothing", levels(100, 35), 14, history.Gate{Series: 1}},
		{"of too few sessions", levels(100, 5), 14, history.Gate{Series: 1, Short: 1}},
	} {
		h := historyOf(t, querytest.SealedRuns(t, levelled(c.levels...)), history.Request{Newest: c.newest})
		if h.Gate != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, h.Gate, c.want)
		}
	}
	failing := levelled(levels(100, 30)...)
	for k := 30; k < 33; k++ {
		failing = append(failing, failedRun(k, 0, schema.StatusError, false))
	}
	h := historyOf(t, querytest.SealedRuns(t, failing), history.Request{Newest: 3})
	if want := (history.Gate{Series: 1, Regressed: 1, Failing: 1}); h.Gate != want {
		t.Errorf("failing: %+v, want %+v", h.Gate, want)
	}
	if h := historyOf(t, querytest.SealedRuns(t, failing), history.Request{}); h.Gate != (history.Gate{}) {
		t.Errorf("no gate: %+v", h.Gate)
	}
}

// TestGateOfMany: each series is gated on its own, whatever the number of others; one that ended is not gated.
func TestGateOfMany(t *testing.T) {
	t.Parallel()
	var runs []schema.Run
	add := func(point int, levels []float64) {
		for k, level := range levels {
			r := historyRun(k, point, 1000*level*(1+.001*float64(k*7%5)))
			r.BatchSize = new(int64(point + 1))
			r.PointID = schema.PointID(&r)
			runs = append(runs, r)
		}
	}
	calm := slices.Repeat([]float64{100}, 40)
	worse := slices.Clone(calm)
	for k := range worse[32:] {
		worse[32+k] = 1000
	}
	for point := range 20 {
		add(point, calm)
	}
	add(20, worse)
	add(21, worse[20:36]) // it got worse, and ended after 16 sessions
	db := querytest.SealedRuns(t, runs)
	if h := historyOf(t, db, history.Request{Newest: 14, Filter: "batch_size=99"}); h.Gate != (history.Gate{}) {
		t.Errorf("nothing: %+v", h.Gate)
	}
	h := historyOf(t, db, history.Request{Newest: 14})
	if want := (history.Gate{Series: 21, Regressed: 1}); h.Gate != want {
		t.Errorf("%+v, want %+v", h.Gate, want)
	}
}

// TestGateOfARamp: a rise of 1 % a session after 20 flat ones is inconclusive for a gate until about 30 sessions show it, also where no step is
// visible within the newest sessions, and then it got worse.
func TestGateOfARamp(t *testing.T) {
	t.Parallel()
	for rising, want := range map[int]history.Gate{20: {Series: 1, Inconclusive: 1, Once: 1, Missing: 7}, 26: {Series: 1, Inconclusive: 1, Once: 1, Missing: 1}, 30: {Series: 1, Regressed: 1}} {
		var levels []float64
		for k := range 20 + rising {
			levels = append(levels, 100*math.Pow(1.01, float64(max(k-19, 0)))*(1+.001*float64(k*k%7)))
		}
		db := querytest.SealedRuns(t, levelled(levels...))
		h := historyOf(t, db, history.Request{Newest: 14})
		if h.Gate != want {
			t.Errorf("%d rising: %+v, want %+v", rising, h.Gate, want)
		}
		last := h.Series[0].Changes[len(h.Series[0].Changes)-1]
		row := h.Rows[last.Row]
		if row.RampSessions < 15 || !row.ChangePoint { // whatever the gate says of it
			t.Errorf("%d rising: %+v", rising, row)
		}
	}
}

// TestLevelsBesideVisibleSteps: the values and the change of a step are about the levels next to it, also where the step before or after it may
// be chance: they agree with each other, and no level is the median of two.
func TestLevelsBesideVisibleSteps(t *testing.T) {
	t.Parallel()
	levels := func(counts ...int) (all []float64) {
		for i, n := range counts {
			for range n {
				all = append(all, []float64{100, 127, 159}[i])
			}
		}
		return all
	}
	for _, c := range []struct {
		counts []int
		want   []string // old level, new level, change and verdict of each change
	}{
		{[]int{5, 3, 4}, []string{"100 159 +59 % inconclusive"}},
		{[]int{7, 3, 4}, []string{"100 159 +59 % inconclusive"}},
		{[]int{7, 5, 3}, []string{"100 127 +27 % regressed", "127 159 +25 % inconclusive"}},
		{[]int{7, 5, 4}, []string{"100 127 +27 % regressed", "127 159 +25 % regressed"}},
		{[]int{20, 20, 20}, []string{"100 127 +27 % regressed", "127 159 +25 % regressed"}},
	} {
		h := historyOf(t, querytest.SealedRuns(t, levelled(levels(c.counts...)...)), history.Request{})
		var got []string
		for _, change := range h.Series[0].Changes {
			row := h.Rows[change.Row]
			got = append(got, fmt.Sprintf("%.3g %.3g %+.2g %% %s", change.OldLevel/1000, change.NewLevel/1000, 100**row.Shift, row.Verdict))
		}
		valuetest.Equal(t, strings.Join(got, ", "), strings.Join(c.want, ", "), c.counts)
	}
}
