package views

import (
	"fmt"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/judge"
)

// reasonsOfPoints lists the verdicts that count as inconclusive, unless the only one is inconclusive itself.
func reasonsOfPoints(open []compare.Point) string {
	counts := countVerdicts(open, ofPoint)
	if counts[judge.Inconclusive] == len(open) {
		return string(judge.Inconclusive)
	}
	return "undecided (" + verdictCounts(counts) + ")"
}

// regressionsText counts the regressions of a gate.
func regressionsText(g compare.Gate) (text, lost string) {
	if g.Lost > 0 {
		lost = fmt.Sprintf(" (%d of them missing, failing or wrong)", g.Lost)
	}
	return term.Count(g.Regressions, "regression"), lost
}

// undecided says what a gate could not decide: inconclusive points, points with failed requests, and metrics that no run has.
func undecided(g compare.Gate, noun string) (parts []string) {
	if g.Inconclusive > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s %s", g.Inconclusive, term.Count(g.Points, noun), reasonsOfPoints(g.InconclusivePoints))+moreRunsText(g.InconclusivePoints, g.SecondLook, 0))
	}
	if g.Requests > 0 {
		parts = append(parts, term.Count(g.Requests, noun)+" with failed requests")
	}
	if len(g.Absent) > 0 {
		parts = append(parts, "no run has "+strings.Join(g.Absent, ", "))
	}
	return parts
}

// GateLine returns the last line of a gate with its exit status. The noun names what the gate counts, such as point. regressionsAlone is
// true for --gate=regression.
func GateLine(g compare.Gate, noun string, regressionsAlone bool, exit int) string {
	parts := []string{}
	switch {
	case g.Regressions > 0:
		text, lost := regressionsText(g)
		parts = append(parts, text+lost)
	case regressionsAlone && g.Points > 0 && g.Inconclusive == g.Points:
		parts = append(parts, "nothing decided")
	case regressionsAlone && g.Inconclusive > 0:
		parts = append(parts, "no regression found")
	}
	parts = append(parts, undecided(g, noun)...)
	switch {
	case g.Points > 0:
	case g.Controls > 0:
		parts = append(parts, "nothing to decide: only controls are ok on the base")
	default:
		parts = append(parts, "nothing to decide: no "+noun+" is ok on the base")
	}
	if len(parts) == 0 {
		parts = append(parts, fmt.Sprintf("no regression in %s", term.Count(g.Points, noun)))
	}
	look := ""
	if g.Planned > 1 {
		look = fmt.Sprintf(", looked at up to %d times, corrected", g.Planned)
	}
	if g.Looks > 1 {
		look = fmt.Sprintf(", look %d", g.Looks)
	}
	return fmt.Sprintf("gate: %s (exit %d%s)", strings.Join(parts, "; "), exit, look)
}

// GateSentence returns the result of a gate in a comment, for people who have never seen NeuroLens. It is the same for every mode of the
// gate, because a reader sees the status of the job beside the comment.
func GateSentence(g compare.Gate, noun string) string {
	points := term.Count(g.Points, noun)
	text := "No regression in " + points
	switch {
	case g.Regressions > 0:
		regressions, lost := regressionsText(g)
		text = regressions + " in " + points + lost
	case g.Points == 0 && g.Controls > 0:
		return "Nothing was compared: only controls are ok on the base"
	case g.Points == 0:
		return "Nothing was compared: no " + noun + " is ok on the base"
	case g.Inconclusive == g.Points:
		text = "Nothing was decided"
	case g.Inconclusive > 0:
		text = "No regression found"
	}
	return strings.Join(append([]string{text}, undecided(g, noun)...), "; ")
}
