package views

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/history"
	"github.com/neurolens/neurolens/query/judge"
)

// How much a history shows.
const (
	historyRows  = 20 // series or changes in a table
	sparkColumns = 20 // of a line that stands in a table
	spikesShown  = 3  // of a series
	quietShare   = .1 // of the largest value: what a line spans at least from bottom to top
)

// historyAxes are the columns in which series differ, besides the parameters.
var historyAxes = []string{"benchmark", "variant", "backend", "model", "batch_size", "seq_len", "precision", "machine"}

// changedAt is a change of a series, with what is said of it.
type changedAt struct {
	history.Change
	row *history.Row // nil: there is no change
}

// verdict is empty where there is no change.
func (c changedAt) verdict() judge.Verdict {
	if c.row == nil {
		return ""
	}
	return c.row.Verdict
}

// verdictText is the verdict, followed by the direction of a slow change.
func (c changedAt) verdictText() string {
	if word := direction(c.row); word != "" {
		if c.verdict() == judge.Inconclusive {
			word = "slow change"
		}
		return string(c.verdict()) + ", " + word
	}
	return string(c.verdict())
}

// direction is rising or falling if the change is slow, else empty.
func direction(row *history.Row) string {
	switch {
	case row == nil || row.RampSessions == 0 || row.Shift == nil:
		return ""
	case *row.Shift < 0:
		return "falling"
	}
	return "rising"
}

// when is the day of a change, or the two days that enclose it.
func (c changedAt) when() string {
	if after, by := began(c.After), began(c.By); c.Places > 1 && after != by {
		return after + ".." + by
	}
	return began(c.row.StartedAt)
}

// since is when the first session of a new level, or of a slow change, started.
func (c changedAt) since() *time.Time {
	if direction(c.row) != "" {
		return c.After
	}
	return c.row.StartedAt
}

func (w History) changes(s history.Series) []changedAt {
	var all []changedAt
	for _, c := range s.Changes {
		all = append(all, changedAt{c, &w.H.Rows[c.Row]})
	}
	return all
}

// one is the full form of a series: its line, and its changes.
func (w History) one(s history.Series) term.View {
	rows := w.H.Rows[s.First:s.End]
	first := began(rows[0].StartedAt)
	v := term.View{Above: []string{fmt.Sprintf("%s · %s since %s", seriesName(&rows[0]), term.Count(len(s.Locations), w.noun()), first), "", w.line(rows, s.Locations)}}
	changes := w.changes(s)
	v.Below = slices.Concat([]string{w.outcome(changes, s)}, slow(changes), between(changes), w.spikes(s))
	if s.Failed > 0 {
		newest := began(rows[len(rows)-1].StartedAt)
		v.Below = append(v.Below, failedOfLate(s)+": the last value is from "+newest)
	}
	if w.tooShort(s) {
		v.Below = append(v.Below, "--format csv prints the value and the commit of each "+w.noun())
	}
	if len(changes) == 0 {
		return w.finish(v, nil)
	}
	compact := w.finish(v, changes)
	compact.Below = append(w.alsoChanged(changes), compact.Below...)
	compact.Columns, compact.Rows = w.changeTable(changes, false)
	v = w.finish(v, changes)
	v.Columns, v.Rows = w.changeTable(changes, true)
	v.Compact = func() term.View { return compact }
	return v
}

// changeTable is a line for each change of a series, with what changed together with it or without.
func (w History) changeTable(changes []changedAt, also bool) (columns []term.Column, rows [][]term.Cell) {
	columns = []term.Column{
		{Header: "CHANGED"}, {Header: "BY", Right: true}, {Header: "95 %", Right: true, Drop: 1}, {Header: "VERDICT"}, {Header: "COMMITS", Drop: 2},
	}
	if also {
		columns = append(columns, term.Column{Header: "ALSO CHANGED"})
		columns[2].Drop, columns[4].Drop = 0, 0
	}
	for _, c := range changes {
		row := []term.Cell{
			{Text: c.when()},
			{Text: shiftText(c.row, c.row.Shift)},
			{Text: shiftInterval(c.row)},
			{Text: c.verdictText(), Failed: c.verdict() == judge.Regressed, Won: c.verdict() == judge.Improved},
			{Text: commitRange(c.Base, c.Head)},
		}
		if also {
			row = append(row, term.Cell{Text: w.differsText(c.Differs)})
		}
		rows = append(rows, row)
	}
	return columns, rows
}

// alsoChanged are lines about what changed together with the level, where there is no room beside it.
func (w History) alsoChanged(changes []changedAt) []string {
	lines := []string{"also changed"}
	for _, c := range changes {
		lines = append(lines, term.Gap+c.when()+term.Gap+w.differsText(c.Differs))
	}
	return append(lines, "")
}

// outcome is the line that counts the changes of one series.
func (w History) outcome(changes []changedAt, s history.Series) string {
	values := term.Count(len(s.Locations), w.noun()) + w.perCommit()
	found, inconclusive := len(changes), ""
	if found > 0 && changes[found-1].verdict() == judge.Inconclusive {
		last := changes[found-1]
		found--
		kind := ""
		if direction(last.row) != "" {
			kind = "a slow change, "
		}
		inconclusive = fmt.Sprintf("; inconclusive %s since %s: %svisible, but may be chance", shiftText(last.row, last.row.Shift), began(last.since()), kind)
	}
	switch {
	case found == 0 && w.tooShort(s):
		return fmt.Sprintf("%s; history needs at least %d", term.Count(s.Sessions, w.noun())+w.perCommit(), history.MinSessions) + inconclusive
	case found == 0:
		return "no change found in " + values + inconclusive
	}
	return term.Count(found, "change") + " found in " + values + inconclusive
}

// slow are lines about the slow changes of a series, without an inconclusive one.
func slow(changes []changedAt) (lines []string) {
	for _, c := range changes {
		if word := direction(c.row); word != "" && c.verdict() != judge.Inconclusive {
			lines = append(lines, fmt.Sprintf("%s since %s, %s in %s", word, began(c.After), shiftText(c.row, c.row.Shift), term.Count(c.row.RampSessions, "session")))
		}
	}
	return lines
}

// between explains two days A..B, if a step has them.
func between(changes []changedAt) []string {
	if slices.ContainsFunc(changes, func(c changedAt) bool { return direction(c.row) == "" && strings.Contains(c.when(), "..") }) {
		return []string{"A..B: the step is after session A and not after session B, with a confidence of 95 %"}
	}
	return nil
}

// spikes is a line about the sessions that are far off their level.
func (w History) spikes(s history.Series) []string {
	if len(s.Spikes) == 0 {
		return nil
	}
	var all []string
	for _, i := range s.Spikes[:min(len(s.Spikes), spikesShown)] {
		row := w.H.Rows[i]
		all = append(all, began(row.StartedAt)+" ("+shiftText(&row, row.Shift)+")")
	}
	text := term.Count(len(s.Spikes), w.noun()) + " far off the level (spikes, not changes): " + strings.Join(all, ", ")
	if len(s.Spikes) > spikesShown {
		text += ", …"
	}
	return []string{text}
}

// noun is what series are of: sessions, or where one has several commits, values.
func (w History) noun() string {
	if slices.ContainsFunc(w.H.Series, func(s history.Series) bool { return s.ByCommit }) {
		return "value"
	}
	return "session"
}

// perCommit says of what values are.
func (w History) perCommit() string {
	if w.noun() == "value" {
		return ", one for each commit of a session"
	}
	return ""
}

// tooShort tells whether a series has too few sessions for any change to be found. Otava's rule has no such bound.
func (w History) tooShort(s history.Series) bool {
	return s.Sessions < history.MinSessions && w.Req.Method != history.Otava
}

// seriesName is what the series of a row is of.
func seriesName(row *history.Row) string {
	constants, _ := Axes([]Subject{{Point: row.Point}}, historyAxes[:len(historyAxes)-1])
	name := OrUnknown(row.Metric) + " of " + strings.Join(constants, " ")
	if row.Machine != "" {
		name += " on " + row.Machine
	}
	return name
}

// line is the first value, the line between, and the last value.
func (w History) line(rows []history.Row, locations []float64) string {
	first, last := locationText(&rows[0]), locationText(&rows[len(rows)-1])
	width := w.Reader.Width - term.Width(first+last) - 3*len(term.Gap)
	return term.Gap + first + term.Gap + sparkline(locations, max(width, 1)) + term.Gap + last
}

func locationText(row *history.Row) string {
	return QuantityOf(row.Location, row.Unit, row.Metric, "")
}

// sparkline draws values in at most so many columns, from the smallest to the largest of what it shows: medians of
// neighbours where there are more values than columns. What hardly changes looks as if it hardly changed.
func sparkline(values []float64, columns int) string {
	bars := []rune("▁▂▃▄▅▆▇█")
	n := min(len(values), columns)
	shown := make([]float64, n)
	for i := range shown {
		part := slices.Sorted(slices.Values(values[i*len(values)/n : (i+1)*len(values)/n]))
		shown[i] = part[len(part)/2]
	}
	if n == 0 {
		return ""
	}
	low, high := slices.Min(shown), slices.Max(shown)
	middle, half := low/2+high/2, max(high/2-low/2, quietShare/2*max(high, -low))
	var b strings.Builder
	for _, v := range shown {
		height := 0.
		if half > 0 {
			height = (v/half - middle/half + 1) / 2 * float64(len(bars)-1)
		}
		b.WriteRune(bars[int(math.Round(height))])
	}
	return b.String()
}

// shiftInterval is the interval of a shift.
func shiftInterval(row *history.Row) string {
	switch low, high := row.ShiftLow, row.ShiftHigh; {
	case low == nil && high == nil:
		return term.Unknown
	case low == nil, high == nil:
		return strings.TrimSuffix(shiftText(row, low), " %") + " " + strings.TrimSuffix(shiftText(row, high), " %")
	default:
		return Interval(*low, *high, row.Scale, row.Unit)
	}
}

// shiftText is the shift of a row, or an end of its interval, as it is compared.
func shiftText(row *history.Row, shift *float64) string {
	if shift == nil {
		return term.Unknown
	}
	return Change(*shift, row.Scale, row.Unit)
}

// commitRange is the commit before a change and the first one after it.
func commitRange(base, head string) string {
	switch {
	case base == "" && head == "":
		return term.Unknown
	case base == head:
		return ShortCommit(head)
	}
	return cmp.Or(ShortCommit(base), term.Unknown) + ".." + cmp.Or(ShortCommit(head), term.Unknown)
}

// differsText is what changed together with a level.
func (w History) differsText(differs []query.FactDifference) string {
	var parts []string
	for _, d := range w.Facts.Telling(differs) {
		parts = append(parts, verdictDifference(d))
	}
	if len(parts) == 0 {
		return "nothing else known"
	}
	return strings.Join(parts, ", ")
}
