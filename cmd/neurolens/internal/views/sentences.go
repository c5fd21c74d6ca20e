package views

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
)

// maxSentences is how many points are told of one by one.
const maxSentences = 12

// ContestResult says how the points of a session stand to those that its sweep compares with.
type ContestResult struct {
	Lines   []string
	Notes   []string // the lines that are needed beside Rows
	Rows    Standing // the lines about single points, as columns of a table
	Repeats int      // how many repeats are likely to decide what is inconclusive; 0: nothing is, or more repeats do not help
}

// JudgedSession is what bench compares at its end.
type JudgedSession struct {
	Runs     string           // the filter for its runs
	Against  bool             // it has two sides, which are compared
	Baseline string           // the axis and the value of it that others are compared with, with = between them; empty: there is none
	Metrics  []string         // the metrics of the table, each of which is compared; none: the primary one
	Usual    judge.Thresholds // as in compare.Request
	Repeats  int              // the repeats that the sweep asks for
	Elapsed  time.Duration    // the time that all repeats took; 0: unknown

	processor    []string // sentences about points that the processor time decides
	hasProcessor bool     // the runs have processor times
}

// Winners compares the sides of a session, or its points with those that its sweep names. Where they cannot be compared, it says why.
func Winners(ctx context.Context, db *query.DB, s JudgedSession) (ContestResult, error) {
	axis, value, named := strings.Cut(s.Baseline, "=")
	if !named && !s.Against {
		return ContestResult{}, nil
	}
	req := compare.Request{Base: s.Runs, Metrics: s.Metrics, SecondLook: CPUUser, Usual: s.Usual, Worst: compare.Verdicts}
	names := ofSides()
	if !s.Against {
		req.Axis, req.Reference, req.Paired = axis, filter.QuoteFor(axis, value), true
		names = alongAxis(axis, value)
	}
	c, err := compare.Compare(ctx, db.WithoutWarnings(), req)
	if errors.Is(err, query.ErrInput) {
		line := []string{notCompared(names.reference, err)}
		return ContestResult{Lines: line, Notes: line}, nil
	}
	if err != nil {
		return ContestResult{}, err
	}
	s.processor, s.hasProcessor = names.byProcessor(&c), c.HasSecondLook()
	won := names.sentences(c.Rows, s)
	if len(s.Metrics) == 1 && len(won.Lines) > 0 {
		won.Lines = append([]string{"by " + s.Metrics[0] + ":"}, won.Lines...)
	}
	left := Comparison{C: &c}.leftOut()
	won.Lines, won.Notes = append(won.Lines, left...), append(won.Notes, left...)
	won.Rows = standing(&c, s.Metrics)
	return won, nil
}

// contest is how sentences name what they compare.
type contest struct {
	axis      string // whose values are compared; empty: the sides of a session are
	head      func(*compare.Row) string
	reference string
}

// ofSides compares the sides of a session.
func ofSides() contest {
	return contest{head: func(*compare.Row) string { return "head" }, reference: "base"}
}

// alongAxis compares the values of an axis with one of them.
func alongAxis(axis, value string) contest {
	return contest{axis, func(r *compare.Row) string { return valueName(axis, headValue(r, axis)) }, valueName(axis, value)}
}

// contestOf compares the sides of a comparison, or the values of its axis.
func contestOf(c *compare.Comparison) contest {
	if c.Contrast.Axis == "" {
		return ofSides()
	}
	return alongAxis(c.Contrast.Axis, c.Contrast.Value)
}

// notCompared says why nothing stands beside the reference.
func notCompared(reference string, err error) string {
	return term.OneLine("not compared with " + reference + ": " + strings.TrimPrefix(err.Error(), "compare: "))
}

// sentences returns a line for each point with the winner, the change and its interval, changed points first. Points that cannot be
// compared for the same reason share a line.
func (c contest) sentences(rows []compare.Row, s JudgedSession) ContestResult {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r compare.Row) bool { // the table says why
		return r.Estimates == nil && (r.Base == nil || r.Base.Runs == 0) && (r.Head == nil || r.Head.Runs == 0)
	})
	if len(rows) == 0 {
		return ContestResult{}
	}
	slices.SortStableFunc(rows, func(a, b compare.Row) int { return sentenceRank(&a) - sentenceRank(&b) })
	names := c.pointNames(rows)
	lineOf := func(r *compare.Row, name string) string {
		line := c.line(r, name)
		if len(s.Metrics) > 1 {
			line = byMetric(r, line)
		}
		return line
	}
	alike := map[string]int{} // rows that are not compared, by their sentence without the name of the point
	for i := range rows {
		if sentenceRank(&rows[i]) == notComparedRank {
			alike[lineOf(&rows[i], "")]++
		}
	}
	var lines, methods []string
	notes := slices.Clone(s.processor)
	for i := range rows {
		r := &rows[i]
		line, shared := lineOf(r, names[i]), lineOf(r, "")
		if n := alike[shared]; n > 1 && sentenceRank(r) == notComparedRank {
			if line = fmt.Sprintf("%s (%s)", shared, term.Count(n, "point")); slices.Contains(lines, line) {
				continue
			}
		}
		if len(lines) == maxSentences {
			lines = append(lines, "… and "+verdictCounts(countVerdicts(rows[i:], func(r *compare.Row) judge.Verdict { return r.Verdict })))
			break
		}
		lines = append(lines, line)
		if word := methodFlag(r); sentenceRank(r) != notComparedRank && word != "" && !slices.Contains(methods, word) {
			methods = append(methods, word)
		}
	}
	for _, word := range methods {
		notes = append(notes, word+": "+meanings[word])
	}
	if text := otherSessions(rows, c.reference); text != "" {
		notes = append(notes, text)
	}
	open, enough := s.repeatsFor(rows)
	if open != "" {
		notes = append(notes, open)
	}
	return ContestResult{Lines: append(lines, notes...), Notes: notes, Repeats: enough}
}

// notComparedRank is the sentenceRank of rows without a comparison.
const notComparedRank = 1

// sentenceRank orders sentences: changes, what is not compared, what is undecided, and what is unchanged.
func sentenceRank(r *compare.Row) int {
	barred := []judge.Reason{judge.FailedRequests, judge.Unchecked, judge.Units}
	switch {
	case r.Estimates == nil, slices.Contains(r.Flags, compare.FlagWrong), slices.Contains(barred, r.Reason):
		return notComparedRank
	case called(r.Verdict):
		return 0
	case r.Verdict == judge.Unchanged:
		return 3
	}
	return 2
}

// pointNames returns names of points by their values of axes; empty where there is nothing to tell apart.
func (c contest) pointNames(rows []compare.Row) []string {
	_, varying := Axes(subjects(rows), IdentityColumns)
	coordinates := slices.DeleteFunc(varying, func(x Axis) bool {
		return c.axis != "" && (strings.TrimPrefix(x.Name, "param.") == strings.TrimPrefix(c.axis, "param.") || x.Name == "backend")
	})
	return term.ShortNames(PointNames(coordinates, len(rows)))
}

// line returns the sentence of a row, whose point has a name.
func (c contest) line(r *compare.Row, name string) string {
	text := c.head(r) + " " + sentence(r, c.reference)
	if slices.Contains(r.Flags, compare.FlagRunMeans) {
		text += ", by the means of the runs: means of iterations against single iterations"
	}
	if name != "" {
		text = name + ": " + text
	}
	return term.OneLine(text)
}

// otherSessions says how many rows are inconclusive because too few runs of the two sides ran together in a session. So are those of a
// value that was added to a finished sweep: the other values are not measured again.
func otherSessions(rows []compare.Row, reference string) string {
	open := map[string]bool{} // points, of which each metric has a row
	for i := range rows {
		if rows[i].Verdict == judge.Inconclusive && rows[i].Reason == judge.Sessions {
			open[rows[i].HeadID] = true
		}
	}
	if len(open) == 0 {
		return ""
	}
	return fmt.Sprintf("inconclusive: %s and %s were measured in different sessions, which may differ without any change; bench with --rerun all measures both in one", term.Count(len(open), "point"), reference)
}

// repeatsFor says how many repeats would decide the rows that are inconclusive, of several at least half of them: a single noisy
// one may need very many. Of too few runs it is the least number that could. Nothing where none is. What counts is the runs that
// there are: a session may have been stopped before its last repeat.
//
// It suggests no repeats if other work ran on the machine, or if they would take longer than worthwhile. It never suggests fewer than the
// sweep asks for.
func (s JudgedSession) repeatsFor(rows []compare.Row) (text string, enough int) {
	open, few, busy := 0, false, 0
	var needed []int
	for i := range rows {
		r := &rows[i]
		if r.Verdict != judge.Inconclusive || r.Reason == judge.Sessions {
			continue
		}
		open++
		if loaded(&r.Point) {
			busy++
		}
		few = few || r.Reason == judge.FewRuns
		if r.MoreRuns > 0 {
			needed = append(needed, max(int(min(launched(r.Base), launched(r.Head)))+r.MoreRuns, s.Repeats))
		}
	}
	switch {
	case open == 0:
		return "", 0
	case 2*busy >= open && !few:
		text = "inconclusive: other work ran on the machine (load): measure when it is quiet"
		if s.hasProcessor && len(s.processor) == 0 {
			text += ", or compare by --metric " + CPUUser + " if the programs compute"
		}
		return text, 0
	case len(needed) == 0:
		return "inconclusive: more repeats will probably not decide it", 0
	}
	slices.Sort(needed)
	half, most := needed[(len(needed)-1)/2], needed[len(needed)-1]
	decided, _ := slices.BinarySearch(needed, half+1) // by so many: half of them or more
	noun, which, rest := "point", "it", ""
	if len(s.Metrics) > 1 { // each row is a metric of a point
		noun = "result"
	}
	if others := open - len(needed); others > 0 {
		which = term.Count(len(needed), noun)
		rest = "; more will probably not decide " + term.Count(others, "other "+noun)
	}
	switch {
	case s.takes(half) > worthwhile:
		return fmt.Sprintf("inconclusive: it would take about %d repeats (%s): measure on a quieter machine, or allow a larger --threshold", half, TimeText(s.takes(half))), 0
	case few:
		most = max(most, EnoughRepeats)
		return fmt.Sprintf("inconclusive: too few runs; measure at least %d repeats%s", most, s.taking(most)), most
	case half < most:
		return fmt.Sprintf("inconclusive: %d repeats%s would probably decide %d of %s, %d%s all of them%s", half, s.taking(half), decided, term.Count(len(needed), noun), most, s.taking(most), rest), half
	}
	return fmt.Sprintf("inconclusive: %d repeats%s would probably decide %s%s", most, s.taking(most), which, rest), most
}

// EnoughRepeats is the suggested number of repeats where there are too few for a verdict. From this number of blocks on, runs are compared
// within blocks.
const EnoughRepeats = judge.MinBlocks

// warnLoad is the warning of a run that began while more wanted to run than the machine has processors.
const warnLoad = "load"

// worthwhile is the longest session of more repeats that is suggested.
const worthwhile = time.Hour

// takes extrapolates the time of the session to a number of repeats; 0: unknown.
func (s JudgedSession) takes(repeats int) time.Duration {
	if s.Repeats == 0 {
		return 0
	}
	return time.Duration(float64(s.Elapsed) * float64(repeats) / float64(s.Repeats))
}

// taking returns the text of takes in parentheses; empty: unknown.
func (s JudgedSession) taking(repeats int) string {
	if s.takes(repeats) == 0 {
		return ""
	}
	return " (" + TimeText(s.takes(repeats)) + ")"
}

// launched counts the runs of a side, those that failed too.
func launched(m *compare.Measured) (all int64) {
	if m == nil {
		return 0
	}
	for _, n := range m.Statuses {
		runs, _ := n.(int64)
		all += runs
	}
	return all
}

// headValue returns the value of the axis that a row is about.
func headValue(r *compare.Row, axis string) string {
	if slices.Contains(IdentityColumns, axis) {
		return AxisText(r.Identity.Value(axis))
	}
	return AxisText(r.Identity.Parameter(strings.TrimPrefix(axis, "param.")))
}

// valueName returns a value of an axis in a sentence. A variant and a backend say by themselves what they are.
func valueName(axis, value string) string {
	if axis == "variant" || axis == "backend" || axis == "benchmark" {
		return term.Short(value)
	}
	return axis + "=" + term.Short(value)
}

// sentence says how a point stands to the reference.
func sentence(r *compare.Row, reference string) string {
	e := r.Estimates
	switch {
	case r.Reason == judge.FailedRequests:
		return "is not compared with " + reference + ": " + r.Failure
	case slices.Contains(r.Flags, compare.FlagWrong):
		return "against " + reference + ": one of them has a wrong result"
	case r.Reason == judge.Unchecked:
		return "is not compared with " + reference + ": a result could not be checked"
	case r.Reason == judge.Units:
		return "is not compared with " + reference + ": their units differ"
	case r.Reason == judge.Devices:
		return "is not judged against " + reference + ": another GPU of the machine measured it"
	case r.Reason == judge.OffClock:
		return "is not judged against " + reference + ": the GPU ran at " + ClocksText(r.Clocks)
	case e == nil && (r.Base == nil || r.Base.Runs == 0):
		return "is not compared: " + reference + " has no result"
	case e == nil:
		return "has no result to compare with " + reference
	case r.Verdict == judge.Unchanged:
		return fmt.Sprintf("is as good as %s: %s%s", reference, changeOf(r), interval(r))
	case called(r.Verdict):
		return decided(r, reference)
	}
	verdict := string(r.Verdict)
	if r.Verdict == judge.Estimate && r.Reason != "" {
		verdict += " (" + string(r.Reason) + ")"
		if !known(e) { // the reason says why
			return fmt.Sprintf("against %s: %s, %s", reference, verdict, changeOf(r))
		}
	}
	return fmt.Sprintf("against %s: %s, %s%s", reference, verdict, changeOf(r), interval(r))
}

// changeOf returns the change of a row, followed by the metric if the unit of a difference does not name it, and by the method as in
// PointChange.
func changeOf(r *compare.Row) string {
	text := Change(r.Estimates.Change, r.Scale, r.Unit)
	if r.Scale == schema.ScaleDifference && r.Unit != r.Metric {
		text += " of " + r.Metric
	}
	if word := methodFlag(r); word != "" {
		text += " " + word
	}
	return text
}

// IsTime reports whether a value of a metric is faster or slower than another one: of other metrics it is only better or worse, or lower or
// higher.
func IsTime[Text ~string](unit, better Text) bool {
	return unit == "ns" && better == Text(schema.BetterLower)
}

// decided returns the end of a sentence about a point that changed: the direction, the change and its interval.
func decided(r *compare.Row, reference string) string {
	e := r.Estimates
	change := PointChange(r)
	if known(e) {
		change += interval(r)
	}
	larger := e.Change >= 0
	if IsTime(r.Unit, r.Better) {
		word := "faster"
		if larger {
			word = "slower"
		}
		return fmt.Sprintf("is %s than %s: %s %s", word, reference, r.Metric, change)
	}
	word := "lower"
	if larger {
		word = "higher"
	}
	return fmt.Sprintf("has %s %s than %s: %s", word, r.Metric, reference, change)
}

// known tells whether there is an interval.
func known(e *compare.Estimates) bool {
	return !math.IsNaN(e.Low) && !math.IsInf(e.Low, 0) && !math.IsNaN(e.High) && !math.IsInf(e.High, 0)
}

// interval returns the interval of the change of a row in parentheses, or the reason why there is none.
func interval(r *compare.Row) string {
	e := r.Estimates
	if !known(e) {
		return " (too few runs for an interval)"
	}
	return " (" + Ends(e.Low, e.High, r.Scale, r.Unit) + ")"
}
