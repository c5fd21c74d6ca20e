package summary

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/neurolens/neurolens/query"
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
	Verdict   judge.Verdict `json:"verdict" doc:"verdict on the last change: regressed, improved, changed (it is unknown which direction is better), inconclusive, or estimate if reason says why it is not judged; unchanged: no change was found; few_sessions: there are too few sessions to find one"`
	Reason    Text          `json:"reason" doc:"why the last change is not judged: off_clock, the clocks of the GPU before and after differ by more than 1 %"`
	OldClock  *float64      `json:"old_clock_sm" doc:"clock of the multiprocessors before the last change in MHz; null unless reason is off_clock"`
	NewClock  *float64      `json:"new_clock_sm" doc:"the same after it"`
	Level     *float64      `json:"level" doc:"level in the last session: the median of the sessions since the last change"`
	OldLevel  *float64      `json:"old_level" doc:"level before the last change: the median of the sessions between the change before it and this one; null without a change"`
	Scale     Text          `json:"scale" doc:"what shift is: ratio, or difference in the unit; null without a change"`
	Shift     *float64      `json:"shift" doc:"size of the last change: new level / old level - 1, or new level - old level (scale says which). It is estimated from all pairs of sessions, so it may differ a little from the two medians"`
	Low       *float64      `json:"shift_low" doc:"lower end of its 95 % confidence interval"`
	High      *float64      `json:"shift_high" doc:"upper end of that interval"`
	PAdjusted *float64      `json:"p_adjusted" doc:"p-value of the change, adjusted for the number of series"`
	Since     *Time         `json:"since" doc:"start of the first session of the new level; of a slow change, of its last session"`
	After     *Time         `json:"after" doc:"the change is after this session, with a confidence of 95 %; of a slow change, its first session"`
	By        *Time         `json:"by" doc:"and not after this session; of a slow change, its last session"`
	Places    int           `json:"places" doc:"number of sessions with which the new level may begin; of a slow change, over which it rises or falls; 0: no change"`
	Ramp      int           `json:"ramp_sessions" doc:"number of sessions over which the level rose or fell slowly; 0: a step"`
	Base      Text          `json:"base_commit" doc:"commit of the last session before the change; null if unknown"`
	Head      Text          `json:"head_commit" doc:"commit of the first session after the change; null if unknown"`
	Session   Text          `json:"session_id" doc:"first session of the new level"`
	Failed    int           `json:"failed_sessions" doc:"number of sessions after the last value in which all runs of the point failed"`
	Off       int           `json:"off_sessions" doc:"number of newest sessions that are far off the level, with which a change may begin; 0: none"`
	OffValue  *float64      `json:"off_value" doc:"value of the newest session, if it is far off the level"`
	OffShift  *float64      `json:"off_shift" doc:"distance of off_value from the level: off_value / level - 1, or the difference if the series is compared by difference"`
	OffScale  Text          `json:"off_scale" doc:"what off_shift is: ratio, or difference in the unit"`
	Missing   int           `json:"missing_sessions" doc:"number of further sessions that a verdict on the newest ones needs at least; 0: none is far off"`
	Differs   []Difference  `json:"differs" doc:"facts, except the commit, that changed together with the level and still differ"`
}

// FewSessions is the verdict on a trend that is too short for any change to be found.
const FewSessions judge.Verdict = "few_sessions"

// trends adds the history of each point, if there are enough sessions for one to have changes. Two selections are compared instead.
func (r *reading) trends(ctx context.Context, db *query.DB) error {
	r.report.Trends = []Trend{}
	if r.req.Base != "" || r.report.Selection.Sessions == 1 || r.sessions < history.MinSessions {
		return nil
	}
	h, err := history.Read(ctx, db.WithoutWarnings(), history.Request{Filter: r.req.Filter, Outline: true})
	if _, is := errors.AsType[*history.NoOrderError](err); is {
		r.report.Selection.Unordered = true
		return nil
	}
	if err != nil {
		return err
	}
	r.report.Selection.History = h.Sessions
	for i := range h.Series {
		r.report.Trends = append(r.report.Trends, trendOf(&h, &h.Series[i]))
	}
	slices.SortStableFunc(r.report.Trends, func(a, b Trend) int { return cmp.Or(a.rank()-b.rank(), cmp.Compare(b.size(), a.size())) })
	return nil
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

// trendOf describes a series of a history, whose rows are an outline.
func trendOf(h *history.History, s *history.Series) Trend {
	row := &h.Rows[s.End-1]
	t := Trend{
		Subject: subjectOf(row.PointID, "", row.Point), Metric: Text(row.Metric), Unit: Text(row.Unit), Better: Text(row.Better), Sessions: s.Sessions, Failed: s.Failed,
		Verdict: judge.Unchanged, Level: known(stat.Median(slices.Clone(s.Locations))), Differs: []Difference{},
	}
	if d := s.Departure; d != nil {
		t.Off, t.OffValue, t.OffShift, t.OffScale, t.Missing = d.Sessions, known(d.Row.Location), computed(d.Row.Shift), Text(d.Row.Scale), d.Missing
	}
	if len(s.Changes) == 0 {
		if s.Sessions < history.MinSessions {
			t.Verdict = FewSessions
		}
		return t
	}
	c := &s.Changes[len(s.Changes)-1]
	row = &h.Rows[c.Row]
	t.Verdict, t.Level, t.OldLevel, t.Scale, t.Ramp = row.Verdict, known(c.NewLevel), known(c.OldLevel), Text(row.Scale), row.RampSessions
	t.Shift, t.Low, t.High, t.PAdjusted = computed(row.Shift), computed(row.ShiftLow), computed(row.ShiftHigh), computed(row.PAdjusted)
	if k := row.Clocks; k != nil {
		t.Reason, t.OldClock, t.NewClock = Text(row.Reason), known(k.Base), known(k.Head)
	}
	if row.StartedAt != nil {
		t.Since = &Time{*row.StartedAt}
	}
	if c.After != nil {
		t.After = &Time{*c.After}
	}
	if c.By != nil {
		t.By = &Time{*c.By}
	}
	t.Places, t.Base, t.Head, t.Session = c.Places, Text(c.Base), Text(c.Head), Text(row.SessionID)
	for _, d := range c.Differs {
		t.Differs = append(t.Differs, Difference{d.Kind, d.Name, merged(nil, d.Base), merged(nil, d.Head)})
	}
	return t
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
		if f.Points == 0 && rule != RuleFailsLately { // the largest change
			unit := Text("ratio")
			if t.Scale == Text(schema.ScaleDifference) {
				unit = t.Unit
			}
			f.Numbers = append(f.Numbers, Number{"largest", t.Shift, unit})
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
