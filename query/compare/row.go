package compare

import (
	"math"
	"slices"

	"github.com/neurolens/neurolens/query"
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
	Correction     string    // correction of p for multiple comparisons
	Relative       *Relative // result relative to the common change of all points; nil: none
	Inputs         *Inputs   // nil unless Request.Inputs is set
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
	Noise, DeadZone   float64 // on the same scale
	P, Adjusted       float64
}

// Relative is the result for a point relative to the common change of all points.
type Relative struct {
	Change, Low, High float64 // ratio - 1
	Adjusted          float64
	Verdict           judge.Verdict
	Reason            judge.Reason
	MoreRuns          int
}

// Inputs are the numbers from which the results of a row are computed, on the scale on which the point is compared.
type Inputs struct {
	Base, Head, Blocks, History []float64
	Variance, DF, SessionSD     float64
	PriorVariance, PriorDF      float64
	Family                      int
}

// row makes the row of a point.
func (m *comparing) row(p *pairing) Row {
	of, o, pair := p.either(), p.outcome, p.toJudge()
	scale := p.scale
	row := Row{
		Point: p.point(), Identity: *of.Point, Lacks: of.Noted().Lacks, BaseID: idOf(p.base), HeadID: idOf(p.head),
		Unit: p.kind().Unit, Scale: scale, Base: m.measured(p, p.base), Head: m.measured(p, p.head),
		Flags: p.flags(&pair), Failure: p.failure(), Strict: o.Strict, Rule: o.Rule, Correction: m.correction(), Relative: p.relatively(),
	}
	if p.whole() && !math.IsNaN(o.Change.Value) {
		row.Flags = append(row.Flags, p.beside()...)
		row.Estimates = &Estimates{
			Change: scale.Change(o.Change.Value), Low: scale.Change(o.Change.Low), High: scale.Change(o.Change.High),
			Noise: scale.Change(o.Noise), DeadZone: scale.Change(o.DeadZone), P: o.P, Adjusted: o.Adjusted,
		}
	}
	if m.req.Inputs {
		row.Inputs = p.inputs(&pair)
	}
	return row
}

// beside returns the flag of a change that the medians of the sides contradict, or none if they agree.
func (p *pairing) beside() []string {
	const alike = .05 // of the change: a difference that nobody notices
	medians := p.head.Level() - p.base.Level()
	switch o := p.outcome; {
	case p.means || math.Abs(medians-o.Change.Value) <= max(o.DeadZone, alike*math.Abs(o.Change.Value)):
		return nil
	case o.Method == judge.MethodBlocks:
		return []string{FlagPaired}
	}
	return []string{FlagPairwise}
}

// relatively is the result relative to the common change of all points.
func (p *pairing) relatively() *Relative {
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

// inputs are the numbers from which the results of a row are computed.
func (p *pairing) inputs(pair *judge.Pair) *Inputs {
	o := p.outcome
	return &Inputs{
		Base: pair.Base, Head: pair.Head, Blocks: pair.Blocks, History: pair.History,
		Variance: o.Variance, DF: o.DF, SessionSD: o.SessionSD, PriorVariance: o.Prior.Variance, PriorDF: o.Prior.DF, Family: p.family,
	}
}

// measured sums up a side of a point.
func (m *comparing) measured(p *pairing, g *sideGroup) *Measured {
	if g == nil || g.Absent {
		return nil
	}
	side := &Measured{Runs: int64(len(g.Locations)), Statuses: m.statuses(g)}
	if n := g.Noted().OneBlock; n > 0 {
		side.Runs = int64(n)
	}
	if len(g.Locations) > 0 {
		side.SamplesMin, side.SamplesMax = &g.MinSamples, &g.MaxSamples
		if g.Metric.Unit == p.kind().Unit {
			side.Value = new(p.scale.InUnit(g.Level()))
		}
	}
	return side
}

// statuses are the numbers of runs of a side per status. Most points have the same, which are made once.
func (m *comparing) statuses(g *sideGroup) map[string]any {
	if len(g.Noted().Failed) > 0 {
		return g.Statuses()
	}
	if m.allOK[g.OK] == nil {
		m.allOK[g.OK] = g.Statuses()
	}
	return m.allOK[g.OK]
}

// failure is the error of a failed run of the head, or how many requests failed.
func (p *pairing) failure() string {
	if p.head == nil {
		return ""
	}
	if p.reason == judge.FailedRequests {
		return p.failedRequests()
	}
	return p.head.Noted().Failure
}

// looks is the number of times that the growing data may have been judged, which p accounts for: the planned number, or once per
// session. If the sides are from different sessions, more runs hardly change the result, so it is 1.
func (p *pairing) looks() int {
	switch {
	case p.planned > 0:
		return p.planned
	case p.confounded:
		return min(p.sessions(), 1)
	}
	return p.sessions()
}

// spend is the share of the significance level that the point may use.
func (p *pairing) spend() float64 {
	if p.planned > 0 {
		return judge.Spend(1, p.planned)
	}
	return judge.Spend(p.looks(), 0)
}

// sessions is the number of sessions of the head's runs.
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
	FlagOrder     = "order"         // all runs of one side ran before those of the other: a drift would look like a change
	FlagControl   = "control"       // the sweep marks the point as a control: a change of it comes from the machine
	FlagFailures  = "failures"      // a larger share of the head's runs failed than of the base's
	FlagWrong     = "wrong_result"  // the result of a run is wrong, so its speed does not count
	FlagRunMeans  = "run_means"     // means of iterations beside single ones: the means of the runs are compared
	FlagLeftOut   = "left_out"      // runs of sessions without a run of the other side were left out
	flagNoValues  = "no_values"     // ok runs without a finite value were left out
	FlagLooks     = "planned_looks" // the session had planned looks; their maximum number is in looks
	// The change differs from what the medians of the sides suggest by more than what counts as no change, because it is the
	// median of the differences within blocks, or of the differences of all pairs of a run of each side (Hodges-Lehmann).
	FlagPaired   = "paired"
	FlagPairwise = "pairwise"
)

// flags are remarks on the quality of the numbers of a point.
func (p *pairing) flags(pair *judge.Pair) []string {
	o := p.outcome
	flags := []string{} // not nil: the cell is an empty list, not NULL
	add := func(word string, holds bool) {
		if holds {
			flags = append(flags, word)
		}
	}
	both := []*sideGroup{p.base, p.head}
	either := func(holds func(g *sideGroup) bool) bool {
		return slices.ContainsFunc(both, func(g *sideGroup) bool { return g != nil && holds(g) })
	}
	apart := func(values []float64, of func([]float64) float64) bool { return math.Abs(of(values)) > o.DeadZone }
	if p.whole() {
		add(flagFewRuns, min(len(p.base.Locations), len(p.head.Locations)) < judge.FirmRuns)
		add(FlagOneBlock, either(func(g *sideGroup) bool { return g.Noted().OneBlock > 0 }))
		add(FlagLeftOut, p.leftOut > 0)
		add(FlagRunMeans, p.means)
		add(FlagRunsModes, apart(pair.Base, stat.Modes) || apart(pair.Head, stat.Modes))
		add(FlagRunsDrift, p.base.InOrder && apart(pair.Base, stat.Drift) || p.head.InOrder && apart(pair.Head, stat.Drift))
		add(FlagOrder, pair.Ordered)
		add(stat.WarnQuantised, p.stepShown() > 0 && !either(func(g *sideGroup) bool { return slices.Contains(g.Noted().Warnings, stat.WarnQuantised) }))
	}
	add(FlagControl, p.control)
	add(FlagFailures, p.moreFailures())
	add(FlagWrong, either(func(g *sideGroup) bool { return g.Noted().Wrong > 0 }))
	add(flagNoValues, either(func(g *sideGroup) bool { return g.Noted().NoValue > 0 && len(g.Locations) > 0 }))
	for _, word := range p.warnings() {
		add(word, true)
	}
	add(FlagLooks, p.planned > 0)
	return flags
}

// moreFailures reports whether a larger share of the head's runs failed than of the base's. Cancelled and lost runs do not count.
func (p *pairing) moreFailures() bool {
	if p.base == nil || p.head == nil || !p.base.Measured() {
		return false
	}
	share := func(g *sideGroup) float64 { return float64(g.Failures()) / float64(max(g.Failures()+g.OK, 1)) }
	return share(p.head) > share(p.base)
}

// failureChance is the p-value of Fisher's exact test that the head fails more often.
func (p *pairing) failureChance() float64 {
	return stat.FisherExact(int(p.head.Failures()), int(p.head.OK), int(p.base.Failures()), int(p.base.OK))
}

func idOf(g *sideGroup) string {
	if g == nil {
		return ""
	}
	return g.PointID
}
