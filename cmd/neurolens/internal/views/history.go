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
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/history"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
)

// History shows a history to people.
type History struct {
	Reader Display
	H      *history.History
	Req    history.Request
	Facts  query.FactWriter // what is known of the facts in which sessions differ
	Gate   string           // the last line of a gate; empty: there is none
}

// View returns the full form of one series, a line each of several, and of changes for the worse a line each.
func (w History) View() term.View {
	switch {
	case len(w.H.Series) == 0:
		v := term.View{Below: w.nothing()}
		if w.Gate != "" {
			v.Below = append(v.Below, w.Gate)
		}
		return w.withNext(v, nil)
	case w.Req.Regressions:
		return w.regressions()
	case len(w.H.Series) == 1:
		return w.one(w.H.Series[0])
	}
	return w.several()
}

// GateLine returns the last line of a gate, which ends with an exit status. It says where the gate differs from the rows of the history, and
// why, and what decides about newest sessions that are far off.
func (w History) GateLine(exit int) string {
	h, g := w.H, w.H.Gate
	var parts []string
	if g.Regressed > 0 {
		regressed := counted(g.Regressed, "series") + " regressed"
		if g.Failing > 0 {
			regressed += fmt.Sprintf(" (%s of them failing)", term.Thousands(g.Failing))
		}
		if g.Alone > 0 {
			regressed += fmt.Sprintf(", %s of them by a change that may be chance among %s: a gate judges each by itself", term.Thousands(g.Alone), counted(h.Known, "series"))
		}
		parts = append(parts, regressed)
	}
	if g.Inconclusive > 0 {
		inconclusive := counted(g.Inconclusive, "series") + " inconclusive"
		if g.Undated > 0 {
			inconclusive += fmt.Sprintf(" (%s of them have runs without a start time)", term.Thousands(g.Undated))
		}
		switch {
		case g.Once > 0:
			inconclusive += fmt.Sprintf(": %s regressed at a single look, but a gate that looks every night needs %s", term.Thousands(g.Once), moreSessions(g.Missing, "session"))
			if g.Newest > 0 {
				inconclusive += fmt.Sprintf(", and --newest %d so that it still counts the change", g.Newest)
			}
		case g.Departed == g.Inconclusive:
			inconclusive += ": far off in " + term.Verb(g.Departed, "its", "their") + " newest session"
		case h.Longest < history.GateSessions:
			inconclusive += fmt.Sprintf("; a gate calls no step before %d sessions", history.GateSessions)
		}
		parts = append(parts, inconclusive)
	}
	switch {
	case g.Short == g.Series:
		parts = append(parts, fmt.Sprintf("nothing to decide: no series has %d sessions", history.MinSessions))
	case len(parts) > 0:
	case h.Longest < history.GateSessions:
		parts = append(parts, fmt.Sprintf("no step for the worse is visible in %s; a gate calls none before %d sessions", counted(g.Series-g.Short, "series"), history.GateSessions))
	default:
		parts = append(parts, "no regression found in "+counted(g.Series-g.Short, "series"))
	}
	if g.Earlier > 0 {
		parts = append(parts, term.Thousands(g.Earlier)+" regressed before these sessions")
	}
	if 0 < g.Departed && g.Departed < g.Inconclusive {
		parts = append(parts, fmt.Sprintf("%s of them far off in %s newest session", term.Thousands(g.Departed), term.Verb(g.Departed, "its", "their")))
	}
	usual := 0
	for _, d := range h.Departures {
		if !d.Rare && d.Row.Verdict != judge.Improved {
			usual++
		}
	}
	if usual > 0 {
		parts = append(parts, fmt.Sprintf("%s far off in %s newest session, as happened before", counted(usual, "series"), term.Verb(usual, "its", "their")))
	}
	switch judge, measure := w.Judge(), w.measureAgain(); {
	case g.Departed == 0:
	case judge != "":
		parts = append(parts, judge+" may judge it now")
	case measure != "":
		parts = append(parts, measure+" measures it again")
	default:
		parts = append(parts, "measure it again")
	}
	newest := fmt.Sprintf("newest %d sessions: ", w.Req.Newest)
	if h.Matching < w.Req.Newest {
		newest = term.Count(h.Matching, "session") + ": "
	}
	return fmt.Sprintf("gate: %s%s (exit %d)", newest, strings.Join(parts, "; "), exit)
}

// measureAgain returns the command that measures the sweep of the newest session again that is most far off; empty if its file is unknown, or
// in which of several stores it belongs.
func (w History) measureAgain() string {
	if len(w.H.Departures) == 0 || w.H.Departures[0].Sweep == "" || len(w.Reader.Stores) > 1 {
		return ""
	}
	return "neurolens bench " + term.ShellWord(w.H.Departures[0].Sweep) + w.Reader.OfStores()
}

// moreSessions returns how many further sessions or values decide.
func moreSessions(n int, noun string) string {
	if n == 0 {
		return fmt.Sprintf("more than %d more %ss", history.MostMissing, noun)
	}
	return "about " + term.Count(n, "more "+noun)
}

// nothing explains why there is nothing to show.
func (w History) nothing() []string {
	switch {
	case w.H.Known > 0 && w.Req.Regressions:
		return slices.Concat(w.first(w.undecided("no regression found"+w.since()+" in "+counted(w.H.Known, "series"))...), w.failing(), w.fewSessions(w.H.Few))
	case w.H.Known > 0:
		return append([]string{"no ok run" + w.since()}, w.discontinued()...)
	case w.H.Failed > 0 && w.H.Failed == w.H.Requests:
		return []string{w.failedRequests()}
	case w.H.Failed > 0 && w.H.NoValue == 0:
		return []string{term.Count(w.H.Failed, "run") + " failed, and none is ok"}
	case w.H.NoValue > 0:
		return []string{term.Count(w.H.NoValue, "ok run") + " without a value of " + OrUnknown(w.Req.Metric)}
	case w.H.Bisected > 0:
		return []string{history.LeftOut(w.H.Bisected)}
	}
	return []string{"no run matches"}
}

// failing counts the series whose runs fail, where only regressions are listed.
func (w History) failing() []string {
	if w.H.Failing == 0 {
		return nil
	}
	return []string{counted(w.H.Failing, "series") + " failing since the last value"}
}

// failedRequests counts the runs that are left out because requests failed.
func (w History) failedRequests() string {
	return term.Count(w.H.Requests, "run") + " left out: more requests failed than allow_failed allows"
}

// discontinued counts the series that have nothing to show because all that is newer failed.
func (w History) discontinued() []string {
	if w.H.Discontinued == 0 {
		return nil
	}
	return []string{counted(w.H.Discontinued, "series") + " with an older last value, failing since"}
}

// since returns the bound that was asked for.
func (w History) since() string {
	if w.Req.Since.IsZero() {
		return ""
	}
	if w.Reader.UTC {
		return " since " + w.Reader.When(w.Req.Since)
	}
	return " since " + w.Req.Since.Local().Format("2006-01-02 15:04")
}

// counted is count for what has no plural of its own.
func counted(n int, noun string) string { return term.Thousands(n) + " " + noun }

// How much a history shows.
const (
	historyRows  = 20 // series or changes in a table
	sparkColumns = 20 // of a line that stands in a table
	spikesShown  = 3  // of a series
	quietShare   = .1 // of the largest value: what a line spans at least from bottom to top
)

// historyAxes are the columns in which series differ, besides the parameters.
var historyAxes = []string{"benchmark", "variant", "backend", "model", "batch_size", "seq_len", "precision", "machine"}

// changedAt is a change of a series with its description.
type changedAt struct {
	history.Change
	row    *history.Row // nil: there is no change
	reader Display
}

// verdict is empty where there is no change.
func (c changedAt) verdict() judge.Verdict {
	if c.row == nil {
		return ""
	}
	return c.row.Verdict
}

// verdictText returns the verdict, followed by the direction of a slow change. In place of a verdict stands why there is none.
func (c changedAt) verdictText() string {
	if c.verdict() == judge.Estimate {
		return string(c.row.Reason) + " (" + ClocksText(c.row.Clocks) + ")"
	}
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

// when returns the day of a change, or the two days that enclose it.
func (c changedAt) when() string {
	if after, by := c.reader.Day(c.After), c.reader.Day(c.By); c.Places > 1 && after != by {
		return after + ".." + by
	}
	return c.reader.Day(c.row.StartedAt)
}

// since returns when the first session of a new level, or of a slow change, started.
func (c changedAt) since() *time.Time {
	if direction(c.row) != "" {
		return c.After
	}
	return c.row.StartedAt
}

func (w History) changes(s history.Series) []changedAt {
	var all []changedAt
	for _, c := range s.Changes {
		all = append(all, changedAt{c, &w.H.Rows[c.Row], w.Reader})
	}
	return all
}

// one returns the full form of a series: its line, and its changes.
func (w History) one(s history.Series) term.View {
	rows := w.H.Rows[s.First:s.End]
	first := w.Reader.Day(rows[0].StartedAt)
	changes := w.changes(s)
	v := term.View{Above: slices.Concat(w.first(w.outcome(changes)...),
		[]string{"", fmt.Sprintf("%s · %s since %s", seriesName(&rows[0]), term.Count(len(s.Locations), w.noun()), first) + w.perCommit(), "", w.line(rows, s.Locations)})}
	if len(changes) > 1 {
		v.Below = append(v.Below, fmt.Sprintf("%s changes, the last one above", term.Thousands(len(changes))))
	}
	v.Below = slices.Concat(v.Below, w.byOtava(), between(changes), w.spikes(s))
	if s.Failed > 0 {
		newest := w.Reader.Day(rows[len(rows)-1].StartedAt)
		v.Below = append(v.Below, failedOfLate(s)+": the last value is from "+newest)
	}
	if w.tooShort(s) && len(changes) == 0 {
		v.Below = append(v.Below, "--format csv prints the value and the commit of each "+w.noun())
	}
	if len(changes) == 0 {
		return w.finish(v, nil)
	}
	v.Below = slices.Clip(v.Below)
	wide := v
	wide.Columns, wide.Rows = w.changeTable(changes, true)
	v.Columns, v.Rows = w.changeTable(changes, false)
	compact := w.finish(v, changes)
	var also []string
	for _, c := range changes {
		if len(w.Facts.Telling(c.Differs)) > 0 {
			also = append(also, term.Gap+c.when()+term.Gap+w.differsText(c.Differs))
		}
	}
	if len(also) > 0 {
		compact.Below = slices.Concat([]string{"also changed"}, also, []string{""}, compact.Below)
	}
	wide = w.finish(wide, changes)
	wide.Compact = func() term.View { return compact }
	return wide
}

// changeTable returns a line for each change of a series, with what changed together with it or without.
func (w History) changeTable(changes []changedAt, also bool) (columns []term.Column, rows [][]term.Cell) {
	columns = []term.Column{
		{Header: "CHANGED", Fixed: true}, {Header: "FROM", Right: true}, {Header: "TO", Right: true}, {Header: "BY", Right: true}, {Header: "95 %", Right: true, Drop: 1}, {Header: "VERDICT"}, {Header: "COMMITS", Drop: 2},
	}
	if also {
		columns = append(columns, term.Column{Header: "ALSO CHANGED"})
		columns[4].Drop, columns[6].Drop = 0, 0
	}
	for _, c := range changes {
		row := term.Cells(c.when(), c.level(c.OldLevel), c.level(c.NewLevel), shiftText(c.row, c.row.Shift), shiftInterval(c.row), c.verdictText(), c.commits())
		row[5].Failed, row[5].Won = c.verdict() == judge.Regressed, c.verdict() == judge.Improved
		if also {
			row = append(row, term.Cell{Text: w.differsText(c.Differs)})
		}
		rows = append(rows, row)
	}
	return columns, rows
}

// outcome returns the lines that say what was found in the only series: its last change, or why there is none.
func (w History) outcome(changes []changedAt) []string {
	if len(changes) == 0 || changes[len(changes)-1].verdict() == judge.Inconclusive {
		return w.undecided("no change found in " + term.Count(w.H.Longest, w.noun()))
	}
	c := changes[len(changes)-1]
	return []string{c.verdictText() + " " + c.sinceText() + ": " + c.fromTo()}
}

// sinceText says with which session a level changed, and between which commits.
func (c changedAt) sinceText() string {
	if c.Bisected == nil {
		return "since " + session(c.reader.Day(c.since()), c.Base, c.Head)
	}
	return "since " + c.reader.Day(c.since()) + " (" + Bisected(c.Bisected.Found, c.Base, c.Head) + ")"
}

// commits returns the commit that bisect found, or else those between which the level changed.
func (c changedAt) commits() string {
	if found := c.Commit(); found != "" {
		return ShortCommit(found)
	}
	return commitRange(c.Base, c.Head)
}

// session names the first session after a change by its day and by the commits before and after the change.
func session(day, base, head string) string {
	if base == "" && head == "" {
		return day
	}
	return day + " (" + commitRange(base, head) + ")"
}

// undecided returns the lines about what may be a change but may be chance, and about too few sessions for a step to be found at all, or
// else, if neither is the case, the line none. Where only regressions are listed, improvements that may be chance are not named.
func (w History) undecided(none string) (lines []string) {
	u, short := w.H.Undecided, w.H.Longest < w.H.Needs
	if u != nil && u.Better && w.Req.Regressions {
		u = nil
	}
	if short {
		lines = append(lines, CannotDecide(term.Count(w.H.Longest, w.noun()), w.H.Known, w.H.Needs))
	}
	switch {
	case u != nil:
		c := changedAt{u.Change, &u.At, w.Reader}
		text := c.verdictText() + ": "
		if n := w.H.Inconclusive; n > 1 {
			text = counted(n, "series") + " inconclusive, most of all "
		}
		if w.H.Known > 1 {
			text += w.nameOf(c.row) + ", "
		}
		text += c.fromTo() + " " + c.sinceText() + "; may be chance" + among(w.H.Known) + "; " + moreSessions(u.Missing, w.noun()) + term.Verb(u.Missing, " decides", " decide")
		if w.H.Longest < history.MinSlowSessions && direction(c.row) == "" {
			text += SlowNeeds
		}
		return append(lines, text)
	case short && w.H.Longest > history.MinSessions:
		return append(lines, "no step is visible"+w.since())
	case short:
		return lines
	}
	return []string{none}
}

// CannotDecide says that even the longest of so many series, with these sessions, is too short for a step to be found.
func CannotDecide(sessions string, series, needs int) string {
	return fmt.Sprintf("%s cannot decide%s; from %d on they can", sessions, among(series), needs)
}

// among says among how many series a change would be found; empty for one.
func among(series int) string {
	if series < 2 {
		return ""
	}
	return " among " + counted(series, "series")
}

// SlowNeeds says that what looks like a step in a short series may be a slow change.
var SlowNeeds = fmt.Sprintf(" (a slow change needs %d in all)", history.MinSlowSessions)

// first returns the first lines of a screen: what was found, after the newest sessions that are far off, unless these are better than
// their level.
func (w History) first(found ...string) []string {
	far := w.Departures()
	if improvedLately(w.H.Departures) {
		return append(found, far...)
	}
	return append(far, found...)
}

// byOtava says that the verdicts are not from the intervals beside them.
func (w History) byOtava() []string {
	if w.Req.Method != history.Otava {
		return nil
	}
	return []string{"Otava's rule decides, whatever the intervals are"}
}

// between explains two days A..B, if a step has them.
func between(changes []changedAt) []string {
	if slices.ContainsFunc(changes, func(c changedAt) bool { return direction(c.row) == "" && strings.Contains(c.when(), "..") }) {
		return []string{"A..B: the step is after session A and not after session B, with a confidence of 95 %"}
	}
	return nil
}

// spikes returns a line about the sessions that are far off their level.
func (w History) spikes(s history.Series) []string {
	if len(s.Spikes) == 0 {
		return nil
	}
	var all []string
	for _, i := range s.Spikes[:min(len(s.Spikes), spikesShown)] {
		row := w.H.Rows[i]
		all = append(all, w.Reader.Day(row.StartedAt)+" ("+shiftText(&row, row.Shift)+")")
	}
	text := term.Count(len(s.Spikes), w.noun()) + " far off the level (spikes, not changes): " + strings.Join(all, ", ")
	if len(s.Spikes) > spikesShown {
		text += ", …"
	}
	return []string{text}
}

// Departures returns a line about the series whose newest sessions are far off their level, the worst by name; nothing if there is none.
func (w History) Departures() []string {
	all := w.H.Departures
	if len(all) == 0 {
		return nil
	}
	d := all[0]
	row := &d.Row
	text := "newest session "
	if d.Sessions > 1 {
		text = fmt.Sprintf("newest %d sessions, since ", d.Sessions)
	}
	text += session(w.Reader.Day(d.Since), d.Base, d.Head) + ": "
	if len(all) > 1 {
		text += counted(len(all), "series") + " far off their level, the worst "
	}
	if w.H.Known > 1 {
		text += w.nameOf(row) + ", "
	}
	text += FromTo(QuantityOf(d.Level, row.Unit, row.Metric), locationText(row), shiftText(row, row.Shift), "")
	return []string{text + "; " + JudgesNewest(d.Missing, w.Judge() != "")}
}

// JudgesNewest says what judges newest sessions that are far off: history with so many more sessions and, if they have enough runs, compare
// --gate now.
func JudgesNewest(missing int, now bool) string {
	more := "from " + term.Count(missing, "more session") + " on"
	if !now {
		return "may be chance; history judges it " + more
	}
	return "may be chance; compare --gate may judge it now, history " + more
}

// improvedLately reports whether newest sessions are far off their level, and none for the worse.
func improvedLately(all []*history.Departure) bool {
	return len(all) > 0 && all[0].Row.Verdict == judge.Improved
}

// noun returns what series are of: sessions, or where one has several commits, values.
func (w History) noun() string {
	if slices.ContainsFunc(w.H.Series, func(s history.Series) bool { return s.ByCommit }) {
		return "value"
	}
	return "session"
}

// perCommit names the commits that values belong to.
func (w History) perCommit() string {
	if w.noun() == "value" {
		return ", one for each commit of a session"
	}
	return ""
}

// tooShort reports whether a series has too few sessions for a step to be found among the series. Otava's rule has no such bound.
func (w History) tooShort(s history.Series) bool { return s.Sessions < w.H.Needs }

// seriesAxes returns the axes in which the points of series differ, and an id for each of them on its machine.
func seriesAxes(points []history.SeriesPoint) (varying []Axis, ids []string) {
	subjects := make([]Subject, len(points))
	for i, p := range points {
		subjects[i] = Subject{Point: p.Point, Metric: p.Metric}
		ids = append(ids, p.PointID+p.Machine)
	}
	_, varying = Axes(subjects, historyAxes)
	return varying, ids
}

// SeriesFilter returns the conditions that select a point on its machine and no other of some series, or its id if there are none.
func SeriesFilter(points []history.SeriesPoint, pointID, machine string) []string {
	varying, ids := seriesAxes(points)
	if conditions, ok := pointFilter(varying, ids)(pointID + machine); ok {
		return conditions
	}
	return []string{"point_id=" + pointID}
}

// longestFilter is how many bytes the conditions that select a point have at most: names of benchmarks may have any length.
const longestFilter = 200

// PointFilter returns a function that returns the conditions that select the subject with a key, and no other of some subjects; ok is false
// if there are none, or they are very long. Subjects of one point on one machine have equal keys.
func PointFilter(subjects []Subject, keys []string) func(key string) (conditions []string, ok bool) {
	_, varying := Axes(subjects, historyAxes)
	return pointFilter(varying, keys)
}

func pointFilter(varying []Axis, keys []string) func(key string) (conditions []string, ok bool) {
	return func(key string) ([]string, bool) {
		i := slices.Index(keys, key)
		if i < 0 {
			return nil, false
		}
		conditions, ok := FilterOf(varying, keys, i)
		return conditions, ok && len(strings.Join(conditions, " ")) <= longestFilter
	}
}

// nameOf names the series of a row by what differs between all series.
func (w History) nameOf(row *history.Row) string {
	varying, ids := seriesAxes(w.H.Points)
	if i := slices.Index(ids, row.PointID+row.Machine); i >= 0 {
		if name := PointNames(varying, len(ids))[i]; name != "" {
			return term.Short(name)
		}
	}
	return term.Short(seriesName(row))
}

// selection returns the filter, as words of a command line, that selects the point of a row and no other of the series. If its change may be
// chance among the series, it selects them all: alone, the series that was picked for its change could be called changed.
func (w History) selection(row *history.Row) []string {
	var words []string
	if w.Req.Filter != "" {
		words = append(words, w.Req.Filter)
	}
	if row.Verdict == judge.Inconclusive {
		return words
	}
	return append(words, SeriesFilter(w.H.Points, row.PointID, row.Machine)...)
}

// seriesName names the series of a row.
func seriesName(row *history.Row) string {
	constants, _ := Axes([]Subject{{Point: row.Point}}, historyAxes[:len(historyAxes)-1])
	name := OrUnknown(row.Metric) + " of " + strings.Join(constants, " ")
	if row.Machine != "" {
		name += " on " + row.Machine
	}
	return name
}

// line returns the first value, the line between, and the last value.
func (w History) line(rows []history.Row, locations []float64) string {
	first, last := locationText(&rows[0]), locationText(&rows[len(rows)-1])
	width := w.Reader.Width - term.Width(first+last) - 3*len(term.Gap)
	return term.Gap + first + term.Gap + sparkline(locations, max(width, 1)) + term.Gap + last
}

func locationText(row *history.Row) string {
	return QuantityOf(row.Location, row.Unit, row.Metric)
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

// shiftInterval returns the interval of a shift.
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

// shiftText returns the shift of a row, or an end of its interval, as it is compared.
func shiftText(row *history.Row, shift *float64) string {
	if shift == nil {
		return term.Unknown
	}
	return Change(*shift, row.Scale, row.Unit)
}

// commitRange returns the commit before a change and the first one after it.
func commitRange(base, head string) string {
	switch {
	case base == "" && head == "":
		return term.Unknown
	case base == head:
		return ShortCommit(head)
	}
	return cmp.Or(ShortCommit(base), term.Unknown) + ".." + cmp.Or(ShortCommit(head), term.Unknown)
}

// differsText returns what changed together with a level.
func (w History) differsText(differs []query.FactDifference) string {
	return cmp.Or(strings.Join(term.Texts(withoutHashes(w.Facts.Telling(differs)), verdictDifference), ", "), "nothing else known")
}

// changeOrder is the order of verdicts, the worst first.
var changeOrder = []judge.Verdict{judge.Regressed, judge.Changed, judge.Inconclusive, judge.Estimate, judge.Improved, ""}

// last returns the last change of a series, if it has one.
func (w History) last(s history.Series) changedAt {
	if changes := w.changes(s); len(changes) > 0 {
		return changes[len(changes)-1]
	}
	return changedAt{}
}

// ordered returns the series that fail first, then those whose last change is worst, then those whose newest sessions are farthest off.
func (w History) ordered() []history.Series {
	series := slices.Clone(w.H.Series)
	departed := func(s history.Series) float64 {
		if s.Departure == nil || s.Departure.Row.Shift == nil {
			return 0
		}
		return math.Abs(*s.Departure.Row.Shift)
	}
	slices.SortStableFunc(series, func(a, b history.Series) int {
		return cmp.Or(min(b.Failed, 1)-min(a.Failed, 1), worse(w.last(a), w.last(b)), cmp.Compare(departed(b), departed(a)))
	})
	return series
}

// several returns a line for each series, in their order.
func (w History) several() term.View {
	series, last := w.ordered(), w.last
	shown := series[:min(len(series), historyRows)]

	above, varying := w.inCommon(shown)
	v := term.View{Above: above}
	for _, s := range shown {
		v.Points = append(v.Points, w.H.Rows[s.First].PointID)
	}
	table := func(v term.View, varying []Axis) term.View {
		v.Columns = append(AxisColumns(varying),
			term.Column{Header: strings.ToUpper(w.noun()) + "S", Right: true, Drop: 2}, term.Column{Header: "TREND", Drop: 3}, term.Column{Header: "LAST", Right: true},
			term.Column{Header: "CHANGE", Right: true}, term.Column{Header: "VERDICT"}, term.Column{Header: "SINCE " + w.Reader.Offset(), Drop: 1})
		for i, s := range shown {
			v.Rows = append(v.Rows, append(AxisCells(varying, i), w.seriesCells(s, last(s))...))
		}
		return v
	}
	v.Above = slices.Concat(w.outcomeOfAll(series), v.Above)
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

// outcomeOfAll returns the lines that say how many series regressed, and since when and from what to what the worst did; or what else was
// found.
func (w History) outcomeOfAll(series []history.Series) []string {
	var worst changedAt
	regressed, failing, short := 0, 0, 0
	for _, s := range series {
		failing += min(s.Failed, 1)
		c := w.last(s)
		if c.row == nil && w.tooShort(s) {
			short++
		}
		if c.verdict() != judge.Regressed {
			continue
		}
		if regressed++; worst.row == nil || worse(c, worst) < 0 {
			worst = c
		}
	}
	switch {
	case regressed == 0 && failing > 0: // failing series come first
		text := fmt.Sprintf("%s of %s failing: ", term.Thousands(failing), counted(len(series), "series"))
		text += w.nameOf(&w.H.Rows[series[0].First]) + " for " + term.Count(series[0].Failed, "session")
		if failing > 1 {
			text += fmt.Sprintf(", and %s more", term.Thousands(failing-1))
		}
		return append(w.first(text), "")
	case regressed == 0:
		return append(w.first(w.undecided("no regression found in "+counted(len(series)-short, "series"))...), "")
	}
	text := fmt.Sprintf("%s of %s regressed", term.Thousands(regressed), counted(len(series), "series"))
	if regressed > 1 {
		text += "; the worst"
	}
	text += " " + worst.sinceText() + ": " + w.nameOf(worst.row) + ", " + worst.fromTo()
	if failing > 0 {
		text += fmt.Sprintf("; %s failing", term.Thousands(failing))
	}
	return append(w.first(text), "")
}

// fromTo returns the levels before and after a change, and the change with its interval if both ends are known.
func (c changedAt) fromTo() string {
	ends := ""
	if c.row.ShiftLow != nil && c.row.ShiftHigh != nil {
		ends = Ends(*c.row.ShiftLow, *c.row.ShiftHigh, c.row.Scale, c.row.Unit)
	}
	text := FromTo(c.level(c.OldLevel), c.level(c.NewLevel), shiftText(c.row, c.row.Shift), ends)
	if direction(c.row) != "" {
		text += " in " + term.Count(c.row.RampSessions, "session")
	}
	return text
}

// level returns a level of the series.
func (c changedAt) level(v float64) string { return QuantityOf(v, c.row.Unit, c.row.Metric) }

// inCommon returns lines about what all series have in common and what those shown do, and the fields in which these differ.
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

// differing returns the fields and parameters in which series differ from the first one: some series are looked at at a time, as
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

// subjects returns the points and metrics of series.
func (w History) subjects(series []history.Series) []Subject {
	all := make([]Subject, len(series))
	for i, s := range series {
		row := &w.H.Rows[s.First]
		all[i] = Subject{Point: row.Point, Metric: row.Metric}
	}
	return all
}

// seriesCells returns the cells of a series behind its name.
func (w History) seriesCells(s history.Series, c changedAt) []term.Cell {
	rows := w.H.Rows[s.First:s.End]
	cells := term.Cells(term.Thousands(len(s.Locations)), sparkline(s.Locations, sparkColumns), locationText(&rows[len(rows)-1]))
	if c.row == nil {
		words := strings.TrimPrefix(failedOfLate(s)+departureOf(s)+spikeOf(s), ", ")
		return append(cells, term.Cell{Text: term.Unknown}, term.Cell{Text: words, Failed: s.Failed > 0}, term.Cell{})
	}
	verdict := c.verdictText()
	if n := len(s.Changes); (c.verdict() == judge.Inconclusive || c.verdict() == judge.Estimate) && n > 1 {
		verdict += ", " + string(w.changes(s)[n-2].verdict()) + " before"
	}
	if s.Failed > 0 {
		verdict += ", " + failedOfLate(s)
	}
	verdict += departureOf(s) + spikeOf(s)
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

// departureOf says how far the newest session is off the level, in the row of a series; empty if it is not far off.
func departureOf(s history.Series) string {
	if s.Departure == nil {
		return ""
	}
	return ", newest " + shiftText(&s.Departure.Row, s.Departure.Row.Shift)
}

// spikeOf returns the end of the verdict in the row of a series with a spike; else empty.
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

// counts returns the lines that count everything.
func (w History) counts() []string {
	counts, few := w.byLastChange()
	var lines []string
	if hidden := len(w.H.Series) - historyRows; hidden > 0 {
		lines = append(lines, fmt.Sprintf("… %s more (--format plain for all)", term.Thousands(hidden)))
	}
	var parts []string
	add := func(n int, what string) {
		if n > 0 {
			parts = append(parts, term.Thousands(n)+" "+what)
		}
	}
	for _, v := range []judge.Verdict{judge.Regressed, judge.Improved, judge.Changed, judge.Inconclusive} {
		add(counts[v], string(v))
	}
	add(counts[judge.Estimate], "without a verdict ("+reasons[judge.OffClock]+")")
	add(counts[""], "with no change found")
	if w.H.Longest < w.H.Needs {
		add(few, "too short")
	}
	lines = append(lines, fmt.Sprintf("%s over %s: %s", counted(len(w.H.Series), "series"), term.Count(w.H.Sessions, "session")+w.perCommit(), strings.Join(parts, ", ")))
	lines = append(lines, w.fewSessions(few)...)
	failed, spiky := 0, 0
	for _, s := range w.H.Series {
		failed, spiky = failed+min(s.Failed, 1), spiky+min(len(s.Spikes), 1)
	}
	if failed > 0 {
		lines = append(lines, counted(failed, "series")+" failing since the last value")
	}
	if w.H.Absent > 0 {
		lines = append(lines, counted(w.H.Absent, "series")+" without a value in the newest session")
	}
	if spiky > 0 {
		lines = append(lines, counted(spiky, "series")+" with a "+w.noun()+" far off the level (a spike, not a change)")
	}
	if counts[judge.Inconclusive] > 0 && counts[judge.Regressed] > 0 { // else the first line says it of the largest
		lines = append(lines, "inconclusive: it may be chance, and more sessions decide")
	}
	lines = append(lines, w.byOtava()...)
	if counts[""]+counts[judge.Inconclusive]+few < len(w.H.Series) && w.Req.Method != history.Otava {
		lines = append(lines, "of the series called changed, at most 5 % are expected to be false")
	}
	return lines
}

// fewSessions counts the series that are too short for a change to be found.
func (w History) fewSessions(few int) []string {
	if few == 0 || w.H.Longest < w.H.Needs { // the first line says it of all
		return nil
	}
	return []string{fmt.Sprintf("%s with fewer than %d %ss, too few to find a step", term.Thousands(few), w.H.Needs, w.noun())}
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

// regressions returns the changes for the worse, a line each, the largest first.
func (w History) regressions() term.View {
	var all []changedAt
	for _, s := range w.H.Series {
		all = append(all, w.changes(s)...)
	}
	slices.SortStableFunc(all, worse)
	v := term.View{Columns: []term.Column{
		{Header: "CHANGED", Fixed: true},
		{Header: "SERIES"},
		{Header: "FROM", Right: true},
		{Header: "TO", Right: true},
		{Header: "BY", Right: true},
		{Header: "95 %", Right: true, Drop: 2},
		{Header: "COMMITS", Drop: 1},
		{Header: "ALSO CHANGED", Drop: 3},
	}}
	shown := all[:min(len(all), historyRows)]
	var names []string
	names, v.Above = seriesNames(shown)
	for i, r := range shown {
		by := term.Cell{Text: strings.TrimSpace(shiftText(r.row, r.row.Shift) + " " + direction(r.row)), Failed: true}
		cells := term.Cells(r.when(), r.level(r.OldLevel), r.level(r.NewLevel))
		if names != nil {
			cells = slices.Insert(cells, 1, term.Cell{Text: names[i]})
		}
		v.Rows = append(v.Rows, append(append(cells, by), term.Cells(shiftInterval(r.row), r.commits(), w.differsText(r.Differs))...))
	}
	if names == nil {
		v.Columns = slices.Delete(v.Columns, 1, 2)
	}
	if hidden := len(all) - historyRows; hidden > 0 {
		v.Below = append(v.Below, fmt.Sprintf("… %s more (--format plain for all)", term.Thousands(hidden)))
	}
	found := fmt.Sprintf("%s%s in %s of %s", term.Count(len(all), "regression"), w.since(), counted(len(w.H.Series), "series"), term.Thousands(w.H.Known))
	v.Below = slices.Concat(v.Below, w.first(found), w.byOtava(), between(shown), w.failing(), w.inconclusiveSeries(), w.fewSessions(w.H.Few))
	return w.finish(v, all[:1])
}

// seriesNames names the series of changes by the words in which they differ, and returns a line with the words that they share. Changes of
// one series have no names: the line has it all.
func seriesNames(changes []changedAt) (names, above []string) {
	subjects := make([]Subject, len(changes))
	for i, c := range changes {
		subjects[i] = Subject{Point: c.row.Point, Metric: c.row.Metric}
	}
	common, varying := Axes(subjects, append([]string{"metric"}, historyAxes...))
	if len(varying) > 0 {
		names = PointNames(varying, len(changes))
	}
	return names, term.Heading(withoutLabel(common))
}

// inconclusiveSeries counts the series that may have a regression which is not listed.
func (w History) inconclusiveSeries() []string {
	if w.H.Inconclusive == 0 {
		return nil
	}
	return []string{counted(w.H.Inconclusive, "series") + " inconclusive: history without --regressions shows " + term.Verb(w.H.Inconclusive, "it", "them")}
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
		v.Below = append(v.Below, history.CountAsOne(w.H.Tied, w.H.TiedStarts))
	}
	if w.H.Bisected > 0 {
		v.Below = append(v.Below, history.LeftOut(w.H.Bisected))
	}
	if w.H.Undated > 0 {
		v.Below = append(v.Below, "left out, in no order: "+history.NoStart(w.H.Undated))
	}
	if w.Gate != "" {
		v.Below = append(v.Below, w.Gate)
	}
	return w.withNext(v, changes)
}

// withNext adds the command to type next: the comparison that judges newest sessions that are far off, or a chart of the worst
// change.
func (w History) withNext(v term.View, changes []changedAt) term.View {
	slices.SortStableFunc(changes, worse)
	command := w.Judge()
	var row *history.Row // what a chart shows
	switch {
	case len(changes) > 0 && changes[0].row != nil:
		row = changes[0].row
	case w.H.Undecided != nil && !(w.H.Undecided.Better && w.Req.Regressions):
		row = &w.H.Undecided.At
	case len(w.H.Departures) > 0:
		row = &w.H.Departures[0].Row
	}
	if row != nil && (command == "" || improvedLately(w.H.Departures)) {
		command = term.ShellLine(append([]string{"neurolens", "plot", "history"}, w.selection(row)...)...) + w.metricFlag() + w.Reader.OfStores()
	}
	if command == "" {
		return v
	}
	v.Next = []string{"next  " + command}
	if len(changes) > 0 {
		command, line := w.bisectable(changes[0])
		if command != "" {
			v.Next = append(v.Next, "      "+command)
		}
		if line != "" {
			v.Below = append(v.Below, line)
		}
	}
	if len(v.Below) > 0 || len(v.Rows) == 0 {
		v.Below = append(v.Below, "")
	}
	return v
}

// Judge returns the command that compares the newest session with the last one of the level that it is far off; empty if none is, or if they
// have too few runs to be judged.
func (w History) Judge() string {
	if len(w.H.Departures) == 0 {
		return ""
	}
	d := w.H.Departures[0]
	if d.Before == "" || d.Before == d.Row.SessionID {
		return ""
	}
	return fmt.Sprintf("neurolens compare --gate session=%s session=%s", ShortRun(d.Before), ShortRun(d.Row.SessionID)) + w.metricFlag() + w.Reader.OfStores()
}

// metricFlag returns the flag that names the metric again.
func (w History) metricFlag() string {
	if w.Req.Metric == "" {
		return ""
	}
	return " --metric " + term.ShellWord(w.Req.Metric)
}

// bisectable returns the command that searches for the commit of a regression and, if an earlier bisect searched for the commit, a line with its
// result: then the command shows the commit, or what else changed if no commit did. Without a sweep file there is only a line, with a placeholder.
// Both are empty for a slow change, which has no commit that a bisection could find.
func (w History) bisectable(c changedAt) (command, line string) {
	if c.verdict() != judge.Regressed || c.row.RampSessions != 0 {
		return "", ""
	}
	if c.Bisected != nil {
		switch c.Bisected.Found {
		case schema.BisectNothing:
			line = fmt.Sprintf("bisect on %s measured no difference between %s and %s", w.Reader.Day(c.Bisected.At), ShortCommit(c.Base), ShortCommit(c.Head))
			return fmt.Sprintf("neurolens explain session=%s session=%s", ShortRun(c.row.AfterSession), ShortRun(c.row.BySession)) + w.metricFlag() + w.Reader.OfStores(), line
		case schema.BisectUndecided:
			line = "bisect on " + w.Reader.Day(c.Bisected.At) + " did not decide: --max-blocks allows more runs"
		default:
			return "git show " + ShortCommit(c.Bisected.Found), ""
		}
	}
	command = Bisect(c.Base, c.Head, c.Sweep)
	if command == "" {
		return "", ""
	}
	switch only := w.Reader.OnlyCommit(c.Base, c.Head); {
	case only != "":
		return only, ""
	case c.Sweep == "":
		return "", command + " finds the commit (your sweep file)"
	}
	return command + w.metricFlag() + w.Reader.OfStores(), line
}
