package progress

import (
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query"
)

// TestUnknownWarning: a word of another version stands in the rows without an explanation, also where every row has it.
func TestUnknownWarning(t *testing.T) {
	points := []query.SessionPoint{{Warnings: []string{"newer", "load"}}, {Warnings: []string{"newer", "load"}}}
	n := views.Notes{}
	if words, _ := pointWords(n, &points[0], common(points)); words != "newer" {
		t.Errorf("the row says %q, want newer", words)
	}
	if lines := n.Lines(); len(lines) != 2 || !strings.HasPrefix(lines[0], "load"+term.Gap+"(all points) more") {
		t.Errorf("notes %q", lines)
	}
}

// TestRowNamesDoubtFirst: of the two warnings that a row names, one that doubts what was measured is the first.
func TestRowNamesDoubtFirst(t *testing.T) {
	t.Parallel()
	p := &query.SessionPoint{Warnings: []string{"autocorrelation", "drift", "lazy_result", "modes"}}
	if words, _ := pointWords(views.Notes{}, p, nil); words != "lazy_result, autocorrelation, +2" {
		t.Errorf("the row names %q", words)
	}
}

// TestReasonsAlike: reasons that differ in amounts, or in the process that failed, are one; an exit status tells them apart.
func TestReasonsAlike(t *testing.T) {
	n := views.Notes{}
	for _, reason := range []string{"wrote 1234 B, more than 1000 B", "wrote 99999 B, more than 1000 B", "exit status 1", "process 1 of warmup: exit status 1", "process 4 of measure: exit status 1", "exit status 2"} {
		pointWords(n, &query.SessionPoint{Failures: []query.Failure{{Status: "error", Error: reason, Runs: 1}}}, nil)
	}
	pad := term.Gap + strings.Repeat(" ", len("error"))
	want := []string{"error" + term.Gap + "wrote 1234 B, more than 1000 B", pad + "exit status 1", pad + "exit status 2", ""}
	if got := n.Lines(); !slices.Equal(got, want) {
		t.Errorf("explained by %q, want %q", got, want)
	}
}

// TestEachReasonNamesItsPoints: points stand before the reason for which they failed, and with no other one.
func TestEachReasonNamesItsPoints(t *testing.T) {
	var points []query.SessionPoint
	n := views.Notes{}
	for _, reasons := range [][]string{{"process 1 of measure: exit status 1"}, {"exit status 2", "exit status 1"}, {"exit status 3"}, {"exit status 4"}, {}} {
		p := query.SessionPoint{}
		for _, reason := range reasons {
			p.Failures = append(p.Failures, query.Failure{Status: "error", Error: reason, Runs: 1})
		}
		pointWords(n, &p, nil)
		points = append(points, p)
	}
	nameFailed(n, points, []string{"a", "b", "c", "d", "e"})
	pad := term.Gap + strings.Repeat(" ", len("error"))
	want := []string{"error" + term.Gap + "a, b: exit status 1", pad + "b: exit status 2", pad + "and 2 other reasons", ""}
	if got := n.Lines(); !slices.Equal(got, want) {
		t.Errorf("explained by %q, want %q", got, want)
	}
}

// TestExitLine: of a program that ended with an exit status other than 0 the summary names --ignore-exit, of a hook it does not.
func TestExitLine(t *testing.T) {
	for _, c := range []struct{ kind, reason, want string }{
		{"exit", "process 1 of measure: exit status 3: no match", "--ignore-exit"}, {"exit", "setup: exit status 1", ""}, {"signal", "process 1 of measure: killed by SIGTERM", ""},
	} {
		line := exitLine([]query.SessionPoint{{}, {Failures: []query.Failure{{Status: "error", ErrorKind: c.kind, Error: c.reason, Runs: 1}}}})
		if line == "" != (c.want == "") || !strings.Contains(line, c.want) {
			t.Errorf("%s: %q, want %q in it", c.reason, line, c.want)
		}
	}
}
