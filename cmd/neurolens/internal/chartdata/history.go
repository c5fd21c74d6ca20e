package chartdata

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/history"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
)

// trend is a series of a history that is drawn.
type trend struct {
	history.Series
	of          summary.Trend
	rows        []history.Row
	changes     []*history.Row // at which the level changed, or seems to have
	name        string
	filter      string              // selects it among all series of the request
	annotations map[string][]string // about sessions, by their ids
}

// kind returns what values of a trend are of.
func (t *trend) kind() [2]string { return [2]string{t.rows[0].Metric, t.rows[0].Unit} }

// farOff reports whether the session of a row is one of the newest, which are far off the level.
func (t *trend) farOff(row int) bool {
	return t.Departure != nil && row >= len(t.rows)-t.Departure.Sessions
}

// single reports whether a session has a mark of its own: it has a verdict, or is far off the level. Other marks may combine sessions.
func (t *trend) single(row int) bool { return t.rows[row].Verdict != "" || t.farOff(row) }

// keyOf tells trends apart.
func keyOf(r *history.Row) [4]string { return [4]string{r.PointID, r.Machine, r.Metric, r.Unit} }

// History draws the values of series over sessions, with the level between changes: those that got worse or fail first. Sessions in which
// runs of a series failed and none has a value are gaps that are marked.
func (m Maker) History(ctx context.Context, db *query.DB, req history.Request) (*chart.Figure, *history.History, error) {
	req.Outline = true // of very many series all rows are large, and few are drawn
	h, err := history.Read(ctx, db, req)
	if _, is := errors.AsType[*history.NoOrderError](err); is {
		return nil, nil, Refusal{err}
	}
	if err != nil {
		return nil, nil, err
	}
	trends, notes := chosenTrends(&h)
	if h.Tied > 0 {
		notes = append(notes, history.CountAsOne(h.Tied, h.TiedStarts))
	}
	if h.Bisected > 0 {
		notes = append(notes, history.LeftOut(h.Bisected))
	}
	if h.Undated > 0 {
		notes = append(notes, "left out, in no order: "+history.NoStart(h.Undated))
	}
	if len(trends) > maxPanels {
		notes = append(notes, shown(maxPanels, len(trends), "series", chosenFor(trends, h.Needs)))
		trends = trends[:maxPanels]
	}
	if trends, err = withRows(ctx, db.WithoutWarnings(), req, trends); err != nil {
		return nil, nil, err
	}
	if len(trends) == 0 {
		return nil, nil, refused("no matching series has a value; neurolens history says why")
	}
	for _, t := range trends {
		t.filter = filter.JoinArguments(append([]string{req.Filter}, views.SeriesFilter(h.Points, t.rows[0].PointID, t.rows[0].Machine)...)...)
	}
	var failed []schema.Run
	if h.Failed > 0 {
		if failed, err = failedRuns(ctx, db.WithoutWarnings(), req); err != nil {
			return nil, nil, err
		}
	}
	said, err := query.Annotations(ctx, db.WithoutWarnings(), req.Filter)
	if err != nil {
		return nil, nil, err
	}
	f := m.trends(trends, failed, said)
	f.Notes = append(notes, f.Notes...)
	return f, &h, nil
}

// chosenFor says what is so of the series that are drawn of more, of which those that matter most come first.
func chosenFor(trends []*trend, needs int) string {
	notable := 0
	for _, t := range trends {
		if !t.of.Quiet() {
			notable++
		}
	}
	few := !slices.ContainsFunc(trends, func(t *trend) bool { return t.Sessions >= needs })
	why := ", as no level changed and nothing fails"
	if few {
		why = fmt.Sprintf(", as a change among so many series needs at least %d sessions", needs)
	}
	switch {
	case notable == 0:
		return "the first ones" + why
	case notable < maxPanels:
		return "those that changed, fail or are far off their level (" + term.Thousands(notable) + "), and the first of the others"
	}
	return fmt.Sprintf("the first of %s that changed, fail or are far off their level, worst first", term.Thousands(notable))
}

// withRows gives trends all of their rows.
func withRows(ctx context.Context, db *query.DB, req history.Request, trends []*trend) ([]*trend, error) {
	if len(trends) == 0 {
		return nil, nil
	}
	byKey := map[[4]string]*trend{}
	for _, t := range trends {
		byKey[keyOf(&t.rows[0])] = t
		t.rows = nil
	}
	req.Outline = false
	req.Pages = func(rows []history.Row) error {
		for i := range rows {
			if t := byKey[keyOf(&rows[i])]; t != nil {
				t.rows = append(t.rows, rows[i])
			}
		}
		return nil
	}
	_, err := history.Read(ctx, db, req)
	return slices.DeleteFunc(trends, func(t *trend) bool { return len(t.rows) == 0 }), err // removed meanwhile
}

// maxFailed is how many failed runs are looked at: the newest.
const maxFailed = 10_000

// failedRuns returns the runs that a history counts as failed, the newest first. Runs without a place in time are left out.
func failedRuns(ctx context.Context, db *query.DB, req history.Request) ([]schema.Run, error) {
	list := query.ListRequest{Since: req.Since, Limit: maxFailed}
	list.Filter = filter.JoinArguments(req.Filter, "status!=ok,unsupported,skipped,cancelled,lost", "purpose=measure", "side!=base", "warnings!="+schema.WarnBisect)
	runs, err := db.Runs(ctx, list, "run_id", "session_id", "point_id", "machine", "started_at", "status", "stage", "error_kind", "error", "metric")
	return slices.DeleteFunc(runs, func(r schema.Run) bool { return beganOf(&r).IsZero() }), err
}

// trends draws series of one metric, of which there is at least one, with what was said about sessions.
func (m Maker) trends(trends []*trend, failed []schema.Run, said []query.Annotation) *chart.Figure {
	kind := trends[0].kind()
	subjects := make([]views.Subject, len(trends))
	for i, t := range trends {
		subjects[i] = views.Subject{Point: t.rows[0].Point}
	}
	common, names := named(subjects, append(slices.Clone(views.IdentityColumns), "machine"))
	f := &chart.Figure{
		Kind: chart.History, Title: titled(kind[0], common),
		X: chart.Axis{Label: "session", Scale: chart.Time},
		Y: chart.Axis{Label: kind[0], Unit: views.RateUnit(kind[0], kind[1]), Own: true, Better: better(string(trends[0].rows[0].Better))},
	}
	marked, width := m.markedSessions(trends, failed, said), markedWidth
	if len(trends) > 1 {
		width = panelWidth
	}
	for i, t := range trends {
		t.name, t.annotations = names[i], marked.texts
		p := m.panel(t, failed, cmp.Or(m.Marks, chart.MaxMarks)/len(trends), placesIn(len(trends)))
		p.Guides = append(p.Guides, marked.guides(t, width)...)
		if len(trends) == 1 {
			f.Series, f.Guides = p.Series, p.Guides
		} else {
			f.Panels = append(f.Panels, p)
		}
	}
	shareTitles(f)
	most := 0 // values that a mark combines
	for _, k := range f.All() {
		most = max(most, k.Count)
	}
	if most > 1 {
		f.Notes = append(f.Notes, fmt.Sprintf("a mark combines up to %s: their median, with a bar from minimum to maximum", term.Count(most, "session")))
	}
	f.Notes = append(f.Notes, marked.notes()...)
	return f
}

// chosenTrends returns the series of the metric and unit that most have, those that matter most first.
func chosenTrends(h *history.History) (trends []*trend, notes []string) {
	counts, most := map[[2]string]int{}, [2]string{}
	var all []*trend
	for _, s := range h.Series {
		t := &trend{Series: s, of: summary.TrendOf(h, &s), rows: h.Rows[s.First:s.End]}
		for _, c := range s.Changes {
			t.changes = append(t.changes, &h.Rows[c.Row])
		}
		if len(t.rows) == 0 {
			continue
		}
		all = append(all, t)
		if counts[t.kind()]++; counts[t.kind()] > counts[most] {
			most = t.kind()
		}
	}
	for _, t := range all {
		if t.kind() == most {
			trends = append(trends, t)
		}
	}
	if others := len(all) - len(trends); others > 0 {
		notes = append(notes, term.Thousands(others)+" series not drawn: another metric or unit (choose it with --metric NAME)")
	}
	slices.SortStableFunc(trends, func(a, b *trend) int { return summary.CompareTrends(&a.of, &b.of) })
	return trends, notes
}

// panel draws a series in at most so many marks; where sessions are put together, in about few.
func (m Maker) panel(t *trend, failed []schema.Run, most, few int) chart.Panel {
	p := chart.Panel{Title: t.name}
	gaps := m.gaps(t, failed, most/4)
	levels := m.levels(t)
	values := m.ofSessions(t, max(most-len(gaps.Marks)-2*len(levels), 1), few)
	p.Series = append(levels, values)
	if len(gaps.Marks) > 0 {
		p.Series = append(p.Series, gaps)
	}
	for _, r := range t.changes {
		at := seconds(startOf(r))
		p.Guides = append(p.Guides, chart.Guide{Along: chart.Vertical, At: at, Until: at, Text: m.changeText(r), Short: m.shiftText(r)})
	}
	return p
}

// startOf returns when a row's session began: as its runs say, else as its id does.
func startOf(r *history.Row) time.Time {
	if r.StartedAt != nil {
		return *r.StartedAt
	}
	if id, err := schema.ParseULID(r.SessionID); err == nil {
		return id.Time()
	}
	return time.Time{}
}

// changeText says by how much the level changed.
func (m Maker) changeText(r *history.Row) string {
	by := m.shiftText(r)
	if r.RampSessions > 0 {
		by += fmt.Sprintf(" in %s", term.Count(r.RampSessions, "session"))
	}
	return strings.TrimSpace(cmp.Or(string(r.Reason), string(r.Verdict)) + " " + by)
}

// shiftText returns the size of a change of the level; empty if it is not known.
func (m Maker) shiftText(r *history.Row) string {
	if r.Shift == nil {
		return ""
	}
	return views.Change(*r.Shift, r.Scale, r.Unit)
}

// ofSessions returns the values of the sessions. Of more than fit some are put together, but for those with which something changed.
func (m Maker) ofSessions(t *trend, most, few int) chart.Series {
	s := chart.Series{Name: "sessions", Style: chart.Points}
	singles := 0
	for i := range t.rows {
		if t.single(i) {
			singles++
		}
	}
	each := 1
	if len(t.rows) > most {
		left := max(min(few, most-2*singles), 1) // a change begins a part, and ends one
		each = (len(t.rows) + left - 1) / left
	}
	for from := 0; from < len(t.rows); {
		to := from + 1
		for to < min(from+each, len(t.rows)) && !t.single(from) && !t.single(to) {
			to++
		}
		s.Marks = append(s.Marks, m.sessions(t, from, to))
		from = to
	}
	if each > 1 {
		s.Style = chart.Intervals
	}
	return s
}

// sessions returns the mark of the sessions of some rows.
func (m Maker) sessions(t *trend, from, to int) chart.Mark {
	rows := t.rows[from:to]
	first, last := &rows[0], &rows[len(rows)-1]
	k := chart.Mark{
		X: seconds(startOf(first)), Y: computed(first.Location), Low: chart.Unknown(), High: chart.Unknown(), Point: first.PointID,
		Command: m.command("ls", filter.JoinArguments("session_id="+first.SessionID, t.filter)),
	}
	if len(rows) == 1 {
		what := []string{m.when(startOf(first)) + ": " + quantity(first.Location, first.Unit, first.Metric), term.Count(first.Runs, "run")}
		if first.GitCommit != "" {
			what = append(what, "commit "+views.ShortCommit(first.GitCommit))
		}
		switch k.Word = string(first.Verdict); first.Verdict {
		case "":
		case judge.Inconclusive, history.Spike:
			k.Tone = chart.Warned
			what = append(what, m.changeText(first))
		default:
			k.Tone = ToneOf(first.Verdict)
			what = append(what, m.changeText(first))
		}
		if t.farOff(from) {
			k.Tone, k.Word = chart.Warned, "far off"
			what = append(what, "far off its level of "+quantity(t.Departure.Level, first.Unit, first.Metric))
		}
		k.Text = sentence(slices.Concat(what, t.annotations[first.SessionID], []string{t.name})...)
		return k
	}
	values := make([]float64, len(rows))
	for i := range rows {
		values[i] = computed(rows[i].Location)
	}
	k.X = (seconds(startOf(first)) + seconds(startOf(last))) / 2
	k.Y, k.Low, k.High, k.Count = median(values), slices.Min(values), slices.Max(values), len(rows)
	k.Text = sentence(
		fmt.Sprintf("%s to %s: median %s of %s", m.when(startOf(first)), m.when(startOf(last)), quantity(k.Y, first.Unit, first.Metric), term.Count(len(rows), "session")),
		fmt.Sprintf("%s … %s", quantity(k.Low, first.Unit, first.Metric), quantity(k.High, first.Unit, first.Metric)), t.name)
	k.Command = m.ofSeries(t)
	return k
}

// levels are lines: one at the median of each level, and a sloped one through the sessions of each slow change.
func (m Maker) levels(t *trend) (all []chart.Series) {
	for from := 0; from < len(t.rows); {
		to, slow := levelEnd(t.rows, from)
		values := make([]float64, 0, to-from)
		for _, r := range t.rows[from:to] {
			values = append(values, r.Location)
		}
		level, first, last := median(values), &t.rows[from], &t.rows[to-1]
		start, end := level, level
		text := fmt.Sprintf("level %s: median of %s", quantity(level, first.Unit, first.Metric), term.Count(len(values), "session"))
		if slow {
			start, end = sloped(level, last)
			text = m.changeText(last)
		}
		text += fmt.Sprintf(", %s to %s", m.when(startOf(first)), m.when(startOf(last)))
		mark := func(r *history.Row, y float64) chart.Mark {
			return chart.Mark{
				X: seconds(startOf(r)), Y: y, Low: chart.Unknown(), High: chart.Unknown(), Point: r.PointID, Text: text,
				Command: m.ofSeries(t),
			}
		}
		s := chart.Series{Style: chart.Line, Tone: chart.Neutral, Marks: []chart.Mark{mark(first, start), mark(last, end)}}
		if from == 0 {
			s.Name = "level"
		}
		all, from = append(all, s), to
	}
	return all
}

// levelEnd returns the end of the level, or of the slow change, that begins with a row.
func levelEnd(rows []history.Row, from int) (to int, slow bool) {
	for i := from; i < len(rows); i++ {
		switch first := max(i+1-rows[i].RampSessions, 0); {
		case !rows[i].ChangePoint && rows[i].Verdict != judge.Inconclusive: // a change that may be chance has two levels as well
		case rows[i].RampSessions == 0 && i > from:
			return i, false
		case rows[i].RampSessions > 0 && first <= from:
			return i + 1, true
		case rows[i].RampSessions > 0:
			return first, false
		}
	}
	return len(rows), false
}

// sloped returns the ends of a line whose middle is the median of its sessions and whose rise is the change in the last row.
func sloped(middle float64, r *history.Row) (start, end float64) {
	switch {
	case r.Shift == nil:
		return middle, middle
	case r.Scale == schema.ScaleDifference:
		return middle - *r.Shift/2, middle + *r.Shift/2
	}
	start = middle / math.Sqrt(1+*r.Shift)
	return start, start * (1 + *r.Shift)
}

// failedIn tells whether a run that failed is of the series.
func (t *trend) failedIn(r *schema.Run) bool {
	row := &t.rows[0]
	return r.PointID == row.PointID && r.Env.Machine == row.Machine && (r.Primary == "" || r.Primary == row.Metric)
}

// beganOf returns the start of a run, else the time in the id of its session; zero if neither has a time.
func beganOf(r *schema.Run) time.Time {
	if id, err := schema.ParseULID(r.SessionID); r.StartedAt.IsZero() && err == nil && id.Dated() {
		return id.Time()
	}
	return r.StartedAt
}

// gaps returns the sessions in which runs of the series failed and none has a value: at most so many, the newest.
func (m Maker) gaps(t *trend, failed []schema.Run, most int) chart.Series {
	s := chart.Series{Name: "failed", Style: chart.Points, Tone: chart.Failed}
	known := map[string]bool{}
	for i := range t.rows {
		known[t.rows[i].SessionID] = true
	}
	at := map[string]int{}
	for i := range failed {
		r := &failed[i]
		if !t.failedIn(r) || known[r.SessionID] || r.SessionID == "" {
			continue
		}
		if place, is := at[r.SessionID]; is {
			s.Marks[place].Count++
			continue
		}
		if len(s.Marks) == most {
			break
		}
		at[r.SessionID] = len(s.Marks)
		s.Marks = append(s.Marks, m.gap(r, t))
	}
	slices.SortFunc(s.Marks, func(a, b chart.Mark) int { return cmp.Compare(a.X, b.X) })
	for i := range s.Marks {
		if n := s.Marks[i].Count; n > 1 {
			s.Marks[i].Text += ", " + term.Count(n, "failed run")
			s.Marks[i].Run = ""
		}
		s.Marks[i].Count = 0 // it is one session
	}
	return s
}

// gap returns the mark of a session in which a run failed.
func (m Maker) gap(r *schema.Run, t *trend) chart.Mark {
	began := beganOf(r)
	what := []string{m.when(began) + ": no value, " + views.Ended(r.Status, schema.IsWrong(r.Status, r.Stage, r.ErrorKind)), plain(term.FirstLine(r.Error))}
	return chart.Mark{
		X: seconds(began), Y: chart.Unknown(), Low: chart.Unknown(), High: chart.Unknown(), Count: 1, Run: r.RunID, Point: r.PointID, Tone: chart.Failed,
		Text: sentence(slices.Concat(what, t.annotations[r.SessionID], []string{t.name})...), Command: m.ofRun(r.RunID),
	}
}
