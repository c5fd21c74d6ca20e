package report

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// sentences say what each rule found.
var sentences = map[string]func(f *summary.Finding) string{
	summary.RuleWrongResult: func(f *summary.Finding) string {
		return fmt.Sprintf("the result of %s of %s is wrong, which never counts as a win", runs(f), points(f))
	},
	summary.RuleFailed: func(f *summary.Finding) string {
		return fmt.Sprintf("%s of %s failed, of %s", term.Thousands(f.Runs), term.Count(whole(f, "runs"), "run"), points(f))
	},
	summary.RuleLevelRegressed: func(f *summary.Finding) string {
		return fmt.Sprintf("%s of %s series got worse over sessions and still %s", term.Thousands(f.Points), term.Thousands(whole(f, "series")), term.IsAre(f.Points))
	},
	summary.RuleLevelImproved: func(f *summary.Finding) string {
		return fmt.Sprintf("%s of %s series got better over sessions and still %s", term.Thousands(f.Points), term.Thousands(whole(f, "series")), term.IsAre(f.Points))
	},
	summary.RuleFarOff: func(f *summary.Finding) string {
		return fmt.Sprintf("%s of %s series %s far off %s in the newest sessions", term.Thousands(f.Points), term.Thousands(whole(f, "series")), term.IsAre(f.Points), term.Verb(f.Points, "its level", "their levels"))
	},
	summary.RuleFailsLately: func(f *summary.Finding) string {
		return fmt.Sprintf("all runs of %s of %s series failed in the newest sessions", term.Thousands(f.Points), term.Thousands(whole(f, "series")))
	},
	summary.RuleRegressed: func(f *summary.Finding) string {
		return fmt.Sprintf("%s significantly slower than %s", pairsAre(f), f.Values[0])
	},
	summary.RuleImproved: func(f *summary.Finding) string {
		return fmt.Sprintf("%s significantly faster than %s", pairsAre(f), f.Values[0])
	},
	summary.RuleSlower: func(f *summary.Finding) string {
		regressed := "none"
		if n := whole(f, "regressed"); n > 0 {
			regressed = term.Thousands(n)
		}
		return fmt.Sprintf("%s of %s slower than %s by estimate, %s significantly", term.Thousands(f.Points),
			term.Count(whole(f, "compared"), "pair")+" "+term.IsAre(f.Points), f.Values[0], regressed)
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
		return fmt.Sprintf("%s fewer than %d ok runs, too few to distinguish noise from a change", points(f)+" "+term.Verb(f.Points, "has", "have"), whole(f, "least"))
	},
	summary.RuleNoisyRuns: func(f *summary.Finding) string {
		return fmt.Sprintf("the runs of %s vary by more than %s (robust standard deviation / median), at most by %s", points(f), views.Share(*number(f, "threshold")), views.Share(*number(f, "largest")))
	},
	summary.RuleMixedMetric: func(f *summary.Finding) string {
		return fmt.Sprintf("the ok runs of %s differ in their primary metric or its unit, so they have no common number", points(f))
	},
	summary.RuleHardware: func(f *summary.Finding) string {
		return fmt.Sprintf("the ok runs of %s differ in their GPU (gpu_name) or processor (cpu_model): each median is over several", points(f))
	},
	summary.RuleMissingMetric: func(f *summary.Finding) string {
		in := ""
		if f.Group != "" {
			in = " of " + string(f.Group)
		}
		return fmt.Sprintf("%s%s %s %s, which most others have", points(f), in, term.Verb(f.Points, "lacks", "lack"), strings.Join(f.Values, ", "))
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
		return fmt.Sprintf("%s of code with uncommitted changes", runs(f)+" "+term.IsAre(f.Runs))
	},
}

// saidElsewhere are the rules whose findings the forms for people have in other parts: in the first paragraph, in the changes, with the
// runs that are not ok, or in the environment.
var saidElsewhere = []string{
	summary.RuleWrongResult, summary.RuleFailed, summary.RuleLevelRegressed, summary.RuleLevelImproved, summary.RuleFarOff, summary.RuleFailsLately, summary.RuleRegressed, summary.RuleImproved,
	summary.RuleSlower, summary.RuleNotCompared, summary.RuleNoVerdict, summary.RuleMachines, summary.RuleEnvironment,
}

// remarks returns the findings that stand nowhere else.
func (d *Document) remarks() []Finding {
	return slices.DeleteFunc(slices.Clone(d.Findings), func(f Finding) bool {
		return slices.Contains(saidElsewhere, f.Rule) || f.Rule == summary.RuleFewRuns && d.few()
	})
}

// sentence returns what a rule found; of a word of warning, its meaning.
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

func pairsAre(f *summary.Finding) string {
	return term.Count(f.Points, "pair") + " " + term.IsAre(f.Points)
}

// counted returns a number of things that have a word in common; empty of none.
func counted(n int, word string) string {
	if n == 0 {
		return ""
	}
	return term.Thousands(n) + " " + word
}

// joined returns texts with commas between them, without the empty ones.
func joined(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), ", ")
}

// number returns a number of a finding; nil where it is not there.
func number(f *summary.Finding, name string) *float64 {
	for _, n := range f.Numbers {
		if n.Name == name {
			return n.Value
		}
	}
	return nil
}

// whole returns a number of a finding that counts.
func whole(f *summary.Finding, name string) int {
	if v := number(f, name); v != nil {
		return int(*v)
	}
	return 0
}

// some names the first of many values.
func some(values []string) string {
	const shown = 5
	text := strings.Join(term.Texts(values[:min(len(values), shown)], views.HashText), ", ")
	if more := len(values) - shown; more > 0 {
		text += fmt.Sprintf(" and %s more", term.Thousands(more))
	}
	return text
}

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
	{summary.RuleFailed, "the failed points, why they failed, and what measures them again", func(m Maker, d *Document) string {
		failed := "status=" + filter.Failed
		if d.Counts.Wrong > 0 { // a finding of their own
			failed += " not (" + wrongResult + ")"
		}
		return m.command("ls", d.words(failed)...)
	}},
	{summary.RuleFailed, "measures the failed points again", func(m Maker, _ *Document) string {
		if len(m.Again) == 1 {
			return m.Again[0]
		}
		return ""
	}},
	{summary.RuleLevelRegressed, "each series over its sessions, worst first", func(m Maker, d *Document) string {
		return m.command("history", d.past()...)
	}},
	{summary.RuleLevelRegressed, "the commit of the worst regression", func(m Maker, d *Document) string {
		t := worstStep(d)
		switch {
		case t == nil:
			return ""
		case schema.BisectedCommit(string(t.Bisected)) != "":
			return "git show " + views.ShortCommit(string(t.Bisected))
		}
		return m.Reader.OnlyCommit(string(t.Base), string(t.Head))
	}},
	{summary.RuleLevelRegressed, "finds the commit of the worst regression", func(m Maker, d *Document) string {
		return m.bisecting(d, func(sweep summary.Text) bool { return sweep != "" })
	}},
	{summary.RuleLevelRegressed, "finds the commit of the worst regression, with your sweep file for " + views.AnySweep, func(m Maker, d *Document) string {
		return m.bisecting(d, func(sweep summary.Text) bool { return sweep == "" })
	}},
	{summary.RuleFarOff, "judges the newest session that is farthest off its level", func(m Maker, d *Document) string {
		for i := range d.Trends {
			if t := &d.Trends[i]; t.Off > 0 {
				return m.judging(t)
			}
		}
		return ""
	}},
	{summary.RuleRegressed, "each point against the baseline, worst first", comparing},
	{summary.RuleSlower, "each point against the baseline, worst first", comparing},
	{summary.RuleRegressed, "what else changed between the two selections, ranked", explaining},
	{summary.RuleNoBaseline, "changes from this baseline", func(m Maker, d *Document) string {
		for _, f := range d.Findings {
			if f.Rule == summary.RuleNoBaseline {
				words := d.words("")
				if len(words) == 0 { // report takes the last session for no filter
					words = []string{"--all"}
				}
				return m.command("report", append(words, "--baseline", term.ShellWord(f.Values[0]+"="+f.Values[1]))...)
			}
		}
		return ""
	}},
	{summary.RuleFewRuns, "a verdict needs at least 3 runs per point; measure 6 for a gate", Maker.enough},
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

// enough returns the command that measures the points of the report again, or the whole sweep if no one command selects them; empty if another
// tool or command measured some runs, if there are several sweeps, or if its file is elsewhere.
func (m Maker) enough(d *Document) string {
	if len(d.Selection.Sweeps) != 1 || d.Selection.Unswept {
		return ""
	}
	if _, err := os.Stat(d.Selection.Sweeps[0]); err != nil {
		return ""
	}
	return cmp.Or(m.Enough, m.command("bench", term.ShellWord(d.Selection.Sweeps[0]), "--repeats", strconv.Itoa(views.EnoughRepeats)))
}

// bisecting returns the command that searches for the commit of the worst regression, if its sweep file is known or not, as asked, and if no
// search ended.
func (m Maker) bisecting(d *Document, known func(sweep summary.Text) bool) string {
	if t := worstStep(d); t != nil && known(t.Sweep) && (t.Bisected == "" || t.Bisected == schema.BisectUndecided) && m.Reader.OnlyCommit(string(t.Base), string(t.Head)) == "" {
		return views.Bisect(string(t.Base), string(t.Head), string(t.Sweep)) + m.Reader.OfStores()
	}
	return ""
}

// worstStep returns the worst regression between two commits, or nil. A slow change has no commit that can be found.
func worstStep(d *Document) *summary.Trend {
	for i := range d.Trends {
		t := &d.Trends[i]
		if t.Verdict == judge.Regressed && t.Ramp == 0 && views.Bisect(string(t.Base), string(t.Head), string(t.Sweep)) != "" {
			return t
		}
	}
	return nil
}

// judging returns the command that compares the newest session of a trend with the last one of the level that it is far off; empty if they
// have too few runs to be judged.
func (m Maker) judging(t *summary.Trend) string {
	if t.OffBase == "" || t.OffBase == t.OffHead {
		return ""
	}
	return m.command("compare", "--gate", "session="+views.ShortRun(string(t.OffBase)), "session="+views.ShortRun(string(t.OffHead)))
}

func doctor(Maker, *Document) string { return "neurolens doctor" }

// comparing returns the command that compares what the first comparison does.
func comparing(m Maker, d *Document) string {
	if len(d.Comparisons) == 0 {
		return ""
	}
	return m.command("compare", d.compared(&d.Comparisons[0])...)
}

// explaining returns the command that ranks what else changed between two selections.
func explaining(m Maker, d *Document) string {
	if d.Selection.Base == "" {
		return ""
	}
	return m.command("explain", d.compared(&d.Comparisons[0])...)
}

// compared returns the arguments of compare, and of what else takes the same ones, for a comparison; more narrows each selection.
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
			selection = filter.JoinArguments(selection, more[min(i, len(more)-1)])
		}
		words = append(words, term.ShellWord(selection))
	}
	return words
}

// filterWord returns a text as the value of a filter.
func filterWord(text string) string {
	if strings.ContainsAny(text, " \t\n\"'(),<>=!~") {
		return filter.Quote(text)
	}
	return text
}

// words returns the filter of the report and more, as words for a shell.
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

// command returns a command about the stores that were named.
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

// hints say what to do about runs of a status.
var hints = map[schema.Status]string{
	schema.StatusError:       "the benchmark or its check reported an error; neurolens show of such a run has the end of its standard error, and --save DIR writes all of its output",
	schema.StatusCrashed:     "the process ended by a signal or without a result; neurolens show of such a run has the signal and the end of its standard error, and --save DIR writes all of its output",
	schema.StatusOOM:         "memory ran out; make the point smaller, or leave it out with skip_if",
	schema.StatusUnsupported: "this combination cannot run here; leave it out with exclude, or measure it elsewhere",
	schema.StatusSkipped:     "skipped as planned, for the reason given; nothing to do",
	schema.StatusOutputLimit: "it wrote too much output; bench --output null discards what a program prints",
	schema.StatusCancelled:   "the session was cancelled; the same bench command continues it",
	schema.StatusUnkillable:  "a process survived SIGKILL, probably waiting for a device; check the machine before you measure again",
	schema.StatusLost:        "its supervisor process died; the same bench command measures it again",
}

// importedHints are those where another tool measured the runs.
var importedHints = map[schema.Status]string{
	schema.StatusError:   "its benchmark tool reported an error; neurolens show --json of such a run has the message, if there is one, and the file (env source.path)",
	schema.StatusCrashed: "the process ended by a signal or without a result; neurolens show --json of such a run has the message, if there is one, and the file (env source.path)",
	schema.StatusTimeout: "it took longer than its benchmark tool allows; raise the deadline there",
}

// hint returns what to do about a failure, in one sentence. imported is set if another tool measured all runs.
func hint(f *summary.Failure, imported bool) string {
	switch {
	case imported && !f.Wrong && importedHints[schema.Status(f.Status)] != "":
		return importedHints[schema.Status(f.Status)]
	case f.Wrong:
		return "the result is wrong, which never counts as a win; compare its output with that of the reference"
	case f.Status == string(schema.StatusTimeout):
		return "a stage took longer than its deadline; raise " + timeoutKeys(f.Stages)
	}
	return hints[schema.Status(f.Status)]
}

// timeoutKeys returns the keys of a sweep to raise for these stages.
func timeoutKeys(stages []summary.Text) string {
	if len(stages) == 0 {
		return "timeouts of the sweep, or timeout_multiplier"
	}
	keys := term.Texts(stages, func(stage summary.Text) string { return "timeouts." + string(stage) })
	return strings.Join(keys, " and ") + " in the sweep"
}
