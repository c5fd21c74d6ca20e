package views

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/judge"
)

// meanings explain the words of a table, besides the warnings of runs.
var meanings = map[string]string{
	string(judge.FewRuns):        "fewer than 5 runs on a side: only a change that clearly exceeds the threshold counts, and none for a gate",
	string(judge.Noise):          "too noisy to decide; (+n): about n more runs per side would probably decide it; (load): other work ran, so measure when it is quiet",
	string(judge.Sessions):       "different sessions, or distant parts of one, and fewer than 7 earlier sessions that show how much sessions differ",
	string(judge.Unsettled):      "the newest of the earlier sessions differ more than the ones before, so it is not known how much sessions differ now; measure both sides alternately in one session",
	string(judge.Commits):        "the sessions measured different commits, so their changes differ; session=ID compares the two commits of one session",
	string(judge.Machines):       "measured on different machines, or on an unknown one",
	string(judge.Clocks):         "measured with different clocks",
	string(judge.Devices):        "measured on different GPUs of the machine; --devices keeps points on one GPU that a baseline in the sweep compares",
	string(judge.OffClock):       "the clocks of the GPU differ by more than 1 %, and so do times; let it cool, limit its power or fix its clock, and measure both sides again",
	string(judge.Levels):         "samples are different things on the two sides: iterations, processes or means",
	string(judge.Units):          "different metrics or units",
	string(judge.FailedRequests): "more requests of the server failed than allow_failed allows: the values are those of the others, and a server that fails requests has less to do",
	string(judge.NoValues):       "ok runs without a finite value are left out",
	compare.FlagOneBlock:         "fewer than 10 runs of a program in different sessions, so the processes of the runs are compared",
	compare.FlagLeftOut:          "runs of sessions without a run of the other side are left out: sessions differ",
	compare.FlagRunMeans:         "means of several iterations on one side, single iterations on the other: the means of the runs are compared",
	compare.FlagRunsModes:        "the runs are bimodal (they cluster around two values): more iterations will not help",
	compare.FlagRunsDrift:        "runs got slower or faster in the order they ran; let the machine cool, interleave the sides",
	compare.FlagOrder:            "one side of a session ran before the other: drift of the machine would look the same; bench alternates",
	compare.FlagControl:          "a control point, which no change should affect: its change comes from the machine",
	compare.FlagFailures:         "a larger share of runs failed on the head than on the base",
	compare.FlagWrong:            "a side has a wrong result, which never counts as a win",
	string(compare.Skipped):      "planned but not run",
	compare.FlagPaired:           "the change is the median of the differences within blocks, not the difference of the two medians",
	compare.FlagPairwise:         "the change is the median of the differences of all pairs of runs, not the difference of the two medians",
}

// How changes and their intervals are estimated, as reports and the glossary (neurolens help change) say it: of runs by package judge, of
// sessions by package stat.
const (
	ChangeOfRuns = "A change is the median of the differences of all pairs of runs, or of those within blocks (Hodges-Lehmann), so it need not be the quotient of the two medians. " +
		"Its interval is by ranks. With fewer than 5 runs on a side, or a different number on each, it also covers that of Welch's t test."
	ChangeOfSessions = "A change over sessions is the median of the differences of all pairs of sessions (Hodges-Lehmann), so it need not be the quotient of the two levels. Its interval is by ranks."
)

// FlagMeaning explains a flag of compare.
func FlagMeaning(flag string) string { return meanings[flag] }

// repeatsMeanings explain what the repeats of a point without a verdict say.
var repeatsMeanings = map[string]string{
	compare.RepeatsDiffer: "a significant change of at least the threshold, corrected for all points",
	compare.RepeatsAlike:  "the interval lies within the threshold",
	string(judge.Noise):   "the repeats vary too much to tell",
	string(judge.FewRuns): "too few repeats on a side to tell: measure each benchmark more often",
}

// reasons say why there is no verdict.
var reasons = map[judge.Reason]string{
	judge.FewRuns: "too few runs", judge.Noise: "too much noise", judge.Quantised: "clock too coarse", judge.Sessions: "different sessions",
	judge.Machines: "different machines", judge.Devices: "different GPUs", judge.Clocks: "different clocks", judge.OffClock: "the GPU ran at different clocks", judge.Levels: "different kinds of samples", judge.Units: "different units",
	judge.Order: "one side ran before the other", judge.Unchecked: "a result that could not be checked", judge.Wrong: WrongResult,
	judge.Unsettled: "sessions differ more than they did", judge.FailedRequests: "failed requests", judge.NoValues: "no values", judge.Commits: "different commits taken together",
}

// ReasonText returns a reason in words; of a newer version, its code.
func ReasonText(reason string) string { return cmp.Or(reasons[judge.Reason(reason)], reason) }

// explained returns lines about the words in the rows. Words of the last column have none if the column does not fit on the page.
func (w Comparison) explained(v term.View, places []int) []string {
	last := len(v.Columns) == 0 || w.Reader.Width == 0 || v.ShowsLast(w.Reader.Page())
	var words []string
	repeats := false
	for _, place := range places {
		r := &w.C.Rows[place]
		words = append(words, methodFlag(r))
		if word, _, _ := strings.Cut(wordOf(r), " "); last {
			words = append(words, word)
		}
		repeats = repeats || r.Repeats != nil
	}
	slices.Sort(words)
	words = slices.Compact(words)
	width := 0
	for _, word := range words {
		width = max(width, len(word))
	}
	var lines []string
	for _, word := range words {
		meaning := cmp.Or(meanings[word], WarningMeaning(word))
		switch said := repeatsMeanings[word]; {
		case repeats && said != "":
			meaning = said
		case word == string(judge.FewRuns):
			meaning = w.tooFew(places, meaning)
		}
		if meaning != "" {
			lines = append(lines, term.Pad(word, width, false)+term.Gap+meaning)
		}
	}
	if len(lines) > 0 {
		lines = append(lines, "")
	}
	return lines
}

// tooFew explains few_runs. As the reason of an inconclusive point, with a number, it asks for the runs that a verdict needs; as a flag it has
// a meaning of its own.
func (w Comparison) tooFew(places []int, flag string) string {
	least, other := judge.MinRuns, fmt.Sprintf("a gate needs %d", judge.FirmRuns)
	if w.Gate != "" {
		least, other = judge.FirmRuns, fmt.Sprintf("%d are enough without a gate", judge.MinRuns)
	}
	text := fmt.Sprintf("too few runs on a side for a verdict, which takes at least %d (%s); (+n): measure at least n more per side", least, other)
	reason := func(place int) bool { return w.C.Rows[place].Reason == judge.FewRuns }
	switch {
	case !slices.ContainsFunc(places, reason):
		return flag
	case slices.ContainsFunc(places, func(place int) bool { return !reason(place) && wordOf(&w.C.Rows[place]) == string(judge.FewRuns) }):
		return text + "; without (+n): " + flag
	}
	return text
}

// Noun returns the noun for the rows of a comparison: "point", or "result" if there are several metrics.
func Noun(c *compare.Comparison) string {
	if len(c.Metrics) > 1 {
		return "result"
	}
	return "point"
}

func (w Comparison) noun() string { return Noun(w.C) }

// counts returns the line that counts everything, and the one about the mean.
func (w Comparison) counts() []string {
	own, ofControls := w.withoutControls()
	counts, controls, points := countVerdicts(own, ofPoint), countVerdicts(ofControls, ofPoint), len(own)
	always := []judge.Verdict{judge.Regressed, judge.Improved, judge.Unchanged, judge.Inconclusive}
	if counts[judge.Estimate] == points { // nothing could be decided
		always = nil
	}
	var parts []string
	for _, v := range append(slices.DeleteFunc(slices.Clone(compare.Verdicts), func(v judge.Verdict) bool { return v == judge.Inconclusive }), judge.Inconclusive) {
		if counts[v] > 0 || slices.Contains(always, v) {
			parts = append(parts, term.Thousands(counts[v])+" "+string(v))
		}
	}
	what := strings.Join(parts, ", ") + w.inconclusiveText()
	if w.repeatsOnly() {
		what = verdictCounts(countVerdicts(own, ResultOf))
	} else if repeats := verdictCounts(countVerdicts(withRepeats(own), ResultOf)); repeats != "" {
		what += " (repeats: " + repeats + ")"
	}
	lines := []string{term.Count(points, w.noun()) + ": " + what}
	if n := len(w.C.Points) - points; n > 0 {
		line := term.Count(n, "control") + ": " + verdictCounts(controls)
		if controls[judge.Regressed]+controls[judge.Improved]+controls[judge.Changed] > 0 {
			line += ": controls should not change, so the conditions of the two sides differed"
		}
		lines = append(lines, line)
	}
	if relative := countVerdicts(w.C.Points, func(p *compare.Point) judge.Verdict { return p.RelativeVerdict }); len(relative) > 0 && !w.repeatsOnly() {
		lines = append(lines, "relative: "+verdictCounts(relative))
	}
	changed := counts[judge.Regressed] + counts[judge.Improved] + counts[judge.Changed]
	lines = append(lines, w.metricCounts()...)
	if len(w.C.Metrics) > 1 && changed > 0 && w.Gate == "" { // a gate corrects over all
		lines = append(lines, fmt.Sprintf("false discovery rate %d %% for each metric", int(100*judge.Level)))
	}
	if line := w.geometricMean(strings.Join(w.C.Metrics, "")); line != "" && len(w.C.Metrics) == 1 {
		if changed > 0 && w.Gate == "" {
			line += fmt.Sprintf(" · false discovery rate %d %%", int(100*judge.Level))
		}
		lines = append(lines, line)
	}
	return lines
}

// geometricMean returns the text of the geometric mean of a metric; empty for fewer than 2 points.
func (w Comparison) geometricMean(metric string) string {
	mean, points, others, programs := w.C.GeometricMean(metric)
	if points < 2 {
		return ""
	}
	text := fmt.Sprintf("geometric mean %s over %s", Signed(mean), term.Count(points, "matched point"))
	if others > 0 {
		text += fmt.Sprintf(", without %s compared by difference", term.Thousands(others))
	}
	if programs > 0 {
		text += fmt.Sprintf(", without %s of the programs that printed them", term.Count(programs, "point"))
	}
	return text
}

// called reports whether a verdict is a change.
func called(v judge.Verdict) bool {
	return v == judge.Regressed || v == judge.Improved || v == judge.Changed
}

// inconclusiveText explains why points are inconclusive and how to decide them.
func (w Comparison) inconclusiveText() string {
	reasons := map[judge.Reason]int{}
	var open []compare.Point
	for _, p := range w.C.Points {
		if p.Verdict == judge.Inconclusive && !p.Control {
			reasons[p.Reason]++
			open = append(open, p)
		}
	}
	var parts []string
	for _, r := range []judge.Reason{judge.Sessions, judge.Unsettled, judge.Order, judge.FewRuns, judge.Commits, judge.Noise, judge.Quantised, judge.NoValues} {
		if n := reasons[r]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s: %s", r, term.Thousands(n)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + moreRunsText(open, w.C.HasSecondLook(), w.runTime()) + ")"
}

// manyRuns is the number of additional runs per side from which another remedy is named.
const manyRuns = 50

// moreRunsText returns how many more runs per side the undecided points need. Points with few runs need at least the minimum for a verdict.
// Of the others it gives the number that would decide half of the points that more runs can decide. If other work ran on the machine, it
// advises to measure when it is quiet instead. It names the processor time only if the runs have it. perRun is the time of a run; 0: unknown.
func moreRunsText(open []compare.Point, processor bool, perRun time.Duration) string {
	needed := func(runs int) string {
		text := term.Count(runs, "more run") + " per side"
		if perRun > 0 {
			text += fmt.Sprintf(" (about %s per point)", TimeText(2*time.Duration(runs)*perRun))
		}
		return text
	}
	few, busy := 0, 0
	var more []int
	for i := range open {
		p := &open[i]
		if loaded(p) {
			busy++
		}
		switch {
		case p.MoreRuns <= 0:
		case p.Reason == judge.FewRuns:
			few = max(few, p.MoreRuns)
		default:
			more = append(more, p.MoreRuns)
		}
	}
	text := ""
	if few > 0 {
		text = "; at least " + needed(few)
	}
	switch {
	case len(more) == 0:
	case 2*busy >= len(open) && few == 0:
		if text = "; other work ran on the machine (" + warnLoad + "): measure when it is quiet"; processor {
			text += ", or compare by --metric " + CPUUser + " if the programs compute"
		}
	default:
		slices.Sort(more)
		runs := more[(len(more)-1)/2]
		decided, _ := slices.BinarySearch(more, runs+1)
		text += fmt.Sprintf("; %s would probably decide %s of %s", needed(runs), term.Thousands(decided), term.Thousands(len(open)))
		switch {
		case runs <= manyRuns:
		case !processor:
			text += " (fewer with less other work on the machine, or a larger --threshold)"
		default:
			text += " (fewer with less other work on the machine, a larger --threshold, or --metric " + CPUUser + " for a program that computes)"
		}
	}
	return text
}

// runTime returns the mean time from the start of a run to the start of the next one. 0: unknown. It is known
// if both sides are of the same session of this program, or of one session each.
func (w Comparison) runTime() time.Duration {
	base, head := w.C.Base, w.C.Head
	if len(base.Sessions) != 1 || len(head.Sessions) != 1 || base.Imported+head.Imported+base.NoSession+head.NoSession > 0 {
		return 0
	}
	span, runs := base.Until-base.Since+head.Until-head.Since, base.Runs+head.Runs-2
	if base.Sessions[0] == head.Sessions[0] {
		span, runs = max(base.Until, head.Until)-min(base.Since, head.Since), base.Runs+head.Runs-1
	}
	if base.Since == 0 || head.Since == 0 || runs <= 0 {
		return 0
	}
	return time.Duration(span/int64(runs)) * time.Microsecond
}

// loaded reports whether other work ran on the machine when a run of a point began.
func loaded(p *compare.Point) bool { return slices.Contains(p.Warnings, warnLoad) }

// CPUUser is the metric that varies less with other load than others.
const CPUUser = "cpu_user"

// next returns the command to type next. Where something changed that is no control, it explains the change. Of the values of an axis, it
// compares the one that changed most. Else see nextHistory.
func (w Comparison) next() string {
	i := slices.IndexFunc(w.C.Points, func(p compare.Point) bool { return !p.Control && called(p.Verdict) })
	if len(w.Selection.Selections) == 0 || i < 0 {
		return w.nextHistory()
	}
	words := slices.Concat([]string{"neurolens", "explain"}, w.Selection.Selections)
	if axis := w.C.Contrast.Axis; axis != "" {
		worst := compare.WorstOf(w.C.Rows, changes)
		if worst == nil || !called(worst.Verdict) {
			return ""
		}
		side := func(value string) string {
			return filter.JoinArguments(append(slices.Clone(w.Selection.Selections), axis+"="+filter.QuoteFor(axis, value))...)
		}
		words = []string{"neurolens", "explain", side(w.C.Contrast.Value), side(headValue(worst, axis))}
	}
	if len(w.Selection.Metrics) > 0 {
		words = append(words, "--metric", w.C.Points[i].Metric)
	}
	for _, threshold := range w.Selection.Thresholds {
		words = append(words, "--threshold", threshold)
	}
	if w.Selection.Strict {
		words = append(words, "--strict")
	}
	return term.ShellLine(words...) + w.Reader.OfStores()
}

// nextHistory returns the command that decides if two sessions differ too little from each other: the level may have changed before the base.
// It is empty if there are too few sessions for a history.
func (w Comparison) nextHistory() string {
	session := func(selection string) bool {
		return strings.HasPrefix(selection, filter.KeySession+"=") && !strings.Contains(selection, " ")
	}
	known := func(p compare.Point) bool { return p.Confounded && p.Verdict == judge.Inconclusive && p.SessionSD > 0 }
	if len(w.Selection.Selections) != 2 || !session(w.Selection.Selections[0]) || !session(w.Selection.Selections[1]) || !slices.ContainsFunc(w.C.Points, known) {
		return ""
	}
	words := []string{"neurolens", "history"}
	if len(w.Selection.Metrics) > 0 {
		words = append(words, "--metric", w.Selection.Metrics[0])
	}
	return term.ShellLine(words...) + w.Reader.OfStores()
}

// groups returns the table of groups of points.
func (w Comparison) groups() ([]term.Column, [][]term.Cell) {
	t := w.Groups
	var columns []term.Column
	var keep []int
	for i, c := range t.Columns {
		counts := slices.ContainsFunc(t.Rows, func(row []any) bool { return row[i] != int64(0) })
		if c.Name == "metric" && len(w.C.Metrics) < 2 || !counts {
			continue
		}
		keep = append(keep, i)
		header := cmp.Or(AxisHeaders[c.Name], strings.ToUpper(c.Name))
		switch {
		case c.Name == "geometric_mean":
			header = "GEOMEAN"
		case i < len(w.Selection.By) && !slices.Contains(RunColumns, c.Name):
			header = c.Name // a parameter keeps its name
		}
		columns = append(columns, term.Column{Header: header, Right: c.Type != answer.TypeText})
	}
	rows := make([][]term.Cell, len(t.Rows))
	for k, row := range t.Rows {
		for _, i := range keep {
			text := AxisText(row[i])
			switch {
			case row[i] == nil:
				text = term.Unknown
			case t.Columns[i].Name == "geometric_mean":
				v, _ := row[i].(float64)
				text = Signed(v)
			}
			rows[k] = append(rows[k], term.Cell{Text: text})
		}
	}
	return columns, rows
}

// spends returns the least and the most that a point with an interval may use of the level.
func (w Comparison) spends() (least, most float64) {
	least, most = 1, 0
	for _, p := range w.C.Points {
		if p.Spend > 0 && !math.IsNaN(p.Change) {
			least, most = min(least, p.Spend), max(most, p.Spend)
		}
	}
	return least, max(most, least)
}

// confidence returns the confidence level of the intervals in words; if they differ, the lowest.
func (w Comparison) confidence() string {
	_, most := w.spends()
	return Confidence(1 - (1-judge.Confidence)*most)
}

// Confidence returns a confidence level as all screens and reports have it.
func Confidence(level float64) string {
	if level > .9999 { // no interval holds always
		return ">99.99 %"
	}
	return fmt.Sprintf("%.4g %%", 100*level)
}

// confounded counts the points whose sides are compared as those of different sessions are. Of those of which it is known
// what sessions differ by, known is how many they are, noise that of ratios, and least the least number of sessions that tell it.
func (w Comparison) confounded() (points, known int, noise []float64, least int) {
	least = math.MaxInt
	for _, p := range w.C.Points {
		switch told := !math.IsNaN(p.SessionSD); {
		case told && !math.IsNaN(p.Change):
			points, known, least = points+1, known+1, min(least, p.History)
			if p.Ratio {
				noise = append(noise, p.SessionSD)
			}
		case told, p.Reason == judge.Sessions:
			points++
		}
	}
	return points, known, noise, least
}

// interleaved counts the points whose sides took turns, and those of them whose runs are compared block by block, of all that
// both sides have.
func (w Comparison) interleaved() (in, byBlock, of int) {
	for _, p := range w.C.Points {
		if math.IsNaN(p.Change) {
			continue
		}
		of++
		if p.Blocks > 0 {
			in++
		}
		if p.Method == judge.MethodBlocks {
			byBlock++
		}
	}
	return in, byBlock, of
}

// howInterleaved explains which runs are compared in a session whose sides took turns.
func (w Comparison) howInterleaved() string {
	in, byBlock, of := w.interleaved()
	shared := 0 // sessions of both sides: the comparison leaves out sessions of the head alone
	for _, id := range w.C.Head.Sessions {
		if slices.Contains(w.C.Base.Sessions, id) {
			shared++
		}
	}
	text := term.Verb(shared, "one session", term.Count(shared, "session")) + ", interleaved"
	if in < of {
		text += fmt.Sprintf(" in %s of %s", term.Thousands(in), term.Count(of, w.noun()))
	}
	switch byBlock {
	case 0:
		return text + ": all runs of one side are compared with all runs of the other"
	case in:
		return text + ": the runs of each block are compared"
	}
	return text + fmt.Sprintf(": in %s of %s, the runs of each block are compared", term.Thousands(byBlock), term.Count(in, w.noun()))
}
