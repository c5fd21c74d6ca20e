package main

import (
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/history"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestHistoryGateLine: the last line says what a gate ends with and why.
func TestHistoryGateLine(t *testing.T) {
	for _, c := range []struct {
		mode gateMode
		gate history.Gate
		want string
	}{
		{strict, history.Gate{Series: 9, Regressed: 2, Failing: 1, Inconclusive: 3}, "2 series regressed (1 of them failing); 3 series inconclusive (exit 1)"},
		{strict, history.Gate{Series: 9, Regressed: 2}, "2 series regressed (exit 1)"},
		{strict, history.Gate{Series: 9, Inconclusive: 3, Short: 4}, "3 series inconclusive (exit 3)"},
		{regression, history.Gate{Series: 9, Inconclusive: 3}, "3 series inconclusive (exit 0)"},
		{strict, history.Gate{Series: 9, Short: 4}, "no regression found in 5 series (exit 0)"},
		{strict, history.Gate{Series: 9, Inconclusive: 3, Undated: 2}, "3 series inconclusive (2 of them have runs without a start time) (exit 3)"},
		{strict, history.Gate{Series: 9, Short: 9}, "nothing to decide: no series has 8 sessions (exit 3)"},
		{strict, history.Gate{}, "nothing to decide: no series has 8 sessions (exit 3)"},
	} {
		valuetest.Equal(t, c.mode.historyLine(views.History{H: &history.History{Gate: c.gate, Longest: history.GateSessions, Matching: 14}, Req: history.Request{Newest: 14}}), "gate: newest 14 sessions: "+c.want, c.gate)
	}
}

// TestNothingCompared: no gate lets a comparison pass in which no point has an ok run on the base. A gate of a history is not affected.
func TestNothingCompared(t *testing.T) {
	t.Parallel()
	for _, mode := range []gateMode{strict, regression} {
		c := compare.Comparison{Points: []compare.Point{{Verdict: compare.Fixed}}}
		if got := mode.verdict(c.Gate()); got != errInconclusive {
			t.Errorf("%s: %v", mode, got)
		}
		valuetest.Equal(t, mode.line(&c), "gate: nothing to decide: no point is ok on the base (exit 3)", mode)
	}
	valuetest.NoError(t, regression.historyVerdict(history.Gate{Series: 2, Short: 2}), "a history of few sessions")
}

// TestGateLineNothingDecided: a gate that lets pass because each point is inconclusive does not say that it found no regression.
func TestGateLineNothingDecided(t *testing.T) {
	for inconclusive, want := range map[int]string{2: "nothing decided; 2 of 2 points inconclusive", 1: "no regression found; 1 of 2 points inconclusive"} {
		got := views.GateLine(compare.Gate{Points: 2, Inconclusive: inconclusive}, "point", true, 0)
		if want = "gate: " + want + " (exit 0)"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestFailedRequests: no gate lets a point pass that has no verdict because requests failed, and its last line says so.
func TestFailedRequests(t *testing.T) {
	g := compare.Gate{Points: 2, Inconclusive: 1, Requests: 1}
	for _, m := range []gateMode{strict, regression} {
		if err := m.verdict(g); err != errInconclusive {
			t.Errorf("%s: %v", m, err)
		}
	}
	want := "gate: no regression found; 1 of 2 points inconclusive; 1 point with failed requests (exit 3)"
	valuetest.Equal(t, views.GateLine(g, "point", true, exitInconclusive), want)
}
