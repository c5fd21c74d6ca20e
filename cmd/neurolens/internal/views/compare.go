package views

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
)

// CompareRows is the number of rows that a table shows by default.
const CompareRows = 20

// Comparison shows a comparison to people.
type Comparison struct {
	Reader    Display
	C         *compare.Comparison
	Selection Selection
	Gate      string           // the last line of a gate, in Markdown the first; empty: there is none
	Facts     query.FactWriter // what is known of the facts in which the sides differ
	Groups    answer.Table     // the groups of points, where a line is one
	Second    []string         // what the processor times of undecided points say
	Files     [2]string        // the files that the runs of base and head were read from; empty: they are in a store
}

// Selection is what the command line of a comparison selects.
type Selection struct {
	Selections, Metrics, Thresholds []string
	By                              []string // keys, for a line each group of points
	Strict, All                     bool
}

// sideBySide reports whether metrics become columns.
func (w Comparison) sideBySide() bool {
	return len(w.Selection.Metrics) > 1 && len(w.C.Metrics) > 1 && len(w.Selection.By) == 0
}

// View returns the comparison as a table, with the worst first; unchanged points are only counted.
func (w Comparison) View() term.View {
	v := term.View{Above: append([]string{w.headline(), ""}, w.head()...)}
	var narrow func() ([]term.Column, [][]term.Cell)
	var several *metricsTable
	switch {
	case len(w.Selection.By) > 0:
		v.Columns, v.Rows = w.groups()
	case w.sideBySide():
		b := w.metricsTable()
		several = &b
		v = b.addLines(v)
	default:
		rows, wide := w.shown(), w.withOthers()
		all := slices.Concat(rows, w.shownOthers())
		groups := wide.grouped(all)
		varying := groupAxes(wide.pointAxes(all), groups)
		v.Columns, v.Rows = wide.groupsOf(groups, varying)
		for _, g := range groups {
			v.Points = append(v.Points, cmp.Or(wide.C.Rows[g.place].HeadID, wide.C.Rows[g.place].BaseID))
		}
		narrow = func() ([]term.Column, [][]term.Cell) { return wide.groupsOf(groups, wide.mergedAxes(varying)) }
		if shared := w.constants(false); len(shared) > 0 {
			v.Above = append(v.Above, "all points below: "+strings.Join(shared, " · "))
		}
		if hidden := w.hidden(rows); hidden != "" {
			v.Below = append(v.Below, hidden, "")
		}
		v.Below = slices.Concat(v.Below, w.failures(rows), wide.explained(v, all))
	}
	v.Below = slices.Concat(v.Below, w.counts(), w.otherCounts(), w.caveats(), w.Second)
	if w.Gate != "" {
		v.Below = append(v.Below, w.Gate)
	}
	if next := w.next(); next != "" {
		v.Below = append(v.Below, "")
		v.Next = []string{"next  " + next}
	}
	if several != nil {
		v = several.addTable(v)
	}
	if narrow != nil {
		v.Compact = func() term.View {
			compact := v
			compact.Columns, compact.Rows = narrow()
			return compact
		}
	}
	return v
}

// headline is the answer in one sentence: how many points changed, and the one that changed most; at last why there is no verdict.
func (w Comparison) headline() string {
	text := w.answer() + w.othersChanged()
	if w.repeatsOnly() {
		text += "; no verdict" + w.whyEstimated()
	}
	return term.OneLine(text)
}

// repeatsOnly reports whether no values were judged, and the repeats of points were examined instead.
func (w Comparison) repeatsOnly() bool {
	judged := func(p compare.Point) bool {
		return !p.Control && (called(p.Verdict) || p.Verdict == judge.Unchanged || called(p.RelativeVerdict))
	}
	return !slices.ContainsFunc(w.C.Points, judged) && slices.ContainsFunc(w.C.Points, func(p compare.Point) bool { return p.Repeats != nil })
}

// answer is the headline without other metrics.
func (w Comparison) answer() string {
	counts, points, broken := map[judge.Verdict]int{}, 0, 0
	for _, p := range w.C.Points {
		if !p.Control && !p.NeitherSupports() {
			counts[p.Verdict]++
			points++
			if p.Verdict == compare.Failed && !p.BaseOK { // which is no change
				broken++
			}
		}
	}
	all, changed := term.Count(points, w.noun()), 0
	var parts []string
	for _, v := range []judge.Verdict{judge.Regressed, compare.Missing, compare.Failed, judge.Changed, judge.Improved, compare.Fixed, compare.Added} {
		n := counts[v]
		if v == compare.Failed && broken < points {
			n -= broken
		}
		if n > 0 {
			changed += n
			parts = append(parts, term.Thousands(n)+" "+string(v))
		}
	}
	switch {
	case points == 0:
		return "nothing was compared"
	case w.aboutOne(points):
		return w.worst([]judge.Verdict{judge.Regressed, judge.Improved, judge.Changed, judge.Unchanged, judge.Inconclusive})
	case changed == 0 && counts[judge.Unchanged] == points:
		return "no change in " + all
	case w.repeatsOnly():
		return strings.Join(append([]string{w.repeatsAnswer()}, parts...), "; ")
	case counts[judge.Estimate] == points:
		return "no verdict" + w.whyEstimated() + ": " + all + " only estimated" + w.most(points, judge.Estimate)
	case changed == 0 && counts[judge.Unchanged] == 0:
		return "nothing decided: " + allVerdicts(counts, points, w.noun()) + w.most(points, judge.Inconclusive, judge.Estimate)
	case changed == 0:
		unchanged := counts[judge.Unchanged]
		delete(counts, judge.Unchanged)
		text := fmt.Sprintf("no change in %s of %s, %s", term.Thousands(unchanged), all, verdictCounts(counts))
		return text + w.besides()
	}
	text := strings.Join(parts, ", ") + " of " + all
	if changed == points {
		text = allVerdicts(counts, points, w.noun())
	}
	if c, settings := w.settings(); settings {
		text = strings.NewReplacer(string(judge.Regressed), w.worse(true), string(judge.Improved), w.worse(false)).Replace(text)
		if counts[judge.Regressed] == points || counts[judge.Improved] == points {
			text += " than " + c.reference
		}
	}
	if changed < points {
		for _, v := range []judge.Verdict{judge.Estimate, judge.Inconclusive} {
			if n := counts[v]; n > 0 {
				text += ", " + term.Thousands(n) + " " + string(v)
			}
		}
	}
	text += w.most(counts[judge.Regressed]+counts[judge.Changed]+counts[judge.Improved], changes...)
	return text + w.besides()
}

// settings returns how sentences name the two sides if they are two settings of one session, as bench compares at its end: values of an axis.
func (w Comparison) settings() (c contest, ok bool) {
	if len(w.C.Base.Sessions) != 1 || !slices.Equal(w.C.Base.Sessions, w.C.Head.Sessions) {
		return c, false
	}
	if w.C.Contrast.Axis != "" {
		return contestOf(w.C), true
	}
	var axes []query.FactDifference
	for _, d := range w.C.Differs {
		if slices.Contains(IdentityColumns, d.Name) || strings.HasPrefix(d.Name, filter.ParamPrefix) {
			axes = append(axes, d)
		}
	}
	if len(axes) != 1 || len(axes[0].Base) != 1 || len(axes[0].Head) != 1 {
		return c, false
	}
	return alongAxis(strings.TrimPrefix(axes[0].Name, filter.ParamPrefix), axes[0].Base[0]), true
}

// aboutOne reports whether one point of two settings is compared, so that a sentence about it says all.
func (w Comparison) aboutOne(points int) bool {
	_, settings := w.settings()
	return settings && points == 1 && len(w.C.Rows) == 1 && sentenceRank(&w.C.Rows[0]) != notComparedRank &&
		(called(w.C.Rows[0].Verdict) || slices.Contains([]judge.Verdict{judge.Unchanged, judge.Inconclusive}, w.C.Rows[0].Verdict))
}

// worse returns the word for settings that are worse, or better, than another: slower and faster if all values are times.
func (w Comparison) worse(worse bool) string {
	isNoTime := func(r compare.Row) bool { return r.Unit != "ns" || r.Better != string(schema.BetterLower) }
	switch times := !slices.ContainsFunc(w.C.Rows, isNoTime); {
	case times && worse:
		return "slower"
	case times:
		return "faster"
	case worse:
		return "worse"
	}
	return "better"
}

// besides ends a sentence about points with a verdict with what the repeats of the others say.
func (w Comparison) besides() string {
	if !w.repeatsKnown() {
		return ""
	}
	text, _, _ := w.repeatsDiffer()
	return "; " + text
}

// announced is the headline for readers who may see nothing else: it names the point or what all points share, the metric, and the commits.
func (w Comparison) announced() string {
	names, text := w.constants(true), w.headline()
	if len(w.C.Rows) == 1 {
		names = append(names, w.constants(false)...)
		if r := &w.C.Rows[0]; r.Estimates != nil && r.Verdict == judge.Unchanged && !w.aboutOne(1) {
			text += w.most(1, r.Verdict)
		}
	}
	if len(w.C.Metrics) == 1 {
		names = append(names, w.C.Metrics[0])
	}
	if base, head := commitOf(w.C.Base), commitOf(w.C.Head); base != "" && head != "" {
		text += "; base " + base + ", head " + head
	}
	if len(names) > 0 {
		text = strings.Join(names, " · ") + ": " + text
	}
	return term.OneLine(text)
}

// repeatsKnown reports whether the repeats of some point without a verdict say whether its sides differ.
func (w Comparison) repeatsKnown() bool {
	return slices.ContainsFunc(w.C.Points, func(p compare.Point) bool {
		return p.Repeats != nil && (p.Repeats.Result != string(judge.FewRuns) || Finite(p.Repeats.Adjusted))
	})
}

// repeatsDiffer says in how many of the points without a verdict the repeats of the sides differ, and returns how many these are.
func (w Comparison) repeatsDiffer() (text string, differ, all int) {
	own, _ := w.withoutControls()
	own = withRepeats(own)
	counts := countVerdicts(own, ResultOf)
	differ, all = counts[compare.RepeatsDiffer], len(own)
	return RepeatsDiffer(differ, counts[compare.RepeatsAlike], all, w.noun()), differ, all
}

// withoutControls returns the points that are no controls, and the controls.
func (w Comparison) withoutControls() (points, controls []compare.Point) {
	for _, p := range w.C.Points {
		if p.Control {
			controls = append(controls, p)
		} else {
			points = append(points, p)
		}
	}
	return points, controls
}

// withRepeats returns the points whose repeats were examined.
func withRepeats(points []compare.Point) []compare.Point {
	return slices.DeleteFunc(slices.Clone(points), func(p compare.Point) bool { return p.Repeats == nil })
}

// RepeatsDiffer says in how many of all points without a verdict the repeats of the sides differ. Those that are neither different nor
// alike are undecided.
func RepeatsDiffer(differ, alike, all int, noun string) string {
	number, undecided := term.Thousands(differ), all-differ-alike
	switch {
	case all == 1 && differ == 1:
		return "the repeats differ"
	case all == 1 && alike == 1:
		return "the repeats do not differ"
	case all == 1:
		return "the repeats do not tell whether they differ"
	case differ == all:
		return "the repeats differ in " + term.All(all, noun)
	case differ == 0:
		number = "none"
	}
	text := fmt.Sprintf("the repeats differ in %s of %s", number, term.Count(all, noun))
	if undecided > 0 {
		text += fmt.Sprintf(", %s undecided", term.Thousands(undecided))
	}
	return text
}

// repeatsAnswer says in how many points the repeats of the sides differ, and names those that differ most, or else the point that changed most.
func (w Comparison) repeatsAnswer() string {
	text, differ, all := w.repeatsDiffer()
	switch most := w.most(all, judge.Inconclusive, judge.Estimate); {
	case !w.repeatsKnown():
		return fmt.Sprintf("%s only estimated, from fewer than %d repeats%s", term.All(all, w.noun()), judge.MinRuns, most)
	case differ == 0:
		return text + most
	}
	const named = 3
	var everywhere, places []int
	for i := range w.C.Rows {
		everywhere = append(everywhere, i)
		if r := &w.C.Rows[i]; r.Repeats != nil && r.Repeats.Differ() && !r.Control && len(places) < named {
			places = append(places, i)
		}
	}
	names := term.CutDistinct(PointNames(w.pointAxes(everywhere), len(everywhere)), longestPoint/len(places))
	var changes []string
	for _, place := range places {
		r := &w.C.Rows[place]
		changes = append(changes, strings.TrimSpace(fmt.Sprintf("%s %s (%s, P%s)", names[place], PointChange(r), Ends(r.Estimates.Low, r.Estimates.High, r.Scale, r.Unit), equalChance(r.Repeats.Adjusted))))
	}
	if differ > len(changes) {
		text += "; most"
	}
	return text + ": " + strings.Join(changes, ", ")
}

// equalChance returns a probability behind the name of its column: =.012 or <.001.
func equalChance(p float64) string {
	if text := Chance(p); strings.HasPrefix(text, "<") {
		return text
	}
	return "=" + Chance(p)
}

// whyEstimated returns the reason why points have estimates alone or nothing is known of earlier sessions, in parentheses; empty if they have
// several.
func (w Comparison) whyEstimated() string {
	var why []judge.Reason
	for _, p := range w.C.Points {
		if (p.Verdict == judge.Estimate || p.Repeats != nil) && !p.Control && !slices.Contains(why, p.Reason) {
			why = append(why, p.Reason)
		}
	}
	switch {
	case len(why) != 1 || why[0] == "":
		return ""
	case why[0] == judge.Machines && len(w.C.Base.Machines)+len(w.C.Head.Machines) == 0:
		return " (" + w.unknownMachine() + ")"
	}
	return " (" + ReasonText(string(why[0])) + ")"
}

// unknownMachine returns why sides without a machine have no verdict: their hardware differs, or the machine is unknown.
func (w Comparison) unknownMachine() string {
	if hardware := w.hardware(); hardware != "" {
		return "different " + hardware
	}
	return "unknown machine"
}

// hardware returns the first fact of the hardware in which the sides differ, so that they are of two machines; empty: none is known.
func (w Comparison) hardware() string {
	for _, d := range w.C.Differs {
		if d.Kind == query.HardwareFact {
			return strings.TrimPrefix(d.Name, "env.")
		}
	}
	return ""
}

// most returns the end of a sentence about n points with some verdicts: the one that changed most.
func (w Comparison) most(n int, verdicts ...judge.Verdict) string {
	switch worst := w.worst(verdicts); {
	case worst == "":
		return ""
	case n > 1:
		return "; most: " + worst
	default:
		return "; " + worst
	}
}

// allVerdicts lists the verdicts of all points: all 3 points regressed, or 3 points: 1 regressed, 2 improved.
func allVerdicts(counts map[judge.Verdict]int, points int, noun string) string {
	for verdict, n := range counts {
		if n == points {
			return term.All(points, noun) + " " + string(verdict)
		}
	}
	return term.Count(points, noun) + ": " + verdictCounts(counts)
}

// changes are the verdicts on points that changed, the worst first.
var changes = []judge.Verdict{judge.Regressed, judge.Changed, judge.Improved}

// worst returns the name of the point with one of some verdicts that changed most, its values, the change and the interval; empty if
// there is none.
func (w Comparison) worst(verdicts []judge.Verdict) string {
	rows := slices.DeleteFunc(slices.Clone(w.C.Rows), func(r compare.Row) bool { return r.Control || !slices.Contains(verdicts, r.Verdict) })
	r := compare.WorstOf(rows, verdicts)
	if r == nil || r.Estimates == nil {
		return ""
	}
	place := slices.IndexFunc(w.C.Rows, func(row compare.Row) bool {
		return row.BaseID == r.BaseID && row.HeadID == r.HeadID && row.Metric == r.Metric
	})
	if c, ok := w.settings(); ok && len(w.C.Rows) == 1 {
		return c.line(r, c.pointNames(w.C.Rows)[place])
	}
	ends := ""
	if known(r.Estimates) {
		ends = Ends(r.Estimates.Low, r.Estimates.High, r.Scale, r.Unit)
	}
	text := FromTo(valueText(r, r.Base), valueText(r, r.Head), PointChange(r), ends)
	if name := PointNames(w.pointAxes([]int{place}), 1)[0]; name != "" {
		text = term.CutDistinct([]string{name}, longestPoint)[0] + " " + text
	}
	return text
}

// longestPoint is how many columns the name of a point in the first sentence takes at most: a line of a terminal has room for it.
const longestPoint = 72

// head names the sides and their differences.
func (w Comparison) head() []string {
	c := w.C
	lines := []string{w.side("base", c.Base), w.side("head", c.Head)}
	if len(c.Passes) > 0 {
		lines = append(lines, "no measured run has "+strings.Join(c.Metrics, ", ")+": the values are of passes of "+strings.Join(c.Passes, ", "))
	}
	if !w.repeatsOnly() {
		lines = append(lines, w.differs()...)
	}
	return slices.Concat(w.subject(), w.differences(), w.guessed(), lines, w.alike(), w.shared())
}

// caveats say below the table what the answer of repeats alone leaves open: it comes first.
func (w Comparison) caveats() []string {
	if !w.repeatsOnly() {
		return nil
	}
	return w.differs()
}

// guessed says that nobody named the baseline, and how to compare the values of the next axis.
func (w Comparison) guessed() []string {
	if len(w.C.Guesses) == 0 {
		return nil
	}
	line := "baseline " + w.C.Contrast.String() + " is a guess, as nobody named one"
	switch {
	case w.C.Contrast.Axis == "benchmark":
		line += ", and the benchmarks may do different work"
	case w.C.Contrast.Work:
		line += ", and " + w.C.Contrast.Axis + " may be the amount of work"
	}
	if len(w.C.Guesses) > 1 {
		next := w.C.Guesses[1]
		line += fmt.Sprintf("; for %s: %s", next.Axis, term.ShellLine(slices.Concat([]string{"neurolens", "compare"}, w.Selection.Selections, []string{"--matrix", next.String()})...)+w.Reader.OfStores())
	}
	return []string{line}
}

// shared explains the reference of RELATIVE.
func (w Comparison) shared() (lines []string) {
	if !w.relative() || len(w.Selection.By) > 0 || w.C.Contrast.Axis != "" && w.sideBySide() {
		return nil // there is no such column
	}
	for _, metric := range w.C.Metrics {
		s, ok := w.C.Shared[metric]
		if !ok {
			continue
		}
		of := term.Count(s.Points, w.noun())
		if s.Controls {
			of = term.Count(s.Points, "control")
		}
		line := fmt.Sprintf("RELATIVE is the change relative to %s, the median of %s", Signed(s.Change), of)
		if len(w.C.Metrics) > 1 {
			line = metric + ": " + line
		}
		lines = append(lines, line)
	}
	return lines
}

// alike says that most points moved by about as much. Within a session whose sides took turns the machine is the same for
// both.
func (w Comparison) alike() []string {
	change, moved, of := w.C.CommonShift()
	if moved == 0 || len(w.C.Metrics) != 1 || w.comparesPoints() {
		return nil
	}
	line := fmt.Sprintf("%s of %s moved by about %s", term.Thousands(moved), term.Count(of, w.noun()), Signed(change))
	if moved == of {
		line = fmt.Sprintf("%s moved by about %s", term.All(of, w.noun()), Signed(change))
	}
	if in, _, all := w.interleaved(); in < all {
		line += ": the machine, not the code?"
	}
	return []string{line}
}

// comparesPoints tells that the sides are of different points, such as batch_size=1 and batch_size=8. They differ by what they
// are, whatever the machine does.
func (w Comparison) comparesPoints() bool {
	return w.C.Contrast.Axis != "" || slices.ContainsFunc(w.C.Differs, func(d query.FactDifference) bool {
		return slices.Contains(IdentityColumns, d.Name) || strings.HasPrefix(d.Name, "param.")
	})
}

// subject says what all points have in common: what was measured, and what is no difference.
func (w Comparison) subject() []string {
	if len(w.C.Metrics) > 1 {
		return append(term.Heading(w.constants(true)), w.directions()...)
	}
	metric := strings.Join(w.C.Metrics, "") // the one, or none
	text := metric
	if len(w.C.Rows) > 0 && metric != "" {
		if better := w.better(metric); better != "" {
			text += ", " + better + " is better"
		}
		if zone := w.equivalenceMargin(metric); zone != "" {
			text += "; a change below " + zone + " counts as none"
		}
	}
	if text == "" { // no run is ok
		return term.Heading(w.constants(true))
	}
	return term.Heading(append(w.constants(true), text))
}

// constants returns the fields in which all rows are equal: those in which all points are, or those in which others differ or
// may.
func (w Comparison) constants(common bool) []string {
	axis := w.C.Contrast.Axis
	constants, _ := AxesBut(subjects(w.C.Rows), IdentityColumns, func(name string) bool {
		is := func(field string) bool { return field == name || field == "param."+name }
		return is(schema.CanonicalAlias(axis)) || slices.ContainsFunc(w.C.Common, is) != common ||
			slices.ContainsFunc(w.C.Differs, func(d query.FactDifference) bool { return is(d.Name) })
	})
	return constants
}

// side describes a side in one line.
func (w Comparison) side(name string, s compare.Side) string {
	parts := []string{name, s.Filter}
	if commit := commitOf(s); commit != "" {
		parts = append(parts, commit)
	} else if n := len(s.Commits); n > 1 {
		parts = append(parts, term.Count(n, "commit"))
	}
	parts = append(parts, term.Count(s.Runs, "run"))
	if len(s.Sessions) > 1 {
		parts = append(parts, term.Count(len(s.Sessions), "session"))
	}
	if s.Until > 0 {
		parts = append(parts, w.Reader.When(time.UnixMicro(s.Until)))
	}
	return strings.Join(parts, term.Gap)
}

// commitOf describes the commit of a side; empty if it has several, or none that is known.
func commitOf(s compare.Side) string {
	if len(s.Commits) != 1 {
		return ""
	}
	commit := ShortCommit(s.Commits[0])
	if s.NoCommit > 0 {
		commit += fmt.Sprintf(" (commit unknown for %s)", term.Count(s.NoCommit, "run"))
	}
	return commit + UncommittedRuns(s.Dirty, s.Runs)
}

// differs says what the sides have in common and what not, and whether that leaves a verdict.
func (w Comparison) differs() []string {
	c := w.C
	var named []query.FactDifference
	var differing []string
	failed := slices.ContainsFunc(c.Points, func(p compare.Point) bool { return p.Verdict == compare.Failed })
	for _, d := range programsFirst(w.Facts.Once(c.Differs)) {
		ofPoints := w.comparesPoints() && strings.HasPrefix(d.Name, "env.runner.") // other points are asked for by other settings
		if d.Name != "machine" && !ofPoints && !(failed && ofEndedRuns(d)) {       // a line of its own has the machine
			named = append(named, d)
		}
	}
	for _, d := range withoutHashes(named) {
		differing = append(differing, verdictDifference(d))
	}
	if _, found := w.Facts.HiddenSetting(c.Differs); found && !w.comparesPoints() && !slices.ContainsFunc(c.Rows, oneSided) {
		differing = append(differing, "env of the sweep or another unstored setting")
	}
	where := "the same machine"
	switch {
	case len(c.Base.Machines)+len(c.Head.Machines) == 0:
		where = w.unknownMachine() + ": " + w.withoutMachine()
	case len(c.Head.Machines) == 1 && slices.Equal(c.Base.Machines, c.Head.Machines):
		where += " " + c.Head.Machines[0]
	case slices.Equal(c.Base.Machines, c.Head.Machines):
		where = "the same " + term.Count(len(c.Head.Machines), "machine")
	case slices.ContainsFunc(c.Points, func(p compare.Point) bool { return p.Reason == judge.Machines }):
		where = fmt.Sprintf("different machines %s and %s: estimates, no verdict", machinesText(c.Base.Machines), machinesText(c.Head.Machines))
	default:
		where = "machines in common"
	}
	const most = 6
	if n := len(differing); n > most {
		differing = append(differing[:most], fmt.Sprintf("%d more (neurolens explain)", n-most))
	}
	if n := c.Base.NoMachine + c.Head.NoMachine; n > 0 && len(c.Base.Machines)+len(c.Head.Machines) > 0 {
		where += fmt.Sprintf(" (unknown for %s)", term.Count(n, "run"))
	}
	switch {
	case len(differing) > 0:
		where += "; differs: " + strings.Join(differing, ", ")
	case w.C.Contrast.Axis != "":
		where += "; no other known difference of hardware, versions or settings"
	case len(c.Base.Machines)+len(c.Head.Machines) > 0:
		where += "; no known difference of hardware, versions or settings"
	}
	if looked, all := c.Base.FactRuns+c.Head.FactRuns, c.Base.Runs+c.Head.Runs; looked < all {
		where += fmt.Sprintf(" (%s of %s examined)", term.Thousands(looked), term.Count(all, "run"))
	}
	return append([]string{where}, w.sessions()...)
}

// withoutMachine says what an unknown machine leaves open.
func (w Comparison) withoutMachine() string {
	if !w.repeatsKnown() {
		return "estimates, no verdict"
	}
	of := ""
	if slices.ContainsFunc(w.C.Points, func(p compare.Point) bool { return p.Repeats != nil && p.Repeats.Sampled }) {
		of = " and one process"
	}
	return w.confidence() + " and P hold for one machine in one state" + of
}

// ofEndedRuns reports whether a difference is that only one side has runs that came so far as to have a fact: the settings that were applied,
// or what the output is like.
func ofEndedRuns(d query.FactDifference) bool {
	return (len(d.Base) == 0 || len(d.Head) == 0) && (strings.HasPrefix(d.Name, "applied.") || strings.HasPrefix(d.Name, "env.output."))
}

// oneSided reports whether only one side has a point, so that its settings were given to that side alone.
func oneSided(r compare.Row) bool { return r.BaseID == "" || r.HeadID == "" }

func machinesText(names []string) string {
	if len(names) == 0 {
		return term.Unknown
	}
	return strings.Join(names, ", ")
}

// verdictDifference says how a fact differs: name old → new, or the name alone where that would be long.
func verdictDifference(d query.FactDifference) string {
	name, known := FactName(strings.TrimPrefix(d.Name, "env."))
	if query.IsProgram(d) && len(d.Base) == 1 && len(d.Head) == 1 {
		base, head := programTexts(d.Base[0], d.Head[0])
		return fmt.Sprintf("%s %s → %s", name, base, head)
	}
	if !known || d.Name == "git_commit" || len(d.Base) > 1 || len(d.Head) > 1 {
		return name
	}
	value := func(values []string) string {
		if len(values) == 0 {
			return term.Unknown
		}
		return values[0]
	}
	text := fmt.Sprintf("%s %s → %s", name, value(d.Base), value(d.Head))
	if len(text) > 60 {
		return name
	}
	return text
}

// shown returns the indices of the rows of the table: unchanged ones only with --all, or if there are no others.
func (w Comparison) shown() []int {
	var all, loud []int
	for i := range w.C.Rows {
		r := &w.C.Rows[i]
		all = append(all, i)
		if isLoud(r) {
			loud = append(loud, i)
		}
	}
	if w.Selection.All || len(loud) == 0 {
		return all
	}
	return loud
}

// isLoud reports whether a row needs attention.
func isLoud(r *compare.Row) bool {
	if r.Repeats != nil && r.Repeats.Result == compare.RepeatsAlike {
		return false
	}
	return r.Verdict != judge.Unchanged || slices.Contains(r.Flags, compare.FlagFailures) || called(r.RelativeVerdict)
}

// hidden counts the points that are not shown.
func (w Comparison) hidden(places []int) string {
	counts := countVerdicts(w.C.Points, ResultOf)
	for _, place := range places {
		counts[ResultOf(&w.C.Rows[place].Point)]--
	}
	text := verdictCounts(counts)
	if text == "" {
		return ""
	}
	return "… and " + text + " (--all)"
}

// ofPoint returns the verdict of a point.
func ofPoint(p *compare.Point) judge.Verdict { return p.Verdict }

// said returns the word in the table for a point: where no point has a verdict, the result of its repeats.
func (w Comparison) said(p *compare.Point) judge.Verdict {
	if w.repeatsOnly() {
		return ResultOf(p)
	}
	return p.Verdict
}

// ResultOf returns the result of the repeats of a point if they were examined, and else the verdict.
func ResultOf(p *compare.Point) judge.Verdict {
	if p.Repeats != nil {
		return judge.Verdict(p.Repeats.Result)
	}
	return p.Verdict
}

// countVerdicts counts points or rows by verdict, without those that have none.
func countVerdicts[T any](all []T, verdict func(*T) judge.Verdict) map[judge.Verdict]int {
	counts := map[judge.Verdict]int{}
	for i := range all {
		counts[verdict(&all[i])]++
	}
	delete(counts, "")
	return counts
}

// repeatsResults are the results of repeats, in the order in which they are listed.
var repeatsResults = []judge.Verdict{compare.RepeatsDiffer, compare.RepeatsAlike, judge.Verdict(judge.Noise), judge.Verdict(judge.Quantised), judge.Verdict(judge.FewRuns)}

// verdictCounts lists the numbers of each verdict, the worst first, and of each result of repeats.
func verdictCounts(counts map[judge.Verdict]int) string {
	var parts []string
	for _, v := range slices.Concat(compare.Verdicts, repeatsResults) {
		if n := counts[v]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", term.Thousands(n), v))
		}
	}
	return strings.Join(parts, ", ")
}
