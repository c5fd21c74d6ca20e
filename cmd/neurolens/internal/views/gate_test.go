package views

import (
	"math"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/judge"
)

// TestGateLineNamesVerdicts: an estimate is not called inconclusive.
func TestGateLineNamesVerdicts(t *testing.T) {
	t.Parallel()
	open := []compare.Point{{Verdict: judge.Estimate}, {Verdict: judge.Inconclusive}}
	for want, g := range map[string]compare.Gate{
		"gate: 2 of 3 points undecided (1 estimate, 1 inconclusive) (exit 3)": {Points: 3, Inconclusive: 2, InconclusivePoints: open},
		"gate: 1 of 3 points inconclusive (exit 3)":                           {Points: 3, Inconclusive: 1, InconclusivePoints: open[1:]},
	} {
		if got := GateLine(g, "point", false, 3); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestGateSentence: a comment has the result of a gate as a sentence, without the flag, the exit status and the number of looks.
func TestGateSentence(t *testing.T) {
	t.Parallel()
	open := []compare.Point{{Verdict: judge.Inconclusive}, {Verdict: judge.Inconclusive}}
	for want, g := range map[string]compare.Gate{
		"No regression in 3 points":                              {Points: 3, Planned: 5},
		"2 regressions in 9 points":                              {Points: 9, Regressions: 2, Planned: 5},
		"1 regression in 1 point":                                {Points: 1, Regressions: 1, Looks: 2},
		"Nothing was decided; 2 of 2 points inconclusive":        {Points: 2, Inconclusive: 2, InconclusivePoints: open},
		"No regression found; 2 of 3 points inconclusive":        {Points: 3, Inconclusive: 2, InconclusivePoints: open},
		"Nothing was compared: no point is ok on the base":       {},
		"Nothing was compared: only controls are ok on the base": {Controls: 1},
		"Nothing was decided; 1 of 1 point undecided (1 estimate); 1 point with failed requests": {
			Points: 1, Inconclusive: 1, Requests: 1, InconclusivePoints: []compare.Point{{Verdict: judge.Estimate, Reason: judge.FailedRequests}},
		},
		"1 regression in 4 points; 2 of 4 points inconclusive":            {Points: 4, Regressions: 1, Inconclusive: 2, InconclusivePoints: open},
		"2 regressions in 4 points (1 of them missing, failing or wrong)": {Points: 4, Regressions: 2, Lost: 1},
	} {
		if got := GateSentence(g, "point"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestSubjectOfAGate: the threshold holds in a gate too, and where no run is ok nothing is left open at the end.
func TestSubjectOfAGate(t *testing.T) {
	t.Parallel()
	row := slower("latency", judge.Unchanged)
	c := compare.Comparison{
		Metrics: []string{"latency"}, Thresholds: judge.Thresholds{"latency": {Value: .02}}, Rows: []compare.Row{row}, Points: []compare.Point{row.Point},
	}
	if got := strings.Join((Comparison{C: &c, Gate: "gate: no regression"}).subject(), ""); !strings.HasSuffix(got, "; a change below 2.0 % counts as none") {
		t.Errorf("the subject is %q", got)
	}
	off := compare.Comparison{Common: []string{"backend"}, Rows: []compare.Row{{Identity: query.Point{Backend: "builtin"}}}}
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
