package summary

import (
	"cmp"
	"context"
	"errors"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/history"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// Trend is the primary metric of a point on a machine over sessions, and its last change of level. The
// command history finds the same changes and verdicts.
type Trend struct {
	Subject
	Metric    Text          `json:"metric" doc:"primary metric"`
	Unit      Text          `json:"unit" doc:"unit of the levels"`
	Better    Text          `json:"better" doc:"which direction is better: lower or higher"`
	Sessions  int           `json:"sessions" doc:"number of sessions with a value"`
	Verdict   judge.Verdict `json:"verdict" doc:"verdict on the last change: regressed, improved, inconclusive, changed (it is unknown which direction is better), or estimate (reason says why it is not judged). unchanged: no change was found. few_sessions: there are too few sessions (selection.history_needs) to find one"`
	Reason    Text          `json:"reason" doc:"why the last change is not judged: off_clock, the clocks of the GPU before and after differ by more than 1 %"`
	OldClock  *float64      `json:"old_clock_sm" doc:"clock of the multiprocessors before the last change in MHz; null unless reason is off_clock"`
	NewClock  *float64      `json:"new_clock_sm" doc:"the same after it"`
	Level     *float64      `json:"level" doc:"level in the last session: the median of the sessions since the last change"`
	OldLevel  *float64      `json:"old_level" doc:"level before the last change: the median of the sessions between the change before it and this one; null without a change"`
	Scale     Text          `json:"scale" doc:"what shift is: ratio, or difference in the unit; null without a change"`
	Shift     *float64      `json:"shift" doc:"size of the last change: new level / old level - 1, or new level - old level (scale says which). It is estimated from all pairs of sessions, so it may differ a little from the two medians"`
	Low       *float64      `json:"shift_low" doc:"lower end of its 95 % confidence interval, which presumes that the level changed; null if that may be chance"`
	High      *float64      `json:"shift_high" doc:"upper end of that interval"`
	PAdjusted *float64      `json:"p_adjusted" doc:"p-value of the change, adjusted for the number of series"`
	Since     *Time         `json:"since" doc:"start of the first session of the new level; of a slow change, of its first session"`
	After     *Time         `json:"after" doc:"the change is after this session, with a confidence of 95 %; of a slow change, its first session"`
	By        *Time         `json:"by" doc:"and not after this session; of a slow change, its last session"`
	Places    int           `json:"places" doc:"number of sessions with which the new level may begin; of a slow change, over which it rises or falls; 0: no change"`
	Ramp      int           `json:"ramp_sessions" doc:"number of sessions over which the level rose or fell slowly; 0: a step"`
	Base      Text          `json:"base_commit" doc:"commit of the last session before the change; null if unknown"`
	Head      Text          `json:"head_commit" doc:"commit of the first session after the change; null if unknown"`
	Session   Text          `json:"session_id" doc:"first session of the new level; of a slow change, its first session"`
	Bisected  Text          `json:"bisect" doc:"result of the last bisect between these two commits: the first changed commit, nothing (the ends do not differ), or undecided. Without a result at this point: the commit found at another point of the machine. Null if there was no bisect"`
	Sweep     Text          `json:"sweep" doc:"sweep file that measured the first session of the new level; null if there is none"`
	Failed    int           `json:"failed_sessions" doc:"number of sessions after the last value in which all runs of the point failed"`
	Off       int           `json:"off_sessions" doc:"number of newest sessions that are far off the level, with which a change may begin; 0: none"`
	OffValue  *float64      `json:"off_value" doc:"value of the newest session, if it is far off the level"`
	OffShift  *float64      `json:"off_shift" doc:"distance of off_value from the level: off_value / level - 1, or the difference if the series is compared by difference"`
	OffScale  Text          `json:"off_scale" doc:"what off_shift is: ratio, or difference in the unit"`
	OffBase   Text          `json:"off_base_session_id" doc:"last session before those that are far off. Null if compare --gate cannot judge: one of the two has fewer than 5 runs (and its first run fewer than 5 samples that are a process each), or fewer than 7 earlier sessions are about as far apart"`
	OffHead   Text          `json:"off_session_id" doc:"newest session, if it is far off the level"`
	OffSince  *Time         `json:"off_since" doc:"start of the first session that is far off the level"`
	OffCommit Text          `json:"off_commit" doc:"commit of that session; null if unknown"`
	Missing   int           `json:"missing_sessions" doc:"if the newest sessions are far off: the least number of further sessions that a verdict on them needs. Of the largest inconclusive change: about how many further sessions decide it, if they are like the sessions since the change. 0: unknown, or nothing is open"`
	Differs   []Difference  `json:"differs" doc:"facts, except the commit, that changed together with the level and still differ"`
	Earlier   []Step        `json:"earlier" doc:"changes before the last one that are regressed, improved or changed, oldest first"`
}

// Step is a change of level before the last one.
type Step struct {
	Verdict  judge.Verdict `json:"verdict" doc:"regressed, improved, or changed"`
	Since    *Time         `json:"since" doc:"start of the first session of the new level; of a slow change, of its first session"`
	OldLevel *float64      `json:"old_level" doc:"level before the change"`
	Level    *float64      `json:"level" doc:"level after it, up to the next change"`
}

// FewSessions is the verdict on a trend that is too short for any change to be found.
const FewSessions judge.Verdict = "few_sessions"

// Limits of the history of the points of one session, which else would take long beside the report: the number of points, and of runs in
// the stores.
const (
	maxPastPoints = 50
	maxPastRuns   = 20_000
)

// trends adds the history of each point, if there are enough sessions for one to have changes: the sessions of the report or, if that is
// about one, all sessions with its points. Sides that are compared have no history.
func (r *reading) trends(ctx context.Context, db *query.DB) error {
	r.report.Trends, r.report.OtherTrends = []Trend{}, []Trend{}
	filters := []string{r.req.Filter}
	switch one := r.report.Selection.Sessions == 1; {
	case r.req.Base != "", !one && r.sessions < history.MinSessions:
		return nil
	case one:
		if filters = r.pastFilters(); len(filters) == 0 {
			return nil
		}
	}
	for _, selection := range filters {
		h, err := history.Read(ctx, db.WithoutWarnings(), history.Request{Filter: selection, Outline: true})
		if _, is := errors.AsType[*history.NoOrderError](err); is {
			r.report.Selection.Unordered = r.report.Selection.Sessions > 1
			return nil
		}
		if err != nil {
			return err
		}
		if selection == "" && r.report.Selection.Sessions == 1 {
			r.report.series = h.Points
			if IsSession(r.req.Filter) {
				r.addOthers(&h)
			}
		}
		if r.report.Selection.Sessions > 1 || r.own(&h) {
			return r.addTrends(ctx, db, &h, selection)
		}
	}
	return nil
}

// pastFilters returns filters of the runs of all sessions with the points of the report, which is about one session. The last one selects
// no other points; those before it are shorter, and are used if they do not either. There is none if a baseline was requested, if the
// session has two sides, if there are no other runs, and if the history would take long.
func (r *reading) pastFilters() []string {
	s := &r.report
	if r.req.Axis != "" || onSide(s.Points, baseSide) || len(s.Points) > maxPastPoints || s.stored > maxPastRuns || s.stored <= s.Counts.Runs {
		return nil
	}
	var points, machines []string
	for i := range s.Points {
		p := &s.Points[i]
		points = append(points, string(p.PointID))
		machines = append(machines, filter.QuoteWord(string(p.Machine)))
	}
	all := []string{"", "point_id=" + strings.Join(merged(nil, points), ",")}
	if machines = merged(nil, machines); len(machines) > 0 && machines[0] != filter.QuoteWord("") {
		all[1] += " machine=" + strings.Join(machines, ",")
	}
	if len(s.Groups) == 1 && slices.Equal(r.req.By, []string{suite}) && s.Groups[0].Name != "" {
		all = slices.Insert(all, 1, suite+"="+filter.QuoteWord(string(s.Groups[0].Name)))
	}
	return all
}

// IsSession reports whether a filter is one session by its id.
func IsSession(filter string) bool { return theSession.MatchString(filter) }

var theSession = regexp.MustCompile(`^session(_id)?=[0-9A-HJKMNP-TV-Z]{26}$`)

// own reports whether a history has series, and all of them are of points of the report.
func (r *reading) own(h *history.History) bool {
	has := r.ids()
	return len(h.Series) > 0 && !slices.ContainsFunc(h.Series, func(s history.Series) bool {
		row := &h.Rows[s.First]
		return !has[[2]string{row.PointID, row.Machine}]
	})
}

// ids returns the ids and the machines of the points of the report.
func (r *reading) ids() map[[2]string]bool {
	points := map[[2]string]bool{}
	for i := range r.report.Points {
		points[[2]string{string(r.report.Points[i].PointID), string(r.report.Points[i].Machine)}] = true
	}
	return points
}

// addOthers adds the series of other points, or of other machines, that got worse. h is the history of the stores.
func (r *reading) addOthers(h *history.History) {
	has := r.ids()
	for i := range h.Series {
		row := &h.Rows[h.Series[i].First]
		if has[[2]string{row.PointID, row.Machine}] || h.Series[i].Sessions < history.MinSessions {
			continue
		}
		r.report.Selection.OtherSeries++
		if t := TrendOf(h, &h.Series[i]); t.Verdict == judge.Regressed || t.Failed > 0 || t.Off > 0 {
			r.report.OtherTrends = append(r.report.OtherTrends, t)
		}
	}
	slices.SortStableFunc(r.report.OtherTrends, func(a, b Trend) int { return CompareTrends(&a, &b) })
}

// addTrends adds the series of a history. For a report of one session with too few others it only counts them.
func (r *reading) addTrends(ctx context.Context, db *query.DB, h *history.History, selection string) error {
	s := &r.report.Selection
	if s.Sessions == 1 && !slices.ContainsFunc(h.Series, func(s history.Series) bool { return s.Sessions >= history.MinSessions }) {
		var err error
		if r.report.past, err = db.WithoutWarnings().CountSessions(ctx, selection); err != nil || r.report.past < 2 {
			return err
		}
		others := query.ListRequest{Filter: strings.TrimSpace(selection + " not (" + r.req.Filter + ")"), Limit: 1}
		newest, err := db.WithoutWarnings().Runs(ctx, others, "session_id", "started_at")
		if len(newest) > 0 {
			r.report.other = &newest[0]
		}
		return err
	}
	s.History, s.HistoryFilter, s.HistoryNeeds = h.Sessions, strings.TrimSpace(selection), h.Needs
	s.Tied, s.TiedStarts, s.Undated = h.Tied, h.TiedStarts, h.Undated
	for i := range h.Series {
		r.report.Trends = append(r.report.Trends, TrendOf(h, &h.Series[i]))
	}
	slices.SortStableFunc(r.report.Trends, func(a, b Trend) int { return CompareTrends(&a, &b) })
	return nil
}

// CompareTrends orders trends, what got worse first.
func CompareTrends(a, b *Trend) int {
	return cmp.Or(a.rank()-b.rank(), cmp.Compare(b.size(), a.size()))
}

// Quiet reports whether there is nothing to say about a trend: its level did not change, its newest sessions are not far off it, and its runs
// do not fail.
func (t *Trend) Quiet() bool {
	return t.Failed == 0 && t.Off == 0 && (t.Verdict == judge.Unchanged || t.Verdict == FewSessions)
}

// trendOrder is the order of trends, the worst first.
var trendOrder = []judge.Verdict{judge.Regressed, judge.Improved, judge.Changed, judge.Inconclusive, judge.Estimate, judge.Unchanged, FewSessions}

// rank returns the place of a trend among others: those that fail come right after those that regressed.
func (t *Trend) rank() int {
	if t.Failed > 0 && t.Verdict != judge.Regressed {
		return 1
	}
	if t.Off > 0 && (t.Verdict == judge.Unchanged || t.Verdict == FewSessions) {
		return 2*slices.Index(trendOrder, judge.Unchanged) - 1
	}
	return 2 * slices.Index(trendOrder, t.Verdict) // regressed is 0, improved 2
}

// size returns how large the last change is, in either direction. Differences in units are not compared with each other.
func (t *Trend) size() float64 {
	if t.Shift == nil && t.OffShift != nil {
		if t.Better == Text(schema.BetterLower) && *t.OffShift < 0 || t.Better == Text(schema.BetterHigher) && *t.OffShift > 0 {
			return 0 // after those for the worse
		}
		return math.Abs(*t.OffShift)
	}
	if t.Shift == nil || t.Scale != Text(schema.ScaleRatio) || *t.Shift <= -1 {
		return 0
	}
	return sizeOf(new(1 + *t.Shift))
}

// TrendOf describes a series of a history, whose rows may be an outline.
func TrendOf(h *history.History, s *history.Series) Trend {
	t := lastChange(h, s)
	if d := s.Departure; d != nil {
		t.OffBase, t.OffHead, t.OffSince, t.OffCommit = Text(d.Before), Text(d.Row.SessionID), timeIn(d.Since), Text(d.Head)
		t.Off, t.OffValue, t.OffScale, t.Missing = d.Sessions, known(d.Row.Location), Text(d.Row.Scale), d.Missing
		if t.Level != nil { // may be of fewer sessions than that of the departure
			t.OffShift = known(d.Row.Scale.Between(*t.Level, d.Row.Location))
		}
	}
	return t
}

// lastChange describes a series and its last change, without the newest sessions that are far off.
func lastChange(h *history.History, s *history.Series) Trend {
	row := &h.Rows[s.End-1]
	t := Trend{
		Subject: subjectOf(row.PointID, "", row.Point), Metric: Text(row.Metric), Unit: Text(row.Unit), Better: Text(row.Better), Sessions: s.Sessions, Failed: s.Failed,
		Verdict: judge.Unchanged, Level: known(stat.Median(slices.Clone(s.Locations))), Differs: []Difference{}, Earlier: []Step{},
	}
	if len(s.Changes) == 0 {
		if s.Sessions < h.Needs {
			t.Verdict = FewSessions
		}
		return t
	}
	for i := range s.Changes[:len(s.Changes)-1] {
		c := &s.Changes[i]
		row := &h.Rows[c.Row]
		since := row.StartedAt
		if row.RampSessions > 0 {
			since = c.After
		}
		if row.ChangePoint && row.Verdict != judge.Estimate {
			t.Earlier = append(t.Earlier, Step{row.Verdict, timeIn(since), known(c.OldLevel), known(c.NewLevel)})
		}
	}
	c := &s.Changes[len(s.Changes)-1]
	row = &h.Rows[c.Row]
	t.Verdict, t.Level, t.OldLevel, t.Scale, t.Ramp = row.Verdict, known(c.NewLevel), known(c.OldLevel), Text(row.Scale), row.RampSessions
	t.Shift, t.Low, t.High, t.PAdjusted = computed(row.Shift), computed(row.ShiftLow), computed(row.ShiftHigh), computed(row.PAdjusted)
	if u := h.Undecided; u != nil && s.Departure == nil && u.At.PointID == row.PointID && u.At.Machine == row.Machine && u.At.SessionID == row.SessionID {
		t.Missing = u.Missing
	}
	if k := row.Clocks; k != nil {
		t.Reason, t.OldClock, t.NewClock = Text(row.Reason), known(k.Base), known(k.Head)
	}
	t.Since, t.After, t.By, t.Session = timeIn(row.StartedAt), timeIn(c.After), timeIn(c.By), Text(row.SessionID)
	if t.Ramp > 0 {
		t.Since, t.Session = t.After, Text(row.AfterSession)
	}
	t.Places, t.Base, t.Head, t.Sweep = c.Places, Text(c.Base), Text(c.Head), Text(c.Sweep)
	if c.Bisected != nil {
		t.Bisected = Text(c.Bisected.Found)
	}
	for _, d := range c.Differs {
		t.Differs = append(t.Differs, Difference{d.Kind, d.Name, merged(nil, d.Base), merged(nil, d.Head)})
	}
	return t
}

// timeIn converts a time that may be nil.
func timeIn(at *time.Time) *Time {
	if at == nil {
		return nil
	}
	return &Time{*at}
}

// computed rounds a number that may be nil.
func computed(v *float64) *float64 {
	if v == nil {
		return nil
	}
	return known(*v)
}

// trendFindings returns the findings about levels that changed over sessions and points that only fail.
func (r *reading) trendFindings() []Finding {
	return slices.Concat(
		r.pickTrends(RuleLevelRegressed, func(t *Trend) bool { return t.Verdict == judge.Regressed }),
		r.pickTrends(RuleFarOff, func(t *Trend) bool { return t.Off > 0 }),
		r.pickTrends(RuleFailsLately, func(t *Trend) bool { return t.Failed > 0 }),
		r.pickTrends(RuleLevelImproved, func(t *Trend) bool { return t.Verdict == judge.Improved }))
}

// pickTrends makes a finding about some trends; none if there are no such trends.
func (r *reading) pickTrends(rule string, holds func(t *Trend) bool) []Finding {
	f := Finding{Rule: rule, Numbers: []Number{count("series", len(r.report.Trends))}}
	points := map[Text]bool{}
	for i := range r.report.Trends {
		t := &r.report.Trends[i]
		if !holds(t) {
			continue
		}
		if shift, scale := t.Shift, t.Scale; f.Points == 0 && rule != RuleFailsLately { // the largest change
			if rule == RuleFarOff {
				shift, scale = t.OffShift, t.OffScale
			}
			unit := Text("ratio")
			if scale == Text(schema.ScaleDifference) {
				unit = t.Unit
			}
			f.Numbers = append(f.Numbers, Number{"largest", shift, unit})
		}
		if f.Points++; len(f.Examples) < maxExamples {
			f.Examples = append(f.Examples, t.Subject)
		}
		points[t.PointID] = true
	}
	if f.Points == 0 {
		return nil
	}
	for i := range r.report.Points {
		if p := &r.report.Points[i]; points[p.PointID] {
			f.Runs += p.Runs
		}
	}
	return []Finding{f}
}
