package progress

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

func TestVerdictsText(t *testing.T) {
	t.Parallel()
	for want, l := range map[string]runner.Look{
		"all 12 points have a verdict after 9 blocks":                                  {Points: 12, Blocks: 9},
		"the point has a verdict after 6 blocks":                                       {Points: 1, Blocks: 6},
		"the point is still inconclusive after 30 blocks: noise":                       {Points: 1, Blocks: 30, Inconclusive: map[string]string{"a": "noise"}},
		"3 of 12 points are still inconclusive after 30 blocks: noise":                 {Points: 12, Blocks: 30, Inconclusive: map[string]string{"a": "noise", "b": "noise", "c": "noise"}},
		"3 of 12 points are still inconclusive after 30 blocks: few_runs: 1, noise: 2": {Points: 12, Blocks: 30, Inconclusive: map[string]string{"a": "noise", "b": "noise", "c": "few_runs"}},
		"1 of 2 points is still inconclusive after 1 block: not run":                   {Points: 2, Blocks: 1, Inconclusive: map[string]string{"a": "not run"}},
	} {
		if got := verdictsText(&l); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestDecidedBy: the metric by which a session went on is named where another one is shown.
func TestDecidedBy(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]struct {
		asked   []string
		primary string
	}{
		" (by latency, the primary metric)":      {[]string{"cpu_user", "latency"}, "latency"},
		" (by the primary metric of each point)": {[]string{"cpu_user"}, ""},
	} {
		if got := (Summary{Metrics: c.asked}).decidedBy(primaryMetric{all: c.primary}); got != want {
			t.Errorf("%v: got %q, want %q", c.asked, got, want)
		}
	}
	for _, asked := range [][]string{nil, {"latency"}} {
		if got := (Summary{Metrics: asked}).decidedBy(primaryMetric{all: "latency"}); got != "" {
			t.Errorf("%v: got %q", asked, got)
		}
	}
}

// TestLookProgress: what a look has found is said on a terminal, where it stays, and for programs.
func TestLookProgress(t *testing.T) {
	t.Parallel()
	e := runner.Event{Env: &schema.Env{}, Look: &runner.Look{Number: 2, Planned: 5, Blocks: 9, Points: 12, Inconclusive: map[string]string{"a": "noise"}}}
	var stderr bytes.Buffer
	(&jsonReporter{w: &stderr}).looked(e)
	if want := `{"event": "look", "look": 2, "looks": 5, "blocks": 9, "points": 12, "decided": 11}` + "\n"; stderr.String() != want {
		t.Errorf("got %s, want %s", stderr.String(), want)
	}
	stderr.Reset()
	c := Console{Screen: term.NewScreen(&stderr, func() (int, int) { return 80, 24 }), Now: time.Now}
	s, err := sweep.Read("sweep.yaml", strings.NewReader("benchmark: GELU\nbackend: builtin\n"), sweep.Overrides{})
	ok(t, err)
	newLiveReporter(c, describe(s)).looked(e)
	if want := "look 2 of 5 after 9 blocks: 11 of 12 points have a verdict"; !strings.Contains(stderr.String(), want) {
		t.Errorf("no %q in %q", want, stderr.String())
	}
}

// TestCut: a session that ended before its last look says why, if it has left points open.
func TestCut(t *testing.T) {
	open := &runner.Look{Points: 1, Inconclusive: map[string]string{"a": "noise"}}
	for _, c := range []struct {
		want string
		s    Summary
	}{
		{"; stopped by --max-time", Summary{Unfinished: true, Result: runner.Result{Look: open, Left: 2}}},
		{"; interrupted", Summary{Unfinished: true, Result: runner.Result{Look: open}}},
		{"", Summary{Result: runner.Result{Look: open}}},
		{"", Summary{Unfinished: true, Result: runner.Result{Look: &runner.Look{Points: 1}, Left: 2}}},
	} {
		if got := c.s.cut(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.s.Result, got, c.want)
		}
	}
}
