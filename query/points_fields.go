package query

import (
	"slices"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// SessionPointFields are the columns of the points of a session.
func SessionPointFields() []answer.Field[SessionPoint] {
	ids := []answer.Field[SessionPoint]{
		pointText("point_id", "id of the point", func(p *SessionPoint) string { return p.PointID }),
		pointText("side", schema.RunColumn("side").Doc, func(p *SessionPoint) string { return p.Side }),
	}
	identity := PointFields(func(p *SessionPoint) *Point { return &p.Point }, IdentityColumns()...)
	return slices.Concat(ids, identity, pointCounts(), pointNumbers(), pointTroubles())
}

// pointCounts are the numbers of runs and samples of a point.
func pointCounts() []answer.Field[SessionPoint] {
	return []answer.Field[SessionPoint]{
		pointField("runs", answer.TypeInteger, "number of runs", func(p *SessionPoint) any { return int64(p.Runs) }),
		pointField("ok_runs", answer.TypeInteger, "number of runs with status ok; only these are measurements", func(p *SessionPoint) any { return int64(p.OKRuns) }),
		pointField("statuses", answer.TypeMap, "number of runs per status", func(p *SessionPoint) any { return statusCounts(p.Statuses) }),
		pointField("samples_min", answer.TypeInteger, "smallest number of samples in an ok run", func(p *SessionPoint) any { return answer.Value(p.SamplesMin) }),
		pointField("samples_max", answer.TypeInteger, "largest number of samples in an ok run", func(p *SessionPoint) any { return answer.Value(p.SamplesMax) }),
	}
}

// pointNumbers are the measurements of a point.
func pointNumbers() []answer.Field[SessionPoint] {
	number := func(name, meaning string, of func(*SessionPoint) *float64) answer.Field[SessionPoint] {
		f := pointField(name, answer.TypeReal, meaning, func(p *SessionPoint) any { return answer.Statistic(of(p)) })
		f.Unit = schema.UnitOfRow
		return f
	}
	spread := pointField("spread", answer.TypeReal, "how much samples vary within a run: median of the runs' robust spreads (1.4826 MAD / median); runs with one sample are ignored",
		func(p *SessionPoint) any { return answer.ComputedValue(p.Spread) })
	spread.Unit = "ratio"
	return []answer.Field[SessionPoint]{
		pointText("metric", "metric; NULL if the runs have different ones", func(p *SessionPoint) string { return p.Metric }),
		pointText("unit", "unit of the metric; NULL if the runs have different ones", func(p *SessionPoint) string { return p.Unit }),
		pointText("better", "which direction is better: lower or higher", func(p *SessionPoint) string { return p.Better }),
		number("median", "plain median of the ok runs' medians, without logarithms", func(p *SessionPoint) *float64 { return p.Median }),
		number("p99", "median of their 99th percentiles; NULL if a run has only one sample", func(p *SessionPoint) *float64 { return p.P99 }),
		spread,
		pointText("level", schema.RunColumn("level").Doc, func(p *SessionPoint) string { return string(p.Level) }),
	}
}

// pointTroubles are the warnings and failures of a point.
func pointTroubles() []answer.Field[SessionPoint] {
	return []answer.Field[SessionPoint]{
		pointField("warnings", answer.TypeList, "warnings of any of the runs", func(p *SessionPoint) any {
			words := make([]any, len(p.Warnings))
			for i, word := range p.Warnings {
				words[i] = word
			}
			return words
		}),
		pointField("failures", answer.TypeList, "how runs failed, most frequent first: status, stage, error_kind, error and number of runs", func(p *SessionPoint) any {
			failures := make([]any, len(p.Failures))
			for i, f := range p.Failures {
				failures[i] = map[string]any{
					"status": answer.Text(f.Status), "stage": answer.Text(f.Stage), "error_kind": answer.Text(f.ErrorKind), "error": answer.Text(f.Error), "runs": int64(f.Runs),
				}
			}
			return failures
		}),
		pointField("valued_runs", answer.TypeInteger, "number of ok runs that have a value of the metric, of which median, p99 and spread are", func(p *SessionPoint) any { return int64(p.ValuedRuns) }),
	}
}

func pointField(name string, t answer.Type, meaning string, of func(*SessionPoint) any) answer.Field[SessionPoint] {
	return answer.Field[SessionPoint]{Column: answer.Column{Name: name, Type: t}, Meaning: meaning, Of: of}
}

func pointText(name, meaning string, of func(*SessionPoint) string) answer.Field[SessionPoint] {
	return pointField(name, answer.TypeText, meaning, func(p *SessionPoint) any { return answer.Text(of(p)) })
}
