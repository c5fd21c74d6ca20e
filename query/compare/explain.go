package compare

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema/stat"
)

// ExplainRequest selects the comparison and the point to explain.
type ExplainRequest struct {
	// Request is the comparison, with at most one metric and no axis. Limit, Worst and Pages are ignored.
	Request
	// Regressed only explains a point that got worse. If there is none, the explanation is empty.
	Regressed bool
	// Facts classifies facts.
	Facts query.FactWriter
}

// Explanation lists the differences between the two sides of one point. A difference need not be the cause of the change.
type Explanation struct {
	Rows []ExplainRow
	// Comparison is the comparison of all points. Its only row is that of the explained point; it has none if there is nothing to
	// explain.
	Comparison Comparison
	// Tested is the number of metrics and stages that were tested, and that their verdicts are corrected for.
	Tested int
	// Facts is the number of tested facts that differ between runs of a side; facts that split the runs in the same way count
	// once. FewRuns is the number of such facts that could not be tested, because too few runs or sessions differ.
	Facts, FewRuns int
	// BaseProfiles and HeadProfiles are the numbers of runs of the point that have operators.
	BaseProfiles, HeadProfiles int
}

// Evidence is the kind of a row, except for facts, whose kind is a query.FactKind.
type Evidence string

// The kinds of evidence other than facts.
const (
	ExplainPoint    Evidence = "point"   // the explained point
	StatusEvidence  Evidence = "status"  // runs that are not ok
	OpEvidence      Evidence = "op"      // an operator of profiled runs
	WarningEvidence Evidence = "warning" // a warning that only runs of one side have
	MetricEvidence  Evidence = "metric"  // another metric of the same runs
	StageEvidence   Evidence = "stage"   // the duration of a stage of the same runs

	// ContrastEvidence is a fact that slow runs of a side have and its fast runs do not have, or vice versa.
	ContrastEvidence Evidence = "contrast"
)

// Explain finds the point that differs most, and what else differs there. It is the point that regressed most; if none did, one that
// failed, changed or improved, or is unsupported or missing; and if compare reports no change, the point with the largest difference.
//
// Significant contrasts that account for at least a tenth of the difference are ranked first (see judge.Contrasts). A metric or stage has
// changed if compare would say so of it alone, and its p, adjusted with the Benjamini-Hochberg procedure over all tested metrics and
// stages, is below 0.05 (false discovery rate 5 %). An op counts if it differs by at least 2 % of the time of all ops of the base.
// Errors are those of Compare, with the prefix explain.
func Explain(ctx context.Context, db *query.DB, req ExplainRequest) (Explanation, error) {
	if len(req.Metrics) > 1 || req.Axis != "" {
		return Explanation{}, answer.InputError("explain: want one metric and no axis")
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

// explaining is an explanation that is being made.
type explaining struct {
	Explanation
	db         *query.DB
	req        ExplainRequest
	confounded bool // compare.Point.Confounded of the point
	evidence   []evidence
}

// evidence is a row before it has its rank.
type evidence struct {
	ExplainRow
	tier int // unranked: it did not change
	size float64
	test bool // P is from a test and has to be corrected
}

// correct makes the verdicts of metrics and stages inconclusive that are not significant among all that were tested.
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

// The tiers of evidence, highest rank first.
const (
	tierStatus = iota
	tierContrast
	tierHardware
	tierMajorOp
	tierCode
	tierConfiguration
	tierEnvironment
	tierWarning
	tierMetric
	tierStage
	tierOp
	unranked
)

// factTiers are the tiers of facts, by kind.
var factTiers = map[query.FactKind]int{
	query.HardwareFact: tierHardware, query.CodeFact: tierCode, query.ConfigurationFact: tierConfiguration, query.EnvironmentFact: tierEnvironment,
}

// rank sorts the evidence and numbers the ranked rows.
func (x *explaining) rank() {
	slices.SortStableFunc(x.evidence, func(a, b evidence) int { return cmp.Or(a.tier-b.tier, cmp.Compare(b.size, a.size)) })
	for i, e := range x.evidence {
		if e.tier != unranked {
			e.Rank = new(int64(i + 1))
		}
		x.Rows = append(x.Rows, e.ExplainRow)
	}
}

// look collects the evidence.
func (x *explaining) look(ctx context.Context) error {
	base, head := x.filterOf(x.Comparison.Base, x.row().BaseID), x.filterOf(x.Comparison.Head, x.row().HeadID)
	seen, err := x.details(ctx, base, head)
	if err != nil {
		return err
	}
	x.counts(tierStatus, StatusEvidence, seen, false)
	x.counts(tierWarning, WarningEvidence, seen, true)
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
	c, err := Compare(ctx, x.db, req)
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

// common are the texts of both lists, in the order of the first.
func common(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(text string) bool { return !slices.Contains(b, text) })
}

// row is the row of the point.
func (x *explaining) row() *Row { return &x.Comparison.Rows[0] }

// filterOf is the filter of the runs of the point on a side; empty if the side does not have the point.
func (x *explaining) filterOf(s Side, point string) string {
	if point == "" {
		return ""
	}
	words := "point_id=" + filter.Quote(point)
	if machine := x.row().Identity.Machine; slices.Contains(s.Machines, machine) {
		words += " machine=" + filter.Quote(machine)
	}
	return bothFilters(s.Narrowed, words)
}
