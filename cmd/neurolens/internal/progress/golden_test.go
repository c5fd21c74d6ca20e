package progress

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
	"github.com/neurolens/neurolens/schema/valuetest"
)

var update = flag.Bool("update", false, "write the golden summaries anew")

// TestGoldenSummary: what bench prints at its end, on a pipe and on terminals of 80 and 200 columns.
func TestGoldenSummary(t *testing.T) {
	for _, page := range []struct {
		name string
		page term.Page
	}{
		{"pipe", term.Page{Width: 120, Whole: true}},
		{"80", term.Page{Width: 80}},
		{"200", term.Page{Width: 200}},
	} {
		var got bytes.Buffer
		goldenSummary(page.page).Render(&got, page.page)
		name := filepath.Join("testdata", "summary_"+page.name+".txt")
		if *update {
			ok(t, os.WriteFile(name, got.Bytes(), 0o666))
		}
		want, err := os.ReadFile(name)
		ok(t, err)
		if got.String() != string(want) {
			t.Errorf("%s: got\n%swant\n%s", name, got.String(), want)
		}
		seen := map[string]bool{}
		for line := range strings.Lines(got.String()) {
			if line = strings.TrimRight(line, "\n"); ansi.StringWidth(line) > page.page.Width {
				t.Errorf("%s: a line is wider than %d: %s", name, page.page.Width, line)
			}
			if line != "" && seen[line] {
				t.Errorf("%s: two lines look the same: %s", name, line)
			}
			seen[line] = true
		}
	}
}

// goldenSummary returns a session of three programs whose names differ at their ends, and of which one fails.
func goldenSummary(page term.Page) term.View {
	number := func(v float64) *float64 { return &v }
	one, ten := int64(1), int64(10)
	point := func(variant string, batch int64, median float64, warnings ...string) query.SessionPoint {
		return query.SessionPoint{
			PointID: fmt.Sprintf("%016x", batch) + variant[len(variant)-1:], Point: query.Point{Benchmark: "attention", Variant: variant, Backend: "command", BatchSize: &batch},
			Runs: 5, OKRuns: 5, Statuses: map[string]int{"ok": 5}, SamplesMin: &one, SamplesMax: &ten,
			Metric: "latency", Unit: "ns", Better: "lower", Median: number(median), P99: number(1.2 * median), Spread: number(.021), Warnings: warnings,
			Locations: []float64{11.5, 11.51, 11.52, 11.5, 11.53},
		}
	}
	const long = "./bench_attention --causal --head-dim 128 --implementation "
	failed := point(long+"eager", 8, 0)
	failed.OKRuns, failed.Median, failed.P99, failed.Spread, failed.Locations = 0, nil, nil, nil, nil
	failed.Statuses = map[string]int{"timeout": 5}
	failed.Failures = []query.Failure{{Status: "timeout", Stage: "measure", ErrorKind: "deadline", Error: "one process of measure took more than 15s", Runs: 5}}
	s := Summary{
		Reader: views.Display{Width: page.Width, Whole: page.Whole, Now: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)},
		Sweep:  &sweep.Sweep{Suite: "attention"}, Elapsed: 41 * time.Second,
		Result: runner.Result{Session: "01M0000000000000000000000A", Failure: "01M0000000000000000000000B", Statuses: map[schema.Status]int{schema.StatusOK: 15, schema.StatusTimeout: 5}},
		Won:    []string{"flash is faster than eager: latency −29.6 % (−32.0 % to −27.5 %)"},
	}
	return s.View([]query.SessionPoint{point(long+"flash", 1, 103e3), point(long+"flash", 8, 412e3, "drift"), point(long+"eager", 1, 146e3), failed})
}

// TestPrecision: the summary says how precise the medians are and, if they are not within 2 %, how many runs would do and how long these take.
// It does not if a point has fewer than 3 runs, or with --metric.
func TestPrecision(t *testing.T) {
	agree, differ, wild := []float64{9, 9.001, 9.002}, []float64{9, 9.01, 9.03, 9.02}, []float64{9, 19, 9, 19}
	const prefix = "precision (95 % interval of the median over runs): "
	for _, test := range []struct {
		want   string
		points [][]float64
	}{
		{"±0.2 %", [][]float64{agree}},
		{"±0.2 % at worst", [][]float64{agree, agree}},
		{fmt.Sprintf("±2.1 %% at worst; ±2.0 %% needs about %[1]d runs per point (--repeats %[1]d)", stat.RunsNeeded(differ, .02)), [][]float64{agree, differ}},
		{"±976,763 %; ±2.0 % needs more than 1,000 runs: measure on a quieter machine, or more work per run", [][]float64{wild}},
		{"", [][]float64{agree, {9, 9}}},
		{"", nil},
	} {
		var points []query.SessionPoint
		for _, logs := range test.points {
			points = append(points, query.SessionPoint{OKRuns: len(logs), Locations: logs})
		}
		want := test.want
		if want != "" {
			want = prefix + want
		}
		if got := (Summary{}).precision(points); got != want {
			t.Errorf("%v: got %q, want %q", test.points, got, want)
		}
		if got := (Summary{Metrics: []string{"rmse"}}).precision(points); got != "" {
			t.Errorf("with metrics: %q", got)
		}
	}
	points := []query.SessionPoint{{OKRuns: len(differ), Locations: differ}}
	needed := stat.RunsNeeded(differ, .02)
	timed := fmt.Sprintf("%s±2.1 %%; ±2.0 %% needs about %d runs per point (--repeats %[2]d, %d min)", prefix, needed, needed)
	valuetest.Equal(t, (Summary{PerRepeat: time.Minute}).precision(points), timed)
}

// TestNeedsRepeats: the sentence that there are too few repeats for a verdict says how long enough of them take, where that is known.
func TestNeedsRepeats(t *testing.T) {
	points := []query.SessionPoint{
		{Point: query.Point{Variant: "a"}, ValuedRuns: 2, Median: new(1.)}, {Point: query.Point{Variant: "b"}, ValuedRuns: 2, Median: new(2.)},
	}
	const few = "2 runs per point: no verdict; --repeats 6 gives one"
	for each, want := range map[time.Duration]string{0: few, 500 * time.Millisecond: few + ", in about 3 s", time.Minute: few + ", in about 6 min"} {
		repeats, why := (Summary{Sweep: &sweep.Sweep{Repeats: 2}, PerRepeat: each}).NeedsRepeats(points)
		valuetest.DeepEqual(t, []any{repeats, why}, []any{6, want})
	}
}

// TestVerdictsOfLongTable: the verdicts of a table that scrolls off a terminal stand below it, directly above what to type next. In a comment
// they stand above it.
func TestVerdictsOfLongTable(t *testing.T) {
	const verdict = "b is faster than a" // two lines of a terminal that is 10 wide
	s := Summary{Sweep: &sweep.Sweep{}, Result: runner.Result{Session: "01M0000000000000000000000A"}, Won: []string{verdict}}
	for _, c := range []struct {
		points, width    int
		published, below bool
	}{{longTable - 1, 0, false, false}, {longTable, 0, false, true}, {longTable - 2, 10, false, false}, {longTable - 1, 10, false, true}, {longTable, 0, true, false}} {
		s.Published, s.Reader.Width = c.published, c.width
		v := s.View(make([]query.SessionPoint, c.points))
		above := slices.Contains(v.Above, verdict)
		if n := len(v.Below); above == c.below || c.below != (v.Below[n-2] == verdict) {
			t.Errorf("%+v: above %q, below %q", c, v.Above, v.Below)
		}
	}
}

// TestNextOfMetrics: the next command has the metrics of --metric.
func TestNextOfMetrics(t *testing.T) {
	s := Summary{Sweep: &sweep.Sweep{}, Result: runner.Result{Session: "01M0000000000000000000000A"}, Metrics: []string{"latency", "cpu_user"}}
	for _, side := range []string{"", "base"} {
		next := s.nextCommands([]query.SessionPoint{{Side: side, ValuedRuns: 1}})
		valuetest.Contains(t, next[0], " --metric latency,cpu_user", side)
	}
}

// TestPassesInSummary: what passes of profilers lack stands above the number of points.
func TestPassesInSummary(t *testing.T) {
	s := Summary{Sweep: &sweep.Sweep{}, Result: runner.Result{Session: "01M0000000000000000000000A", Passes: []string{"nsys: no operators: a", "ncu: b"}}}
	below := strings.Join(s.View(make([]query.SessionPoint, 1)).Below, "|")
	valuetest.Contains(t, below, "nsys: no operators: a|ncu: b||1 point, 0 runs")
}

// TestProcessorTimes: a processor time that the kernel counts in ticks of 4 ms is 0 in most iterations, and its mean is not.
func TestProcessorTimes(t *testing.T) {
	p := query.SessionPoint{Metric: schema.PrimaryMetric, Metrics: []query.PointMetric{
		{Unit: "ns", Median: new(4e6), Mean: new(5e6)}, {Unit: "ns", Median: new(0.0), Mean: new(1.2e6)},
	}}
	rows := pointRows{points: []query.SessionPoint{p}}
	if user, system := rows.processor(0, 0).Text, rows.processor(0, 1).Text; user != "5.00 ms" || system != "1.20 ms" {
		t.Errorf("user %s, system %s", user, system)
	}
}
