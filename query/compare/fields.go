package compare

import (
	"slices"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// Fields are the columns of the rows of a comparison; inputs adds the columns of Row.Inputs.
func Fields(inputs bool) []answer.Field[Row] {
	fields := slices.Concat(
		query.PointFields(func(r *Row) *query.Point { return &r.Identity }, query.Identity...),
		[]answer.Field[Row]{field("params", answer.TypeMap, query.PointMeanings["params"], (*Row).params)},
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

// params are the parameters as a cell. A parameter that the row lacks is NULL.
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

// subjectFields are the columns that identify what is compared.
func subjectFields() []answer.Field[Row] {
	return []answer.Field[Row]{
		field("base_point_id", answer.TypeText, "id of the point on the base", func(r *Row) any { return answer.Text(r.BaseID) }),
		field("head_point_id", answer.TypeText, "id of the point on the head", func(r *Row) any { return answer.Text(r.HeadID) }),
		field("metric", answer.TypeText, "metric that is compared", func(r *Row) any { return answer.Text(r.Metric) }),
		field("unit", answer.TypeText, "stored unit of the metric", func(r *Row) any { return answer.Text(r.Unit) }),
		field("better", answer.TypeText, "which direction is better: lower or higher; NULL if unknown", func(r *Row) any { return answer.Text(r.Better) }),
		field("scale", answer.TypeText, "how values are compared: ratio or, if a value is 0 or less, if the threshold is an amount, and for metrics that may be 0, difference", func(r *Row) any { return string(r.Scale) }),
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
	location := column("", answer.TypeReal, "value of the "+name+": the median of its runs' locations (see base_locations), in the unit. Of an even number of logarithms it is the geometric mean of the two in the middle, which lies below the plain median that bench and ls show", func(m *Measured) any {
		if m.Value == nil {
			return nil
		}
		return answer.Computed(*m.Value)
	})
	location.Unit = schema.UnitOfRow
	return []answer.Field[Row]{
		column("_runs", answer.TypeInteger, "number of ok runs of the "+name+" that have the metric", func(m *Measured) any { return m.Runs }),
		column("_samples_min", answer.TypeInteger, "smallest number of samples in such a run", func(m *Measured) any { return answer.Integer(m.SamplesMin) }),
		column("_samples_max", answer.TypeInteger, "largest number of samples in such a run", func(m *Measured) any { return answer.Integer(m.SamplesMax) }),
		column("_statuses", answer.TypeMap, "number of runs of the "+name+" per status", func(m *Measured) any { return answer.Map(m.Statuses) }),
		location,
	}
}

// estimateFields are the columns of the effect size.
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
		column("change", "effect size: head / base - 1 or, if scale is difference, head - base in the unit", func(e *Estimates) float64 { return e.Change }),
		column("low", "lower end of the confidence interval of change", func(e *Estimates) float64 { return e.Low }),
		column("high", "upper end of that interval", func(e *Estimates) float64 { return e.High }),
		column("noise", "half the width of the interval; if scale is ratio: sqrt((1 + high) / (1 + low)) - 1", func(e *Estimates) float64 { return e.Noise }),
		column("threshold", "smallest change that counts, in the scale of change: --threshold (if scale is difference, a share is one of the smaller side), or more if the clock or the sessions vary by more", func(e *Estimates) float64 { return e.DeadZone }),
		column("p", "p-value: probability of a difference at least this large if nothing changed", func(e *Estimates) float64 { return e.P }),
		column("p_adjusted", "p-value adjusted for the number of points and of looks. A change that is smaller than the threshold, or whose interval contains 0, counts with p = 1", func(e *Estimates) float64 { return e.Adjusted }),
	}
}

// verdictFields are the columns of the verdict and of how it was reached.
func verdictFields() []answer.Field[Row] {
	return []answer.Field[Row]{
		field("verdict", answer.TypeText, "regressed, improved, changed, unchanged or inconclusive; estimate: no verdict is possible; failed, fixed, unsupported, missing (not on the head) or added (not on the base)", func(r *Row) any { return string(r.Verdict) }),
		field("reason", answer.TypeText, "why there is no verdict", func(r *Row) any { return answer.Text(string(r.Reason)) }),
		field("more_runs", answer.TypeInteger, "about how many more runs per side would decide it", func(r *Row) any { return answer.Positive(r.MoreRuns) }),
		field("looks", answer.TypeInteger, "how many times the growing data were judged at most; p_adjusted and the interval account for it", func(r *Row) any { return answer.Positive(r.Looks) }),
		field("flags", answer.TypeList, "remarks on the quality of the numbers, and the warnings of the runs", func(r *Row) any { return answer.List(r.Flags) }),
		field("failure", answer.TypeText, "error of a failed run of the head", func(r *Row) any { return answer.Text(r.Failure) }),
		field("method", answer.TypeText, "what the interval is computed from: blocks, runs (with the flag one_block: their processes), or t for so few runs that the t distribution is used", func(r *Row) any { return answer.Text(string(r.Method)) }),
		field("strict", answer.TypeBoolean, "whether the strict rule was used: the change must be significantly larger than the threshold", func(r *Row) any { return r.Strict }),
		field("rule", answer.TypeText, "test that gave the p-value", func(r *Row) any { return answer.Text(string(r.Rule)) }),
		field("correction", answer.TypeText, "correction for multiple comparisons: benjamini_hochberg or, with --gate, holm", func(r *Row) any { return r.Correction }),
	}
}

// relativeFields are the columns relative to the common change of all points.
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
		column("change", answer.TypeReal, "head / base - 1, relative to the change that all points share", func(r *Relative) any { return answer.Computed(r.Change) }),
		column("low", answer.TypeReal, "lower end of its confidence interval", func(r *Relative) any { return answer.Computed(r.Low) }),
		column("high", answer.TypeReal, "upper end of that interval", func(r *Relative) any { return answer.Computed(r.High) }),
		column("p_adjusted", answer.TypeReal, "p-value of relative_change, adjusted for the number of points", func(r *Relative) any { return answer.Computed(r.Adjusted) }),
		column("verdict", answer.TypeText, "verdict on relative_change", func(r *Relative) any { return string(r.Verdict) }),
		column("reason", answer.TypeText, "why there is no verdict on relative_change", func(r *Relative) any { return answer.Text(string(r.Reason)) }),
		column("more_runs", answer.TypeInteger, "about how many more runs per side would decide relative_change", func(r *Relative) any { return answer.Positive(r.MoreRuns) }),
	}
}

// inputFields are the columns of Row.Inputs, without rounding.
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
		column("base_locations", answer.TypeList, "locations of the base's runs, or with the flag one_block of the processes that they started. The location of a run is the median of the natural logarithms of its samples; with the flag run_means, the logarithm of their mean. If scale is difference, a location is in the unit: e to the power of this median. If a sample is 0 or less, it is the median of the samples", func(in *Inputs) any { return answer.Reals(in.Base) }),
		column("head_locations", answer.TypeList, "locations of the head's runs, as base_locations has those of the base", func(in *Inputs) any { return answer.Reals(in.Head) }),
		column("block_differences", answer.TypeList, "head - base within each block", func(in *Inputs) any { return answer.Reals(in.Blocks) }),
		column("history", answer.TypeList, "locations of the earlier sessions that count, at most 100, oldest first", func(in *Inputs) any { return answer.Reals(in.History) }),
		column("variance", answer.TypeReal, "variance of a run, or of a block's difference, that the test used", func(in *Inputs) any { return answer.Real(in.Variance) }),
		column("df", answer.TypeReal, "degrees of freedom of variance", func(in *Inputs) any { return answer.Real(in.DF) }),
		column("session_sd", answer.TypeReal, "standard deviation between sessions", func(in *Inputs) any { return answer.Real(in.SessionSD) }),
		column("prior_variance", answer.TypeReal, "prior variance, estimated from all points of the metric that are compared on the same scale", func(in *Inputs) any { return prior(in, in.PriorVariance) }),
		column("prior_df", answer.TypeReal, "degrees of freedom of prior_variance", func(in *Inputs) any { return prior(in, in.PriorDF) }),
		column("family_size", answer.TypeInteger, "number of points that p is adjusted for", func(in *Inputs) any { return int64(in.Family) }),
	}
}
