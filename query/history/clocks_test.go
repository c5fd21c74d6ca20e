package history_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/query/history"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// atClock returns sessions of one point in which a clock holds for each number of MHz; 0: no readings.
func atClock(runs []schema.Run, mhz func(session int) int64) []schema.Run {
	for k := range runs {
		if clock := mhz(k); clock > 0 {
			runs[k] = runtest.Telemetry(runs[k], clock)
		}
	}
	return runs
}

// TestOffClock: a change between levels at clocks more than 1 % apart has both clocks and no verdict, and counts in no gate.
func TestOffClock(t *testing.T) {
	t.Parallel()
	step := slices.Concat(slices.Repeat([]float64{100}, 30), slices.Repeat([]float64{160}, 5))
	since := func(at int, before, after int64) func(int) int64 {
		return func(session int) int64 {
			if session < at {
				return before
			}
			return after
		}
	}
	regressed, none := history.Gate{Series: 1, Regressed: 1}, history.Gate{Series: 1}
	few := slices.Concat(slices.Repeat([]float64{100}, 8), slices.Repeat([]float64{160}, 4))
	for name, c := range map[string]struct {
		levels  []float64
		mhz     func(session int) int64
		metric  string
		verdict judge.Verdict
		clocks  string
		gate    history.Gate
	}{
		"equal":               {step, since(30, 1980, 1980), "", judge.Regressed, "<nil>", regressed},
		"0.9 % apart":         {step, since(30, 1009, 1000), "", judge.Regressed, "<nil>", regressed},
		"1.1 % apart":         {step, since(30, 1011, 1000), "", judge.Estimate, "&{1011 1000}", none},
		"no readings":         {step, since(30, 0, 0), "", judge.Regressed, "<nil>", regressed},
		"readings of a side":  {step, since(30, 0, 1000), "", judge.Regressed, "<nil>", regressed},
		"an earlier change":   {step, since(10, 1000, 1980), "", judge.Regressed, "<nil>", regressed},
		"may be chance":       {few, since(8, 1980, 1000), "", judge.Estimate, "&{1980 1000}", none},
		"the clock itself":    {step, since(30, 1980, 1000), "clock_sm", judge.Regressed, "<nil>", regressed},
		"memory of no clocks": {step, since(30, 1980, 1000), "peak_memory", judge.Regressed, "<nil>", regressed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runs := levelled(c.levels...)
			for k := range runs {
				runs[k].Metrics = append(runs[k].Metrics, querytest.RealMetric("peak_memory", "B", 1e6*c.levels[k]*(1+.001*float64(k*7%5))))
			}
			db := querytest.SealedRuns(t, atClock(runs, c.mhz))
			h := historyOf(t, db, history.Request{Metric: c.metric, Newest: 14})
			valuetest.Equal(t, h.Gate, c.gate)
			h = historyOf(t, db, history.Request{Metric: c.metric})
			if len(h.Series) != 1 || len(h.Series[0].Changes) != 1 {
				t.Fatalf("%+v", h.Series)
			}
			row := h.Rows[h.Series[0].Changes[0].Row]
			valuetest.Equal(t, row.Verdict, c.verdict)
			valuetest.Equal(t, fmt.Sprint(row.Clocks), c.clocks)
			valuetest.Equal(t, row.Reason == judge.OffClock, row.Verdict == judge.Estimate)
			valuetest.Equal(t, h.Inconclusive, 0)
		})
	}
}

// TestOffClockStillWorse: a faster clock does not undo a regression before it.
func TestOffClockStillWorse(t *testing.T) {
	t.Parallel()
	levels := slices.Concat(slices.Repeat([]float64{100}, 30), slices.Repeat([]float64{130}, 20), slices.Repeat([]float64{70}, 20))
	runs := atClock(levelled(levels...), func(session int) int64 {
		if session < 50 {
			return 1000
		}
		return 1980
	})
	h := historyOf(t, querytest.SealedRuns(t, runs), history.Request{Newest: 60})
	valuetest.Equal(t, h.Gate, history.Gate{Series: 1, Regressed: 1})
}

// TestDepartureAtAnotherClock: a newest session at another clock is not far off its level.
func TestDepartureAtAnotherClock(t *testing.T) {
	t.Parallel()
	for clock, want := range map[int64]int{1980: 1, 1000: 0} {
		runs := atClock(levelled(nights(20, 160)...), func(session int) int64 {
			if session < 20 {
				return 1980
			}
			return clock
		})
		h := historyOf(t, querytest.SealedRuns(t, runs), history.Request{})
		valuetest.Equal(t, len(h.Departures), want, clock)
	}
}
