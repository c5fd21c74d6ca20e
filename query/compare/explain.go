package compare

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
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

// interest is the order of verdicts in which points are chosen. Points with other verdicts come last.
var interest = []judge.Verdict{
	judge.Regressed, Failed, judge.Changed, judge.Improved, Unsupported, Missing, Fixed,
}

// gotWorse are the verdicts of points that got worse.
var gotWorse = interest[:2]

// choose chooses the point to explain and keeps its row.
func (x *explaining) choose(ctx context.Context) error {
	req := x.req.Request
	req.Limit, req.Worst, req.Pages = 1, interest, nil
	var err error
	if x.Comparison, err = Compare(ctx, x.db, req); err != nil {
		return ofExplain(err)
	}
	worst := *WorstOf(x.Comparison.Rows, interest) // one of each metric was chosen
	x.Comparison.Rows = nil
	x.confounded = worst.Confounded
	if !x.req.Regressed || slices.Contains(gotWorse, worst.Verdict) {
		x.Comparison.Rows = []Row{worst}
	}
	return nil
}

// ofExplain replaces the prefix compare of an ErrInput by explain.
func ofExplain(err error) error {
	if what, is := strings.CutPrefix(err.Error(), "compare: "); is && errors.Is(err, answer.ErrInput) {
		return answer.InputError("explain: %s", what)
	}
	return err
}

// ExplainRow is a piece of evidence: something that differs between the sides, or that was tested.
type ExplainRow struct {
	Rank       *int64 // nil: it did not change, or is inconclusive
	Kind       string // a Kind, or a query.FactKind
	Name       string
	Base, Head EvidenceValue
	Estimate   *EvidenceEstimate
	Unit       string
	Scale      schema.Scale
	Share      *float64
	Verdict    string          // a judge.Verdict or, for a contrast, a judge.ContrastVerdict
	P          *float64        // p-value of no difference
	Adjusted   *float64        // P adjusted for all that were tested
	Tested     int             // number of these; 0: not tested
	Contrast   *ContrastCounts // the runs of a contrast
	Alike      []string        // for a contrast: conditions on other facts that split the runs in the same way
}

// EvidenceEstimate is a change with its confidence interval, as head / base - 1 or as a difference. NaN: unknown.
type EvidenceEstimate struct{ Change, Low, High float64 }

// ContrastCounts has the numbers of runs and sessions of a contrast: see judge.Contrast.
type ContrastCounts struct {
	Within                  judge.Within
	Runs, Others            int
	Sessions, OtherSessions int // 0: the fact varies within sessions
}

// ExplainFields are the columns of the rows of an explanation.
func ExplainFields() []answer.Field[ExplainRow] {
	field := func(name string, t answer.Type, meaning string, of func(*ExplainRow) any) answer.Field[ExplainRow] {
		return answer.Field[ExplainRow]{Column: answer.Column{Name: name, Type: t}, Meaning: meaning, Of: of}
	}
	text := func(name, meaning string, of func(*ExplainRow) string) answer.Field[ExplainRow] {
		return field(name, answer.TypeText, meaning, func(r *ExplainRow) any { return answer.Text(of(r)) })
	}
	number := func(name, meaning string, of func(*ExplainRow) *float64) answer.Field[ExplainRow] {
		return field(name, answer.TypeReal, meaning, func(r *ExplainRow) any { return answer.ComputedValue(of(r)) })
	}
	estimate := func(name, meaning string, of func(*EvidenceEstimate) *float64) answer.Field[ExplainRow] {
		return number(name, meaning, func(r *ExplainRow) *float64 {
			if r.Estimate == nil {
				return nil
			}
			return of(r.Estimate)
		})
	}
	contrast := func(name string, t answer.Type, meaning string, of func(*ContrastCounts) any) answer.Field[ExplainRow] {
		return field(name, t, meaning, func(r *ExplainRow) any {
			if r.Contrast == nil {
				return nil
			}
			return of(r.Contrast)
		})
	}
	return []answer.Field[ExplainRow]{
		field("rank", answer.TypeInteger, "0 for the point itself, then from 1 the most relevant first; NULL if it did not change or is inconclusive", func(r *ExplainRow) any { return answer.Integer(r.Rank) }),
		text("kind", "what the row is about: point, status, contrast, hardware, op, code, configuration, environment, warning, metric or stage", func(r *ExplainRow) string { return r.Kind }),
		text("name", "name of the metric, fact, op and so on; for the point its id, for a contrast a condition as in a filter", func(r *ExplainRow) string { return r.Name }),
		field("base", answer.TypeText, "value on the base; for warnings, statuses and contrasts how many of its runs", func(r *ExplainRow) any { return r.Base.cell() }),
		field("head", answer.TypeText, "value on the head; for warnings, statuses and contrasts how many of its runs", func(r *ExplainRow) any { return r.Head.cell() }),
		estimate("change", "effect size: head / base - 1 or, if scale is difference, head - base; for a contrast between the runs that meet the condition and the others", func(e *EvidenceEstimate) *float64 { return &e.Change }),
		estimate("low", "lower end of its confidence interval", func(e *EvidenceEstimate) *float64 { return &e.Low }),
		estimate("high", "upper end of that interval", func(e *EvidenceEstimate) *float64 { return &e.High }),
		text("unit", "stored unit of the values", func(r *ExplainRow) string { return r.Unit }),
		text("scale", "how values are compared: ratio or difference", func(r *ExplainRow) string { return string(r.Scale) }),
		number("share", "for an op its share of the sum of the changes of all ops; it is negative if the op changed in the other direction. For a contrast its share of the change of the point", func(r *ExplainRow) *float64 { return r.Share }),
		text("verdict", "for metrics and stages the verdict, corrected for how many were tested; for a contrast explains, opposes, noise or inconclusive", func(r *ExplainRow) string { return r.Verdict }),
		number("p", "p-value: probability of a difference at least this large if nothing changed", func(r *ExplainRow) *float64 { return r.P }),
		number("p_adjusted", "p-value adjusted for how many were tested", func(r *ExplainRow) *float64 { return r.Adjusted }),
		field("tested", answer.TypeInteger, "number of metrics and stages, or of facts, that were tested", func(r *ExplainRow) any { return answer.Positive(r.Tested) }),
		contrast("within", answer.TypeText, "runs that the contrast is between: those of base, head or both", func(c *ContrastCounts) any { return string(c.Within) }),
		contrast("runs", answer.TypeInteger, "number of runs within that meet the condition of the contrast", func(c *ContrastCounts) any { return int64(c.Runs) }),
		contrast("others", answer.TypeInteger, "number of runs within that do not meet the condition of the contrast", func(c *ContrastCounts) any { return int64(c.Others) }),
		contrast("sessions", answer.TypeInteger, "number of sessions that meet the condition, if the fact changes only between sessions", func(c *ContrastCounts) any { return answer.Positive(c.Sessions) }),
		contrast("other_sessions", answer.TypeInteger, "number of sessions that do not meet the condition, if the fact changes only between sessions", func(c *ContrastCounts) any {
			if c.Sessions == 0 {
				return nil
			}
			return int64(c.OtherSessions)
		}),
		field("confounded_with", answer.TypeList, "facts that split the runs in exactly the same way: the data cannot tell which one matters", func(r *ExplainRow) any { return answer.List(r.Alike) }),
	}
}
