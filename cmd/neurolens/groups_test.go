package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
)

// mixedGroups are four groups by variant: two metrics, runs that differ, no direction, and passes of a profiler alone.
func mixedGroups() query.Grouping {
	g := query.Grouping{Keys: 1, Total: 30, Points: 1204, Runs: 5000, Statuses: map[string]int{"ok": 4998, "timeout": 2}}
	for _, name := range []string{
		"variant", "points", "runs", "ok_runs", "failed_runs", "statuses", "metric", "unit", "better", "reason",
		"benchmark", "batch_size", "params", "best_runs", "samples_min", "samples_max", "median", "p99", "spread",
	} {
		g.Columns = append(g.Columns, answer.Column{Name: name, Type: answer.TypeText})
	}
	ok := func(n int64) map[string]any { return map[string]any{"ok": n} }
	g.Rows = [][]any{
		{
			"tiled", int64(1000), int64(3002), int64(3000), int64(2),
			map[string]any{"ok": int64(3000), "timeout": int64(2)},
			"latency", "ns", "lower", nil,
			"matmul", int64(16),
			map[string]any{"tile": "32"},
			int64(5), int64(90), int64(100), 4.02e6, 5e6, 0.021,
		},
		{
			"naive", int64(200), int64(900), int64(900), int64(0), ok(900), "bandwidth", "B/s", "higher", nil,
			"copy", int64(16),
			map[string]any{"tile": "64"},
			int64(3), int64(100), int64(100), 4.02e9, 5e9, nil,
		},
		{"both", int64(2), int64(90), int64(90), int64(0), ok(90), nil, nil, nil, "mixed", nil, nil, nil, nil, nil, nil, nil, nil, nil},
		{"odd", int64(1), int64(5), int64(5), int64(0), ok(5), "score", "", nil, "no_direction", nil, nil, nil, nil, nil, nil, nil, nil, nil},
		{"traced", int64(1), int64(3), int64(0), int64(0), ok(3), nil, nil, nil, "no_value", nil, nil, nil, nil, nil, nil, nil, nil, nil},
	}
	g.Same = answer.Table{
		Columns: []answer.Column{{Name: "machine"}, {Name: "benchmark"}, {Name: "batch_size"}, {Name: "params"}, {Name: "metric"}, {Name: "better"}},
		Rows:    [][]any{{"lab3", nil, int64(16), map[string]any{"dim": "8"}, nil, nil}},
	}
	return g
}

func TestGroupsView(t *testing.T) {
	var b bytes.Buffer
	a := &app{now: time.Now}
	v := a.groupsView(mixedGroups(), lsOptions{by: []string{"variant"}, best: true})
	v.render(&b, 100, false)
	want := `bs=16 · lab3 · dim=8

VARIANT  METRIC     BENCHMARK  tile     MEDIAN        P99  SPREAD    RUNS × N  POINTS
tiled    latency    matmul       32    4.02 ms    5.00 ms   2.1 %  5 × 90…100   1,000  2 timeout
naive    bandwidth  copy         64  4.02 GB/s  5.00 GB/s       –     3 × 100     200
both     –          –             –          –          –       –           –       2  mixed
odd      score      –             –          –          –       –           –       1  no_direction
traced   –          –             –          –          –       –           –       1  profile

mixed         runs of the group differ in metric or unit, so that no number stands for them; group
              by metric and unit too
no_direction  it is not known whether lower or higher values of the metric are better
profile       passes of a profiler are counted, their times are not

5 of 30 groups, by variant (--limit 0 for all); 1,204 points, 5,000 runs: 4,998 ok, 2 timeout
`
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, best := range []bool{true, false} {
		v := a.groupsView(mixedGroups(), lsOptions{by: []string{"variant"}, best: best})
		for width := 40; width <= 100; width += 5 {
			b.Reset()
			v.render(&b, width, true)
			for line := range strings.SplitSeq(b.String(), "\n") {
				if ansi.StringWidth(line) > width {
					t.Errorf("at %d columns: %q", width, line)
				}
			}
			if n := strings.Count(b.String(), red); n != 1 {
				t.Errorf("at %d columns: one group has failures, %d are red:\n%s", width, n, b.String())
			}
			if width >= 70 && (!strings.Contains(b.String(), "tiled") || !strings.Contains(b.String(), "4.02 ms")) {
				t.Errorf("at %d columns the group or its value is gone:\n%s", width, b.String())
			}
		}
	}
}

// TestGroupsHeading: the heading names the metric of all groups; where they differ in it, that of each group stands in its
// row, though all that are shown have the same.
func TestGroupsHeading(t *testing.T) {
	a := &app{now: time.Now}
	for _, c := range []struct {
		metric, better any
		best           bool
		heading        string
		inRows         bool
	}{
		{"latency", "lower", true, "bs=16 · lab3 · dim=8 · latency, lower is better\n", false},
		{"latency", "lower", false, "bs=16 · lab3 · dim=8 · latency\n", false},
		{"latency", nil, true, "bs=16 · lab3 · dim=8 · latency\n", false},
		{nil, nil, true, "bs=16 · lab3 · dim=8\n", true},
		{nil, nil, false, "bs=16 · lab3 · dim=8\n", true},
	} {
		g := mixedGroups()
		g.Rows = g.Rows[:1] // of latency, where lower is better
		same := g.Same.Rows[0]
		same[len(same)-2], same[len(same)-1] = c.metric, c.better
		var b strings.Builder
		a.groupsView(g, lsOptions{by: []string{"variant"}, best: c.best}).render(&b, 100, false)
		if got := b.String(); !strings.HasPrefix(got, c.heading) || strings.Contains(got, "METRIC") != c.inRows {
			t.Errorf("metric %v, better %v, best %v:\n%s", c.metric, c.better, c.best, got)
		}
	}
}
