package summary

import (
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
)

// SimilarFields returns the columns of rows.
func SimilarFields() []answer.Field[SimilarRun] {
	number := func(name, meaning string, of func(*SimilarRun) float64) answer.Field[SimilarRun] {
		return answer.NewField(name, answer.TypeReal, meaning, func(r *SimilarRun) any { return answer.Computed(of(r)) }).In("ratio")
	}
	fields := []answer.Field[SimilarRun]{
		answer.TextField("run_id", "id of the run", func(r *SimilarRun) string { return r.RunID }),
		number("distance", "distance of the two operator mixes: 0 for equal shares and sizes, 1 for no common operator", func(r *SimilarRun) float64 { return r.Distance }),
		number("shared", "share of the time that both spend in the same operators: the sum of the smaller shares", func(r *SimilarRun) float64 { return r.Shared }),
		number("shared_sized", "the part of `shared` in operators whose sizes are known for both, and compared", func(r *SimilarRun) float64 { return r.Sized }),
		answer.NewField("differences", answer.TypeList,
			"the ten operators whose shares of time differ most. to_share and to_size are those of RUN, share and size those of this run. A "+
				"share is NULL if the run lacks the operator, a size (mean per call, with its unit) if it is not known for both",
			func(r *SimilarRun) any { return differenceCells(r.Differences) }),
		answer.NewField("started_at", answer.TypeTime, "start of the run", started),
	}
	return append(fields, query.PointFields(func(r *SimilarRun) *query.Point { return &r.Point }, "benchmark", "variant", "backend", "model", "precision", "batch_size", "seq_len", "params", "machine")...)
}

// differenceCells converts differences to a list of maps.
func differenceCells(all []OperatorDifference) []any {
	cells := make([]any, len(all))
	for i, d := range all {
		cells[i] = map[string]any{
			"operator": d.Operator, "to_share": answer.ComputedValue(d.To), "share": answer.ComputedValue(d.Share),
			"to_size": answer.ComputedValue(d.ToSize), "size": answer.ComputedValue(d.Size), "unit": answer.Text(d.Unit),
		}
	}
	return cells
}

// started returns the start of a run, as a cell.
func started(r *SimilarRun) any {
	if r.StartedAt.IsZero() {
		return nil
	}
	return r.StartedAt
}
