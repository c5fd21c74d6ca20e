package compare

import (
	"math"
	"slices"

	"github.com/neurolens/neurolens/query/facts"
	"github.com/neurolens/neurolens/query/internal/sides"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// Row is all that is said of a point as to one metric.
type Row struct {
	Point
	Identity       facts.Point // the head's, where it has the point; nobody may change its parameters
	Lacks          string      // the parameter by which sides are compared, where the head stands for a point without a value of it
	BaseID, HeadID string      // point_id of each side; empty where it does not have the point
	Unit           string
	Scale          schema.Scale
	Base, Head     *Measured  // nil where the side does not have the point
	Estimates      *Estimates // nil where a side has no values
	Flags          []string
	Failure        string // what went wrong in a run of the head
	Strict         bool   // the strict rule was used
	Rule           judge.Rule
	Correction     string    // by which p is adjusted
	Relative       *Relative // to what all points share; nil where that is not known
	Inputs         *Inputs   // nil unless Request.Inputs
}

// Measured is what a side has of a point.
type Measured struct {
	Runs                int64  // ok ones with a value of the metric
	Samples, SamplesMax *int64 // the least and the most of a run
	Statuses            map[string]any
	Value               *float64 // its location in the unit; nil where there is none, or it is in another unit than the row
}

// Estimates are what the runs of both sides say. A number that is not finite is not known.
type Estimates struct {
	Change, Low, High float64 // of the ratio less 1, or of the difference in the unit
	Noise, DeadZone   float64 // likewise
	P, Adjusted       float64
}

// Relative is what is said of a point relative to what all points share.
type Relative struct {
	Change, Low, High float64 // of the ratio less 1
	Adjusted          float64
	Verdict           judge.Verdict
	Reason            judge.Reason
	MoreRuns          int
}

// Inputs are what the numbers of a row are made of, in the scale in which the point is compared.
type Inputs struct {
	Base, Head, Blocks, History []float64
	Variance, DF, SessionSD     float64
	PriorVariance, PriorDF      float64
	Family                      int
}

// row is the row of a point.
func (p *pairing) row(correction string) Row {
	of, o := p.either(), p.outcome
	scale := schema.ScaleOf(p.name)
	row := Row{
		Point: p.point(), Identity: *of.Point, Lacks: of.Lacks, BaseID: idOf(p.base), HeadID: idOf(p.head),
		Unit: p.kind().Unit, Scale: scale, Base: p.measuredOf(p.base, scale), Head: p.measuredOf(p.head, scale),
		Flags: p.flags(), Failure: p.failure(), Strict: o.Strict, Rule: o.Rule, Correction: correction, Relative: p.relatively(),
	}
	if p.whole() && !math.IsNaN(o.Change.Value) {
		row.Estimates = &Estimates{
			Change: scale.Change(o.Change.Value), Low: scale.Change(o.Change.Low), High: scale.Change(o.Change.High),
			Noise: scale.Change(o.Noise), DeadZone: scale.Change(o.DeadZone), P: o.P, Adjusted: o.Adjusted,
		}
	}
	return row
}

// relatively is what is said relative to what all points share.
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

// inputs are what the numbers of a row are made of.
func (p *pairing) inputs() *Inputs {
	o, pair, j := p.outcome, p.pair, p.judgement
	prior := j.Runs
	if o.Method == judge.MethodBlocks {
		prior = j.Blocks
	}
	return &Inputs{
		Base: pair.Base, Head: pair.Head, Blocks: pair.Blocks, History: pair.History,
		Variance: o.Variance, DF: o.DF, SessionSD: o.SessionSD, PriorVariance: prior.Variance, PriorDF: prior.DF, Family: j.Family,
	}
}

// measuredOf is what a side has of the point.
func (p *pairing) measuredOf(g *sides.Group, scale schema.Scale) *Measured {
	if g == nil || g.Absent {
		return nil
	}
	m := &Measured{Runs: int64(len(g.Locations)), Statuses: g.Statuses()}
	if n := g.Noted().OneBlock; n > 0 {
		m.Runs = int64(n)
	}
	if len(g.Locations) > 0 {
		m.Samples, m.SamplesMax = &g.MinSamples, &g.MaxSamples
		if g.Metric.Unit == p.kind().Unit {
			m.Value = new(scale.InUnit(g.Level()))
		}
	}
	return m
}

// failure is what went wrong in a run of the head.
func (p *pairing) failure() string {
	if p.head == nil {
		return ""
	}
	return p.head.Noted().Failure
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
	flagFewRuns   = "few_runs"      // fewer than 5 runs of a side: the strict rule
	FlagOneBlock  = "one_block"     // the replicates are processes, of fewer than 5 runs
	FlagRunsModes = "runs_modes"    // the runs of a side gather around two values: more iterations will not help
	FlagRunsDrift = "runs_drift"    // the runs of a side rise or fall in the order in which they ran
	FlagOrder     = "order"         // all runs of one side ran before those of the other: a drift would look like a change
	FlagControl   = "control"       // the sweep says that no change touches it: what it does, the machine does
	FlagFailures  = "failures"      // a larger share of the runs of the head failed than of the base
	FlagWrong     = "wrong_result"  // the result of a run is wrong: that is no win, however fast it is
	flagNoValues  = "no_values"     // ok runs without a finite value were left out
	FlagLooks     = "planned_looks" // it was measured until it was settled, and looks is how often at most it was looked at
)

// flags are words about what the numbers of a point are worth.
func (p *pairing) flags() []string {
	pair, o := p.pair, p.outcome
	flags := []string{} // a list without words is one, too
	add := func(word string, holds bool) {
		if holds {
			flags = append(flags, word)
		}
	}
	both := []*sides.Group{p.base, p.head}
	either := func(holds func(g *sides.Group) bool) bool {
		return slices.ContainsFunc(both, func(g *sides.Group) bool { return g != nil && holds(g) })
	}
	apart := func(values []float64, of func([]float64) float64) bool { return math.Abs(of(values)) > o.DeadZone }
	if p.whole() {
		add(flagFewRuns, min(len(p.base.Locations), len(p.head.Locations)) < judge.FirmRuns)
		add(FlagOneBlock, either(func(g *sides.Group) bool { return g.Noted().OneBlock > 0 }))
		add(FlagRunsModes, apart(pair.Base, stat.Modes) || apart(pair.Head, stat.Modes))
		add(FlagRunsDrift, p.base.InOrder && apart(pair.Base, stat.Drift) || p.head.InOrder && apart(pair.Head, stat.Drift))
		add(FlagOrder, pair.Ordered)
		add(stat.WarnQuantised, p.stepShown() > 0 && !either(func(g *sides.Group) bool { return slices.Contains(g.Noted().Warnings, stat.WarnQuantised) }))
	}
	add(FlagControl, p.control)
	add(FlagFailures, p.moreFailures())
	add(FlagWrong, either(func(g *sides.Group) bool { return g.Noted().Wrong > 0 }))
	add(flagNoValues, either(func(g *sides.Group) bool { return g.Noted().NoValue > 0 && len(g.Locations) > 0 }))
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

// failureChance is how likely as many failures of the head, or more, are by chance, of all that failed on either side.
func (p *pairing) failureChance() float64 {
	return stat.FisherExact(int(p.head.Failures()), int(p.head.OK), int(p.base.Failures()), int(p.base.OK))
}

func idOf(g *sides.Group) string {
	if g == nil {
		return ""
	}
	return g.PointID
}
