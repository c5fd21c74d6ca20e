package verdicts

import (
	"math"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/facts"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/query/threshold"
)

// TestGateLineNamesVerdicts: an estimate is not called inconclusive.
func TestGateLineNamesVerdicts(t *testing.T) {
	t.Parallel()
	open := []compare.Point{{Verdict: judge.Estimate}, {Verdict: judge.Inconclusive}}
	for want, g := range map[string]compare.Gate{
		"gate: 2 of 3 points undecided (1 estimate, 1 inconclusive) (exit 3)": {Points: 3, Inconclusive: 2, Open: open},
		"gate: 1 of 3 points inconclusive (exit 3)":                           {Points: 3, Inconclusive: 1, Open: open[1:]},
	} {
		if got := GateLine(g, "point", false, 3); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestSubjectOfAGate: the threshold holds in a gate too, and where no run is ok nothing is left open at the end.
func TestSubjectOfAGate(t *testing.T) {
	t.Parallel()
	row := slower("latency", judge.Unchanged)
	c := compare.Comparison{
		Metrics: []string{"latency"}, Thresholds: threshold.Set{"latency": {Value: .02}}, Rows: []compare.Row{row}, Points: []compare.Point{row.Point},
	}
	if got := strings.Join((Comparison{C: &c, Gate: "gate: no regression"}).subject(), ""); !strings.HasSuffix(got, "; a change below 2.0 % counts as none") {
		t.Errorf("the subject is %q", got)
	}
	off := compare.Comparison{Common: []string{"backend"}, Rows: []compare.Row{{Identity: facts.Point{Backend: "builtin"}}}}
	if got := strings.Join((Comparison{C: &off}).subject(), ""); got != "builtin" {
		t.Errorf("the subject is %q", got)
	}
}

// TestTwoMachinesNeedNoSessions: earlier sessions do not decide between two machines.
func TestTwoMachinesNeedNoSessions(t *testing.T) {
	t.Parallel()
	c := compare.Comparison{Points: []compare.Point{{Verdict: judge.Estimate, Reason: judge.Machines, Confounded: true, SessionSD: math.NaN(), Change: .1}}}
	c.Base.Sessions, c.Head.Sessions = []string{"s"}, []string{"t"}
	if got := (Comparison{C: &c}).sessions(); got != nil {
		t.Errorf("got %q", got)
	}
}
