package report

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/chartdata"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/history"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
)

// Answer is a sentence about what changed, or which setting is best.
type Answer struct {
	Text    string       `json:"text" doc:"the sentence"`
	Verdict summary.Text `json:"verdict" doc:"verdict of what it is about; far_off: the newest sessions are far off the level, which has no verdict yet; null if it counts"`
	Command string       `json:"command" doc:"a command that shows more of it; empty: there is none"`
	Change
}

// How many sentences name one change each. The others are counted.
const (
	maxWorse  = 3
	maxBetter = 2
)

// maxCommand is how many bytes a command in the first paragraph has at most.
const maxCommand = 200

// answers returns the first paragraph of a report, the most important sentence first.
func (m Maker) answers(d *Document) []Answer {
	names := namerOf(d.Points)
	if names.axes != nil { // a sentence also names the benchmark that all points have, and of programs the command
		names.axes["benchmark"], names.axes["variant"] = true, true
	}
	all, series := m.trendAnswers(d, names)
	series = append(m.otherAnswers(d), series...)
	var guesses []Answer // about one session: what its history found stands first
	for i := range d.Comparisons {
		switch c := &d.Comparisons[i]; {
		case c.Axis == "side":
			all = append(all, m.sideAnswers(d, i, names)...)
		case c.From == summary.FromGuess:
			text, command := m.guess(d, c)
			if command != "" {
				text += " Another axis:"
			}
			if ahead, about := frontRunner(d, c, names); ahead != "" {
				guesses = append(guesses, Answer{Text: ahead, Command: m.command("ls", append([]string{"--best"}, d.words("")...)...), Change: about})
			}
			guesses = append(append(guesses, m.bestAnswers(d, i, names)...), Answer{Text: text, Command: command})
		default:
			all = append(all, m.bestAnswers(d, i, names)...)
		}
	}
	all = append(all, series...)
	var others []Answer
	if len(d.Trends) == 0 && (len(all) == 0 || len(guesses) > 0) {
		others = m.oneOfSessions(d)
		compares := m.Amount.Axis != "" && m.Amount.Axis != "benchmark" || slices.ContainsFunc(d.Recommendations, func(r Recommendation) bool { return r.Rule == summary.RuleNoBaseline })
		if len(guesses) == 0 && (len(others) == 0 || d.Counts.Points > 1 && compares) {
			others = append(others, m.nothingCompared(d))
		}
	}
	failed := failedAnswers(d, names)
	if d.Counts.ByStatus[string(schema.StatusOK)] == 0 {
		return slices.Concat(failed, all, guesses, others)
	}
	return slices.Concat(all, failed, guesses, others)
}

// pooled reports whether values are over many sessions, between which levels may have changed.
func (d *Document) pooled() bool { return len(d.Trends) > 0 && d.Selection.Sessions > 1 }

// past returns the arguments of history for all trends.
func (d *Document) past() []string {
	if d.Selection.HistoryFilter == "" {
		return nil
	}
	return []string{term.ShellWord(d.Selection.HistoryFilter)}
}

// pastOf returns the arguments of history for one trend. If its change may be chance among all trends, they select all: alone, the one that
// was picked for its change could be called changed.
func (m Maker) pastOf(d *Document, t *summary.Trend, names namer) []string {
	switch {
	case t.Verdict == judge.Inconclusive:
		return d.past()
	case d.pooled():
		return d.words(names.filter(t.PointID))
	}
	return term.Texts(views.SeriesFilter(m.Series, string(t.PointID), string(t.Machine)), term.ShellWord)
}

// failedAnswers returns how many runs failed and how many have a wrong result, each with the first point and the status of the most frequent
// error; nothing if there are none.
func failedAnswers(d *Document, names namer) (all []Answer) {
	for _, wrong := range []bool{false, true} {
		rule, lead := summary.RuleFailed, "Failed"
		if wrong {
			rule, lead = summary.RuleWrongResult, "Wrong result"
		}
		at := slices.IndexFunc(d.Findings, func(f Finding) bool { return f.Rule == rule })
		if at < 0 {
			continue
		}
		f := &d.Findings[at].Finding
		text := fmt.Sprintf("%s: %s of %s, of %s", lead, term.Thousands(f.Runs), term.Count(d.Counts.Runs, "run"), points(f))
		var causes []string
		for i := range d.Failures {
			if e := &d.Failures[i]; schema.Status(e.Status).Failed() && e.Wrong == wrong {
				for _, c := range e.Causes {
					if cause := term.Short(term.FirstLine(string(c.Error))); cause != "" {
						causes = append(causes, fmt.Sprintf("%s, %s: %s", names.name(&c.Example), e.Status, cause))
					}
				}
			}
		}
		if len(causes) > 0 {
			text += term.Verb(f.Points, ": ", ", such as ") + causes[0]
		}
		if others := len(causes) - 1; others > 0 && !wrong {
			text += fmt.Sprintf(" (and %s)", term.Count(others, "other error"))
		}
		all = append(all, Answer{Text: text + ".", Verdict: "failed"})
	}
	return all
}

// word says how a metric changed: a time is slower or faster.
func word(verdict judge.Verdict, unit, better summary.Text) string {
	time := views.IsTime(unit, better)
	switch {
	case verdict == judge.Changed:
		return "Changed"
	case verdict == judge.Regressed && time:
		return "Slower"
	case verdict == judge.Regressed:
		return "Worse"
	case time:
		return "Faster"
	}
	return "Better"
}

// trendAnswers returns what changed over sessions, or may have, and how many series did.
func (m Maker) trendAnswers(d *Document, names namer) (all, series []Answer) {
	if len(d.Trends) == 0 {
		return nil, nil
	}
	counts, failing, off := map[judge.Verdict]int{}, 0, 0
	for i := range d.Trends {
		t := &d.Trends[i]
		counts[t.Verdict]++
		command := m.history(m.pastOf(d, t, names))
		switch n := counts[t.Verdict]; {
		case t.Verdict == judge.Regressed && n <= maxWorse, (t.Verdict == judge.Improved || t.Verdict == judge.Changed) && n <= maxBetter:
			text := fmt.Sprintf("%s: %s, %s: %s.", word(t.Verdict, t.Unit, t.Better), names.name(&t.Subject), sinceText(t), ofTrend(t).text())
			all = append(all, Answer{text + wholeText(t), summary.Text(t.Verdict), command, ofTrend(t)})
		}
		if t.Verdict == judge.Inconclusive && counts[t.Verdict] == 1 && counts[judge.Regressed] == 0 {
			all = append(all, Answer{mayBeChance(t, names) + wholeText(t), summary.Text(t.Verdict), command, ofTrend(t)})
		}
		if t.Off > 0 {
			if off++; off <= maxWorse {
				all = append(all, Answer{offText(t, names), summary.RuleFarOff, cmp.Or(m.judging(t), command), ofDeparture(t)})
			}
		}
		if t.Failed == 0 {
			continue
		}
		if failing++; failing <= maxWorse {
			text := fmt.Sprintf("Failing: %s, all runs of the last %s.", names.name(&t.Subject), term.Count(t.Failed, "session"))
			all = append(all, Answer{text, "failed", command, Change{Subject: t.Subject}})
		}
	}
	var parts []string
	for _, v := range []judge.Verdict{judge.Regressed, judge.Improved, judge.Changed, judge.Inconclusive, judge.Estimate} {
		if n := counts[v]; n > 0 {
			parts = append(parts, term.Thousands(n)+" "+verdictWord(v))
		}
	}
	if n := counts[judge.Unchanged]; n > 0 {
		parts = append(parts, term.Thousands(n)+" with no change found")
	}
	if n := counts[summary.FewSessions]; n > 0 {
		parts = append(parts, fmt.Sprintf("%s with fewer than %d sessions", term.Thousands(n), d.Selection.HistoryNeeds))
	}
	text := fmt.Sprintf("%s series over %s: %s", term.Thousands(len(d.Trends)), term.Count(d.Selection.History, "session"), strings.Join(parts, ", "))
	if failing > 0 {
		text += "; " + term.Verb(failing, "1 fails in its newest sessions", term.Thousands(failing)+" fail in their newest sessions")
	}
	if off > 0 {
		text += fmt.Sprintf("; %s far off in %s newest session", term.Thousands(off), term.Verb(off, "its", "their"))
	}
	text += "."
	if longest := longestTrend(d); longest < d.Selection.HistoryNeeds {
		text += " " + capital(views.CannotDecide(term.Count(longest, "session"), len(d.Trends), d.Selection.HistoryNeeds)) + "."
	}
	if d.Selection.Tied > 0 {
		text += " " + history.CountAsOne(d.Selection.Tied, d.Selection.TiedStarts) + "."
	}
	if d.Selection.Undated > 0 {
		text += " Left out, in no order: " + history.NoStart(d.Selection.Undated) + "."
	}
	if counts[judge.Regressed]+counts[judge.Improved]+counts[judge.Changed] > 0 {
		text += " Of the series called changed, at most 5 % are expected to be false."
	}
	return all, append(series, Answer{Text: text, Command: m.history(d.past())})
}

// history returns the command history with some arguments; empty if they are the ids of many points.
func (m Maker) history(words []string) string {
	if command := m.command("history", words...); len(command) <= maxCommand {
		return command
	}
	return ""
}

// otherAnswers says how many series of other points or machines got worse, and names the worst one; nothing if none did.
func (m Maker) otherAnswers(d *Document) []Answer {
	if len(d.OtherTrends) == 0 {
		return nil
	}
	worst, counts, points := &d.OtherTrends[0], map[string]int{}, slices.Clone(d.Points) // a name tells them from the points of the report
	for i := range d.OtherTrends {
		t := &d.OtherTrends[i]
		points = append(points, summary.Point{Subject: t.Subject})
		switch {
		case t.Verdict == judge.Regressed:
			counts["regressed"]++
		case t.Failed > 0:
			counts["failing"]++
		default:
			counts["far off"]++
		}
	}
	joint := joined(counted(counts["regressed"], "regressed"), counted(counts["failing"], "failing"), counted(counts["far off"], "far off in the newest session"))
	text := fmt.Sprintf("Not in this report: %s of %s other series", joint, term.Thousands(d.Selection.OtherSeries))
	names := namerOf(points)
	if names.axes != nil {
		names.axes["benchmark"] = true
	}
	name := names.name(&worst.Subject)
	about := Change{Subject: worst.Subject}
	switch {
	case worst.Verdict == judge.Regressed:
		about = ofTrend(worst)
		text += fmt.Sprintf("; most: %s, %s: %s", name, sinceText(worst), about.text())
	case worst.Failed > 0:
		text += fmt.Sprintf("; %s fails", name)
	default:
		about = ofDeparture(worst)
		text += fmt.Sprintf("; %s: %s", name, about.text())
	}
	return []Answer{{Text: text + ". All of them:", Verdict: summary.Text(judge.Inconclusive), Command: m.command("report", "--all"), Change: about}}
}

// longestTrend returns the number of sessions of the longest trend.
func longestTrend(d *Document) int {
	return slices.MaxFunc(d.Trends, func(a, b summary.Trend) int { return a.Sessions - b.Sessions }).Sessions
}

// wholeText says from which level to which a series changed in all, and when; before the last change, if that may be chance. It is empty if
// there is one change or none.
func wholeText(t *summary.Trend) string {
	if len(t.Earlier) == 0 {
		return ""
	}
	first, last := &t.Earlier[0], &t.Earlier[len(t.Earlier)-1]
	lead, to, days := " Before that", last.Level, make([]string, 0, len(t.Earlier)+1)
	for i := range t.Earlier {
		days = append(days, day(t.Earlier[i].Since))
	}
	if t.Verdict != judge.Inconclusive {
		lead, to, days = " In all", t.Level, append(days, day(t.Since))
	}
	changes := len(days)
	all := Change{Metric: t.Metric, Unit: t.Unit, Base: first.OldLevel, Head: to, Scale: t.Scale}
	if all.Base != nil && all.Head != nil {
		all.Size = new(schema.Scale(t.Scale).Between(*all.Base, *all.Head))
	}
	const named = 4
	if len(days) > named {
		days = []string{fmt.Sprintf("%s to %s", days[0], days[len(days)-1])}
	}
	return fmt.Sprintf("%s, %s in %s: %s.", lead, all.text(), term.Count(changes, "change"), joined(days...))
}

// mayBeChance says that a level changed visibly, and what a verdict needs.
func mayBeChance(t *summary.Trend, names namer) string {
	text := fmt.Sprintf("May be chance: %s, %s: %s; ", names.name(&t.Subject), sinceText(t), ofTrend(t).text())
	if t.Missing > 0 && t.Off == 0 {
		text += "about " + term.Count(t.Missing, "more session") + term.Verb(t.Missing, " decides", " decide")
	} else {
		text += "more sessions decide"
	}
	if t.Sessions < history.MinSlowSessions && t.Ramp == 0 {
		text += views.SlowNeeds
	}
	return text + "."
}

// offText says how far the newest sessions of a series are off its level.
func offText(t *summary.Trend, names namer) string {
	sessions := "Newest session"
	if t.Off > 1 {
		sessions = fmt.Sprintf("Newest %d sessions", t.Off)
	}
	name := names.name(&t.Subject)
	if t.OffSince != nil {
		name += ", since " + day(t.OffSince)
	}
	if t.OffCommit != "" {
		name += ", commit " + views.ShortCommit(string(t.OffCommit))
	}
	return fmt.Sprintf("%s: %s: %s; %s.", sessions, name, ofDeparture(t).text(), views.JudgesNewest(t.Missing, t.OffBase != ""))
}

// sinceText says when a level changed, and with which commits.
func sinceText(t *summary.Trend) string {
	text := "since " + day(t.Since)
	if t.Ramp > 0 {
		text += fmt.Sprintf(", slowly until %s", day(t.By))
	} else if between := placesText(t); between != "" {
		text += fmt.Sprintf(" (95 %% confidence: %s)", between)
	}
	if commits := commitsText(t); commits != "" {
		text += ", commit " + commits
	}
	return text
}

// placesText returns the days that enclose a step, with a confidence of 95 %; empty if it can only be one day, and for a slow change.
func placesText(t *summary.Trend) string {
	if after, by := day(t.After), day(t.By); t.Ramp == 0 && t.Places > 1 && after != by {
		return after + ".." + by
	}
	return ""
}

// commitsText returns the commits that enclose a change; empty if they are unknown.
func commitsText(t *summary.Trend) string {
	base, head := views.ShortCommit(string(t.Base)), views.ShortCommit(string(t.Head))
	switch {
	case t.Bisected != "":
		return views.Bisected(string(t.Bisected), string(t.Base), string(t.Head))
	case t.Base == t.Head || t.Base == "":
		return head
	case t.Head == "":
		return base + ".."
	}
	return base + ".." + head
}

// day returns the day of a time in UTC.
func day(t *summary.Time) string {
	if t == nil {
		return "an unknown time"
	}
	return t.UTC().Format(time.DateOnly)
}

// sideAnswers returns what changed between two sides, and then how many pairs did, with the dates and commits of both.
func (m Maker) sideAnswers(d *Document, comparison int, names namer) []Answer {
	c := &d.Comparisons[comparison]
	all := changedPairs(d, comparison, names.pair, judge.Regressed, judge.Changed, judge.Improved)
	differ, repeats := repeatsText(d, comparison)
	text := verdictCounts(d, c, names)
	if repeats != "" {
		text += "; " + repeats
	}
	states := 0
	for _, v := range oneSided {
		states += c.Verdicts[string(v)]
	}
	switch {
	case len(all)+states > 0:
		text = "By verdict: " + text
	case repeats != "":
		text = capital(repeats)
	case c.Verdicts[string(judge.Estimate)] == c.All.Pairs:
		text = "No verdict: " + term.Count(c.All.Pairs, "point") + " only estimated" + whyUndecided(d, c)
	case c.Verdicts[string(judge.Unchanged)] == 0:
		text = "Nothing is decided: " + text
	default:
		text = "No change by verdict: " + text
	}
	about := Change{}
	if len(all) == 0 {
		if differ != nil {
			about = d.changeOf(differ)
			text += fmt.Sprintf("; most: %s: %s", names.pair(differ), about.text())
			if differ.Machine == "" {
				text += ", if both sides ran on one machine in one state"
			}
		} else if worst := c.All.SlowestPair; worst != nil && d.Pairs[*worst].Verdict != string(judge.Unchanged) && c.All.Slower > 0 {
			p := &d.Pairs[*worst]
			about = d.changeOf(p)
			text += fmt.Sprintf(". The worst estimate is %s: %s", names.pair(p), about.text())
		}
	}
	if repeats != "" && len(all)+states == 0 {
		text += ". No verdict" + whyUndecided(d, c)
	}
	for _, p := range c.Sides {
		if p.Since == nil && len(p.Commits) == 0 {
			continue
		}
		text += ". " + capital(p.Side) + ": " + periodText(&p)
	}
	return append(all, Answer{Text: text + ".", Command: m.command("compare", d.compared(c)...), Change: about})
}

// changedPairs names the pairs of a comparison that have one of some verdicts, for each verdict the largest changes first.
func changedPairs(d *Document, comparison int, name func(*summary.Pair) string, verdicts ...judge.Verdict) (all []Answer) {
	for _, verdict := range verdicts {
		most := maxBetter
		if verdict == judge.Regressed {
			most = maxWorse
		}
		changed := worst(d, comparison, verdict)
		for _, p := range changed[:min(len(changed), most)] {
			about := d.changeOf(p)
			text := fmt.Sprintf("%s: %s: %s.", word(verdict, p.Unit, p.Better), name(p), about.text())
			all = append(all, Answer{Text: text, Verdict: summary.Text(verdict), Change: about})
		}
		if more := len(changed) - most; more > 0 {
			all[len(all)-1].Text += fmt.Sprintf(" %s more %s.", term.Thousands(more), verdict)
		}
	}
	return all
}

// repeatsText says in how many of the pairs without a verdict the repeats of the sides differ, and returns the one that differs most; empty if
// the repeats tell of none.
func repeatsText(d *Document, comparison int) (most *summary.Pair, text string) {
	differ, alike, all, known := 0, 0, 0, false
	for i := range d.Pairs {
		p := &d.Pairs[i]
		if p.Comparison != comparison || p.Repeats == "" || p.Control {
			continue
		}
		all++
		known = known || p.Repeats != summary.Text(judge.FewRuns) || p.Confidence != nil
		switch p.Repeats {
		case compare.RepeatsAlike:
			alike++
		case compare.RepeatsDiffer:
			if differ++; most == nil || byFactor(p, most) < 0 {
				most = p
			}
		}
	}
	if !known {
		return nil, ""
	}
	return most, views.RepeatsDiffer(differ, alike, all, "point")
}

// worst returns the pairs of a comparison with a verdict, the largest change first.
func worst(d *Document, comparison int, verdict judge.Verdict) (all []*summary.Pair) {
	for i := range d.Pairs {
		if p := &d.Pairs[i]; p.Comparison == comparison && p.Verdict == string(verdict) && !p.Control {
			all = append(all, p)
		}
	}
	slices.SortStableFunc(all, byFactor)
	return all
}

// verdictCounts counts the pairs of a comparison by verdict, the worst first, with the most frequent reason of those that are not decided.
func verdictCounts(d *Document, c *summary.Comparison, names namer) string {
	var parts []string
	undecided := -1
	for _, v := range verdictOrder {
		if n := c.Verdicts[string(v)]; n > 0 {
			if v == judge.Inconclusive || v == judge.Estimate {
				undecided = len(parts)
			}
			parts = append(parts, term.Thousands(n)+" "+verdictWord(v)+withoutSide(d, c, v, names))
		}
	}
	if undecided >= 0 {
		parts[undecided] += whyUndecided(d, c)
	}
	return strings.Join(parts, ", ")
}

// oneSided are the verdicts that say that a side of two has no value.
var oneSided = []judge.Verdict{compare.Failed, compare.Missing, compare.Fixed, compare.Added}

// withoutSide names points with one of these verdicts in parentheses; empty for other verdicts.
func withoutSide(d *Document, c *summary.Comparison, v judge.Verdict, names namer) string {
	if c.Axis != "side" || !slices.Contains(oneSided, v) {
		return ""
	}
	var all []string
	for i := range d.Pairs {
		if p := &d.Pairs[i]; &d.Comparisons[p.Comparison] == c && p.Verdict == string(v) {
			all = append(all, names.pair(p))
		}
	}
	if len(all) == 0 {
		return ""
	}
	return " (" + some(all) + ")"
}

// verdictWord returns a verdict in a sentence.
func verdictWord(v judge.Verdict) string {
	switch v {
	case "missing":
		return "missing on the head"
	case "added":
		return "new on the head"
	case judge.Estimate:
		return "without a verdict"
	}
	return string(v)
}

// periodText says when a side was measured, and which commits.
func periodText(p *summary.Period) string {
	text := day(p.Since)
	if until := day(p.Until); until != text {
		text += " to " + until
	}
	switch n := len(p.Commits); {
	case n == 1:
		text += ", commit " + views.ShortCommit(p.Commits[0]) + views.UncommittedRuns(p.Dirty, p.Runs)
	case n > 1:
		text += ", commits " + strings.Join(term.Texts(p.Commits, views.ShortCommit), ", ")
	}
	return text
}

// bestAnswers returns which value of an axis is best, where, and by how much, as far as there are verdicts, and which values are worse than
// the baseline. If no value is best, the changes come first.
func (m Maker) bestAnswers(d *Document, comparison int, names namer) []Answer {
	c := &d.Comparisons[comparison]
	points := c.Equal + c.Undecided
	for _, b := range c.Best {
		points += b.Points
	}
	command := m.command("compare", d.compared(c)...)
	if points == 0 { // all others failed
		return []Answer{{Text: fmt.Sprintf("Nothing could be compared with %s.", c.Name()), Command: command}}
	}
	points += c.Alone
	against := func(p *summary.Pair) string {
		value, _ := p.AxisValue(c.Axis)
		text := settingName(c, value) + " against " + settingName(c, c.Baseline)
		if points > 1 {
			text += " at " + names.without(c.Axis, p)
		}
		return text
	}
	if len(c.Best) == 0 {
		var changed []Answer
		text := fmt.Sprintf("No %s is best: no difference by verdict at %s.", c.Axis, ofPoints(c.Equal, points))
		if c.Undecided > 0 {
			changed = changedPairs(d, comparison, against, judge.Regressed, judge.Changed, judge.Improved)
			text = fmt.Sprintf("No %s is called best: %s.%s", c.Axis, verdictCounts(d, c, names), ahead(c, d.direction(c)))
		}
		return append(changed, Answer{Text: text, Command: command})
	}
	best := &c.Best[0]
	text := fmt.Sprintf("Best: %s at %s", settingName(c, best.Value), ofPoints(best.Points, points))
	if points == 1 {
		text = "Best: " + settingName(c, best.Value)
	}
	verdict, about := summary.Text(judge.Unchanged), Change{}
	if pair := cmp.Or(best.Most, best.Next); pair != nil {
		about = d.changeOf(&d.Pairs[*pair])
	}
	switch base := settingName(c, c.Baseline); {
	case best.Most == nil:
		text += othersWorse(d, c, points, names)
	case points == 1:
		verdict = summary.Text(judge.Improved)
		text += ", against " + base + ": " + about.text()
	case best.Points == 1:
		verdict = summary.Text(judge.Improved)
		most := &d.Pairs[*best.Most]
		text += ", against " + base + " at " + names.without(c.Axis, most) + ": " + about.text()
	default:
		verdict = summary.Text(judge.Improved)
		most, least := &d.Pairs[*best.Most], &d.Pairs[*best.Least]
		text += fmt.Sprintf(", by %s to %s against %s. Most at %s: %s", ofPair(least).size(), about.size(), base, names.without(c.Axis, most), about.text())
	}
	if best.Near != nil {
		near, next := &d.Pairs[*best.Near], &d.Pairs[*best.Next]
		value, _ := next.AxisValue(c.Axis)
		text += fmt.Sprintf(". The next is %s", settingName(c, value))
		if best.Points > 1 {
			text += ", closest at " + names.without(c.Axis, near)
		}
		text += fmt.Sprintf(": %s against %s%s", quantity(next.Value, next.Unit, next.Metric), quantity(near.Value, near.Unit, near.Metric), factorText(near, next))
	}
	text += "."
	if best.Tied > 0 {
		text += fmt.Sprintf(" At %s another value may be as good: the intervals overlap.", term.Verb(best.Tied, "1 of these", term.Thousands(best.Tied)+" of these"))
	}
	var others []string
	for _, b := range c.Best[1:min(len(c.Best), 4)] {
		where := term.Thousands(b.Points)
		if one := cmp.Or(b.Most, b.Next); b.Points == 1 && one != nil && points > 1 {
			where = names.without(c.Axis, &d.Pairs[*one])
		}
		others = append(others, fmt.Sprintf("%s at %s", settingName(c, b.Value), where))
	}
	if n := len(c.Best) - 4; n > 0 {
		others = append(others, term.Count(n, "other value"))
	}
	if c.Equal > 0 {
		others = append(others, fmt.Sprintf("no difference at %s", term.Thousands(c.Equal)))
	}
	if c.Undecided > 0 {
		others = append(others, fmt.Sprintf("no verdict at %s%s", term.Thousands(c.Undecided), whyUndecided(d, c)))
	}
	if best.Failed > 0 {
		others = append(others, fmt.Sprintf("%s failed or is unsupported at %s", settingName(c, best.Value), term.Thousands(best.Failed)))
	}
	if one := len(c.Values) == 1; c.Alone > 0 && !(one && best.Failed > 0) {
		failed := "all others"
		if one {
			failed = settingName(c, string(c.Values[0].Name))
		}
		others = append(others, fmt.Sprintf("%s failed or %s unsupported at %s", failed, term.Verb(len(c.Values), "is", "are"), term.Thousands(c.Alone)))
	}
	if len(others) > 0 {
		text += " Elsewhere: " + strings.Join(others, ", ") + "."
	}
	worse := changedPairs(d, comparison, against, judge.Regressed)
	if c.From == summary.FromGuess || d.pooled() || best.Most == nil && len(worse) == 1 { // of one, the first sentence names it as the closest
		worse = nil
	}
	return append([]Answer{{text, verdict, command, about}}, worse...)
}

// othersWorse says that the baseline is best at some of the points, and which other value comes closest.
func othersWorse(d *Document, c *summary.Comparison, points int, names namer) string {
	there := " there"
	if points == 1 {
		there = ""
	}
	others := "all others"
	if c.Verdicts["failed"]+c.Verdicts["unsupported"] > 0 {
		others += " that ran"
	}
	next := c.Best[0].Next
	if next == nil {
		return ": " + term.Verb(len(c.Values), "the other value is", others+" are") + " worse" + there
	}
	p := &d.Pairs[*next]
	if len(c.Values) != 1 {
		return ": " + others + " are worse" + there + ", the closest is " + names.pair(p) + ": " + ofPair(p).text()
	}
	value, _ := p.AxisValue(c.Axis)
	text := ": " + settingName(c, value) + " is worse" + there
	if points > 1 {
		text += ", closest at " + names.without(c.Axis, p)
	}
	return text + ": " + ofPair(p).text()
}

// factorText returns how many times as fast, or as good, a pair is as another one; empty if that is unknown.
func factorText(near, next *summary.Pair) string {
	if near.Speedup == nil || next.Speedup == nil || *next.Speedup <= 0 {
		return ""
	}
	word := "good"
	if views.IsTime(near.Unit, near.Better) {
		word = "fast"
	}
	return fmt.Sprintf(", %.3g times as %s", *near.Speedup / *next.Speedup, word)
}

// ahead says which value is most often ahead of the others if too few runs are all that a verdict lacks; empty if all are level or none has
// a speed-up.
func ahead(c *summary.Comparison, direction chart.Better) string {
	most, level := "", false
	for _, value := range slices.Sorted(maps.Keys(c.Wins)) {
		switch {
		case c.Wins[value] > c.Wins[most]:
			most, level = value, false
		case c.Wins[value] == c.Wins[most]:
			level = true
		}
	}
	if few := c.Reasons[string(judge.FewRuns)]; most == "" || level || len(c.Reasons) != 1 || few == 0 {
		return ""
	}
	text := fmt.Sprintf(" By estimate %s is ahead", settingName(c, most))
	if c.Sets > 1 {
		text += " at " + ofPoints(c.Wins[most], c.Sets)
	}
	for i := range c.Values {
		switch v := &c.Values[i]; {
		case string(v.Name) != most || v.GeometricMean == nil:
		case v.Compared > 1:
			text += fmt.Sprintf(", %s in the geometric mean", changed(v.GeometricMean, direction))
		default:
			text += ", " + changed(v.GeometricMean, direction)
		}
	}
	return text + "."
}

// guess says that nobody named the baseline of a comparison, and command shows another axis; empty if there is none.
func (m Maker) guess(d *Document, c *summary.Comparison) (text, command string) {
	text = fmt.Sprintf("Nobody named a baseline: %s=%s is a guess.", c.Axis, term.Short(c.Baseline))
	_, varying := views.Axes(chartdata.SubjectsOf(d.Points), views.IdentityColumns)
	for _, x := range varying {
		if x.Name != c.Axis && x.Name != "benchmark" {
			return text, m.command("ls", append([]string{"--pivot", term.ShellWord(x.Name)}, d.words("")...)...)
		}
	}
	return text, ""
}

// frontRunner names the point with the best median over all axes, the one that comes next, and the factor between them with its interval. It is
// empty if the medians cannot be ranked, or if the points differ in one other axis than the amount of work, of which a value is best by verdict.
func frontRunner(d *Document, c *summary.Comparison, names namer) (text string, about Change) {
	f := summary.FrontOf(d.Points, d.Pairs)
	_, varying := views.Axes(chartdata.SubjectsOf(d.Points), views.IdentityColumns)
	if f == nil || len(varying)-len(f.Work) < 2 && len(c.Best) > 0 {
		return "", about
	}
	work := namer{axes: map[string]bool{}}
	for _, axis := range f.Work {
		work.axes[axis], names = true, names.but(axis)
	}
	most := "Lowest"
	if f.BestValue.Better == summary.Text(schema.BetterHigher) {
		most = "Highest"
	}
	over := ""
	switch {
	case len(f.Work) > 0:
		over = " at " + work.name(&f.Best.Subject)
	case len(varying) > 1:
		over = " over all axes"
	}
	certain, ends := leadInterval(c.Lead, f)
	if !certain {
		over += ", by estimate"
	}
	about = Change{Subject: f.Best.Subject, Metric: summary.Text(f.BestValue.Metric), Unit: f.BestValue.Unit, Head: f.BestValue.Median}
	return fmt.Sprintf("%s median%s: %s, %s %s%s%s.", most, over, names.name(&about.Subject), about.Metric,
		quantity(about.Head, about.Unit, about.Metric), lead(f.BestValue, f.NextValue, names.name(&f.Next.Subject)), ends), about
}

// leadInterval returns the interval of the lead of the best point in words, or why there is none, and whether no other point may be as good.
func leadInterval(l summary.Lead, f *summary.Front) (certain bool, text string) {
	switch {
	case l.PointID == "" || l.PointID != f.Best.PointID:
		return false, ""
	case l.Low == nil && l.Reason == summary.Text(judge.FewRuns):
		return false, fmt.Sprintf("; %s per point: no interval", term.Count(l.Runs, "run"))
	case l.Low == nil && l.Reason != "":
		return false, "; no interval: " + views.ReasonText(string(l.Reason))
	case l.Low == nil:
		return false, ""
	}
	what, low, high, none := "factor", fmt.Sprintf("%.3g", *l.Low), fmt.Sprintf("%.3g", *l.High), 1.
	if l.Scale == summary.Text(schema.ScaleDifference) {
		what, low, high, none = "lead", quantity(l.Low, f.BestValue.Unit, f.BestValue.Metric), quantity(l.High, f.BestValue.Unit, f.BestValue.Metric), 0
	}
	text = fmt.Sprintf("; 95 %% interval of the %s %s to %s, allowing for the choice among %d", what, low, high, l.Points)
	if *l.Low <= none {
		return false, text + ": another may be as good"
	}
	return true, text
}

// lead says how far the best value is ahead of the next, which has a name.
func lead(best, next *summary.Value, name string) string {
	value := quantity(next.Median, next.Unit, next.Metric)
	factor := max(*best.Median, *next.Median) / min(*best.Median, *next.Median)
	switch times := fmt.Sprintf("%.3g times", factor); {
	case *best.Median == *next.Median:
		return ", as is that of " + name
	case *best.Median <= 0 || *next.Median <= 0:
		return fmt.Sprintf("; the next is %s, %s", name, value)
	case factor < 1.005:
		return fmt.Sprintf(", less than 1 %% ahead of the next, %s (%s)", name, value)
	case views.IsTime(best.Unit, best.Better):
		return fmt.Sprintf(", %s as fast as the next, %s (%s)", times, name, value)
	case best.Better == summary.Text(schema.BetterLower):
		return fmt.Sprintf("; the next has %s as much: %s, %s", times, name, value)
	default:
		return fmt.Sprintf(", %s as much as the next, %s (%s)", times, name, value)
	}
}

// Best returns the sentences about which value of an axis that nobody named is best among the points of a selection, as a report says them,
// and guess and command as the method guess does, empty if c is no guess. All are empty if nothing can be compared.
func (m Maker) Best(ctx context.Context, db *query.DB, selection string, c query.Contrast) (best []string, guess, command string, err error) {
	r, err := summary.Contest(ctx, db, selection, c)
	if err != nil || len(r.Comparisons) == 0 {
		return nil, "", "", err
	}
	d := &Document{Selection: r.Selection, Comparisons: r.Comparisons, Pairs: r.Pairs, Points: r.Points}
	names := namerOf(d.Points)
	if ahead, _ := frontRunner(d, &d.Comparisons[0], names); ahead != "" {
		best = append(best, ahead)
	}
	for _, a := range m.bestAnswers(d, 0, names) {
		best = append(best, a.Text)
	}
	if !c.Named() {
		guess, command = m.guess(d, &d.Comparisons[0])
	}
	return best, guess, command, nil
}

// ofPoints says at how many points of all something is so.
func ofPoints(some, all int) string {
	switch {
	case some == all && all == 1:
		return "the only point"
	case some == all:
		return term.All(all, "point")
	}
	return term.Thousands(some) + " of " + term.Count(all, "point")
}

// settingName names a value of an axis. The name of a variant or a backend stands alone; other values have the name of the axis before
// them.
func settingName(c *summary.Comparison, value string) string {
	if c.Axis == "variant" || c.Axis == "backend" || c.Axis == "benchmark" {
		return term.Short(value)
	}
	return c.Axis + "=" + term.Short(value)
}

// whyUndecided names the most frequent reason why pairs have no verdict.
func whyUndecided(d *Document, c *summary.Comparison) string {
	most := ""
	for reason, n := range c.Reasons {
		if known := c.Reasons[most]; n > known || n == known && reason < most {
			most = reason
		}
	}
	if most == "" {
		return ""
	}
	return " (" + d.reasonText(most) + ")"
}

// reasonText returns the reason of a pair without a verdict in words.
func (d *Document) reasonText(reason string) string {
	if reason == string(judge.Machines) && !slices.ContainsFunc(d.Points, func(p summary.Point) bool { return p.Machine != "" }) {
		return "unknown machine"
	}
	return views.ReasonText(reason)
}

// oneOfSessions returns the sentence that a report covers one of several sessions, with a command that covers others.
func (m Maker) oneOfSessions(d *Document) []Answer {
	const alone = "Not compared with other sessions: "
	switch {
	case d.Selection.Sessions != 1 || !m.Others:
		return nil
	case m.Past > 1 && m.Other != "":
		text := term.Verb(m.Past-1, "1 other has these points. Against it:", term.Thousands(m.Past-1)+" others have these points. Against the newest of them:")
		sides := append([]string{"session=" + views.ShortRun(m.Other)}, d.words("")...)
		if m.Later {
			slices.Reverse(sides)
		}
		return []Answer{{Text: alone + text, Command: m.command("compare", sides...)}}
	case m.Past == 0:
		return []Answer{{Text: alone + "report --all looks at all of the store, as history does.", Command: m.command("report", "--all")}}
	}
	return nil
}

// nothingCompared says why a report has no answer, and what would give one.
func (m Maker) nothingCompared(d *Document) Answer {
	const lasting = "neurolens compare session=last~1 session=last"
	s := &d.Selection
	for _, r := range d.Recommendations {
		if r.Rule == summary.RuleNoBaseline {
			return Answer{Text: "Nothing is called best: none of the values is known to be the baseline.", Command: r.Command}
		}
	}
	switch {
	case d.Counts.ByStatus[string(schema.StatusOK)] == 0:
		return Answer{Text: "No run is ok: there is nothing to compare.", Command: m.command("ls", d.words("")...)}
	case s.Unordered, s.Sessions > 1 && s.Since == nil:
		return Answer{Text: fmt.Sprintf("No history: none of %s has a start time, so they have no order. Give it with ingest --at.", term.Count(s.Sessions, "session"))}
	case s.Sessions >= history.MinSessions:
		return Answer{Text: "No history: no ok run has a value of its primary metric.", Command: m.command("history", d.words("")...)}
	case s.Sessions > 1:
		return Answer{Text: fmt.Sprintf("Nothing is compared here: %s, and a history needs %d.", term.Count(s.Sessions, "session"), history.MinSessions), Command: lasting + m.Reader.OfStores()}
	}
	if d.Counts.Points == 1 {
		return Answer{Text: "Nothing is compared here: one point in one session.", Command: m.command("ls", d.words("")...)}
	}
	text := "No setting is called best: there is no baseline, and "
	switch m.Amount.Axis {
	case "":
		return Answer{Text: "Nothing is compared here: one session, and its points have no axis in common.", Command: m.command("ls", d.words("")...)}
	case "benchmark": // functions of one file: see query.ContrastsOf
		text += "the benchmarks may do different work. If they do the same, this compares them:"
	default:
		text += m.Amount.Axis + " may be the amount of work. If it is not, this compares its values:"
	}
	return Answer{Text: text, Command: m.command("report", append(d.words(""), "--baseline", term.ShellWord(m.Amount.String()))...)}
}
