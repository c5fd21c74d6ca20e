package views

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// mixedGroups returns five groups by variant: two metrics, runs that differ, no direction, and passes of a profiler alone.
func mixedGroups(best bool) query.Grouping {
	g := query.Grouping{
		Keys: []answer.Column{{Name: "variant", Type: answer.TypeText}}, Best: best,
		Total: 30, Points: 1204, Runs: 5000, Statuses: map[string]int{"ok": 4998, "timeout": 2},
		Same: query.Shared{Point: query.Point{Machine: "lab3", BatchSize: new(int64(16)), Params: map[string]string{"dim": "8"}}},
	}
	ok := func(n int) map[string]int { return map[string]int{"ok": n} }
	point := func(benchmark, tile string, runs int, samples int64, p99 float64) *query.BestPoint {
		return &query.BestPoint{
			Point: query.Point{Benchmark: benchmark, BatchSize: new(int64(16)), Params: map[string]string{"tile": tile}},
			Runs:  runs, SamplesMin: &samples, SamplesMax: new(int64(100)), P99: &p99,
		}
	}
	g.Groups = []query.Group{
		{
			Keys: []any{"tiled"}, Points: 1000, Runs: 3002, OKRuns: 3000, FailedRuns: 2, Statuses: map[string]int{"ok": 3000, "timeout": 2},
			Metric: "latency", Unit: "ns", Better: "lower", Median: new(4.02e6), Spread: new(.021), Best: point("matmul", "32", 5, 90, 5e6),
		},
		{
			Keys: []any{"naive"}, Points: 200, Runs: 900, OKRuns: 900, Statuses: ok(900),
			Metric: "bandwidth", Unit: "B/s", Better: "higher", Median: new(4.02e9), Best: point("copy", "64", 3, 100, 5e9),
		},
		{Keys: []any{"both"}, Points: 2, Runs: 90, OKRuns: 90, Statuses: ok(90), Reason: query.ReasonMixed},
		{Keys: []any{"odd"}, Points: 1, Runs: 5, OKRuns: 5, Statuses: ok(5), Metric: "score", Reason: query.ReasonNoDirection},
		{Keys: []any{"traced"}, Points: 1, Runs: 3, Statuses: ok(3), Reason: query.ReasonNoValue},
	}
	return g
}

func TestGroupsView(t *testing.T) {
	var b bytes.Buffer
	l := Listing{By: []string{"variant"}, Reader: Display{Now: time.Now()}}
	v := l.groups(mixedGroups(true))
	v.Render(&b, term.Page{Width: 110})
	want := `bs=16 · lab3 · dim=8

VARIANT  METRIC     BENCHMARK  tile     MEDIAN        P99  SPREAD    RUNS × N  POINTS
tiled    latency    matmul       32    4.02 ms    5.00 ms   2.1 %  5 × 90…100   1,000  left out: 2 timeout
naive    bandwidth  copy         64  4.02 GB/s  5.00 GB/s       –     3 × 100     200
both     –          –             –          –          –       –           –       2  mixed
odd      score      –             –          –          –       –           –       1  no_direction
traced   –          –             –          –          –       –           –       1  profile

mixed         runs of the group differ in metric or unit, so there is no common number; group by metric and
              unit too
no_direction  it is unknown whether lower or higher values of the metric are better
profile       profiler passes are counted, but their times are left out

5 of 30 groups, by variant (--limit 0 for all); the points shown have 8 runs, chosen from 1,204 points, 5,000
runs: 4,998 ok, 2 timeout
the best are chosen from points that do different work: --by variant,benchmark gives the best of each
`
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	single := mixedGroups(true)
	for i := range single.Groups {
		single.Groups[i].Points = 1
	}
	if below := strings.Join(l.groups(single).Below, " "); strings.Contains(below, "different work") {
		t.Errorf("groups of one point have the line about points that do different work: %s", below)
	}
	for best, want := range map[bool]string{
		true: "the best are chosen from head: side=base gives those of base", false: "the medians are over base and head: --by variant,side tells them apart",
	} {
		g := mixedGroups(best)
		valuetest.Equal(t, slices.Contains(l.groups(g).Below, want), false)
		g.SidesTogether = true
		valuetest.Equal(t, slices.Contains(l.groups(g).Below, want), true, want)
	}
	several := mixedGroups(false)
	several.Combined = 3
	if below := l.groups(several).Below; !slices.Contains(below, "3 sessions combined; session=last shows the newest alone") {
		t.Errorf("a median is over several sessions: %q", below)
	}
	bisected := mixedGroups(true)
	bisected.Bisected = 1
	if below := l.groups(bisected).Below; !slices.Contains(below, "1 run of bisect left out, which measured older commits") {
		t.Errorf("a run of bisect is left out: %q", below)
	}
	for best, reds := range map[bool]int{true: 0, false: 1} { // what failed is not the best point
		g := mixedGroups(best)
		for i := range g.Groups {
			if !best {
				g.Groups[i].Best, g.Groups[i].Lowest, g.Groups[i].Highest = nil, g.Groups[i].Median, g.Groups[i].Median
			}
		}
		v := l.groups(g)
		if slices.ContainsFunc(v.Columns, func(c term.Column) bool { return c.Header == "LOWEST" }) {
			t.Error("a table whose groups are of one median each has columns for the lowest and the highest")
		}
		for width := 40; width <= 100; width += 5 {
			b.Reset()
			v.Render(&b, term.Page{Width: width, Color: true})
			for line := range strings.SplitSeq(b.String(), "\n") {
				if ansi.StringWidth(line) > width {
					t.Errorf("at %d columns: %q", width, line)
				}
			}
			if n := strings.Count(b.String(), term.Red); n != reds {
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
	l := Listing{By: []string{"variant"}, Reader: Display{Now: time.Now()}}
	for _, c := range []struct {
		metric, better string
		best           bool
		heading        string
		inRows         bool
	}{
		{"latency", "lower", true, "bs=16 · lab3 · dim=8 · latency, lower is better\n", false},
		{"latency", "lower", false, "bs=16 · lab3 · dim=8 · latency\n", false},
		{"latency", "", true, "bs=16 · lab3 · dim=8 · latency\n", false},
		{"", "", true, "bs=16 · lab3 · dim=8\n", true},
		{"", "", false, "bs=16 · lab3 · dim=8\n", true},
	} {
		g := mixedGroups(c.best)
		g.Groups = g.Groups[:1] // of latency, where lower is better
		g.Same.Metric, g.Same.Better = c.metric, c.better
		var b strings.Builder
		l.groups(g).Render(&b, term.Page{Width: 100})
		if got := b.String(); !strings.HasPrefix(got, c.heading) || strings.Contains(got, "METRIC") != c.inRows {
			t.Errorf("metric %q, better %q, best %v:\n%s", c.metric, c.better, c.best, got)
		}
	}
}

// TestGroupQuantity: a group has no word for the items of a throughput, which its runs may call tokens.
func TestGroupQuantity(t *testing.T) {
	for metric, want := range map[string]string{"throughput": "1.20 k/s", "output_token_throughput": "1.20 ktok/s"} {
		if got := groupQuantity(&query.Group{Metric: metric, Unit: "1/s"}, new(1200.0)); got != want {
			t.Errorf("%s: %s, want %s", metric, got, want)
		}
	}
}
