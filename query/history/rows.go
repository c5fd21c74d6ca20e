package history

import (
	"context"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// Row is one session of a series, or one commit of a session that measured several. Fields describes each value. A missing
// value is nil or an empty text.
type Row struct {
	PointID string
	query.Point
	Metric, Unit string
	Better       schema.Better
	Scale        schema.Scale

	SessionID string
	StartedAt *time.Time // UTC
	Runs      int
	Location  float64 // in Unit
	GitCommit string

	ChangePoint bool
	// Shift is new level / old level - 1 or, if Scale is difference, new - old in Unit. ShiftLow and ShiftHigh are its interval of 95 %, which
	// presumes that the level changed: it is nil if the verdict is that this may be chance.
	Shift, ShiftLow, ShiftHigh *float64
	P, PAdjusted               *float64
	AfterSession, BySession    string // the change is after the one and not after the other
	RampSessions               int    // number of sessions over which the level rises or falls; 0: a step
	Verdict                    judge.Verdict
	Reason                     judge.Reason  // judge.OffClock if Verdict is judge.Estimate
	Clocks                     *query.Clocks // of the levels before and after, if Reason is judge.OffClock
	FailedSessions             int
}

// historyPage is the maximum number of rows that Request.Pages receives at a time.
const historyPage = 1000

// emitRows makes the rows, and keeps them in History.Rows or passes them to Request.Pages.
func (h *historian) emitRows(ctx context.Context) error {
	if h.req.Pages != nil {
		for page := range h.pages(historyPage) {
			if ctx.Err() != nil {
				break
			}
			if err := h.req.Pages(page); err != nil {
				return err
			}
		}
		return ctx.Err()
	}
	all := 0
	if n := len(h.Series); n > 0 {
		all = h.Series[n-1].End
	}
	for page := range h.pages(all) {
		h.Rows = page
	}
	return nil
}

// pages makes the rows, size at a time. The last page may be empty.
func (h *historian) pages(size int) iter.Seq[[]Row] {
	return func(yield func([]Row) bool) {
		page := make([]Row, 0, size)
		for _, l := range h.shown {
			for i, m := range h.rowsOf(l) {
				if len(page) == size {
					if !yield(page) {
						return
					}
					page = make([]Row, 0, size)
				}
				page = append(page, h.row(l, i, m))
			}
		}
		yield(page)
	}
}

// row returns the row of entry i of a series.
func (h *historian) row(l *line, i int, m *mark) Row {
	e := l.entries[i]
	row := Row{
		PointID: l.point, Point: l.of, Metric: l.metric, Unit: h.rates.Of(l.of.Benchmark, l.metric, l.unit), Better: schema.Better(l.better), Scale: l.scale,
		SessionID: h.sessions.text(e.session), Runs: int(e.runs), Location: e.plain, GitCommit: h.commits.text(e.commit),
		FailedSessions: l.failed,
	}
	row.StartedAt = e.time()
	if m == nil {
		return row
	}
	row.Verdict, row.ChangePoint = m.verdict, m.isChange()
	if row.Clocks = m.clocks; m.clocks != nil {
		row.Reason = judge.OffClock
	}
	change := func(v float64) *float64 { return finite(l.scale.Change(v)) }
	if row.Shift = change(m.Shift.Value); !m.chance {
		row.ShiftLow, row.ShiftHigh = change(m.Shift.Low), change(m.Shift.High)
	}
	if m.verdict != Spike {
		row.AfterSession, row.BySession, row.RampSessions = h.sessions.text(l.entries[m.After].session), h.sessions.text(l.entries[m.By].session), m.rampSessions()
	}
	if m.isChange() {
		row.P, row.PAdjusted = finite(m.P), finite(max(m.P, l.series.adjusted))
	}
	return row
}

// time returns when the session of an entry started, in UTC; nil if unknown.
func (e *entry) time() *time.Time {
	if !e.dated {
		return nil
	}
	return new(time.UnixMicro(e.began).UTC())
}

// finite is v, or nil if v is NaN or infinite.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// verdictOf returns the direction of a change: regressed, improved, or changed if the better direction is unknown.
func (l *line) verdictOf(change stat.ChangePoint) judge.Verdict {
	better := schema.Better(l.better)
	switch {
	case better != schema.BetterLower && better != schema.BetterHigher:
		return judge.Changed
	case change.Shift.Value > 0 == (better == schema.BetterLower):
		return judge.Regressed
	}
	return judge.Improved
}

// Fields returns the columns of a history, in their order.
func Fields() []answer.Field[Row] {
	return slices.Concat(seriesFields(), sessionFields(), changeFields())
}

// seriesFields identify the series: all of its rows have the same values.
func seriesFields() []answer.Field[Row] {
	point := query.PointFields(func(r *Row) *query.Point { return &r.Point }, append(query.IdentityColumns(), "machine")...)
	return slices.Concat([]answer.Field[Row]{text("point_id", "id of the point", func(r *Row) string { return r.PointID })}, point, []answer.Field[Row]{
		text("metric", "name of the metric", func(r *Row) string { return r.Metric }),
		text("unit", "unit of the metric", func(r *Row) string { return r.Unit }),
		text("better", "which direction is better: lower or higher; NULL if unknown", func(r *Row) string { return string(r.Better) }),
		text("scale", "how values are compared: ratio or difference", func(r *Row) string { return string(r.Scale) }),
	})
}

// sessionFields returns the measurements of a session.
func sessionFields() []answer.Field[Row] {
	return []answer.Field[Row]{
		text("session_id", "id of the session", func(r *Row) string { return r.SessionID }),
		answer.NewField("started_at", answer.TypeTime, "start of its first run", func(r *Row) any { return answer.Value(r.StartedAt) }),
		answer.NewField("runs", answer.TypeInteger, "number of its ok runs that have the metric", func(r *Row) any { return int64(r.Runs) }),
		inUnit(schema.UnitOfRow, real("location", "value of the session: the median of its ok runs' medians, in the unit, as bench, ls and compare show it. If scale is ratio, changes are found in the medians of logarithms", func(r *Row) *float64 { return &r.Location })),
		text("git_commit", "commit that was measured", func(r *Row) string { return r.GitCommit }),
	}
}

// changeFields describe the change of level at a session, and whether the series fails.
func changeFields() []answer.Field[Row] {
	const effect = "effect size: new level / old level - 1 or, if scale is difference, new level - old level in the unit"
	return []answer.Field[Row]{
		answer.NewField("change_point", answer.TypeBoolean, "whether the level changed with this session or, if it rose or fell slowly, until this session", func(r *Row) any { return r.ChangePoint }),
		real("shift", effect, func(r *Row) *float64 { return r.Shift }),
		real("shift_low", "lower end of its 95 % confidence interval, which presumes that the level changed; NULL if that may be chance", func(r *Row) *float64 { return r.ShiftLow }),
		real("shift_high", "upper end of that interval", func(r *Row) *float64 { return r.ShiftHigh }),
		real("p", "p-value of the change point", func(r *Row) *float64 { return r.P }),
		real("p_adjusted", "p-value adjusted for the number of series", func(r *Row) *float64 { return r.PAdjusted }),
		text("after_session", "id of the last session before the change, with a confidence of 95 %; of a slow change, id of the first session", func(r *Row) string { return r.AfterSession }),
		text("by_session", "id of the first session after the change, with a confidence of 95 %; of a slow change, id of the last session", func(r *Row) string { return r.BySession }),
		answer.NewField("ramp_sessions", answer.TypeInteger, "number of sessions over which the level rose or fell slowly; NULL: the change is a step, or there is none",
			func(r *Row) any { return answer.Positive(r.RampSessions) }),
		text("verdict", "regressed or improved; changed if it is unknown which direction is better; inconclusive: a step or a slow change that may be chance; "+
			"estimate: a change that is not judged, see reason; "+
			"spike: only this session deviates; NULL: no change", func(r *Row) string { return string(r.Verdict) }),
		answer.NewField("failed_sessions", answer.TypeInteger, "number of sessions after the last value in which all runs of the point failed",
			func(r *Row) any { return int64(r.FailedSessions) }),
		text("reason", "why the verdict is estimate: off_clock, the median clocks of the GPU before and after differ by more than 1 %", func(r *Row) string { return string(r.Reason) }),
		clock("old_clock_sm", "clock of the multiprocessors before the change: the median of its sessions; NULL unless reason is off_clock", func(c *query.Clocks) float64 { return c.Base }),
		clock("new_clock_sm", "the same after the change", func(c *query.Clocks) float64 { return c.Head }),
	}
}

func text(name, meaning string, of func(*Row) string) answer.Field[Row] {
	return answer.NewField(name, answer.TypeText, meaning, func(r *Row) any { return answer.Text(of(r)) })
}

// clock returns a column of Row.Clocks.
func clock(name, meaning string, of func(*query.Clocks) float64) answer.Field[Row] {
	return inUnit("MHz", answer.NewField(name, answer.TypeReal, meaning, func(r *Row) any {
		if r.Clocks == nil {
			return nil
		}
		return answer.Computed(of(r.Clocks))
	}))
}

// real returns a column of computed numbers.
func real(name, meaning string, of func(*Row) *float64) answer.Field[Row] {
	return answer.NewField(name, answer.TypeReal, meaning, func(r *Row) any { return answer.ComputedValue(of(r)) })
}

func inUnit(unit string, f answer.Field[Row]) answer.Field[Row] {
	f.Unit = unit
	return f
}
