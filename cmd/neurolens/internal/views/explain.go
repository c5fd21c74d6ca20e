package views

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// explainRows is the number of lines that a table shows by default.
const explainRows = 20

// explainText is how wide a fact is shown at most: next to it there is to be room for its name.
const explainText = 16

// Explanation shows an explanation to people.
type Explanation struct {
	Comparison
	x   *compare.Explanation
	all bool
}

// NewExplanation shows an explanation to a reader, with all its lines or the first.
func NewExplanation(r Display, x *compare.Explanation, all bool) Explanation {
	return Explanation{Comparison{Reader: r, C: &x.Comparison}, x, all}
}

// View names the explained point and lists the facts that differ.
func (w Explanation) View() term.View {
	if len(w.x.Comparison.Rows) == 0 {
		return term.View{Below: []string{"nothing got worse: " + w.counts()[0]}}
	}
	v := term.View{Above: w.above()}
	var quiet, contrasts []compare.ExplainRow
	for _, row := range w.x.Rows[1:] {
		contrast := row.Kind == string(compare.ContrastEvidence)
		if contrast {
			contrasts = append(contrasts, row)
		}
		switch {
		case row.Rank != nil:
			v.Rows = append(v.Rows, evidenceCells(&row))
		case !contrast:
			quiet = append(quiet, row)
		}
	}
	ranked := len(v.Rows)
	if ranked == 0 {
		v.Above = append(v.Above, "")
	}
	if hidden := ranked - explainRows; hidden > 0 && !w.all {
		v.Rows = v.Rows[:explainRows]
		v.Below = append(v.Below, fmt.Sprintf("… %s more (--all)", term.Thousands(hidden)), "")
	}
	v.Columns = slices.Clone(explainViewColumns)
	v = withoutEmptyColumns(v, 0)
	v.Below = append(v.Below, w.contrasts(contrasts)...)
	v.Below = append(v.Below, w.quiet(quiet)...)
	if ranked == 0 {
		v.Below = append(v.Below, "no other known differences")
	} else {
		v.Below = append(v.Below, term.Count(ranked, "difference")+": correlations, not proven causes")
	}
	v.Below = append(v.Below, "only environment variables of libraries, runtimes and the locale are stored")
	if slices.ContainsFunc(w.x.Rows, func(r compare.ExplainRow) bool { return r.Kind == string(compare.OpEvidence) && r.Rank != nil }) {
		v.Below = append(v.Below, "ops: totals of a profiled run; PART is the share of the change of all ops")
	}
	if w.x.Tested > 0 {
		v.Below = append(v.Below, fmt.Sprintf("metrics and stages: false discovery rate 5 %% (Benjamini-Hochberg) over %d tests", w.x.Tested))
	}
	if log := w.log(); log != "" {
		v.Below = append(v.Below, "")
		v.Next = []string{"next  " + log}
	}
	return v
}

// explainViewColumns are the columns of what cells gives.
var explainViewColumns = []term.Column{
	{Header: "#", Right: true},
	{Header: "WHAT"},
	{Header: "NAME"},
	{Header: "BASE", Right: true},
	{Header: "HEAD", Right: true},
	{Header: "CHANGE", Right: true},
	{Header: "95 %", Right: true, Drop: 1},
	{Header: "PART", Right: true},
}

// above names the sides and the explained point.
func (w Explanation) above() []string {
	c := w.C
	lines := append([]string{w.side("base", c.Base), w.side("head", c.Head)}, w.sessions()...)
	lines = append(lines, w.counts()[0], "")
	row := &c.Rows[0]
	columns := append(slices.Clone(IdentityColumns), "machine", "metric")
	if row.Reason == judge.Machines { // the row has the head's
		columns = slices.DeleteFunc(columns, func(name string) bool { return name == "machine" })
	}
	constants, _ := Axes(subjects(c.Rows[:1]), columns)
	for i, text := range constants {
		constants[i] = strings.TrimPrefix(text, "metric=")
	}
	lines = append(lines, term.Heading(constants)...)
	cells := pointCells(row, false)
	base, head, change, verdict, words := cells[0].Text, cells[1].Text, cells[2].Text, cells[7].Text, cells[8].Text
	line := base + " → " + head
	if change != term.Unknown {
		line += term.Gap + change + interval(row)
	}
	if row.Repeats != nil {
		verdict, words = "repeats", row.Repeats.Result
	}
	line += term.Gap + verdict
	if words != "" {
		line += term.Gap + words
	}
	return append(lines, line, w.chosen())
}

// chosen gives the reason for the choice of the point.
func (w Explanation) chosen() string {
	points := w.C.Points
	switch v := w.C.Rows[0].Verdict; {
	case len(points) == 1:
		return "the only point: judged alone, without a correction for other points"
	case slices.Contains([]judge.Verdict{judge.Regressed, judge.Changed, judge.Improved}, v):
		return fmt.Sprintf("the one of %s that %s most", term.Count(len(points), "point"), v)
	case slices.Contains([]judge.Verdict{judge.Unchanged, judge.Inconclusive, judge.Estimate}, v):
		return fmt.Sprintf("none of %s has a verdict of a change; this is the largest difference", term.Count(len(points), "point"))
	default:
		return fmt.Sprintf("the first of %s that is %s", term.Count(len(points), "point"), v)
	}
}

// evidenceCells returns the cells of a line of evidence.
func evidenceCells(row *compare.ExplainRow) []term.Cell {
	value := func(v compare.EvidenceValue) string {
		switch {
		case v.Runs != nil:
			return v.Runs.String() + " runs"
		case v.Number != nil:
			return QuantityOf(*v.Number, row.Unit, row.Name)
		case len(v.Texts) == 0:
			return term.Unknown
		}
		texts := v.Texts
		if query.IsProgram(query.FactDifference{Name: row.Name}) {
			texts = term.Texts(texts, func(kept string) string { return strings.Join(programWords(kept), " ") })
		}
		return term.Cut(shortHashes(texts), explainText)
	}
	change, interval, part := evidenceChange(row), "", ""
	if e := row.Estimate; e != nil && Finite(e.Low) && Finite(e.High) {
		interval = Interval(e.Low, e.High, row.Scale, row.Unit)
	}
	if row.Share != nil && Finite(*row.Share) {
		part = strings.Replace(fmt.Sprintf("%.0f %%", 100**row.Share), "-", "−", 1)
	}
	rank := term.ValueString(answer.Integer(row.Rank))
	return term.Cells(rank, row.Kind, DifferenceName(row.Name), value(row.Base), value(row.Head), change, interval, part)
}

// evidenceChange returns a change as people read it; empty for what has none.
func evidenceChange(row *compare.ExplainRow) string {
	if row.Estimate == nil || !Finite(row.Estimate.Change) {
		return ""
	}
	return Change(row.Estimate.Change, row.Scale, row.Unit)
}

// hash is a text that nobody reads to its end.
var hash = regexp.MustCompile(`^[0-9a-f]{32,}$`)

// shortHashes returns some texts, of which those that are hashes lose their end.
func shortHashes(texts []string) string {
	all := slices.Clone(texts)
	for i, text := range all {
		if hash.MatchString(text) {
			all[i] = ShortCommit(text)
		}
	}
	return strings.Join(all, ", ")
}

// quiet returns lines about facts that were examined and do not differ.
func (w Explanation) quiet(rows []compare.ExplainRow) []string {
	words := []string{compare.RepeatsDiffer, compare.RepeatsAlike, string(judge.Unchanged), string(judge.Inconclusive)}
	lists := make([][]string, len(words))
	ops := 0
	for _, row := range rows {
		if row.Kind == string(compare.OpEvidence) {
			ops++
			continue
		}
		list, text := slices.Index(words, row.Verdict), row.Name
		if list < 0 {
			list = len(words) - 1
		}
		if change := evidenceChange(&row); change != "" && row.Verdict != string(judge.Unchanged) {
			text += " " + change
		}
		lists[list] = append(lists[list], text)
	}
	var lines []string
	for i, texts := range lists {
		if len(texts) > 0 {
			lines = append(lines, words[i]+term.Gap+strings.Join(texts, ", "))
		}
	}
	switch {
	case ops > 0:
		lines = append(lines, fmt.Sprintf("%s with a difference below 2 %% of the total time", term.Count(ops, "op")))
	case w.x.BaseProfiles > 0 != (w.x.HeadProfiles > 0):
		lines = append(lines, "only one side was profiled (bench --profile)")
	}
	if len(lines) > 0 {
		lines = append(lines, "")
	}
	return lines
}

// log returns the command that lists the commits between the sides; empty where there are none to list.
func (w Explanation) log() string {
	for _, row := range w.x.Rows {
		if row.Name == "git_commit" && len(row.Base.Texts) == 1 && len(row.Head.Texts) == 1 {
			return "git log --oneline " + ShortCommit(row.Base.Texts[0]) + ".." + ShortCommit(row.Head.Texts[0])
		}
	}
	return ""
}

// contrasts returns lines about facts that some runs of a side have and others have not: a sentence for each that tells slow
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

// looked counts the examined facts; it is empty if there are none.
func (w Explanation) looked(found bool) string {
	facts, few := w.x.Facts, w.x.FewRuns
	const tooFew = "in too few runs or sessions to judge"
	var text string
	switch {
	case facts == 0 && few == 0:
		return ""
	case facts == 0:
		return fmt.Sprintf("%s %s within a side, %s", term.Count(few, "fact"), term.Verb(few, "differs", "differ"), tooFew)
	case found:
		text = fmt.Sprintf("%s %s within a side", term.Count(facts, "fact"), term.Verb(facts, "differs", "differ"))
	case facts == 1:
		text = "the fact that differs within a side does not separate its slow runs from its fast ones"
	default:
		text = fmt.Sprintf("none of the %s that differ within a side separates its slow runs from its fast ones", term.Count(facts, "fact"))
	}
	if few > 0 {
		text += fmt.Sprintf("; %s more %s, %s", term.Thousands(few), term.Verb(few, "differs", "differ"), tooFew)
	}
	return text
}

// contrast returns a sentence about a contrast.
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
		within, runs, DifferenceName(row.Name), alike(row), w.effect(row), others, Chance(adjusted), term.Count(w.x.Facts, "fact"))
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

// effect describes the difference between the runs of a contrast and the others.
func (w Explanation) effect(row *compare.ExplainRow) string {
	e, text := row.Estimate, "differ in "+w.C.Rows[0].Metric
	if !Finite(e.Change) {
		return text + " from"
	}
	text += " by " + Change(e.Change, row.Scale, row.Unit)
	if Finite(e.Low) && Finite(e.High) {
		text += " (" + Ends(e.Low, e.High, row.Scale, row.Unit) + ")"
	}
	return text + " from"
}

// maxAlike is the number of facts with the same split of the runs that are named.
const maxAlike = 3

// alike says which other facts may be meant as well.
func alike(row *compare.ExplainRow) string {
	if len(row.ConfoundedWith) == 0 {
		return ""
	}
	named := row.ConfoundedWith[:min(len(row.ConfoundedWith), maxAlike)]
	names := term.Texts(named, func(other string) string { return term.Cut(DifferenceName(other), explainText+explainText) })
	if more := len(row.ConfoundedWith) - maxAlike; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return " (with " + strings.Join(names, ", ") + ")"
}

// DifferenceName returns the name of a fact in which runs differ, or of a condition on one, for people.
func DifferenceName(name string) string {
	fact := strings.TrimPrefix(name, "env.")
	text, known := FactName(fact)
	if !known && fact != schema.FactConfig {
		text = "hash of " + text
	}
	return text
}
