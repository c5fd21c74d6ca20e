// Package explain says what else differs where two sides of a comparison differ most.
//
// It compares the sides, chooses the point to explain (choose.go), reads its runs on both sides (runs.go), and gathers evidence:
// facts, other metrics, stages and ops in which the sides differ (evidence.go), and contrasts, facts by which the runs of one side
// differ among themselves (contrasts.go). Verdicts on metrics and stages are corrected for how many are looked at. Evidence is
// ranked by what it is, then by its size. None of it need be a cause.
package explain

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/facts"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/internal/fault"
	"github.com/neurolens/neurolens/query/internal/sides"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema/stat"
)

// Request asks what else differs where a point differs.
type Request struct {
	// Request says what is compared: with one metric at most, and without an axis. Limit, Worst and Pages are not used.
	compare.Request

	// Regressed asks for a point that got worse, and for none where no point did.
	Regressed bool

	// Facts says which facts are volatile, and which are settings.
	Facts facts.Writer
}

// Explanation is what is known to differ between the two sides of one point. That it came with the difference does not
// make it the cause.
type Explanation struct {
	Rows []Row

	// Comparison is that of all points. Its only row is that of the point that is explained; none where there is none to
	// explain.
	Comparison compare.Comparison

	// Tested is how many metrics and stages were tested, and so those that their verdicts are corrected for.
	Tested int

	// Facts is how many facts that differ between runs of a side were tested, those that are alike as one, and FewRuns how
	// many more there are, too few runs or sessions of which differ.
	Facts, FewRuns int

	// BaseProfiles and HeadProfiles are how many runs of the point have operators.
	BaseProfiles, HeadProfiles int
}

// Kind says what a line of an explanation is about, where that is no kind of fact.
type Kind string

// The kinds of evidence, beside those of facts.
const (
	Point   Kind = "point"   // what is explained
	Status  Kind = "status"  // runs that did not end well
	Op      Kind = "op"      // an operator of profiled runs
	Warning Kind = "warning" // a word of warning that runs of one side alone have
	Metric  Kind = "metric"  // another metric of the same runs
	Stage   Kind = "stage"   // the duration of a stage of the same runs

	// Contrast is a fact that slow runs of a side have and its fast ones have not, or the other way round.
	Contrast Kind = "contrast"
)

// Explain finds the point that differs most and what else differs there. The worst point is that which regressed most;
// where none did, the one that failed, changed or improved most, or is missing; where compare calls nothing changed, that
// with the largest difference.
//
// A contrast is ranked first that may explain a tenth of the difference or more, as judge.Contrasts decides. A metric or a stage has changed where compare would say so of it alone and
// its p, adjusted by Benjamini and Hochberg over all metrics and stages that are looked at, is below 0.05: at most 5 % of
// those that are called changed are expected to be false. An op counts that differs by at least 2 % of what all ops of
// the base take. Errors are those of Compare, in the name of explain.
func Explain(ctx context.Context, db *query.DB, req Request) (Explanation, error) {
	if len(req.Metrics) > 1 || req.Axis != "" {
		return Explanation{}, fault.Input("explain: want one metric and no axis")
	}
	x := explaining{db: db, req: req}
	if err := x.choose(ctx); err != nil {
		return Explanation{}, err
	}
	if len(x.Comparison.Rows) == 0 {
		return x.Explanation, nil
	}
	if err := x.look(ctx); err != nil {
		return Explanation{}, err
	}
	x.point()
	x.correct()
	x.rank()
	return x.Explanation, nil
}

// explaining is an explanation in the making.
type explaining struct {
	Explanation
	db         *query.DB
	req        Request
	confounded bool // the sides of the point are of different sessions, or as if they were
	evidence   []evidence
}

// evidence is a row before it has its rank.
type evidence struct {
	Row
	tier int // of tiers; unranked: it did not change
	size float64
	test bool // P is that of a test, and is to be corrected
}

// correct takes back the verdicts of metrics and stages that may be chance among so many.
func (x *explaining) correct() {
	var p []float64
	var tested []*evidence
	for i := range x.evidence {
		if e := &x.evidence[i]; e.test && e.P != nil && !math.IsNaN(*e.P) {
			p, tested = append(p, *e.P), append(tested, e)
		}
	}
	x.Tested = len(p)
	for i, adjusted := range stat.BenjaminiHochberg(p) {
		e := tested[i]
		e.Adjusted, e.Tested = &adjusted, len(p)
		if e.tier != unranked && adjusted >= judge.Level {
			e.tier, e.Verdict = unranked, string(judge.Inconclusive)
		}
	}
}

// The tiers of evidence: what is in an earlier one is ranked before all of a later one.
const (
	tierStatus = iota
	tierContrast
	tierHardware
	tierMostOfOps
	tierCode
	tierConfiguration
	tierEnvironment
	tierWarning
	tierMetric
	tierStage
	tierOp
	unranked
)

// factTiers are those of facts.
var factTiers = map[facts.Kind]int{
	facts.Hardware: tierHardware, facts.Code: tierCode, facts.Configuration: tierConfiguration, facts.Environment: tierEnvironment,
}

// rank orders the evidence and numbers what is ranked.
func (x *explaining) rank() {
	slices.SortStableFunc(x.evidence, func(a, b evidence) int { return cmp.Or(a.tier-b.tier, cmp.Compare(b.size, a.size)) })
	for i, e := range x.evidence {
		if e.tier != unranked {
			e.Rank = new(int64(i + 1))
		}
		x.Rows = append(x.Rows, e.Row)
	}
}

// look collects the evidence.
func (x *explaining) look(ctx context.Context) error {
	base, head := x.filterOf(x.Comparison.Base, x.row().BaseID), x.filterOf(x.Comparison.Head, x.row().HeadID)
	seen, err := x.details(ctx, base, head)
	if err != nil {
		return err
	}
	x.counts(tierStatus, Status, seen, false)
	x.counts(tierWarning, Warning, seen, true)
	x.ops(seen)
	if base == "" || head == "" {
		x.facts(x.Comparison.Differs)
		return nil
	}
	x.stages(seen)
	if err := x.contrasts(ctx, base, head); err != nil {
		return err
	}
	req := x.req.Request
	req.Base, req.Head = base, head
	own := x.row().Metric
	req.Metrics = slices.DeleteFunc(common(seen[0].metrics, seen[1].metrics), func(name string) bool { return name == own })
	c, err := compare.Compare(ctx, x.db, req)
	if err != nil {
		return err
	}
	x.facts(c.Differs)
	if d, found := x.req.Facts.HiddenSetting(c.Differs); found {
		x.fact(d)
	}
	if len(req.Metrics) > 0 {
		x.metrics(c)
	}
	return nil
}

// common are the texts that are in both lists, in the order of the first.
func common(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(text string) bool { return !slices.Contains(b, text) })
}

// row is that of the point.
func (x *explaining) row() *compare.Row { return &x.Comparison.Rows[0] }

// filterOf is the filter of the runs of the point on a side; empty where the side does not have it.
func (x *explaining) filterOf(s compare.Side, point string) string {
	if point == "" {
		return ""
	}
	words := "point_id=" + filter.Quote(point)
	if machine := x.row().Identity.Machine; slices.Contains(s.Machines, machine) {
		words += " machine=" + filter.Quote(machine)
	}
	return sides.Both(s.Narrowed, words)
}
