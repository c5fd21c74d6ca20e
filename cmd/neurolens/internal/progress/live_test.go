package progress

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema"
)

func liveExample() liveState {
	return liveState{
		done: 31, launches: 60, statuses: map[schema.Status]int{schema.StatusOK: 29, schema.StatusTimeout: 1, schema.StatusUnsupported: 1},
		left: 14 * time.Second, name: "bs=4 seq=64 fp32", repeat: 3, repeats: 5,
		stage: schema.StageMeasure, iterations: 41, total: 100, elapsed: 3 * time.Second,
		last: []liveResult{{"bs=2 seq=64 fp64", "412 µs  median of 100"}, {"bs=8 seq=128 fp64", "timeout in measure: measure took more than 15 s; raise timeouts.measure"}},
	}
}

func TestLiveView(t *testing.T) {
	for columns, want := range map[int]string{
		80: `
  █████████████████▎░░░░░░░░░░░░░░░  31/60  14 s left  1 failed  1 unsupported
  now   bs=4 seq=64 fp32   repeat 3/5  measure 41/100  3 s
  last  bs=2 seq=64 fp64   412 µs  median of 100
        bs=8 seq=128 fp64  timeout in measure: measure took more than 15 s; rai…`,
		40: `
  █████▏░░░░  31/60  14 s left  1 failed
  now   bs=4 seq=64 fp32   measure 41/1…
  last  bs=2 seq=64 fp64   412 µs  medi…
        bs=8 seq=128 fp64  timeout in m…`,
	} {
		if got := "\n" + strings.Join(liveExample().view(columns, false), "\n"); got != want {
			t.Errorf("%d columns: got%s\nwant%s", columns, got, want)
		}
	}
}

// TestLiveViewFits: no line is ever wider than the terminal, and what counts is said where there is little room.
func TestLiveViewFits(t *testing.T) {
	for columns := range 120 {
		for _, line := range liveExample().view(columns, true) {
			if w := ansi.StringWidth(line); w > columns {
				t.Errorf("%d columns: %q takes %d", columns, line, w)
			}
		}
	}
	s := liveExample()
	s.last = nil
	if got := s.view(45, false)[1]; got != "  now   bs=4 seq=64 fp32  measure 41/100  3 s" {
		t.Errorf("the repeat does not go first: %s", got)
	}
	s.preparing = "build  make"
	if got := s.view(80, false)[1]; got != "  now   build  make  3 s" {
		t.Errorf("a build shows as %s", got)
	}
	for _, line := range s.view(80, false) {
		if strings.Contains(line, "\x1b") {
			t.Errorf("colour without colour: %q", line)
		}
	}
}

func TestBar(t *testing.T) {
	for fraction, want := range map[float64]string{
		-1: "░░░░", 0: "░░░░", 0.01: "░░░░", 0.04: "▏░░░", .5: "██░░", .99: "███▉", 1: "████", 7: "████",
	} {
		if got := bar(fraction, 4); got != want {
			t.Errorf("%v is %s, want %s", fraction, got, want)
		}
	}
}

func TestClockText(t *testing.T) {
	for d, want := range map[time.Duration]string{
		time.Millisecond: "1 s", 14200 * time.Millisecond: "14 s", 59600 * time.Millisecond: "1 min 00 s",
		200 * time.Second: "3 min 20 s", 3900 * time.Second: "1 h 05 min", 1e4 * time.Hour: "10,000 h 00 min",
	} {
		if got := clockText(d); got != want {
			t.Errorf("%s is %s, want %s", d, got, want)
		}
	}
}

// TestLiveSession: failures stay, the view is gone at the end, and the cursor is where it can be typed.
func TestLiveSession(t *testing.T) {
	m := &programtest.Terminal{Columns: 60, Rows: 24}
	clock := &played{now: time.Date(2026, 11, 21, 6, 45, 0, 0, time.UTC)}
	c := Console{W: m, Screen: term.NewScreen(m, func() (int, int) { return m.Columns, m.Rows }), Color: true, Now: clock.time}
	s := parsed(t, progressSweep)
	p := NewProgress(c, Session{Sweep: s})
	result := clock.play(s, p.Observe)
	want := `quickstart · builtin:tiny_linear · builtin · 4 points × 2
repeats = 8 runs · lab3
load 1.8 on 2 cores: expect noise
continues session 8Q4K2M9F: 3 of 8 runs are stored already
(--rerun all measures them again)
driver_version changed from – to 575.51: 1 run to repeat
  fail  0000RUNC  bs=16 fp32  timeout in measure: measure
        took more than 15 s; raise timeouts.measure
  fail  0000RUND  bs=16 fp64  cancelled in measure
`
	live, _ := p.reporter.(*liveReporter)
	live.mu.Lock()
	live.draw(nil)
	shown := m.String()
	live.mu.Unlock()
	if view := `
  ████████░░░░░░░░  4/8  17 s left  2 failed  1 unsupported
  last  bs=16 fp64  cancelled in measure
        bs=16 fp32  timeout in measure: measure took more …
        bs=1 fp64   unsupported in setup: builtin has fp32…
`; shown != want+view {
		t.Errorf("shown is\n%swant\n%s%s", shown, want, view)
	}
	p.Close(result)
	if m.String() != want {
		t.Errorf("left is\n%swant\n%s", m, want)
	}
	if m.Column != 0 || len(m.Unknown) > 0 {
		t.Errorf("the cursor is in column %d, the terminal was told %q", m.Column, m.Unknown)
	}
}
