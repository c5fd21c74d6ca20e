package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query/summary"
)

// sentences say what each rule found.
var sentences = map[string]func(f *summary.Finding) string{
	summary.RuleWrongResult: func(f *summary.Finding) string {
		return fmt.Sprintf("the result of %s of %s is wrong, which never counts as a win", runs(f), points(f))
	},
	summary.RuleFailed: func(f *summary.Finding) string {
		return fmt.Sprintf("%s of %s failed, of %s", term.Thousands(f.Runs), term.Count(whole(f, "runs"), "run"), points(f))
	},
	summary.RuleRegressed: func(f *summary.Finding) string {
		return fmt.Sprintf("%s significantly slower than %s", pairsAre(f), f.Values[0])
	},
	summary.RuleSlower: func(f *summary.Finding) string {
		return fmt.Sprintf("%s of %s slower than %s by estimate, %s significantly", term.Thousands(f.Points),
			term.Count(whole(f, "compared"), "pair")+" "+term.IsAre(f.Points), f.Values[0], someOf(whole(f, "regressed")))
	},
	summary.RuleExtreme: func(f *summary.Finding) string {
		return fmt.Sprintf("%s at least %s times faster or slower than %s: do both sides do the same work?", pairsAre(f), term.Thousands(whole(f, "threshold")), f.Values[0])
	},
	summary.RuleNotCompared: func(f *summary.Finding) string {
		return fmt.Sprintf("%s of %s not compared with %s, because a side has no valid value", term.Thousands(f.Points), term.Count(whole(f, "pairs"), "pair")+" "+term.IsAre(f.Points), f.Values[0])
	},
	summary.RuleNoVerdict: func(f *summary.Finding) string {
		return fmt.Sprintf("%s of %s without a verdict against %s: %s", term.Thousands(f.Points), term.Count(whole(f, "compared"), "pair")+" "+term.IsAre(f.Points), f.Values[0],
			joined(counted(whole(f, "estimate"), "estimate"), counted(whole(f, "inconclusive"), "inconclusive")))
	},
	summary.RuleNoBaseline: func(f *summary.Finding) string {
		return fmt.Sprintf("equal points have %s (%s), and none of them is known to be the baseline", term.Count(whole(f, "values"), f.Values[0]), some(f.Values[1:]))
	},
	summary.RuleFewRuns: func(f *summary.Finding) string {
		return fmt.Sprintf("%s fewer than %d ok runs, too few to distinguish noise from a change", pointsHave(f), whole(f, "least"))
	},
	summary.RuleNoisyRuns: func(f *summary.Finding) string {
		return fmt.Sprintf("the runs of %s vary by more than %s (robust standard deviation / median), at most by %s", points(f), views.Share(*number(f, "threshold")), views.Share(*number(f, "largest")))
	},
	summary.RuleMixedMetric: func(f *summary.Finding) string {
		return fmt.Sprintf("the ok runs of %s differ in their primary metric or its unit, so they have no common number", points(f))
	},
	summary.RuleMissingMetric: func(f *summary.Finding) string {
		in, lack := "", "lack"
		if f.Group != "" {
			in = " of " + string(f.Group)
		}
		if f.Points == 1 {
			lack = "lacks"
		}
		return fmt.Sprintf("%s%s %s %s, which most others have", points(f), in, lack, strings.Join(f.Values, ", "))
	},
	summary.RuleMachines: func(f *summary.Finding) string {
		return fmt.Sprintf("the runs are from %s (%s); values of different machines are not ranked against each other", term.Count(len(f.Values), "machine"), some(f.Values))
	},
	summary.RuleNoMachine: func(f *summary.Finding) string {
		return fmt.Sprintf("the machine of %s is unknown, so they get no verdict", runs(f))
	},
	summary.RuleEnvironment: func(f *summary.Finding) string {
		return fmt.Sprintf("runs differ in %s: %s", f.Values[0], some(f.Values[1:]))
	},
	summary.RuleDirty: func(f *summary.Finding) string {
		return fmt.Sprintf("%s of code with uncommitted changes", runsAre(f.Runs))
	},
}

// sentence is what a rule found; of a word of warning, its meaning.
func sentence(f *summary.Finding) string {
	if say, ok := sentences[f.Rule]; ok {
		return say(f)
	}
	meaning := views.WarningMeaning(f.Rule)
	if meaning == "" {
		meaning = "a warning by the tool that measured them: " + term.OneLine(f.Rule)
	}
	return fmt.Sprintf("%s of %s: %s", runs(f), points(f), meaning)
}

func runs(f *summary.Finding) string   { return term.Count(f.Runs, "run") }
func points(f *summary.Finding) string { return term.Count(f.Points, "point") }

func runsAre(n int) string { return term.Count(n, "run") + " " + term.IsAre(n) }

func pairsAre(f *summary.Finding) string {
	return term.Count(f.Points, "pair") + " " + term.IsAre(f.Points)
}

func pointsHave(f *summary.Finding) string {
	if f.Points == 1 {
		return "1 point has"
	}
	return points(f) + " have"
}

// someOf is a number of things; none of 0.
func someOf(n int) string {
	if n == 0 {
		return "none"
	}
	return term.Thousands(n)
}

// counted is a number of things that have a word in common; empty of none.
func counted(n int, word string) string {
	if n == 0 {
		return ""
	}
	return term.Thousands(n) + " " + word
}

// joined are texts with commas between them, without the empty ones.
func joined(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), ", ")
}

// number is a number of a finding; nil where it is not there.
func number(f *summary.Finding, name string) *float64 {
	for _, n := range f.Numbers {
		if n.Name == name {
			return n.Value
		}
	}
	return nil
}

// whole is a number of a finding that counts.
func whole(f *summary.Finding, name string) int {
	if v := number(f, name); v != nil {
		return int(*v)
	}
	return 0
}

// some names the first of many values.
func some(values []string) string {
	const shown = 5
	names := make([]string, 0, shown)
	for _, v := range values[:min(len(values), shown)] {
		names = append(names, views.HashText(v))
	}
	text := strings.Join(names, ", ")
	if more := len(values) - shown; more > 0 {
		text += fmt.Sprintf(" and %s more", term.Thousands(more))
	}
	return text
}
