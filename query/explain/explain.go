// Package explain says what else differs where two sides of a comparison differ most.
package explain

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/facts"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/internal/duck"
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

	// Silent are differences that say nothing of a change; nil: none are.
	Silent func(facts.Difference) bool

	// Unrelated are facts, without their values, by which runs of one side are not to be told apart; nil: none are.
	Unrelated func(facts.Difference) bool
}

// Explanation is what is known to differ between the two sides of one point. That it came with the difference does not
// make it the cause.
//
// Columns: rank, 0 for the point itself, whose id is its name, from 1 for what is most likely to matter, NULL for what was
// looked at and did not change or is not settled; kind and name; base and head, values as text, of metrics, stages and ops
// in their stored unit, of warnings, statuses and contrasts how many of the runs; change, low and high: of the ratio less 1,
// or of the difference, as scale says, and of a contrast between the runs that are of its name and the others; unit; share,
// of an op: of the difference of all ops together, of a contrast: of the difference of the point; verdict, of metrics and
// stages, beyond chance among all of them, and that of a contrast (judge.ContrastVerdict); p and p_adjusted of what was
// tested, and tested, over how many metrics and stages or facts that is.
//
// Of contrasts alone: within, base, head or both, the runs that differ; runs and others, how many of these are of the name,
// a word of a filter, and how many are not; sessions and other_sessions likewise, where the fact changes from session to
// session alone; alike, the facts that split the runs in the same way, so that the name may as well be one of these.
type Explanation struct {
	answer.Table

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
// the base take. Errors are those of Compare.
func Explain(ctx context.Context, db *query.DB, req Request) (Explanation, error) {
	if len(req.Metrics) > 1 || req.Axis != "" {
		return Explanation{}, fault.Input("explain: want one metric and no axis")
	}
	x := explaining{db: db, req: req}
	if err := x.choose(ctx); err != nil {
		return Explanation{}, err
	}
	x.Table = answer.Table{Columns: explainColumns()}
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

func explainColumns() []answer.Column {
	return []answer.Column{
		{Name: "rank", Type: answer.TypeInteger},
		{Name: "kind", Type: answer.TypeText},
		{Name: "name", Type: answer.TypeText},
		{Name: "base", Type: answer.TypeText},
		{Name: "head", Type: answer.TypeText},
		{Name: "change", Type: answer.TypeReal},
		{Name: "low", Type: answer.TypeReal},
		{Name: "high", Type: answer.TypeReal},
		{Name: "unit", Type: answer.TypeText},
		{Name: "scale", Type: answer.TypeText},
		{Name: "share", Type: answer.TypeReal},
		{Name: "verdict", Type: answer.TypeText},
		{Name: "p", Type: answer.TypeReal},
		{Name: "p_adjusted", Type: answer.TypeReal},
		{Name: "tested", Type: answer.TypeInteger},
		{Name: "within", Type: answer.TypeText},
		{Name: "runs", Type: answer.TypeInteger},
		{Name: "others", Type: answer.TypeInteger},
		{Name: "sessions", Type: answer.TypeInteger},
		{Name: "other_sessions", Type: answer.TypeInteger},
		{Name: "alike", Type: answer.TypeList},
	}
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
	tier int // of tiers; unranked: it did not change
	size float64
	p    any   // of no difference, before it is corrected; NULL of what is not tested
	row  []any // of the columns after rank, up to verdict

	tested []any // of the columns after verdict, as many as there are; the others are NULL
}

// correct takes back the verdicts of metrics and stages that may be chance among so many.
func (x *explaining) correct() {
	var p []float64
	var tested []*evidence
	for i := range x.evidence {
		if value, ok := x.evidence[i].p.(float64); ok && !math.IsNaN(value) {
			p, tested = append(p, value), append(tested, &x.evidence[i])
		}
	}
	x.Tested = len(p)
	verdict := x.Index("verdict") - 1
	for i, adjusted := range stat.BenjaminiHochberg(p) {
		e := tested[i]
		e.tested = []any{p[i], adjusted, int64(len(p))}
		if e.tier != unranked && adjusted >= judge.Level {
			e.tier, e.row[verdict] = unranked, string(judge.Inconclusive)
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
		rank := any(int64(i + 1))
		if e.tier == unranked {
			rank = nil
		}
		x.Rows = append(x.Rows, x.row(rank, e.row, e.tested))
	}
}

// row is a row of so many columns as there are.
func (x *explaining) row(rank any, cells, tested []any) []any {
	row := append([]any{rank}, cells...)
	row = append(row, tested...)
	return append(row, make([]any, len(x.Columns)-len(row))...)
}

// look collects the evidence.
func (x *explaining) look(ctx context.Context) error {
	base, head := x.filterOf(x.Comparison.Base, "base"), x.filterOf(x.Comparison.Head, "head")
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
	own := x.text("metric")
	req.Metrics = slices.DeleteFunc(common(seen[0].metrics, seen[1].metrics), func(name string) bool { return name == own })
	c, err := compare.Compare(ctx, x.db, req)
	if err != nil {
		return err
	}
	x.facts(c.Differs)
	if len(req.Metrics) > 0 {
		x.metrics(c)
	}
	return nil
}

// common are the texts that are in both lists, in the order of the first.
func common(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(text string) bool { return !slices.Contains(b, text) })
}

// text is a value of the row of the point; empty for NULL.
func (x *explaining) text(column string) string {
	return duck.Text(x.Comparison.Rows[0][x.Comparison.Index(column)])
}

// filterOf is the filter of the runs of the point on a side; empty where the side does not have it.
func (x *explaining) filterOf(s compare.Side, name string) string {
	point := x.text(name + "_point_id")
	if point == "" {
		return ""
	}
	words := "point_id=" + filter.Quote(point)
	if machine := x.text("machine"); slices.Contains(s.Machines, machine) {
		words += " machine=" + filter.Quote(machine)
	}
	return sides.Both(s.Narrowed, words)
}
