package views

import (
	"fmt"
	"math"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/judge"
)

// contrasts are lines about facts that some runs of a side have and others have not: a sentence for each that tells slow
// runs from fast ones, and how many were looked at.
func (w Explanation) contrasts(rows []compare.ExplainRow) []string {
	var lines []string
	for _, row := range rows {
		switch judge.ContrastVerdict(row.Verdict) {
		case judge.Explains, judge.Opposes, judge.Noisy:
			lines = append(lines, w.contrast(&row), "")
		}
	}
	if looked := w.looked(len(lines) > 0); looked != "" {
		lines = append(lines, looked, "")
	}
	return lines
}

// looked says how many facts were looked at; empty where there are none.
func (w Explanation) looked(found bool) string {
	facts, few := w.x.Facts, w.x.FewRuns
	const tooFew = "in too few runs or sessions"
	switch {
	case facts == 0 && few == 0:
		return ""
	case facts == 0:
		return differing(few) + " " + tooFew + " of one side to judge"
	}
	text := differing(facts) + " between runs of one side"
	if !found {
		text += ": none separates slow runs from fast ones"
	}
	if few > 0 {
		text += fmt.Sprintf("; %s more %s to judge", term.Thousands(few), tooFew)
	}
	return text
}

func differing(facts int) string {
	if facts == 1 {
		return "1 fact that differs"
	}
	return term.Count(facts, "fact") + " that differ"
}

// contrast is a sentence about a contrast.
func (w Explanation) contrast(row *compare.ExplainRow) string {
	of := row.Contrast
	within := "within " + string(of.Within)
	both := of.Within == judge.WithinSides
	if both {
		within += " sides"
	}
	runs, others := term.Count(of.Runs, "run"), term.Thousands(of.Others)
	if of.Sessions > 0 { // these are what is compared
		runs += " of " + term.Count(of.Sessions, "session")
		others = term.Count(of.Others, "run") + " of the " + term.Thousands(of.OtherSessions)
	}
	adjusted := math.NaN()
	if row.Adjusted != nil {
		adjusted = *row.Adjusted
	}
	text := fmt.Sprintf("%s, the %s with %s%s %s the %s others, p %s of %s examined",
		within, runs, factName(row.Name), alike(row), w.effect(row), others, Chance(adjusted), term.Count(w.x.Facts, "fact"))
	switch v := judge.ContrastVerdict(row.Verdict); {
	case v == judge.Opposes:
		return text + "; this works against the difference"
	case v == judge.Noisy && both:
		return text + "; it splits the runs of both sides: noise, not the difference"
	case v == judge.Noisy:
		return text + "; it is about as frequent on both sides: noise, not the difference"
	}
	return text
}

// effect says by how much the runs that a contrast names differ from the others.
func (w Explanation) effect(row *compare.ExplainRow) string {
	e, text := row.Estimate, "differ in "+w.C.Rows[0].Metric
	if !Finite(e.Change) {
		return text + " from"
	}
	text += " by " + Change(e.Change, row.Scale, row.Unit)
	if Finite(e.Low) && Finite(e.High) {
		text += " (" + Interval(e.Low, e.High, row.Scale, row.Unit) + ")"
	}
	return text + " from"
}

// maxAlike is how many facts are named that split the runs alike.
const maxAlike = 3

// alike says which other facts may be meant as well.
func alike(row *compare.ExplainRow) string {
	if len(row.Alike) == 0 {
		return ""
	}
	var names []string
	for _, other := range row.Alike[:min(len(row.Alike), maxAlike)] {
		names = append(names, term.Cut(factName(other), explainText+explainText))
	}
	if more := len(row.Alike) - maxAlike; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return " (with " + strings.Join(names, ", ") + ")"
}

// factName is a fact, or a condition on one, as people read it.
func factName(name string) string { return strings.TrimPrefix(name, "env.") }
