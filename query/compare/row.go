package compare

import (
	"math"
	"slices"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// Row is the complete result for one metric of one point.
type Row struct {
	Point
	Identity       query.Point // of the head, if it has the point; its parameters are shared and must not be changed
	Lacks          string      // the parameter that is the compared axis, if the head represents a point without it
	BaseID, HeadID string      // point_id on each side; empty if the side does not have the point
	Unit           string
	Scale          schema.Scale
	Base, Head     *Measured  // nil if the side does not have the point
	Estimates      *Estimates // nil if a side has no values
	Flags          []string
	Failure        string // error of a failed run of the head
	Strict         bool   // the strict rule was used
	Rule           judge.Rule
	Correction     string        // correction of p for multiple comparisons
	Relative       *Relative     // result relative to the common change of all points; nil: none
	Clocks         *query.Clocks // nil unless both sides have readings of the clock
	Inputs         *Inputs       // nil unless Request.Inputs is set
}

// Measured sums up the runs of a point on one side.
type Measured struct {
	Runs       int64          // number of ok runs with the metric
	SamplesMin *int64         // smallest number of samples of such a run
	SamplesMax *int64         // largest number of samples of such a run
	Statuses   map[string]any // shared with other rows: it must not be changed
	Value      *float64       // median of the runs, in the unit; nil: none, or in another unit than the row
}

// Estimates are the results from the runs of both sides. A number that is not finite is unknown.
type Estimates struct {
	Change, Low, High float64 // head / base - 1, or head - base in the unit
	Noise, Margin     float64 // on the same scale
	P, Adjusted       float64
	Confidence        float64 // level of the interval; NaN: there is none
}

// Relative is the result for a point relative to the common change of all points.
type Relative struct {
	Change, Low, High float64 // ratio - 1
	Adjusted          float64
	Verdict           judge.Verdict
	Reason            judge.Reason
	MoreRuns          int
}

// Repeats is what the repeats of both sides say about a point that gets no verdict because nobody knows how much two sessions or
// machines differ without a change. It is what the verdict would be if both sides were of one session on one machine.
type Repeats struct {
	Result   string  // RepeatsDiffer, RepeatsAlike, or the reason why neither is known, such as judge.Noise
	Adjusted float64 // p-value, adjusted over all such points of the metric; NaN: unknown
	Sampled  bool    // the repeats are the samples of fewer than judge.MinRuns runs; so are those of the interval
}

// The results of Repeats that are no reason.
const (
	RepeatsDiffer = "differ" // the change is significant and reaches the threshold
	RepeatsAlike  = "alike"  // the interval lies within the threshold
)

// Differ reports whether the repeats of the sides differ.
func (r *Repeats) Differ() bool { return r.Result == RepeatsDiffer }

// repeatsResult returns what the repeats say; nil if they were not judged.
func (p *pairing) repeatsResult() *Repeats {
	o := p.repeats
	if o == nil {
		return nil
	}
	r := &Repeats{string(o.Reason), o.Adjusted, p.sampled}
	switch o.Verdict {
	case judge.Inconclusive:
	case judge.Unchanged:
		r.Result = RepeatsAlike
	default:
		r.Result = RepeatsDiffer
	}
	return r
}

// Inputs are the numbers from which the results of a row are computed, on the scale on which the point is compared.
type Inputs struct {
	Base, Head, Blocks, History []float64
	Variance, DF, SessionSD     float64
	PriorVariance, PriorDF      float64
	Family                      int
}

// row makes the row of a point.
func (m *comparison) row(p *pairing) Row {
	of, o, pair := p.either(), p.outcome, p.toJudge()
	scale := p.scale
	row := Row{
		Point: p.point(), Identity: *of.Point, Lacks: of.Lacks, BaseID: idOf(p.base), HeadID: idOf(p.head),
		Unit: m.rates.Of(of.Point.Benchmark, p.kind().Name, p.kind().Unit), Scale: scale, Base: m.measured(p, p.base), Head: m.measured(p, p.head),
		Flags: p.flags(&pair), Failure: p.failure(), Strict: o.Strict, Rule: o.Rule, Correction: "benjamini_hochberg", Relative: p.relativeResult(), Clocks: p.clocks,
	}
	if p.hasBothSides() && !math.IsNaN(o.Change.Value) {
		row.Flags = append(row.Flags, p.medianFlag()...)
		interval := o
		if p.sampled {
			interval = p.repeats
		}
		row.Estimates = &Estimates{
			Change: scale.Change(o.Change.Value), Low: scale.Change(interval.Change.Low), High: scale.Change(interval.Change.High),
			Noise: scale.Change(interval.Noise), Margin: scale.Change(o.Margin), P: o.P, Adjusted: o.Adjusted,
			Confidence: 1 - (1-judge.Confidence)*p.spend(),
		}
		if math.IsInf(o.Change.Low, -1) && math.IsInf(o.Change.High, 1) {
			row.Estimates.Confidence = math.NaN()
		}
	}
	if m.req.Rules.Gate {
		row.Correction = "holm"
	}
	if m.req.Inputs {
		row.Inputs = p.inputs(&pair)
	}
	return row
}

// medianFlag returns the flag of a change that the medians of the sides contradict, or none if they agree. All medians are shown with
// three digits. A reader divides them, whatever the threshold is, so it does not matter here.
func (p *pairing) medianFlag() []string {
	const alike, rounding, zero = .02, .005, .0005 // logarithms, or shares of the larger side; a change below zero is shown as 0.0 %
	base, head := p.base.shown(p.scale), p.head.shown(p.scale)
	medians, change, unit := logOf(head)-logOf(base), p.outcome.Change.Value, 1.
	if p.byDifference() {
		medians, unit = head-base, max(math.Abs(base), math.Abs(head))
	}
	allowed := alike * unit
	if change*math.Copysign(1, medians) < zero*unit { // the other direction, or none
		allowed = rounding * unit
	}
	switch o := p.outcome; {
	case p.means || math.Abs(medians-change) <= allowed:
		return nil
	case o.Method == judge.MethodBlocks:
		return []string{FlagPaired}
	}
	return []string{FlagPairwise}
}

// relativeResult returns the result relative to the common change of all points.
func (p *pairing) relativeResult() *Relative {
	o := p.relative
	if o == nil {
		return nil
	}
	of := schema.ScaleRatio.Change
	return &Relative{
		Change: of(o.Change.Value), Low: of(o.Change.Low), High: of(o.Change.High), Adjusted: o.Adjusted,
		Verdict: o.Verdict, Reason: o.Reason, MoreRuns: o.MoreRuns,
	}
}

// inputs returns the numbers from which the results of a row are computed.
func (p *pairing) inputs(pair *judge.Pair) *Inputs {
	o := p.outcome
	return &Inputs{
		Base: pair.Base, Head: pair.Head, Blocks: pair.Blocks, History: pair.History,
		Variance: o.Variance, DF: o.DF, SessionSD: o.SessionSD, PriorVariance: o.Prior.Variance, PriorDF: o.Prior.DF, Family: p.family,
	}
}

// measured sums up a side of a point.
func (m *comparison) measured(p *pairing, g *runGroup) *Measured {
	if g == nil || g.Absent {
		return nil
	}
	side := &Measured{Runs: int64(len(g.Locations)), Statuses: m.statuses(g)}
	if n := g.OneBlock; n > 0 {
		side.Runs = int64(n)
	}
	if len(g.Locations) > 0 {
		side.SamplesMin, side.SamplesMax = &g.MinSamples, &g.MaxSamples
		if g.Metric.Unit == p.kind().Unit {
			side.Value = new(g.shown(p.scale))
		}
	}
	return side
}

// statuses returns the numbers of runs of a side per status. Most points have the same numbers, so equal maps are shared.
func (m *comparison) statuses(g *runGroup) map[string]any {
	if len(g.Failed) > 0 {
		return g.statuses()
	}
	if m.okStatuses[g.OK] == nil {
		m.okStatuses[g.OK] = g.statuses()
	}
	return m.okStatuses[g.OK]
}

// failure returns the error of a failed run of the head, or how many requests failed.
func (p *pairing) failure() string {
	if p.head == nil {
		return ""
	}
	if p.reason == judge.FailedRequests {
		return p.failedRequests()
	}
	return p.head.Failure
}

// looks returns the number of looks at the growing data that p accounts for: the planned number, or one per session. If the sides are
// from different sessions, more runs hardly change the result, so it is 1.
func (p *pairing) looks() int {
	switch {
	case p.planned > 0:
		return p.planned
	case p.confounded:
		return min(p.sessions(), 1)
	}
	return p.sessions()
}

// spend returns the share of the significance level that the point may use.
func (p *pairing) spend() float64 {
	if p.planned > 0 {
		return judge.Spend(1, p.planned)
	}
	return judge.Spend(p.looks(), 0)
}

// sessions returns the number of sessions of the head's runs.
func (p *pairing) sessions() int {
	if p.head == nil || len(p.head.Locations) == 0 {
		return 0
	}
	return len(p.head.Sessions)
}

// Flags of a point, in addition to the warnings of its runs.
const (
	flagFewRuns   = "few_runs"      // a side has fewer than 5 runs, so the strict rule is used
	FlagOneBlock  = "one_block"     // the replicates are processes of few runs
	FlagRunsModes = "runs_modes"    // the runs of a side are bimodal: more iterations will not help
	FlagRunsDrift = "runs_drift"    // the runs of a side drift in the order in which they ran
	FlagOrder     = "order"         // all runs of one side ran before the runs of the other: a drift would look like a change
	FlagControl   = "control"       // the sweep marks the point as a control: a change comes from the machine
	FlagFailures  = "failures"      // a larger share of the head's runs failed than of the base's
	FlagWrong     = "wrong_result"  // the result of a run is wrong, so its speed does not count
	FlagRunMeans  = "run_means"     // one side has means of iterations, the other single iterations: the means of the runs are compared
	FlagLeftOut   = "left_out"      // runs of sessions without a run of the other side were left out
	flagNoValues  = "no_values"     // ok runs without a finite value were left out
	FlagLooks     = "planned_looks" // the session had planned looks; their maximum number is in looks
	// The change differs from the difference of the medians of the sides by more than 2 %, or has another direction, because it is the median
	// of the differences within blocks, or of the differences of all pairs of a run of each side (Hodges-Lehmann).
	FlagPaired   = "paired"
	FlagPairwise = "pairwise"
)

// flags returns remarks on the quality of the numbers of a point.
func (p *pairing) flags(pair *judge.Pair) []string {
	o := p.outcome
	flags := []string{} // not nil: the cell is an empty list, not NULL
	add := func(word string, holds bool) {
		if holds {
			flags = append(flags, word)
		}
	}
	both := []*runGroup{p.base, p.head}
	either := func(holds func(g *runGroup) bool) bool {
		return slices.ContainsFunc(both, func(g *runGroup) bool { return g != nil && holds(g) })
	}
	exceedsMargin := func(values []float64, of func([]float64) float64) bool { return math.Abs(of(values)) > o.Margin }
	if p.hasBothSides() {
		add(flagFewRuns, min(len(p.base.Locations), len(p.head.Locations)) < judge.FirmRuns)
		add(FlagOneBlock, either(func(g *runGroup) bool { return g.OneBlock > 0 }))
		add(FlagLeftOut, p.leftOut > 0)
		add(FlagRunMeans, p.means)
		add(FlagRunsModes, exceedsMargin(pair.Base, stat.Modes) || exceedsMargin(pair.Head, stat.Modes))
		add(FlagRunsDrift, p.base.inOrder() && exceedsMargin(pair.Base, stat.Drift) || p.head.inOrder() && exceedsMargin(pair.Head, stat.Drift))
		add(FlagOrder, pair.Ordered)
		add(stat.WarnQuantised, p.stepShown() > 0 && !either(func(g *runGroup) bool { return slices.Contains(g.Warnings, stat.WarnQuantised) }))
	}
	add(FlagControl, p.control)
	add(FlagFailures, p.moreFailures())
	add(FlagWrong, either(func(g *runGroup) bool { return g.Wrong > 0 }))
	add(flagNoValues, either(func(g *runGroup) bool { return g.NoValue > 0 && len(g.Locations) > 0 }))
	for _, word := range p.warnings() {
		add(word, true)
	}
	add(FlagLooks, p.planned > 0)
	return flags
}

// moreFailures reports whether a larger share of the head's runs failed than of the base's. Cancelled and lost runs do not count.
func (p *pairing) moreFailures() bool {
	if p.base == nil || p.head == nil || !p.base.measured() {
		return false
	}
	share := func(g *runGroup) float64 { return float64(g.failures()) / float64(max(g.failures()+g.OK, 1)) }
	return share(p.head) > share(p.base)
}

// failureChance returns the p-value of Fisher's exact test that the head fails more often.
func (p *pairing) failureChance() float64 {
	return stat.FisherExact(int(p.head.failures()), int(p.head.OK), int(p.base.failures()), int(p.base.OK))
}

func idOf(g *runGroup) string {
	if g == nil {
		return ""
	}
	return g.PointID
}

// Fields returns the columns of the rows of a comparison; inputs adds the columns of Row.Inputs.
func Fields(inputs bool) []answer.Field[Row] {
	fields := slices.Concat(
		query.PointFields(func(r *Row) *query.Point { return &r.Identity }, query.Identity...),
		[]answer.Field[Row]{field("params", answer.TypeMap, query.PointMeanings["params"], (*Row).params)},
		subjectFields(), sideFields("base", func(r *Row) *Measured { return r.Base }), sideFields("head", func(r *Row) *Measured { return r.Head }),
		estimateFields(), verdictFields(), relativeFields(), repeatsFields(), clockFields())
	if inputs {
		fields = append(fields, inputFields()...)
	}
	return fields
}

// field makes a column of a row.
func field(name string, t answer.Type, meaning string, of func(*Row) any) answer.Field[Row] {
	return answer.NewField(name, t, meaning, of)
}

// partColumns returns a function that makes columns from a part of a row. They are NULL if the row lacks the part.
func partColumns[R, P any](prefix string, part func(*R) *P) func(name string, t answer.Type, meaning string, of func(*P) any) answer.Field[R] {
	return func(name string, t answer.Type, meaning string, of func(*P) any) answer.Field[R] {
		return answer.NewField(prefix+name, t, meaning, func(r *R) any {
			if p := part(r); p != nil {
				return of(p)
			}
			return nil
		})
	}
}

// params returns the parameters as a cell. A parameter that the row lacks is NULL.
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

// subjectFields returns the columns that identify the compared point and metric.
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

// sideFields returns the columns of a side.
func sideFields(name string, of func(*Row) *Measured) []answer.Field[Row] {
	column := partColumns(name, of)
	location := column("", answer.TypeReal, "value of the "+name+": the median of its ok runs' medians, as bench and ls show it. If the means of runs are compared (flag run_means), the median of the means; if sessions were left out (flag left_out), of the other runs. change is not computed from it", func(m *Measured) any {
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

// clockFields returns the columns of Row.Clocks.
func clockFields() []answer.Field[Row] {
	column := partColumns("", func(r *Row) *query.Clocks { return r.Clocks })
	fields := []answer.Field[Row]{
		column("base_clock_sm", answer.TypeReal, "clock of the multiprocessors on the base: the median of the medians of its runs; NULL unless both sides have readings (telemetry)", func(c *query.Clocks) any { return answer.Computed(c.Base) }),
		column("head_clock_sm", answer.TypeReal, "the same of the head", func(c *query.Clocks) any { return answer.Computed(c.Head) }),
	}
	for i := range fields {
		fields[i].Unit = "MHz"
	}
	return fields
}

// estimateFields returns the columns of the effect size.
func estimateFields() []answer.Field[Row] {
	part := partColumns("", func(r *Row) *Estimates { return r.Estimates })
	column := func(name, meaning string, value func(*Estimates) float64) answer.Field[Row] {
		return part(name, answer.TypeReal, meaning, func(e *Estimates) any { return answer.Computed(value(e)) })
	}
	return []answer.Field[Row]{
		column("change", "effect size: head / base - 1 or, if scale is difference, head - base in the unit", func(e *Estimates) float64 { return e.Change }),
		column("low", "lower end of the confidence interval of change", func(e *Estimates) float64 { return e.Low }),
		column("high", "upper end of that interval", func(e *Estimates) float64 { return e.High }),
		column("confidence", "confidence level of the interval, as a ratio: .95, or more if growing data are judged several times (see looks)", func(e *Estimates) float64 { return e.Confidence }),
		column("noise", "half the width of the interval; if scale is ratio: sqrt((1 + high) / (1 + low)) - 1", func(e *Estimates) float64 { return e.Noise }),
		column("threshold", "smallest change that counts, in the scale of change: --threshold (if scale is difference, a share is one of the smaller side), or more if the clock or the sessions vary by more", func(e *Estimates) float64 { return e.Margin }),
		column("p", "p-value: probability of a difference at least this large if nothing changed", func(e *Estimates) float64 { return e.P }),
		column("p_adjusted", "p-value adjusted for the number of points and of looks. A change that is smaller than the threshold, or whose interval contains 0, counts with p = 1", func(e *Estimates) float64 { return e.Adjusted }),
	}
}

// verdictFields returns the columns of the verdict and of how it was reached.
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

// relativeFields returns the columns relative to the common change of all points.
func relativeFields() []answer.Field[Row] {
	column := partColumns("relative_", func(r *Row) *Relative { return r.Relative })
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

// repeatsFields returns the columns of Point.Repeats.
func repeatsFields() []answer.Field[Row] {
	column := partColumns("repeats_", func(r *Row) *Repeats { return r.Repeats })
	return []answer.Field[Row]{
		column("result", answer.TypeText, "whether the repeats differ, of imported results that have no verdict because the machine or earlier sessions are unknown. It presumes one session on one machine. differ: a significant change of at least the threshold; alike: the interval lies within the threshold; else the reason why neither is known. Where a side has fewer than 3 runs, its samples are the repeats, also for low, high and noise", func(r *Repeats) any { return r.Result }),
		column("p_adjusted", answer.TypeReal, "p-value of repeats_result, adjusted for the number of points", func(r *Repeats) any { return answer.Computed(r.Adjusted) }),
	}
}

// inputFields returns the columns of Row.Inputs, without rounding.
func inputFields() []answer.Field[Row] {
	column := partColumns("", func(r *Row) *Inputs { return r.Inputs })
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
