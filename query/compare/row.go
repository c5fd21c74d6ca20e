package compare

import (
	"math"
	"slices"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/facts"
	"github.com/neurolens/neurolens/query/internal/sides"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// compareColumns are the columns of a comparison, in the order of what row gives.
func compareColumns() []answer.Column {
	columns := answer.ColumnsNamed(slices.Concat(facts.Identity, []string{"params"})...)
	columns = append(columns, answer.Column{Name: "base_point_id", Type: answer.TypeText}, answer.Column{Name: "head_point_id", Type: answer.TypeText})
	columns = append(columns, answer.ColumnsNamed("metric", "unit", "better")...)
	columns = append(columns, answer.Column{Name: "scale", Type: answer.TypeText})
	for _, side := range []string{"base", "head"} {
		columns = append(columns,
			answer.Column{Name: side + "_runs", Type: answer.TypeInteger}, answer.Column{Name: side + "_samples", Type: answer.TypeInteger}, answer.Column{Name: side + "_samples_max", Type: answer.TypeInteger},
			answer.Column{Name: side + "_statuses", Type: answer.TypeMap}, answer.Column{Name: side, Type: answer.TypeReal, Unit: schema.UnitOfRow})
	}
	for _, name := range []string{"change", "low", "high", "noise", "dead_zone", "p", "p_adjusted"} {
		columns = append(columns, answer.Column{Name: name, Type: answer.TypeReal})
	}
	return append(columns,
		answer.Column{Name: "verdict", Type: answer.TypeText}, answer.Column{Name: "reason", Type: answer.TypeText}, answer.Column{Name: "more_runs", Type: answer.TypeInteger},
		answer.Column{Name: "looks", Type: answer.TypeInteger}, answer.Column{Name: "flags", Type: answer.TypeList}, answer.Column{Name: "failure", Type: answer.TypeText},
		answer.Column{Name: "method", Type: answer.TypeText}, answer.Column{Name: "strict", Type: answer.TypeBoolean}, answer.Column{Name: "rule", Type: answer.TypeText}, answer.Column{Name: "correction", Type: answer.TypeText},
		answer.Column{Name: "relative_change", Type: answer.TypeReal}, answer.Column{Name: "relative_low", Type: answer.TypeReal}, answer.Column{Name: "relative_high", Type: answer.TypeReal},
		answer.Column{Name: "relative_p_adjusted", Type: answer.TypeReal}, answer.Column{Name: "relative_verdict", Type: answer.TypeText},
		answer.Column{Name: "relative_reason", Type: answer.TypeText}, answer.Column{Name: "relative_more_runs", Type: answer.TypeInteger})
}

// inputColumns are the columns of what the numbers of a row are made of, in the order of what inputs gives.
func inputColumns() []answer.Column {
	return []answer.Column{
		{Name: "base_locations", Type: answer.TypeList},
		{Name: "head_locations", Type: answer.TypeList},
		{Name: "block_differences", Type: answer.TypeList},
		{Name: "history", Type: answer.TypeList},
		{Name: "variance", Type: answer.TypeReal},
		{Name: "df", Type: answer.TypeReal},
		{Name: "session_sd", Type: answer.TypeReal},
		{Name: "prior_variance", Type: answer.TypeReal},
		{Name: "prior_df", Type: answer.TypeReal},
		{Name: "family", Type: answer.TypeInteger},
	}
}

// rowCells is room for the values of a row, with what they are made of.
const rowCells = 58

// row is the row of a point.
func (p *pairing) row(correction string) []any {
	of, o := p.either(), p.outcome
	scale := schema.ScaleOf(p.name)
	row := make([]any, 0, rowCells)
	row = append(row, of.Identity...)
	row = append(row, answer.Map(of.Params), idOf(p.base), idOf(p.head),
		answer.Text(p.name), answer.Text(p.kind().Unit), answer.Text(p.kind().Better), string(scale))
	for _, g := range []*sides.Group{p.base, p.head} {
		cells := sideCells(g, scale)
		if g != nil && g.Metric.Unit != p.kind().Unit {
			cells[4] = nil // it is in another unit than the row
		}
		row = append(row, cells...)
	}
	if !p.whole() || math.IsNaN(o.Change.Value) {
		row = append(row, make([]any, 7)...)
	} else {
		for _, v := range []float64{o.Change.Value, o.Change.Low, o.Change.High, o.Noise, o.DeadZone} {
			row = append(row, answer.Real(scale.Change(v)))
		}
		row = append(row, answer.Real(o.P), answer.Real(o.Adjusted))
	}
	row = append(row, string(p.verdict), answer.Text(string(p.reason)), answer.Positive(o.MoreRuns), answer.Positive(p.looks()), p.flags(), p.failure(),
		answer.Text(string(o.Method)), o.Strict, answer.Text(string(o.Rule)), correction)
	return append(row, p.relatively()...)
}

// relatively are the columns of what is said relative to what all points share.
func (p *pairing) relatively() []any {
	o := p.relative
	if o == nil {
		return make([]any, 7)
	}
	of := func(v float64) any { return answer.Real(schema.ScaleRatio.Change(v)) }
	return []any{
		of(o.Change.Value), of(o.Change.Low), of(o.Change.High), answer.Real(o.Adjusted), string(o.Verdict),
		answer.Text(string(o.Reason)), answer.Positive(o.MoreRuns),
	}
}

// inputs are what the numbers of a row are made of.
func (p *pairing) inputs() []any {
	o, pair, j := p.outcome, p.pair, p.judgement
	prior := j.Runs
	if o.Method == judge.MethodBlocks {
		prior = j.Blocks
	}
	var variance, df any
	if prior.Variance > 0 {
		variance, df = prior.Variance, answer.Real(prior.DF)
	}
	return []any{
		answer.Reals(pair.Base), answer.Reals(pair.Head), answer.Reals(pair.Blocks), answer.Reals(pair.History),
		answer.Real(o.Variance), answer.Real(o.DF), answer.Real(o.SessionSD), variance, df, int64(j.Family),
	}
}

// sideCells are the columns of a side.
func sideCells(g *sides.Group, scale schema.Scale) []any {
	if g == nil || g.Absent {
		return make([]any, 5)
	}
	runs := len(g.Locations)
	if n := g.Noted().OneBlock; n > 0 {
		runs = n
	}
	cells := []any{int64(runs), nil, nil, g.Statuses(), nil}
	if len(g.Locations) > 0 {
		cells[1], cells[2], cells[4] = g.Least, g.Most, answer.Real(scale.InUnit(g.Level()))
	}
	return cells
}

// failure is what went wrong in a run of the head.
func (p *pairing) failure() any {
	if p.head == nil {
		return nil
	}
	return answer.Text(p.head.Noted().Failure)
}

// looks is how often it may have been looked at while it grew, which p allows for: as often as was planned, else at each
// session. Of different sessions more runs hardly change what is said: once.
func (p *pairing) looks() int {
	switch {
	case p.planned > 0:
		return p.planned
	case p.confounded:
		return min(p.sessions(), 1)
	}
	return p.sessions()
}

// spend is the share of the level that the point may use.
func (p *pairing) spend() float64 {
	if p.planned > 0 {
		return judge.Spend(1, p.planned)
	}
	return judge.Spend(p.looks(), 0)
}

// sessions is how many sessions the head's runs are of.
func (p *pairing) sessions() int {
	if p.head == nil || len(p.head.Locations) == 0 {
		return 0
	}
	return len(p.head.Sessions)
}

// Flags of a point, beside the words of warning of its runs.
const (
	FlagFewRuns   = "few_runs"      // fewer than 5 runs of a side: the strict rule
	FlagOneBlock  = "one_block"     // the replicates are processes, of fewer than 5 runs
	FlagRunsModes = "runs_modes"    // the runs of a side gather around two values: more iterations will not help
	FlagRunsDrift = "runs_drift"    // the runs of a side rise or fall in the order in which they ran
	FlagOrder     = "order"         // all runs of one side ran before those of the other: a drift would look like a change
	FlagControl   = "control"       // the sweep says that no change touches it: what it does, the machine does
	FlagFailures  = "failures"      // a larger share of the runs of the head failed than of the base
	FlagNoValues  = "no_values"     // ok runs without a finite value were left out
	FlagLooks     = "planned_looks" // it was measured until it was settled, and looks is how often at most it was looked at
)

// flags are words about what the numbers of a point are worth.
func (p *pairing) flags() []any {
	pair, o := p.pair, p.outcome
	var flags []any
	add := func(word string, holds bool) {
		if holds {
			flags = append(flags, word)
		}
	}
	both := []*sides.Group{p.base, p.head}
	any := func(holds func(g *sides.Group) bool) bool {
		return slices.ContainsFunc(both, func(g *sides.Group) bool { return g != nil && holds(g) })
	}
	apart := func(values []float64, of func([]float64) float64) bool { return math.Abs(of(values)) > o.DeadZone }
	if p.whole() {
		add(FlagFewRuns, min(len(p.base.Locations), len(p.head.Locations)) < judge.FirmRuns)
		add(FlagOneBlock, any(func(g *sides.Group) bool { return g.Noted().OneBlock > 0 }))
		add(FlagRunsModes, apart(pair.Base, stat.Modes) || apart(pair.Head, stat.Modes))
		add(FlagRunsDrift, p.base.InOrder && apart(pair.Base, stat.Drift) || p.head.InOrder && apart(pair.Head, stat.Drift))
		add(FlagOrder, pair.Ordered)
		add(stat.WarnQuantised, p.stepShown() > 0 && !any(func(g *sides.Group) bool { return slices.Contains(g.Noted().Warnings, stat.WarnQuantised) }))
	}
	add(FlagControl, p.control)
	add(FlagFailures, p.moreFailures())
	add(FlagNoValues, any(func(g *sides.Group) bool { return g.Noted().Useless > 0 && len(g.Locations) > 0 }))
	var warnings []string
	for _, g := range both {
		if g != nil {
			warnings = append(warnings, g.Noted().Warnings...)
		}
	}
	slices.Sort(warnings)
	for _, word := range slices.Compact(warnings) {
		add(word, true)
	}
	add(FlagLooks, p.planned > 0)
	return flags
}

// moreFailures tells whether a larger share of the head's runs failed by themselves than of the base's.
func (p *pairing) moreFailures() bool {
	if p.base == nil || p.head == nil || !p.base.Measured() {
		return false
	}
	share := func(g *sides.Group) float64 { return float64(g.Failures()) / float64(max(g.Failures()+g.OK, 1)) }
	return share(p.head) > share(p.base)
}

// failureChance is how likely as many failures of the head, or more, are by chance, of all that failed on either side:
// the exact test of Fisher (Journal of the Royal Statistical Society 98, 1935), one-sided.
func (p *pairing) failureChance() float64 {
	failed, base := p.head.Failures(), p.base.Failures()+p.base.OK
	head, total := failed+p.head.OK, failed+p.base.Failures()
	chance := 0.0
	for k := failed; k <= min(total, head); k++ {
		chance += math.Exp(logChoose(head, k) + logChoose(base, total-k) - logChoose(head+base, total))
	}
	return min(chance, 1)
}

// logChoose is the logarithm of the number of ways to choose k of n.
func logChoose(n, k int64) float64 {
	if k < 0 || k > n {
		return math.Inf(-1)
	}
	gamma := func(v int64) float64 { l, _ := math.Lgamma(float64(v) + 1); return l }
	return gamma(n) - gamma(k) - gamma(n-k)
}

func idOf(g *sides.Group) any {
	if g == nil {
		return nil
	}
	return answer.Text(g.PointID)
}
