package progress

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// TestFailingLines: each reason is said once, with the number of its points, and no more than five of them.
func TestFailingLines(t *testing.T) {
	var plan runner.Plan
	for i := range 12 {
		point := &sweep.Point{PointID: fmt.Sprint(i)}
		for range 2 {
			why := ""
			if i > 0 {
				why = fmt.Sprint("reason ", i/2)
			}
			plan.Launches = append(plan.Launches, runner.Planned{Launch: sweep.Launch{Point: point}, Fails: why})
		}
	}
	plan.Launches[2].Done, plan.Launches[3].Done = &schema.Run{}, &schema.Run{} // reason 0
	want := []string{
		"2 points will fail: reason 1", "2 points will fail: reason 2", "2 points will fail: reason 3", "2 points will fail: reason 4", "2 points will fail: reason 5",
	}
	if got := failingLines(&plan); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	plan.Launches = append(plan.Launches, runner.Planned{Launch: sweep.Launch{Point: &sweep.Point{PointID: "x"}}, Fails: "another\nreason"})
	want = append(want, "1 more will fail for other reasons: --dry-run --json lists all")
	if got := failingLines(&plan); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestForeseen: the lines before the first launch name what will be skipped, too, and the side, if another one does not have the reason.
// Launches that will fail or be skipped are not counted as to run.
func TestForeseen(t *testing.T) {
	a, b := &sweep.Point{PointID: "a"}, &sweep.Point{PointID: "b"}
	plan := runner.Plan{Sides: make([]runner.Side, 2), Launches: []runner.Planned{
		{Launch: sweep.Launch{Point: a}, Skips: "no nvcc"},
		{Launch: sweep.Launch{Point: a, Side: 1}, Skips: "no nvcc"},
		{Launch: sweep.Launch{Point: b}},
		{Launch: sweep.Launch{Point: b, Side: 1}, Fails: "invalid syntax"},
	}}
	want := []string{"1 point will fail on the head: invalid syntax", "1 point will be skipped: no nvcc"}
	if got := failingLines(&plan); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	s := parsed(t, "file: f.py\n")
	table := PlanTable(&plan, s, true)
	for i, want := range []string{"skip", "skip", "run", "fail"} {
		if got := table.Rows[i][5]; got != want {
			t.Errorf("launch %d: %v, want %s", i+1, got, want)
		}
	}
	if got := PlanView(table, &plan, s, term.Page{}).Below[0]; got != "4 runs (1 repeat each), 1 to run, 1 to fail, 2 to skip" {
		t.Errorf("%q", got)
	}
}

// TestHeadlineOfRepeats: the first line says how many runs there are, and of which benchmarks those are that have another number. The next
// one says what gives a verdict.
func TestHeadlineOfRepeats(t *testing.T) {
	const few = "1 run per point gives no verdict; --repeats 6 gives one"
	for src, want := range map[string][]string{
		"file: f.py\ngrid: {n: [1, 2]}\n":                                                   {"2 points × 1 repeat = 2 runs", ""},
		"file: f.py\ngrid: {n: [1, 2]}\nbaseline: n=1\n":                                    {"2 points × 1 repeat = 2 runs", few},
		"file: f.py\ngrid: {n: [1, 2]}\nthresholds: {latency: 1%}\n":                        {"2 points × 1 repeat = 2 runs", few},
		"file: f.py\ngrid: {n: [1, 2]}\nbaseline: n=1\nrepeats: 2\n":                        {"2 points × 2 repeats = 4 runs", "2 runs per point give no verdict; --repeats 6 gives one"},
		"file: f.py\ngrid: {n: [1, 2]}\nbaseline: n=1\nrepeats: 3\n":                        {"2 points × 3 repeats = 6 runs", ""},
		"file: f.py\nprofile: torch\n":                                                      {"1 point × 1 repeat = 1 run + profiler passes", ""},
		"benchmarks: {f: {file: f.py, grid: {n: [1, 2]}}, c: {command: [c]}}\n":             {"(2 points × 1 repeat + 1 point of c × 10 repeats) = 12 runs", ""},
		"benchmarks: {f: {file: f.py, grid: {n: [1, 2]}, repeats: 3}, c: {command: [c]}}\n": {"(2 points × 3 repeats + 1 point of c × 10 repeats) = 16 runs", ""},
	} {
		s := parsed(t, src)
		d := describe(s)
		got := d.headline(runner.Event{Launches: len(s.Launches(sweep.LaunchOptions{})), Env: &schema.Env{}})
		if !strings.HasSuffix(got, want[0]) || d.tooFew() != want[1] {
			t.Errorf("%s%s\n%s", src, got, d.tooFew())
		}
	}
}
