package history_test

import (
	"math"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/history"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// nights are levels that differ by chance, with other ones at the end.
func nights(n int, newest ...float64) (levels []float64) {
	for k := range n {
		levels = append(levels, 100+float64(k*3%4))
	}
	return append(levels, newest...)
}

// repeated has each run n times in its session.
func repeated(once []schema.Run, n int) (runs []schema.Run) {
	for _, r := range once {
		for k := range n {
			r.RunID, r.RepeatIndex = schema.ULIDFrom(r.StartedAt, [10]byte{9: byte(k + 1)}).String(), new(int64(k))
			runs = append(runs, r)
		}
	}
	return runs
}

// TestDepartures: newest sessions that are far off are named until there is a verdict, whatever is listed.
func TestDepartures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		levels            []float64
		sessions, missing int
		verdict           judge.Verdict
		shift             float64
	}{
		{nights(19, 130), 1, 2, judge.Regressed, .28},
		{nights(18, 131, 130), 2, 1, judge.Regressed, .28},
		{nights(19, 70), 1, 2, judge.Improved, -.31},
		{nights(5, 130), 1, 2, judge.Regressed, .28},
		{nights(4, 130), 1, 3, judge.Regressed, .28},
	} {
		for _, req := range []history.Request{{}, {Newest: 14}, {Regressions: true}, {Outline: true}} {
			runs := levelled(c.levels...)
			h := historyOf(t, querytest.SealedRuns(t, runs), req)
			if len(h.Departures) != 1 || h.Gate.Regressed != 0 {
				t.Errorf("%v: %+v", c.levels, h.Departures)
				continue
			}
			d := h.Departures[0]
			valuetest.Equal(t, d.Sessions, c.sessions, c.levels)
			valuetest.Equal(t, d.Missing, c.missing, c.levels)
			valuetest.Equal(t, d.Before, "", c.levels, "one run of a session is too few for a gate")
			valuetest.Equal(t, d.Row.Verdict, c.verdict, c.levels)
			if math.Abs(*d.Row.Shift-c.shift) > .02 || math.Abs(d.Level-101.8e3) > 1e3 || d.Row.Benchmark == "" {
				t.Errorf("%v: %+v", c.levels, d)
			}
		}
	}
	runs := repeated(levelled(nights(18, 131, 130)...), judge.FirmRuns)
	if h := historyOf(t, querytest.SealedRuns(t, runs), history.Request{}); len(h.Departures) != 1 || h.Departures[0].Before != runs[17*judge.FirmRuns].SessionID {
		t.Errorf("%+v", h.Departures)
	}
	for _, levels := range [][]float64{nights(20), slices.Concat(nights(12, 130), nights(8)), nights(12, slices.Repeat([]float64{130}, 8)...)} {
		if h := historyOf(t, querytest.SealedRuns(t, levelled(levels...)), history.Request{}); len(h.Departures) != 0 {
			t.Errorf("%v: %+v", levels, h.Departures[0])
		}
	}
	since := querytest.Start.Add(30 * 24 * time.Hour)
	if h := historyOf(t, querytest.SealedRuns(t, levelled(nights(19, 130)...)), history.Request{Since: since}); len(h.Departures) != 0 {
		t.Error("a session before what was asked for is named")
	}
}

// TestDepartureOfMedians: the change of a newest session is that of the two values beside it, which the location of few uneven runs is not.
func TestDepartureOfMedians(t *testing.T) {
	t.Parallel()
	runs := repeated(levelled(slices.Repeat([]float64{21.9}, 14)...), 4)
	for k, level := range []float64{27.2e3, 28.7e3, 61.2e3, 90.8e3} {
		r := historyRun(14, 0, level)
		r.RunID, r.RepeatIndex = schema.ULIDFrom(r.StartedAt, [10]byte{9: byte(k + 1)}).String(), new(int64(k))
		runs = append(runs, r)
	}
	h := historyOf(t, querytest.SealedRuns(t, runs), history.Request{})
	if len(h.Departures) != 1 {
		t.Fatalf("%+v", h.Departures)
	}
	d := h.Departures[0]
	if want := 44.95/21.9 - 1; math.Abs(*d.Row.Shift-want) > .01 || math.Abs(*d.Row.Shift-(d.Row.Location/d.Level-1)) > 1e-12 {
		t.Errorf("%v → %v is %v, want about %v", d.Level, d.Row.Location, *d.Row.Shift, want)
	}
}

// TestFailingAndAbsent: a series whose runs fail is counted whatever is listed, and so is one that the newest session lacks, unless most
// do.
func TestFailingAndAbsent(t *testing.T) {
	t.Parallel()
	runs := levelled(nights(10)...)
	for k := 8; k < 10; k++ {
		runs = append(runs, failedRun(k+2, 0, schema.StatusError, false))
	}
	for _, req := range []history.Request{{}, {Regressions: true}} {
		if h := historyOf(t, querytest.SealedRuns(t, runs), req); h.Failing != 1 || h.Absent != 0 {
			t.Errorf("%d failing, %d absent", h.Failing, h.Absent)
		}
	}
	for gone, want := range map[int]int{1: 1, 2: 0} {
		var runs []schema.Run
		for point := range 3 {
			for k, level := range nights(10) {
				r := historyRun(k, point, 1000*level)
				if r.Params = map[string]string{"n": strconv.Itoa(point)}; point < gone && k >= 8 {
					continue
				}
				r.PointID = schema.PointID(&r)
				runs = append(runs, r)
			}
		}
		if h := historyOf(t, querytest.SealedRuns(t, runs), history.Request{}); h.Absent != want || h.Known != 3 {
			t.Errorf("%d gone: %d absent of %d", gone, h.Absent, h.Known)
		}
	}
}

// TestDepartureAfterWeekend: compare is named only where enough sessions are as far apart as the newest two: after twelve sessions on weekdays
// it judges a Tuesday, but not a Monday.
func TestDepartureAfterWeekend(t *testing.T) {
	t.Parallel()
	for _, days := range [][]int{{0, 1, 4, 5, 6, 7, 8, 11, 12, 13, 14, 15, 18}, {0, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 17, 18}} {
		var once []schema.Run
		for i, day := range days {
			level := 100e3
			if i == len(days)-1 {
				level = 130e3
			}
			once = append(once, historyRun(day, 0, level*(1+.001*float64(i*7%5))))
		}
		runs := repeated(once, judge.FirmRuns)
		session := func(back int) string { return runs[len(runs)-1-back*judge.FirmRuns].SessionID }
		db := querytest.SealedRuns(t, runs)
		h := historyOf(t, db, history.Request{})
		if len(h.Departures) != 1 {
			t.Fatalf("%v: %+v", days, h.Departures)
		}
		found, err := compare.Compare(t.Context(), db, compare.Request{Base: "session=" + session(1), Head: "session=" + session(0)})
		valuetest.OK(t, err)
		want := ""
		if found.Points[0].Verdict != judge.Inconclusive {
			want = session(1)
		}
		valuetest.Equal(t, h.Departures[0].Before, want, days, found.Points[0].Verdict)
		valuetest.Equal(t, want == "", days[len(days)-2] == 15, days)
	}
}

// TestDepartureOfProcesses: one run per session is enough for the comparison if its samples are processes, which compare judges then.
func TestDepartureOfProcesses(t *testing.T) {
	t.Parallel()
	for _, processes := range []int{judge.FirmRuns - 1, 20} {
		runs := levelled(nights(19, 130)...)
		for i := range runs {
			m := &runs[i].Metrics[0]
			m.Level, m.Ticks = schema.LevelProcess, nil
			for k := range processes {
				m.Ticks = append(m.Ticks, int64(*m.Summary.P50)+int64(k-processes/2))
			}
			m.Tick = 1
			m.Summary = stat.Summarize(m.Values())
		}
		db := querytest.SealedRuns(t, runs)
		h := historyOf(t, db, history.Request{})
		if len(h.Departures) != 1 {
			t.Fatalf("%d processes: %+v", processes, h.Departures)
		}
		base, head := runs[len(runs)-2].SessionID, runs[len(runs)-1].SessionID
		want := ""
		if processes >= judge.FirmRuns {
			want = base
		}
		valuetest.Equal(t, h.Departures[0].Before, want, processes, "processes")
		found, err := compare.Compare(t.Context(), db, compare.Request{Base: "session=" + base, Head: "session=" + head})
		valuetest.OK(t, err)
		if got := found.Points[0].Verdict; want != "" && got != judge.Regressed {
			t.Errorf("compare says %s", got)
		}
	}
}
