package report

import (
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/schema/stat"
)

// advice is what to type because of a rule.
type advice struct {
	rule, why string
	command   func(m Maker, d *Document) string // empty: there is nothing to type
}

// advices are in the order in which they are given.
var advices = []advice{
	{summary.RuleWrongResult, "the runs with a wrong result, with the reason", func(m Maker, d *Document) string {
		return m.command("ls", d.words(wrongResult)...)
	}},
	{summary.RuleFailed, "the failed runs; neurolens show of one says more", func(m Maker, d *Document) string {
		failed := "status!=ok status!=skipped status!=unsupported"
		if d.Counts.Wrong > 0 { // a finding of their own
			failed += " not (" + wrongResult + ")"
		}
		return m.command("ls", d.words(failed)...)
	}},
	{summary.RuleRegressed, "each point against the baseline, worst first", comparing},
	{summary.RuleSlower, "each point against the baseline, worst first", comparing},
	{summary.RuleRegressed, "what else changed between the two selections, ranked", explaining},
	{summary.RuleNoBaseline, "changes from this baseline", func(m Maker, d *Document) string {
		for _, f := range d.Findings {
			if f.Rule == summary.RuleNoBaseline {
				return m.command("report", append(d.selection(), "--baseline", term.ShellWord(f.Values[0]+"="+f.Values[1]))...)
			}
		}
		return ""
	}},
	{summary.RuleFewRuns, "a verdict needs at least 3 runs per point; measure 6 for a gate", func(m Maker, d *Document) string {
		if len(d.Selection.Sweeps) != 1 { // another tool measured them, or several sweeps did
			return ""
		}
		return m.command("bench", term.ShellWord(d.Selection.Sweeps[0]), "--repeats", "6")
	}},
	{summary.RuleNoisyRuns, "lists what disturbs this machine, and how to stop it", doctor},
	{probe.WarnLoad, "lists what disturbs this machine, and how to stop it", doctor},
	{probe.WarnGovernor, "lists what disturbs this machine, and how to stop it", doctor},
	{probe.WarnThrottled, "lists what disturbs this machine, and how to stop it", doctor},
	{stat.WarnSpread, "lists what disturbs this machine, and how to stop it", doctor},
	{summary.RuleMachines, "a report of one machine", func(m Maker, d *Document) string {
		for _, fact := range d.Environment {
			if fact.Name == "machine" && len(fact.Values) > 0 {
				return m.command("report", d.words("machine="+filterWord(fact.Values[0].Value))...)
			}
		}
		return ""
	}},
}

func doctor(Maker, *Document) string { return "neurolens doctor" }

// comparing is the command that compares what the first comparison does.
func comparing(m Maker, d *Document) string {
	if len(d.Comparisons) == 0 {
		return ""
	}
	return m.command("compare", d.compared(&d.Comparisons[0])...)
}

// explaining is the command that ranks what else changed between two selections.
func explaining(m Maker, d *Document) string {
	if d.Selection.Base == "" {
		return ""
	}
	return m.command("explain", d.compared(&d.Comparisons[0])...)
}

// compared are the arguments of compare, and of what else takes the same ones, for a comparison; more narrows each selection.
func (d *Document) compared(c *summary.Comparison, more ...string) (words []string) {
	selections := []string{d.Selection.Filter}
	switch c.From {
	case summary.FromSelections:
		selections = []string{string(d.Selection.Base), string(d.Selection.Head)}
	case summary.FromSides:
	default:
		words = []string{"--matrix", term.ShellWord(c.Axis + "=" + c.Baseline)}
	}
	for i, selection := range selections {
		if len(more) > 0 {
			selection = filter.Arguments(selection, more[min(i, len(more)-1)])
		}
		words = append(words, term.ShellWord(selection))
	}
	return words
}

// filterWord is a text as the value of a filter.
func filterWord(text string) string {
	if strings.ContainsAny(text, " \t\n\"'(),<>=!~") {
		return filter.Quote(text)
	}
	return text
}

// selection is the filter of the report as words for the command report, which takes the last session for no filter.
func (d *Document) selection() []string {
	if words := d.words(""); len(words) > 0 {
		return words
	}
	return []string{"--all"}
}

// words are the filter of the report and more, as words for a shell.
func (d *Document) words(more string) (words []string) {
	if filter := d.Selection.Filter; more != "" && strings.ContainsAny(filter, " \t\n") {
		words = append(words, term.ShellWord("("+filter+")"))
	} else if filter != "" {
		words = append(words, term.ShellWord(filter))
	}
	if more != "" {
		words = append(words, term.ShellWord(more))
	}
	return words
}

// command is a command about the stores that were named.
func (m Maker) command(name string, words ...string) string {
	return strings.Join(append([]string{"neurolens", name}, words...), " ") + m.Reader.OfStores()
}

// recommendations follow from the findings, each command once.
func (m Maker) recommendations(d *Document) (all []Recommendation) {
	found, given := map[string]bool{}, map[string]bool{}
	for _, f := range d.Findings {
		found[f.Rule] = true
	}
	for _, a := range advices {
		if !found[a.rule] {
			continue
		}
		if command := a.command(m, d); command != "" && !given[command] {
			given[command] = true
			all = append(all, Recommendation{a.rule, command, a.why})
		}
	}
	return all
}
