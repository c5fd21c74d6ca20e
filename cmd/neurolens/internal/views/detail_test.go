package views

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestShowHasTheStack: where a run hung or crashed is said, line by line.
func TestShowHasTheStack(t *testing.T) {
	d := query.Detail{Run: schema.Run{
		RunID: "01KAJ3V2Z00000000007Q4K2M9F", Params: map[string]string{"weird": ""},
		Env: schema.Env{Facts: map[string]string{
			"runner.stack": "Thread 0x1\n  File \"b.py\", line 4 in run_benchmark\n", "runner.stderr_tail": "last words\x1b[2J\n",
		}},
	}}
	var out strings.Builder
	screen := Detail{}
	screen.View(d, query.Related{}).Render(&out, term.Page{Width: 80})
	contains(t, out.String(),
		"\nstack\n  Thread 0x1\n    File \"b.py\", line 4 in run_benchmark\n",
		"\nstandard error, its end\n  last words·[2J\n",
		"\n  param.weird  \"\"\n",
	)
}

// TestHistogramLabels: neighbours differ, however close the samples are.
func TestHistogramLabels(t *testing.T) {
	for _, c := range []struct {
		unit       string
		low, high  float64
		first, two string
	}{
		{"ns", 9.4e6, 9.88e6, "9.40 ms", "9.46 ms"},
		{"ns", 99_500, 100_600, "99.5 µs", "99.6 µs"},
		{"ns", 100_000, 100_800, "100.0 µs", "100.1 µs"},
		{"ns", 100_000, 100_000.08, "100.00000 µs", "100.00001 µs"},
		{"ns", 999_600, 1_000_400, "0.9996 ms", "0.9997 ms"},
		{"ns", -100_800, -100_000, "-100.8 µs", "-100.7 µs"},
		{"ratio", 0.5, 0.5008, "50.00 %", "50.01 %"},
		{"", 100, 100.8, "100.0", "100.1"},
		{"m", 100, 100.8, "100.0 m", "100.1 m"},
	} {
		lines := histogram([]float64{c.low, c.high}, c.unit, 80)
		var labels []string
		for _, line := range lines {
			label, _, _ := strings.Cut(strings.TrimLeft(line, " "), "  ")
			labels = append(labels, label)
		}
		if labels[0] != c.first || labels[1] != c.two || neighboursAlike(labels) {
			t.Errorf("%v to %v %s: %q", c.low, c.high, c.unit, labels)
		}
		if strings.Index(lines[0], "█") != strings.Index(lines[7], "█") {
			t.Errorf("bars do not begin in one column:\n%s", strings.Join(lines, "\n"))
		}
	}
	if lines := histogram([]float64{1, math.Nextafter(1, 2)}, "ns", 80); len(lines) != 8 {
		t.Errorf("of neighbours among numbers: %q", lines)
	}
}

// TestHistogramFits: bars are shorter on a narrow terminal, and each bin with samples has one; on a wide one they are 40 long at most.
func TestHistogramFits(t *testing.T) {
	for columns, want := range map[int]int{200: 40, 60: 40, 38: 24, 20: 6, 5: 1} {
		lines := histogram([]float64{1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 2e6}, "ns", columns)
		first, last := strings.Count(lines[0], "█"), strings.Count(lines[7], "█")
		if first != want || last < 1 || columns >= 20 && term.Width(lines[0]) > columns {
			t.Errorf("at %d columns the bars are %d and %d long, want %d:\n%s", columns, first, last, want, strings.Join(lines, "\n"))
		}
	}
}

// TestHistogramOutliers: one sample far from all others does not put these into one bar; two gathers of samples stay two.
func TestHistogramOutliers(t *testing.T) {
	var values, two []float64
	for i := range 99 {
		values = append(values, 1e6+float64(i)*1e3)
		two = append(two, 1e6+float64(i%3)*1e3+float64(i%4/3)*9e6)
	}
	bars := binned(append(values, 5e8), "ns")
	if len(bars) != 8 || bars[7].label != "> 1.10 ms" || bars[7].n != 1 {
		t.Errorf("of an outlier: %v", bars)
	}
	for _, b := range bars[:7] {
		if b.n < 10 || b.n > 20 {
			t.Errorf("the bulk is not spread over its bars: %v", bars)
		}
	}
	many := slices.Clone(values)
	for i := range 12 {
		many = append(many, 5e8+float64(i)*1e8)
	}
	if bars = binned(many, "ns"); bars[7].n != 12 || bars[0].n > 20 {
		t.Errorf("of twelve outliers in a hundred: %v", bars)
	}
	bars = binned(append(values, 1), "ns")
	if len(bars) != 8 || bars[0].label != "< 1.00 ms" || bars[0].n != 1 {
		t.Errorf("of a low outlier: %v", bars)
	}
	for _, c := range [][]float64{two, {1, 1, 1, 1, 1, 1, 1, 2}, {1, 2}, {1, 100}} {
		bars, n := binned(c, "ns"), 0
		for _, b := range bars {
			n += b.n
		}
		if n != len(c) || len(bars) != 8 || strings.ContainsAny(bars[0].label+bars[7].label, "<>") {
			t.Errorf("of %v: %v", c, bars)
		}
	}
}

// TestExitStatus: of a run that an exit status ended the page names the option that takes it as no failure.
func TestExitStatus(t *testing.T) {
	run := schema.Run{Status: schema.StatusError, ErrorKind: "exit", Error: "process 1 of measure: exit status 3"}
	contains(t, strings.Join(headline(&run), "\n"), "--ignore-exit")
}

// TestOrigins: show says of each setting where it comes from, and nothing of runs that did not store it.
func TestOrigins(t *testing.T) {
	t.Parallel()
	detail := Detail{Settings: []string{"control", "profile", "warmup", "iterations", "budget", "seed"}}
	run := schema.Run{Source: schema.SourceNeuroLens, Applied: map[string]string{"iterations": "7", "timing": "perf_counter", "seed": "4", "threads": "2"}, Env: schema.Env{Facts: map[string]string{
		"runner.profile": "ort", "runner.warmup": "10", "runner.iterations": "3", "runner.budget": "10s", "runner.seed": "4", "runner.threads": "2",
		schema.FactOrigins: `{"iterations":"sweep","budget":"preset quick","seed":"flag","threads":"variant"}`,
	}}}
	lines := detail.configurationLines(&run)
	for _, want := range []string{
		"profile     ort", "warmup      10 (default)", "budget      10s (preset quick)", "seed        4 (flag)",
		"iterations  7 (get_config)", "timing      perf_counter (as applied)", "threads     2 (variant)",
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("%q is not in %q", want, lines)
		}
	}
	run.Source = "seed"
	if lines = detail.configurationLines(&run); !slices.Contains(lines, "iterations  7 (as applied)") {
		t.Errorf("of a run of another tool: %q", lines)
	}
	delete(run.Env.Facts, schema.FactOrigins)
	if lines = detail.configurationLines(&run); !slices.Contains(lines, "budget      10s") {
		t.Errorf("of a run without origins: %q", lines)
	}
}

// TestHeadlineHasTheValue: the first lines say what was measured, if the run is ok; and a line below the samples says what one of them is.
func TestHeadlineHasTheValue(t *testing.T) {
	t.Parallel()
	run := schema.Run{RunID: "01A", Status: schema.StatusOK, Primary: "latency", Metrics: []schema.Metric{{Name: "latency", Unit: "ns", Level: schema.LevelProcess}}}
	last := func() string { lines := headline(&run); return lines[len(lines)-1] }
	valuetest.Equal(t, last(), "ok · –", "a run without a value")
	run.Metrics[0].Summary.Mean = new(2e6)
	valuetest.Equal(t, last(), "ok · – · latency 2.00 ms", "a mean alone")
	run.Metrics[0].Summary.P50 = new(1.5e6)
	valuetest.Equal(t, last(), "ok · – · latency 1.50 ms", "a median")
	lines := sampleLines(&run.Metrics[0], "", 80)
	valuetest.Equal(t, lines[len(lines)-1], "a sample is one process  clock –  spread –")
	run.Status = schema.StatusTimeout
	valuetest.Equal(t, last(), "timeout · –", "a run that failed")
}

// TestShowHasTelemetry: readings have a section of their own, with the reasons for which clocks were lowered.
func TestShowHasTelemetry(t *testing.T) {
	t.Parallel()
	run := runtest.Small()
	run.Env.Facts = map[string]string{"throttle.thermal": "0.0"}
	run = runtest.Telemetry(run, 1980)
	for i := range run.Metrics {
		run.Metrics[i].Summary = stat.Summarize(run.Metrics[i].Values())
	}
	var out strings.Builder
	Detail{}.View(query.Detail{Run: run, Metrics: run.Metrics}, query.Related{}).Render(&out, term.Page{Width: 80})
	_, section, _ := strings.Cut(out.String(), "\ntelemetry\n")
	section, _, _ = strings.Cut(section, "\n\n")
	valuetest.Equal(t, section, `  clock_sm            1.98 GHz  min 990 MHz  max 1.98 GHz  n 20
  clock_memory        2.62 GHz  min 2.62 GHz  max 2.62 GHz  n 20
  power               610 W  min 600 W  max 619 W  n 20
  gpu_utilization     97.0 %  min 97.0 %  max 97.0 %  n 20
  temperature         44.5 °C  min 40.0 °C  max 49.0 °C  n 20
  device_memory_used  3.00 GiB  min 3.00 GiB  max 3.00 GiB  n 20
  throttled in this share of the readings: power_cap 5.0 %`)
}
