package chartdata_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestTelemetry: each metric has a panel with its own unit and a line for each device, at the stored times, and readings of a throttled clock
// are marked. Of many readings none is left out, and the figure has no more marks than it may.
func TestTelemetry(t *testing.T) {
	t.Parallel()
	run := runtest.Telemetry(runOf(1, 1, 1, 1, 1000), 1980, 1410)
	f := valuetest.Must(maker.Telemetry(&query.Detail{Run: run, Metrics: run.Metrics}))
	var panels []string
	for _, p := range f.Panels {
		names := ""
		for _, s := range p.Series {
			names += fmt.Sprintf(" [%s %d]", s.Name, len(s.Marks))
		}
		panels = append(panels, p.Title+" "+p.Y.Unit+names)
	}
	valuetest.DeepEqual(t, panels, []string{
		"latency ns [ 5]", "clock_sm MHz [device 0 20] [device 1 20]", "clock_memory MHz [device 0 20] [device 1 20]", "power mW [device 0 20] [device 1 20]",
		"temperature Cel [device 0 20] [device 1 20]", "gpu_utilization ratio [device 0 20] [device 1 20]", "device_memory_used B [device 0 20] [device 1 20]",
	})
	clock := f.Panels[1].Series[1].Marks
	valuetest.Equal(t, fmt.Sprint(clock[3].X, clock[3].Y, clock[3].Word), "1.8e+09 1410")
	valuetest.Equal(t, fmt.Sprint(clock[10].X, clock[10].Y, clock[10].Tone, clock[10].Word), "2.5e+09 705warnedpower_cap")
	valuetest.Equal(t, clock[10].Text, "clock_sm.1 at 2.50 s: 705 MHz, power_cap")
	valuetest.DeepEqual(t, f.Words(chart.Warned), []string{"power_cap"})

	valuetest.DeepEqual(t, f.Panels[1].Guides, []chart.Guide{{Along: chart.Vertical, At: 1.1e9, Until: 1.5e9, Text: "warm-up", Noted: true}})
	valuetest.Equal(t, f.Notes[0], "shaded: the end of the warm-up (500 ms in all), of which no readings are kept; after it comes the stage measure")
	cold := run
	cold.Stages.Warmup = new(int64(0))
	if f := valuetest.Must(maker.Telemetry(&query.Detail{Run: cold, Metrics: run.Metrics})); f.Panels[1].Guides != nil || len(f.Notes) != 1 {
		t.Errorf("without a warm-up: %+v, notes %q", f.Panels[1].Guides, f.Notes)
	}

	power := run.Metrics[4]
	power.Ticks, power.AtNS = nil, nil
	total := 36_000
	for i := range total {
		power.Ticks, power.AtNS = append(power.Ticks, int64(i)), append(power.AtNS, int64(i)*1e6)
	}
	f = valuetest.Must(maker.Telemetry(&query.Detail{Run: run, Metrics: []schema.Metric{power}}))
	n := 0
	for _, k := range f.All() {
		n += k.Count
	}
	valuetest.Equal(t, n, total)
	if f.Marks() > chart.MaxMarks || !strings.Contains(f.Notes[1], "a mark combines up to 18 values") {
		t.Errorf("%d marks, %q", f.Marks(), f.Notes)
	}
	plain := runOf(1, 1, 1, 1, 1000)
	if _, err := maker.Telemetry(&query.Detail{Run: plain, Metrics: plain.Metrics}); err == nil || !strings.Contains(err.Error(), "has no readings") {
		t.Error(err)
	}
}
