package compare_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestOffClock: times that were measured at clocks more than 1 % apart get no verdict, and the row has both clocks.
func TestOffClock(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		base, head []int64 // MHz of each device; none: no readings
		metric     string
		reason     judge.Reason
		clocks     string
	}{
		"equal":              {[]int64{1980}, []int64{1980}, "latency", "", "&{1980 1980}"},
		"0.9 % apart":        {[]int64{1000}, []int64{1009}, "latency", "", "&{1000 1009}"},
		"1.1 % apart":        {[]int64{1000}, []int64{1011}, "latency", judge.OffClock, "&{1000 1011}"},
		"slower":             {[]int64{1980}, []int64{1410}, "latency", judge.OffClock, "&{1980 1410}"},
		"second device":      {[]int64{1980, 1980}, []int64{1980, 1410}, "latency", judge.OffClock, "&{1980 1410}"},
		"one more device":    {[]int64{1980}, []int64{1980, 1410}, "latency", "", "&{1980 1980}"},
		"no readings":        {nil, nil, "latency", "", "<nil>"},
		"readings of a side": {nil, []int64{1410}, "latency", "", "<nil>"},
		"throughput":         {[]int64{1980}, []int64{1410}, "throughput", judge.OffClock, "&{1980 1410}"},
		"memory":             {[]int64{1980}, []int64{1410}, "peak_memory", "", "&{1980 1410}"},
		"the clock itself":   {[]int64{1980}, []int64{1410}, "clock_sm", "", "&{1980 1410}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 0
			runs := func(side string, mhz []int64, locations []float64) []schema.Run {
				runs := querytest.RunsOf(&n, 1, querytest.On(side, 1), locations...)
				for i, r := range runs {
					r.Metrics = append(r.Metrics, querytest.RealMetric("throughput", "1/s", 1e9/locations[i]), querytest.RealMetric("peak_memory", "B", locations[i]))
					if len(mhz) > 0 {
						r = runtest.Telemetry(r, mhz...)
					}
					runs[i] = r
				}
				return runs
			}
			db := querytest.SealedRuns(t, slices.Concat(runs("base", c.base, wobble(1000)), runs("head", c.head, wobble(1500))))
			got := mustCompare(t, db, compare.Request{Base: "session=last", Metrics: []string{c.metric}})
			only(t, got)
			row := got.Rows[0]
			valuetest.Equal(t, row.Reason, c.reason)
			valuetest.Equal(t, row.Verdict == judge.Estimate, c.reason != "", row.Verdict)
			valuetest.Equal(t, fmt.Sprint(row.Clocks), c.clocks)
			if row.Estimates == nil {
				t.Error("no estimate")
			}
		})
	}
}

// TestDevices: points that different GPUs of a machine have measured get no verdict. A side without that fact is compared.
func TestDevices(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		base, head string
		reason     judge.Reason
	}{
		"same":      {"gpu-a", "gpu-a", ""},
		"different": {"gpu-a", "gpu-b", judge.Devices},
		"unknown":   {"", "gpu-b", ""},
		"neither":   {"", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 0
			runs := func(side, on string, locations []float64) []schema.Run {
				runs := querytest.RunsOf(&n, 1, querytest.On(side, 1), locations...)
				for i := range runs {
					if on != "" {
						runs[i].Env.Facts = map[string]string{schema.FactMeasuredDevice: on}
					}
				}
				return runs
			}
			db := querytest.SealedRuns(t, slices.Concat(runs("base", c.base, wobble(1000)), runs("head", c.head, wobble(1500))))
			got := mustCompare(t, db, compare.Request{Base: "session=last"})
			only(t, got)
			valuetest.Equal(t, got.Rows[0].Reason, c.reason)
			valuetest.Equal(t, got.Rows[0].Verdict == judge.Estimate, c.reason != "", got.Rows[0].Verdict)
		})
	}
}
