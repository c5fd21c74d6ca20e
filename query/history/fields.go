package history

import (
	"slices"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// Fields are the columns of a history, in their order.
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

// sessionFields are the measurements of a session.
func sessionFields() []answer.Field[Row] {
	return []answer.Field[Row]{
		text("session_id", "id of the session", func(r *Row) string { return r.SessionID }),
		answer.NewField("started_at", answer.TypeTime, "start of its first run", func(r *Row) any { return answer.Value(r.StartedAt) }),
		answer.NewField("runs", answer.TypeInteger, "number of its ok runs that have the metric", func(r *Row) any { return int64(r.Runs) }),
		inUnit(schema.UnitOfRow, real("location", "value of the session: the median of the locations of its ok runs, in the unit, as in compare (base). If scale is ratio, the locations are logarithms: it may lie below the plain median that bench and ls show", func(r *Row) *float64 { return &r.Location })),
		text("git_commit", "commit that was measured", func(r *Row) string { return r.GitCommit }),
	}
}

// changeFields describe the change of level at a session, and whether the series fails.
func changeFields() []answer.Field[Row] {
	const effect = "effect size: new level / old level - 1 or, if scale is difference, new level - old level in the unit"
	return []answer.Field[Row]{
		answer.NewField("change_point", answer.TypeBoolean, "whether the level changed with this session or, if it rose or fell slowly, until this session", func(r *Row) any { return r.ChangePoint }),
		real("shift", effect, func(r *Row) *float64 { return r.Shift }),
		real("shift_low", "lower end of its 95 % confidence interval", func(r *Row) *float64 { return r.ShiftLow }),
		real("shift_high", "upper end of that interval", func(r *Row) *float64 { return r.ShiftHigh }),
		real("p", "p-value of the change point", func(r *Row) *float64 { return r.P }),
		real("p_adjusted", "p-value adjusted for the number of series", func(r *Row) *float64 { return r.PAdjusted }),
		text("after_session", "id of the last session before the change, with a confidence of 95 %; of a slow change, id of the first session", func(r *Row) string { return r.AfterSession }),
		text("by_session", "id of the first session after the change, with a confidence of 95 %; of a slow change, id of the last session", func(r *Row) string { return r.BySession }),
		answer.NewField("ramp_sessions", answer.TypeInteger, "number of sessions over which the level rose or fell slowly; NULL: the change is a step, or there is none",
			func(r *Row) any { return rampSessions(r.RampSessions) }),
		text("verdict", "regressed or improved; changed if it is unknown which direction is better; inconclusive: a step or a slow change that may be chance; "+
			"spike: only this session deviates; NULL: no change", func(r *Row) string { return string(r.Verdict) }),
		answer.NewField("failed_sessions", answer.TypeInteger, "number of sessions after the last value in which all runs of the point failed",
			func(r *Row) any { return int64(r.FailedSessions) }),
	}
}

func text(name, meaning string, of func(*Row) string) answer.Field[Row] {
	return answer.NewField(name, answer.TypeText, meaning, func(r *Row) any { return answer.Text(of(r)) })
}

// real is a column of computed numbers.
func real(name, meaning string, of func(*Row) *float64) answer.Field[Row] {
	return answer.NewField(name, answer.TypeReal, meaning, func(r *Row) any { return answer.ComputedValue(of(r)) })
}

func inUnit(unit string, f answer.Field[Row]) answer.Field[Row] {
	f.Unit = unit
	return f
}

// rampSessions is the number of sessions of a slow change as a value, NULL if there is none.
func rampSessions(n int) any {
	if n == 0 {
		return nil
	}
	return int64(n)
}
