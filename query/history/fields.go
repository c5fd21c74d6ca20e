package history

import (
	"slices"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/facts"
	"github.com/neurolens/neurolens/schema"
)

// Fields are the columns of a history, in their order.
func Fields() []answer.Field[Row] {
	return slices.Concat(seriesFields(), sessionFields(), changeFields())
}

// seriesFields say what a series is of: all of its rows have the same values.
func seriesFields() []answer.Field[Row] {
	point := facts.PointFields(func(r *Row) *facts.Point { return &r.Point }, append(facts.IdentityColumns(), "machine")...)
	return slices.Concat([]answer.Field[Row]{text("point_id", "id of the point", func(r *Row) string { return r.PointID })}, point, []answer.Field[Row]{
		text("metric", "the metric", func(r *Row) string { return r.Metric }),
		text("unit", "its unit", func(r *Row) string { return r.Unit }),
		text("better", "lower or higher: which values of it are better; NULL where that is not known", func(r *Row) string { return string(r.Better) }),
		text("scale", "ratio or difference: how its values are compared", func(r *Row) string { return string(r.Scale) }),
	})
}

// sessionFields say what was measured in a session.
func sessionFields() []answer.Field[Row] {
	return []answer.Field[Row]{
		text("session_id", "the session", func(r *Row) string { return r.SessionID }),
		column("started_at", answer.TypeTime, "when the first of its runs started", func(r *Row) any { return answer.Value(r.StartedAt) }),
		column("runs", answer.TypeInteger, "number of its runs with a value", func(r *Row) any { return int64(r.Runs) }),
		inUnit(schema.UnitOfRow, real("location", "median of these runs", func(r *Row) *float64 { return &r.Location })),
		text("git_commit", "the commit that was measured", func(r *Row) string { return r.GitCommit }),
	}
}

// changeFields say where the level of a series changed, and whether it fails.
func changeFields() []answer.Field[Row] {
	const of = ": of the ratio less 1 or, where the scale is difference, in the unit"
	return []answer.Field[Row]{
		column("change_point", answer.TypeBoolean, "whether the level is another one from here on", func(r *Row) any { return r.ChangePoint }),
		real("shift", "from the level before to the one after"+of, func(r *Row) *float64 { return r.Shift }),
		real("shift_low", "lower end of its confidence interval of 95 %", func(r *Row) *float64 { return r.ShiftLow }),
		real("shift_high", "upper end of that interval", func(r *Row) *float64 { return r.ShiftHigh }),
		real("p", "p-value of the change point", func(r *Row) *float64 { return r.P }),
		real("p_adjusted", "the same, adjusted for the number of series", func(r *Row) *float64 { return r.PAdjusted }),
		text("verdict", "regressed or improved; changed where it is not known which is better. unsettled: a step that may be chance. "+
			"spike: this session alone is off its level. NULL: nothing changed", func(r *Row) string { return string(r.Verdict) }),
		column("failed_sessions", answer.TypeInteger, "number of sessions after the last value of the series in which runs of the point failed and none was ok",
			func(r *Row) any { return int64(r.FailedSessions) }),
	}
}

func column(name string, kind answer.Type, meaning string, of func(*Row) any) answer.Field[Row] {
	return answer.Field[Row]{Column: answer.Column{Name: name, Type: kind}, Meaning: meaning, Of: of}
}

func text(name, meaning string, of func(*Row) string) answer.Field[Row] {
	return column(name, answer.TypeText, meaning, func(r *Row) any { return answer.Text(of(r)) })
}

// real is a column of computed numbers.
func real(name, meaning string, of func(*Row) *float64) answer.Field[Row] {
	return column(name, answer.TypeReal, meaning, func(r *Row) any { return answer.ComputedValue(of(r)) })
}

func inUnit(unit string, f answer.Field[Row]) answer.Field[Row] {
	f.Unit = unit
	return f
}
