package compare

import (
	"slices"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/facts"
	"github.com/neurolens/neurolens/schema"
)

// Fields are the columns of the rows of a comparison; inputs adds what their numbers are made of.
func Fields(inputs bool) []answer.Field[Row] {
	fields := slices.Concat(
		facts.PointFields(func(r *Row) *facts.Point { return &r.Identity }, facts.Identity...),
		[]answer.Field[Row]{field("params", answer.TypeMap, facts.PointMeanings["params"], (*Row).params)},
		subjectFields(), sideFields("base", func(r *Row) *Measured { return r.Base }), sideFields("head", func(r *Row) *Measured { return r.Head }),
		estimateFields(), verdictFields(), relativeFields())
	if inputs {
		fields = append(fields, inputFields()...)
	}
	return fields
}

func field(name string, t answer.Type, meaning string, of func(*Row) any) answer.Field[Row] {
	return answer.Field[Row]{Column: answer.Column{Name: name, Type: t}, Meaning: meaning, Of: of}
}

// params are the parameters as a cell; NULL that which the row lacks.
func (r *Row) params() any {
	cell := r.Identity.Value("params")
	if r.Lacks == "" {
		return cell
	}
	all, ok := cell.(map[string]any)
	if !ok {
		all = map[string]any{}
	}
	all[r.Lacks] = nil
	return all
}

// subjectFields say what is compared.
func subjectFields() []answer.Field[Row] {
	return []answer.Field[Row]{
		field("base_point_id", answer.TypeText, "the point of the base", func(r *Row) any { return answer.Text(r.BaseID) }),
		field("head_point_id", answer.TypeText, "the point of the head", func(r *Row) any { return answer.Text(r.HeadID) }),
		field("metric", answer.TypeText, "what is compared", func(r *Row) any { return answer.Text(r.Metric) }),
		field("unit", answer.TypeText, "the stored unit of the metric", func(r *Row) any { return answer.Text(r.Unit) }),
		field("better", answer.TypeText, "lower or higher; NULL where that is not known", func(r *Row) any { return answer.Text(r.Better) }),
		field("scale", answer.TypeText, "ratio or difference: how it is compared", func(r *Row) any { return string(r.Scale) }),
	}
}

// sideFields are the columns of a side.
func sideFields(name string, of func(*Row) *Measured) []answer.Field[Row] {
	column := func(suffix string, t answer.Type, meaning string, value func(*Measured) any) answer.Field[Row] {
		return field(name+suffix, t, meaning, func(r *Row) any {
			if m := of(r); m != nil {
				return value(m)
			}
			return nil
		})
	}
	location := column("", answer.TypeReal, "the location of the "+name+": the median of those of its runs", func(m *Measured) any {
		if m.Value == nil {
			return nil
		}
		return answer.Computed(*m.Value)
	})
	location.Unit = schema.UnitOfRow
	return []answer.Field[Row]{
		column("_runs", answer.TypeInteger, "ok runs of the "+name+" with a value of the metric", func(m *Measured) any { return m.Runs }),
		column("_samples", answer.TypeInteger, "the least samples of such a run", func(m *Measured) any { return answer.Integer(m.Samples) }),
		column("_samples_max", answer.TypeInteger, "the most samples of such a run", func(m *Measured) any { return answer.Integer(m.SamplesMax) }),
		column("_statuses", answer.TypeMap, "runs of the "+name+" by how they ended", func(m *Measured) any { return answer.Map(m.Statuses) }),
		location,
	}
}

// estimateFields say how large the difference is.
func estimateFields() []answer.Field[Row] {
	column := func(name, meaning string, value func(*Estimates) float64) answer.Field[Row] {
		return field(name, answer.TypeReal, meaning, func(r *Row) any {
			if r.Estimates == nil {
				return nil
			}
			return answer.Computed(value(r.Estimates))
		})
	}
	return []answer.Field[Row]{
		column("change", "the difference: of the ratio less 1 or, where the scale is difference, in the unit", func(e *Estimates) float64 { return e.Change }),
		column("low", "the lower end of its interval", func(e *Estimates) float64 { return e.Low }),
		column("high", "the upper end of its interval", func(e *Estimates) float64 { return e.High }),
		column("noise", "how much runs of a side vary, in the scale of change", func(e *Estimates) float64 { return e.Noise }),
		column("dead_zone", "the smallest difference that counts (--threshold), in the scale of change", func(e *Estimates) float64 { return e.DeadZone }),
		column("p", "the chance of such a difference where there is none", func(e *Estimates) float64 { return e.P }),
		column("p_adjusted", "the same over all points, and over looks", func(e *Estimates) float64 { return e.Adjusted }),
	}
}

// verdictFields say what is made of it, and how.
func verdictFields() []answer.Field[Row] {
	return []answer.Field[Row]{
		field("verdict", answer.TypeText, "regressed, improved, changed, unchanged or inconclusive; or how the point is missing on a side", func(r *Row) any { return string(r.Verdict) }),
		field("reason", answer.TypeText, "why there is no verdict", func(r *Row) any { return answer.Text(string(r.Reason)) }),
		field("more_runs", answer.TypeInteger, "more runs a side that are likely to settle it", func(r *Row) any { return answer.Positive(r.MoreRuns) }),
		field("looks", answer.TypeInteger, "how often it was looked at, at most, which p_adjusted and the interval allow for", func(r *Row) any { return answer.Positive(r.Looks) }),
		field("flags", answer.TypeList, "words about what the numbers are worth", func(r *Row) any { return answer.List(r.Flags) }),
		field("failure", answer.TypeText, "what went wrong in a run of the head", func(r *Row) any { return answer.Text(r.Failure) }),
		field("method", answer.TypeText, "runs or blocks: what is compared with what", func(r *Row) any { return answer.Text(string(r.Method)) }),
		field("strict", answer.TypeBoolean, "the strict rule was used", func(r *Row) any { return r.Strict }),
		field("rule", answer.TypeText, "the test of which p is", func(r *Row) any { return answer.Text(string(r.Rule)) }),
		field("correction", answer.TypeText, "how p is adjusted for many points: benjamini_hochberg or, with --gate, holm", func(r *Row) any { return r.Correction }),
	}
}

// relativeFields say the same relative to what all points share.
func relativeFields() []answer.Field[Row] {
	column := func(name string, t answer.Type, meaning string, value func(*Relative) any) answer.Field[Row] {
		return field("relative_"+name, t, meaning, func(r *Row) any {
			if r.Relative == nil {
				return nil
			}
			return value(r.Relative)
		})
	}
	return []answer.Field[Row]{
		column("change", answer.TypeReal, "the ratio less 1, relative to what all points share", func(r *Relative) any { return answer.Computed(r.Change) }),
		column("low", answer.TypeReal, "the lower end of its interval", func(r *Relative) any { return answer.Computed(r.Low) }),
		column("high", answer.TypeReal, "the upper end of its interval", func(r *Relative) any { return answer.Computed(r.High) }),
		column("p_adjusted", answer.TypeReal, "the chance of such a difference where there is none, over all points", func(r *Relative) any { return answer.Computed(r.Adjusted) }),
		column("verdict", answer.TypeText, "the same as verdict, relative to what all points share", func(r *Relative) any { return string(r.Verdict) }),
		column("reason", answer.TypeText, "why there is no such verdict", func(r *Relative) any { return answer.Text(string(r.Reason)) }),
		column("more_runs", answer.TypeInteger, "more runs a side that are likely to settle it", func(r *Relative) any { return answer.Positive(r.MoreRuns) }),
	}
}

// inputFields are what the numbers of a row are made of, as they are: nothing is rounded.
func inputFields() []answer.Field[Row] {
	column := func(name string, t answer.Type, meaning string, value func(*Inputs) any) answer.Field[Row] {
		return field(name, t, meaning, func(r *Row) any {
			if r.Inputs == nil {
				return nil
			}
			return value(r.Inputs)
		})
	}
	prior := func(in *Inputs, v float64) any {
		if in.PriorVariance > 0 {
			return answer.Real(v)
		}
		return nil
	}
	return []answer.Field[Row]{
		column("base_locations", answer.TypeList, "of the runs of the base: logarithms, unless the scale is difference", func(in *Inputs) any { return answer.Reals(in.Base) }),
		column("head_locations", answer.TypeList, "of the runs of the head likewise", func(in *Inputs) any { return answer.Reals(in.Head) }),
		column("block_differences", answer.TypeList, "head less base of each block", func(in *Inputs) any { return answer.Reals(in.Blocks) }),
		column("history", answer.TypeList, "locations of earlier sessions, the oldest first", func(in *Inputs) any { return answer.Reals(in.History) }),
		column("variance", answer.TypeReal, "of the point's own runs or blocks", func(in *Inputs) any { return answer.Real(in.Variance) }),
		column("df", answer.TypeReal, "its degrees of freedom", func(in *Inputs) any { return answer.Real(in.DF) }),
		column("session_sd", answer.TypeReal, "what sessions differ by", func(in *Inputs) any { return answer.Real(in.SessionSD) }),
		column("prior_variance", answer.TypeReal, "that which the other points lend", func(in *Inputs) any { return prior(in, in.PriorVariance) }),
		column("prior_df", answer.TypeReal, "its degrees of freedom", func(in *Inputs) any { return prior(in, in.PriorDF) }),
		column("family", answer.TypeInteger, "points that p is adjusted over", func(in *Inputs) any { return int64(in.Family) }),
	}
}
