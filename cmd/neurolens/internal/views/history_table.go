package views

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/history"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
)

// changeOrder is how verdicts are ordered: what got worse first.
var changeOrder = []judge.Verdict{judge.Regressed, judge.Changed, judge.Inconclusive, judge.Improved, ""}

// several is a line for each series: those that fail first, then that whose last change is worst.
func (w History) several() term.View {
	series := slices.Clone(w.H.Series)
	last := func(s history.Series) changedAt {
		if changes := w.changes(s); len(changes) > 0 {
			return changes[len(changes)-1]
		}
		return changedAt{}
	}
	slices.SortStableFunc(series, func(a, b history.Series) int {
		return cmp.Or(min(b.Failed, 1)-min(a.Failed, 1), worse(last(a), last(b)))
	})
	shown := series[:min(len(series), historyRows)]

	above, varying := w.inCommon(shown)
	v := term.View{Above: above}
	for _, s := range shown {
		v.Points = append(v.Points, w.H.Rows[s.First].PointID)
	}
	table := func(v term.View, varying []Axis) term.View {
		for _, x := range varying {
			v.Columns = append(v.Columns, AxisColumn(x))
		}
		v.Columns = append(v.Columns,
			term.Column{Header: strings.ToUpper(w.noun()) + "S", Right: true, Drop: 1}, term.Column{Header: "TREND", Drop: 3}, term.Column{Header: "LAST", Right: true},
			term.Column{Header: "CHANGE", Right: true}, term.Column{Header: "VERDICT"}, term.Column{Header: "SINCE " + w.Reader.Offset(), Drop: 2})
		for i, s := range shown {
			var cells []term.Cell
			for _, x := range varying {
				cells = append(cells, AxisCell(x, i))
			}
			v.Rows = append(v.Rows, append(cells, w.seriesCells(s, last(s))...))
		}
		return v
	}
	v.Below = w.counts()
	compact := v
	v = table(v, varying)
	v.Compact = func() term.View { return table(compact, w.Reader.MergedAxes(varying)) }
	changes := make([]changedAt, len(shown))
	for i, s := range shown {
		changes[i] = last(s)
	}
	return w.finish(v, changes)
}

// inCommon are lines about what all series have in common and what those shown do, and the fields in which these differ.
func (w History) inCommon(shown []history.Series) (lines []string, varying []Axis) {
	fields := append([]string{"metric"}, historyAxes...)
	differs := w.differing(fields)
	first := w.subjects(shown)
	common, _ := AxesBut(first, fields, func(name string) bool { return differs[name] })
	shared, varying := AxesBut(first, fields, func(name string) bool { return !differs[name] })
	lines = term.Heading(withoutLabel(common))
	if len(shared) > 0 {
		lines = append(lines, "all series below: "+strings.Join(withoutLabel(shared), " · "))
	}
	return lines, varying
}

// differing are the fields and parameters in which series differ from the first one: some series are looked at at a time, as
// there may be very many.
func (w History) differing(fields []string) map[string]bool {
	differs := map[string]bool{}
	for some := range slices.Chunk(w.H.Series, 1000) {
		_, varying := Axes(w.subjects(slices.Concat(w.H.Series[:1], some)), fields)
		for _, x := range varying {
			differs[x.Name] = true
		}
	}
	return differs
}

// withoutLabel says a metric, which comes first, by its name alone.
func withoutLabel(constants []string) []string {
	if len(constants) > 0 {
		constants[0] = strings.TrimPrefix(constants[0], "metric=")
	}
	return constants
}

// subjects are what series are of.
func (w History) subjects(series []history.Series) []Subject {
	all := make([]Subject, len(series))
	for i, s := range series {
		row := &w.H.Rows[s.First]
		all[i] = Subject{Point: row.Point, Metric: row.Metric}
	}
	return all
}

// seriesCells are the cells of a series after what it is of.
func (w History) seriesCells(s history.Series, c changedAt) []term.Cell {
	rows := w.H.Rows[s.First:s.End]
	cells := []term.Cell{
		{Text: term.Thousands(len(s.Locations))},
		{Text: sparkline(s.Locations, sparkColumns)},
		{Text: locationText(&rows[len(rows)-1])},
	}
	if c.row == nil {
		words := strings.TrimPrefix(failedOfLate(s)+spikeOf(s), ", ")
		return append(cells, term.Cell{Text: term.Unknown}, term.Cell{Text: words, Failed: s.Failed > 0}, term.Cell{})
	}
	verdict := c.verdictText()
	if n := len(s.Changes); c.verdict() == judge.Inconclusive && n > 1 {
		verdict += ", " + string(w.changes(s)[n-2].verdict()) + " before"
	}
	if s.Failed > 0 {
		verdict += ", " + failedOfLate(s)
	}
	verdict += spikeOf(s)
	return append(cells, term.Cell{Text: shiftText(c.row, c.row.Shift)}, term.Cell{Text: verdict, Failed: c.verdict() == judge.Regressed || s.Failed > 0, Won: c.verdict() == judge.Improved},
		term.Cell{Text: w.Reader.When(answer.Value(c.since()))})
}

// failedOfLate says that a series has no newer value because its runs failed; it is empty where that is not so.
func failedOfLate(s history.Series) string {
	if s.Failed == 0 {
		return ""
	}
	return "failing for " + term.Count(s.Failed, "session")
}

// spikeOf is the end of the verdict in the row of a series with a spike; else empty.
func spikeOf(s history.Series) string {
	if len(s.Spikes) == 0 {
		return ""
	}
	return ", spike"
}

// worse orders changes: for the worse first, then the larger one.
func worse(a, b changedAt) int {
	size := func(c changedAt) float64 {
		switch {
		case c.row == nil || c.row.Shift == nil:
			return 0
		case c.row.Scale == schema.ScaleRatio:
			return math.Abs(math.Log1p(*c.row.Shift))
		}
		return math.Abs(*c.row.Shift)
	}
	return cmp.Or(slices.Index(changeOrder, a.verdict())-slices.Index(changeOrder, b.verdict()), cmp.Compare(size(b), size(a)))
}

// counts are the lines that count everything.
func (w History) counts() []string {
	counts, few := w.byLastChange()
	var lines []string
	if hidden := len(w.H.Series) - historyRows; hidden > 0 {
		lines = append(lines, fmt.Sprintf("… %s more (--format plain for all)", term.Thousands(hidden)))
	}
	parts := []string{fmt.Sprintf("%s regressed", term.Thousands(counts[judge.Regressed])), fmt.Sprintf("%s improved", term.Thousands(counts[judge.Improved]))}
	if n := counts[judge.Changed]; n > 0 {
		parts = append(parts, fmt.Sprintf("%s changed", term.Thousands(n)))
	}
	if n := counts[judge.Inconclusive]; n > 0 {
		parts = append(parts, fmt.Sprintf("%s inconclusive", term.Thousands(n)))
	}
	parts = append(parts, fmt.Sprintf("%s with no change found", term.Thousands(counts[""])))
	lines = append(lines, counted(len(w.H.Series), "series")+" over "+term.Count(w.H.Sessions, "session")+w.perCommit())
	if few < len(w.H.Series) {
		lines = append(lines, "by their last change: "+strings.Join(parts, ", "))
	}
	lines = append(lines, w.fewSessions(few)...)
	failed := 0
	for _, s := range w.H.Series {
		failed += min(s.Failed, 1)
	}
	if failed > 0 {
		lines = append(lines, counted(failed, "series")+" failing since the last value")
	}
	if spiky := w.spiky(); spiky > 0 {
		lines = append(lines, counted(spiky, "series")+" with a "+w.noun()+" far off the level (a spike, not a change)")
	}
	if counts[judge.Inconclusive] > 0 {
		lines = append(lines, inconclusiveMeaning)
	}
	if counts[""]+counts[judge.Inconclusive]+few < len(w.H.Series) && w.Req.Method != history.Otava {
		lines = append(lines, w.promise())
	}
	return lines
}

// fewSessions counts the series that are too short for a change to be found.
func (w History) fewSessions(few int) []string {
	if few == 0 || w.Req.Method == history.Otava {
		return nil
	}
	return []string{fmt.Sprintf("%s with fewer than %d %ss, too few to find a change", term.Thousands(few), history.MinSessions, w.noun())}
}

// inconclusiveMeaning says what an inconclusive series is.
const inconclusiveMeaning = "inconclusive: a visible step or slow change that may be chance; more sessions decide it"

// promise is what is known of false changes.
func (w History) promise() string {
	if w.Req.Newest > 0 {
		return "false alarms: if you look every day for a year, at most 5 % of the series without a change are called changed"
	}
	return "changed series: false discovery rate 5 %"
}

// spiky counts the series with spikes.
func (w History) spiky() (n int) {
	for _, s := range w.H.Series {
		n += min(len(s.Spikes), 1)
	}
	return n
}

// byLastChange counts the series by the verdict of their last change, and those that are too short to tell one.
func (w History) byLastChange() (counts map[judge.Verdict]int, few int) {
	counts = map[judge.Verdict]int{}
	for _, s := range w.H.Series {
		switch changes := w.changes(s); {
		case len(changes) > 0:
			counts[changes[len(changes)-1].verdict()]++
		case w.tooShort(s):
			few++
		default:
			counts[""]++
		}
	}
	return counts, few
}

// regressions are the changes for the worse, a line each, the largest first.
func (w History) regressions() term.View {
	var all []changedAt
	for _, s := range w.H.Series {
		all = append(all, w.changes(s)...)
	}
	slices.SortStableFunc(all, worse)
	v := term.View{Columns: []term.Column{
		{Header: "CHANGED"},
		{Header: "SERIES"},
		{Header: "BY", Right: true},
		{Header: "95 %", Right: true, Drop: 1},
		{Header: "COMMITS", Drop: 2},
		{Header: "ALSO CHANGED", Drop: 3},
	}}
	for _, r := range all[:min(len(all), historyRows)] {
		v.Rows = append(v.Rows, []term.Cell{
			{Text: r.when()},
			{Text: seriesName(r.row)},
			{Text: strings.TrimSpace(shiftText(r.row, r.row.Shift) + " " + direction(r.row)), Failed: true},
			{Text: shiftInterval(r.row)},
			{Text: commitRange(r.Base, r.Head)},
			{Text: w.differsText(r.Differs)},
		})
	}
	if hidden := len(all) - historyRows; hidden > 0 {
		v.Below = append(v.Below, fmt.Sprintf("… %s more (--format plain for all)", term.Thousands(hidden)))
	}
	v.Below = append(v.Below, fmt.Sprintf("%s%s in %s of %s", term.Count(len(all), "regression"), w.since(), counted(len(w.H.Series), "series"), term.Thousands(w.H.Known)))
	v.Below = slices.Concat(v.Below, between(all[:min(len(all), historyRows)]), w.inconclusiveSeries(), w.fewSessions(w.H.Few))
	return w.finish(v, all[:1])
}

// inconclusiveSeries counts the series that may have a regression which is not listed.
func (w History) inconclusiveSeries() []string {
	if w.H.Inconclusive == 0 {
		return nil
	}
	return []string{counted(w.H.Inconclusive, "series") + " inconclusive, with a change that may be chance: history without --regressions shows them"}
}

// finish adds what was left out and the commands to type next: about the first of the changes.
func (w History) finish(v term.View, changes []changedAt) term.View {
	v.Below = append(v.Below, w.discontinued()...)
	if w.H.NoValue > 0 {
		v.Below = append(v.Below, term.Count(w.H.NoValue, "ok run")+" left out: no value of the metric")
	}
	if w.H.Requests > 0 {
		v.Below = append(v.Below, w.failedRequests())
	}
	if w.H.Tied > 0 {
		v.Below = append(v.Below, history.CountAsOne(w.H.Tied))
	}
	if w.H.Undated > 0 {
		v.Below = append(v.Below, w.undated())
	}
	if w.Gate != "" {
		v.Below = append(v.Below, w.Gate)
	}
	slices.SortStableFunc(changes, worse)
	if len(changes) == 0 || changes[0].row == nil {
		return v
	}
	command := "neurolens plot history point_id=" + changes[0].row.PointID
	if w.Req.Metric != "" {
		command += " --metric " + term.ShellWord(w.Req.Metric)
	}
	v.Below, v.Next = append(v.Below, ""), []string{"next  " + command + w.Reader.OfStores()}
	// A slow change has no commit that a bisection could find.
	if c := changes[0]; c.verdict() == judge.Regressed && c.row.RampSessions == 0 && c.Base != "" && c.Head != "" && c.Base != c.Head {
		v.Next = append(v.Next, "      neurolens bisect "+ShortCommit(c.Base)+" "+ShortCommit(c.Head)+" SWEEP.yaml")
	}
	return v
}
