package compare

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
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
	// Comparison is the comparison of all points. Its only row is the row of the explained point; it has no row if there is nothing to
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

// Explain finds the point that differs most, and the other differences there. It chooses the point that regressed most; if none did, one
// that failed, changed or improved, or is unsupported or missing; and if compare reports no change, the point with the largest
// difference.
//
// Significant contrasts that account for at least a tenth of the difference are ranked first (see judge.Contrasts). A metric or stage
// has changed if compare would report a change for it alone, and its p, adjusted with the Benjamini-Hochberg procedure over all tested
// metrics and stages, is below 0.05 (false discovery rate 5 %). An op counts if it differs by at least 2 % of the time of all ops of the
// base. Errors are those of Compare, with the prefix explain.
func Explain(ctx context.Context, db *query.DB, req ExplainRequest) (Explanation, error) {
	if len(req.Metrics) > 1 || req.Axis != "" {
		return Explanation{}, answer.InputError("explain: want one metric and no axis")
	}
	x := explanation{db: db, req: req}
	if err := x.choose(ctx); err != nil {
		return Explanation{}, err
	}
	if len(x.Comparison.Rows) == 0 {
		return x.Explanation, nil
	}
	if err := x.collect(ctx); err != nil {
		return Explanation{}, err
	}
	x.point()
	x.correct()
	x.rank()
	return x.Explanation, nil
}

// explanation is an explanation that is being made.
type explanation struct {
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
	test bool // P comes from a test and has to be corrected
}

// correct makes the verdicts of metrics and stages inconclusive that are not significant among all that were tested.
func (x *explanation) correct() {
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
		if (e.tier != unranked || e.Verdict == RepeatsDiffer) && adjusted >= judge.Level {
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
func (x *explanation) rank() {
	slices.SortStableFunc(x.evidence, func(a, b evidence) int { return cmp.Or(a.tier-b.tier, cmp.Compare(b.size, a.size)) })
	for i, e := range x.evidence {
		if e.tier != unranked {
			e.Rank = new(int64(i + 1))
		}
		x.Rows = append(x.Rows, e.ExplainRow)
	}
}

// collect collects the evidence.
func (x *explanation) collect(ctx context.Context) error {
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
	req.Metrics = slices.DeleteFunc(slices.Clone(seen[0].metrics), func(name string) bool { return name == own || !slices.Contains(seen[1].metrics, name) })
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

// row returns the row of the point.
func (x *explanation) row() *Row { return &x.Comparison.Rows[0] }

// filterOf returns the filter of the runs of the point on a side; empty if the side does not have the point.
func (x *explanation) filterOf(s Side, point string) string {
	if point == "" {
		return ""
	}
	words := "point_id=" + filter.Quote(point)
	if machine := x.row().Identity.Machine; slices.Contains(s.Machines, machine) {
		words += " machine=" + filter.Quote(machine)
	}
	return bothFilters(s.Narrowed, words)
}

// explainOrder is the order of verdicts in which points are chosen. Points with other verdicts come last.
var explainOrder = []judge.Verdict{
	judge.Regressed, Failed, judge.Changed, judge.Improved, Unsupported, Missing, Fixed,
}

// regressedOrFailed are the verdicts of points that got worse.
var regressedOrFailed = explainOrder[:2]

// choose chooses the point to explain and keeps its row.
func (x *explanation) choose(ctx context.Context) error {
	req := x.req.Request
	req.Limit, req.Worst, req.Pages = 1, explainOrder, nil
	var err error
	if x.Comparison, err = Compare(ctx, x.db, req); err != nil {
		return asExplainError(err)
	}
	worst := *WorstOf(x.Comparison.Rows, explainOrder) // one of each metric was chosen
	x.Comparison.Rows = nil
	x.confounded = worst.Confounded
	if !x.req.Regressed || slices.Contains(regressedOrFailed, worst.Verdict) {
		x.Comparison.Rows = []Row{worst}
	}
	return nil
}

// asExplainError replaces the prefix compare of an ErrInput by explain.
func asExplainError(err error) error {
	if what, is := strings.CutPrefix(err.Error(), "compare: "); is && errors.Is(err, answer.ErrInput) {
		return answer.InputError("explain: %s", what)
	}
	return err
}

// ExplainRow is a piece of evidence: something that differs between the sides, or that was tested.
type ExplainRow struct {
	Rank           *int64 // nil: it did not change, or is inconclusive
	Kind           string // a Kind, or a query.FactKind
	Name           string
	Base, Head     EvidenceValue
	Estimate       *EvidenceEstimate
	Unit           string
	Scale          schema.Scale
	Share          *float64
	Verdict        string          // a judge.Verdict, RepeatsDiffer or RepeatsAlike or, for a contrast, a judge.ContrastVerdict
	P              *float64        // p-value of no difference
	Adjusted       *float64        // P adjusted for all that were tested
	Tested         int             // number of these; 0: not tested
	Contrast       *ContrastCounts // the runs of a contrast
	ConfoundedWith []string        // for a contrast: conditions on other facts that split the runs in the same way
}

// EvidenceEstimate is a change with its confidence interval, as head / base - 1 or as a difference. NaN: unknown.
type EvidenceEstimate struct{ Change, Low, High float64 }

// ContrastCounts has the numbers of runs and sessions of a contrast: see judge.Contrast.
type ContrastCounts struct {
	Within                  judge.Within
	Runs, Others            int
	Sessions, OtherSessions int // 0: the fact varies within sessions
}

// ExplainFields returns the columns of the rows of an explanation.
func ExplainFields() []answer.Field[ExplainRow] {
	field := answer.NewField[ExplainRow]
	text := func(name, meaning string, of func(*ExplainRow) string) answer.Field[ExplainRow] {
		return field(name, answer.TypeText, meaning, func(r *ExplainRow) any { return answer.Text(of(r)) })
	}
	number := func(name, meaning string, of func(*ExplainRow) *float64) answer.Field[ExplainRow] {
		return field(name, answer.TypeReal, meaning, func(r *ExplainRow) any { return answer.ComputedValue(of(r)) })
	}
	estimates := partColumns("", func(r *ExplainRow) *EvidenceEstimate { return r.Estimate })
	estimate := func(name, meaning string, of func(*EvidenceEstimate) float64) answer.Field[ExplainRow] {
		return estimates(name, answer.TypeReal, meaning, func(e *EvidenceEstimate) any { return answer.Computed(of(e)) })
	}
	contrast := partColumns("", func(r *ExplainRow) *ContrastCounts { return r.Contrast })
	return []answer.Field[ExplainRow]{
		field("rank", answer.TypeInteger, "0 for the point itself, then from 1 the most relevant first; NULL if it did not change or is inconclusive", func(r *ExplainRow) any { return answer.Integer(r.Rank) }),
		text("kind", "what the row is about: point, status, contrast, hardware, op, code, configuration, environment, warning, metric or stage", func(r *ExplainRow) string { return r.Kind }),
		text("name", "name of the metric, fact, op and so on; for the point its id, for a contrast a condition as in a filter", func(r *ExplainRow) string { return r.Name }),
		field("base", answer.TypeText, "value on the base; for warnings, statuses and contrasts how many of its runs", func(r *ExplainRow) any { return r.Base.cell() }),
		field("head", answer.TypeText, "value on the head; for warnings, statuses and contrasts how many of its runs", func(r *ExplainRow) any { return r.Head.cell() }),
		estimate("change", "effect size: head / base - 1 or, if scale is difference, head - base; for a contrast between the runs that meet the condition and the others", func(e *EvidenceEstimate) float64 { return e.Change }),
		estimate("low", "lower end of its confidence interval", func(e *EvidenceEstimate) float64 { return e.Low }),
		estimate("high", "upper end of that interval", func(e *EvidenceEstimate) float64 { return e.High }),
		text("unit", "stored unit of the values", func(r *ExplainRow) string { return r.Unit }),
		text("scale", "how values are compared: ratio or difference", func(r *ExplainRow) string { return string(r.Scale) }),
		number("share", "for an op its share of the sum of the changes of all ops; it is negative if the op changed in the other direction. For a contrast its share of the change of the point", func(r *ExplainRow) *float64 { return r.Share }),
		text("verdict", "for metrics and stages the verdict or, where there is none, differ or alike of their repeats, corrected for how many were tested; for a contrast explains, opposes, noise or inconclusive", func(r *ExplainRow) string { return r.Verdict }),
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
		field("confounded_with", answer.TypeList, "facts that split the runs in exactly the same way: the data cannot tell which one matters", func(r *ExplainRow) any { return answer.List(r.ConfoundedWith) }),
	}
}

// sideOfPoint describes the runs of a point on one side.
type sideOfPoint struct {
	runs     int
	statuses map[string]int // number of runs that are not ok, per status, stage and kind of error
	warnings map[string]int // number of runs per warning
	metrics  []string       // metrics of ok runs, ascending
	stages   map[string][]float64
	profiled int
	ops      map[opKey][]float64 // time in each profiled run that has the op, in ns
}

// opKey identifies the same operator in different runs.
type opKey struct{ name, kind string }

// explainedStages are the stages that are compared. Building belongs to the session, and the time of measuring is the metric itself.
var explainedStages = []schema.Stage{schema.StageSetup, schema.StageWarmup, schema.StageValidate, schema.StageTeardown}

// details reads the runs of both sides. A filter is empty if the side does not have the point.
func (x *explanation) details(ctx context.Context, filters ...string) ([2]sideOfPoint, error) {
	var sides [2]sideOfPoint
	err := x.db.Stores().QueryTwo(ctx, x.req.BaseDB.Beside(x.db), func(head, base *scan.Reader) error {
		readers := [2]*scan.Reader{base, head}
		for i, filter := range filters {
			sides[i] = sideOfPoint{statuses: map[string]int{}, warnings: map[string]int{}, stages: map[string][]float64{}, ops: map[opKey][]float64{}}
			if filter == "" {
				continue
			}
			if err := sides[i].read(ctx, readers[i], filter); err != nil {
				return err
			}
		}
		return nil
	})
	x.BaseProfiles, x.HeadProfiles = sides[0].profiled, sides[1].profiled
	return sides, err
}

// read reads the runs that a filter matches.
func (s *sideOfPoint) read(ctx context.Context, r *scan.Reader, filter string) error {
	names := []string{"run_id", "purpose", "status", "stage", "error_kind", "warnings"}
	for _, stage := range explainedStages {
		names = append(names, string(stage)+"_ns")
	}
	columns, err := scan.RunColumns(names)
	if err != nil {
		return err
	}
	sel, err := r.Selected(ctx, scan.Question{Filter: filter})
	if err != nil {
		return err
	}
	var ok, profiled []schema.ULID
	text := "SELECT " + scan.ColumnNames(columns) + " FROM " + sel.Src.Scan(scan.WithColumns(columns, sel.Columns), sel.SQL) + " ORDER BY run_id"
	err = r.Conn.Query(ctx, duck.Statement{SQL: text, Args: sel.Args}, func(row []driver.Value) (err error) {
		well := duck.Text(row[2]) == string(schema.StatusOK)
		switch schema.Purpose(duck.Text(row[1])) {
		case schema.PurposeMeasure:
			s.add(row[1:])
			if well {
				ok, err = scan.AppendID(ok, row[0])
			}
		case schema.PurposeProfile:
			if well {
				profiled, err = scan.AppendID(profiled, row[0])
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	if s.metrics, err = metricsOf(ctx, r, ok); err != nil {
		return err
	}
	return s.readOps(ctx, r, profiled)
}

// add adds a run. The row has purpose, status, stage, kind of error, warnings and the durations of stages.
func (s *sideOfPoint) add(row []driver.Value) {
	s.runs++
	if status := duck.Text(row[1]); status != string(schema.StatusOK) {
		words := []string{status}
		if stage := duck.Text(row[2]); stage != "" {
			words = append(words, "in", stage)
		}
		if kind := duck.Text(row[3]); kind != "" && kind != status {
			words = append(words, "("+kind+")")
		}
		s.statuses[strings.Join(words, " ")]++
		return
	}
	for _, word := range duck.List(row[4]) {
		s.warnings[duck.Text(word)]++
	}
	for i, stage := range explainedStages {
		if took, ok := row[5+i].(int64); ok && took > 0 {
			s.stages[string(stage)] = append(s.stages[string(stage)], math.Log(float64(took)))
		}
	}
}

// metricsOf returns the names of the metrics of runs, ascending.
func metricsOf(ctx context.Context, r *scan.Reader, ids []schema.ULID) ([]string, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var names []string
	text := "SELECT DISTINCT metric FROM " + r.Src.Of(ids).Nested(schema.Samples, "") + scan.OfRuns + " ORDER BY metric"
	err := r.Conn.Query(ctx, duck.Statement{SQL: text, Args: []any{scan.IDTexts(ids)}}, func(row []driver.Value) error {
		names = append(names, duck.Text(row[0]))
		return nil
	})
	return names, err
}

// readOps reads the operators of profiled runs.
func (s *sideOfPoint) readOps(ctx context.Context, r *scan.Reader, ids []schema.ULID) error {
	if len(ids) == 0 {
		return nil
	}
	runs := map[string]bool{}
	text := "SELECT run_id, name, type, sum(duration_ns)::DOUBLE FROM " + r.Src.Of(ids).Nested(schema.Ops, "") + scan.OfRuns +
		" WHERE duration_ns IS NOT NULL GROUP BY ALL ORDER BY run_id"
	err := r.Conn.Query(ctx, duck.Statement{SQL: text, Args: []any{scan.IDTexts(ids)}}, func(row []driver.Value) error {
		key := opKey{duck.Text(row[1]), duck.Text(row[2])}
		if took, ok := row[3].(float64); ok {
			s.ops[key] = append(s.ops[key], took)
			runs[duck.Text(row[0])] = true
		}
		return nil
	})
	s.profiled = len(runs)
	return err
}

// point adds the row of the point itself.
func (x *explanation) point() {
	point := x.row()
	row := compared(ExplainPoint, cmp.Or(point.HeadID, point.BaseID), point)
	row.Rank, row.Verdict = new(int64(0)), string(point.Verdict)
	if e := point.Estimates; e != nil {
		row.P, row.Adjusted = &e.P, &e.Adjusted
	}
	x.Rows = append(x.Rows, row)
}

// compared returns a row of a comparison as one of an explanation.
func compared(kind Evidence, name string, r *Row) ExplainRow {
	row := ExplainRow{Kind: string(kind), Name: name, Base: sideValue(r.Base), Head: sideValue(r.Head), Unit: r.Unit, Scale: r.Scale, Verdict: string(r.Verdict)}
	if e := r.Estimates; e != nil {
		row.Estimate = &EvidenceEstimate{e.Change, e.Low, e.High}
	}
	return row
}

// sideValue returns the value of a side; the zero value if there is none.
func sideValue(m *Measured) EvidenceValue {
	if m == nil || m.Value == nil {
		return EvidenceValue{}
	}
	return number(*m.Value)
}

// facts adds the facts that differ between the sides.
func (x *explanation) facts(differs []query.FactDifference) {
	for _, d := range differs {
		if !x.req.Facts.Silent(d) || alwaysThrottled(d) {
			x.fact(d)
		}
	}
}

// alwaysThrottled reports whether the clock of a GPU was lowered for other reasons in every run of one side than in any run of the other.
// Other states of a run differ by chance, and are left to contrasts.
func alwaysThrottled(d query.FactDifference) bool {
	if !strings.HasPrefix(d.Name, "env.gpu.") || !strings.HasSuffix(d.Name, ".throttle") || len(d.Base) == 0 || len(d.Head) == 0 {
		return false
	}
	return !slices.ContainsFunc(d.Base, func(reasons string) bool { return slices.Contains(d.Head, reasons) })
}

func (x *explanation) fact(d query.FactDifference) {
	x.add(factTiers[d.Kind], 0, ExplainRow{Kind: string(d.Kind), Name: d.Name, Base: EvidenceValue{Texts: d.Base}, Head: EvidenceValue{Texts: d.Head}})
}

func (x *explanation) add(tier int, size float64, row ExplainRow) {
	x.evidence = append(x.evidence, evidence{ExplainRow: row, tier: tier, size: size})
}

// metrics adds other metrics of the same runs.
func (x *explanation) metrics(c Comparison) {
	for i := range c.Rows {
		r := &c.Rows[i]
		tier := unranked
		if changed(r.Verdict) {
			tier = tierMetric
			if r.Metric == metricClock {
				tier = tierHardware
			}
		}
		row := compared(MetricEvidence, r.Metric, r)
		switch {
		case r.Repeats != nil:
			row.P = &r.Repeats.Adjusted
			if r.Repeats.Differ() || r.Repeats.Result == RepeatsAlike {
				row.Verdict = r.Repeats.Result
			}
		case r.Estimates != nil:
			row.P = &r.Estimates.P
		}
		x.evidence = append(x.evidence, evidence{ExplainRow: row, tier: tier, size: sizeOf(r), test: true})
	}
}

// sizeOf returns the size of the change of a metric: the absolute logarithm of the ratio, or the difference as a share of the base; 1 from
// 0.
func sizeOf(r *Row) float64 {
	if r.Estimates == nil {
		return 0
	}
	change := r.Estimates.Change
	switch {
	case r.Scale == schema.ScaleRatio:
		return math.Abs(math.Log1p(change))
	case r.Base == nil || r.Base.Value == nil:
		return math.Abs(change)
	case *r.Base.Value == 0:
		return min(math.Ceil(math.Abs(change)), 1)
	}
	return math.Abs(change / *r.Base.Value)
}

// metricClock is the metric of the clock rate of the hardware.
const metricClock = "clock_sm"

// changed reports whether a verdict is a change.
func changed(v judge.Verdict) bool {
	return v == judge.Regressed || v == judge.Improved || v == judge.Changed
}

// counts adds the warnings or statuses whose numbers of runs differ between the two sides. If alone is set, it only adds the ones that
// one side does not have at all.
func (x *explanation) counts(tier int, kind Evidence, seen [2]sideOfPoint, alone bool) {
	of := func(s *sideOfPoint) map[string]int {
		if kind == StatusEvidence {
			return s.statuses
		}
		return s.warnings
	}
	base, head := of(&seen[0]), of(&seen[1])
	words := slices.Concat(slices.Collect(maps.Keys(base)), slices.Collect(maps.Keys(head)))
	slices.Sort(words)
	for _, word := range slices.Compact(words) {
		if base[word] == head[word] || alone && min(base[word], head[word]) > 0 {
			continue
		}
		row := ExplainRow{Kind: string(kind), Name: word, Unit: "runs"}
		if n := seen[0].runs; n > 0 {
			row.Base = counted(base[word], n)
		}
		if n := seen[1].runs; n > 0 {
			row.Head = counted(head[word], n)
		}
		x.add(tier, float64(max(base[word], head[word])), row)
	}
}

// stages adds the durations of the stages of the same runs.
func (x *explanation) stages(seen [2]sideOfPoint) {
	var pairs [][]judge.Pair // one family each, like metrics
	var names []string
	for _, stage := range explainedStages {
		p := judge.Pair{
			Base: seen[0].stages[string(stage)], Head: seen[1].stages[string(stage)],
			Confounded: x.confounded, Lower: true, Margin: math.Log1p(x.req.Thresholds.For(string(stage)).Value),
		}
		if !slices.Equal(x.Comparison.Base.Machines, x.Comparison.Head.Machines) {
			p.Barred = judge.Machines
		}
		if p.Runs() > 0 {
			pairs, names = append(pairs, []judge.Pair{p}), append(names, string(stage))
		}
	}
	for i, j := range judge.Judge(pairs, x.req.Rules) {
		o, tier := j.Outcomes[0], unranked
		if changed(o.Verdict) {
			tier = tierStage
		}
		level := func(logs []float64) EvidenceValue { return number(math.Round(math.Exp(median(logs)))) }
		change := schema.ScaleRatio.Change
		row := ExplainRow{
			Kind: string(StageEvidence), Name: names[i], Base: level(pairs[i][0].Base), Head: level(pairs[i][0].Head),
			Estimate: &EvidenceEstimate{change(o.Change.Value), change(o.Change.Low), change(o.Change.High)},
			Unit:     "ns", Scale: schema.ScaleRatio, Verdict: string(o.Verdict), P: &o.P,
		}
		x.evidence = append(x.evidence, evidence{ExplainRow: row, tier: tier, size: math.Abs(o.Change.Value), test: true})
	}
}

// majorOp is the minimum share of the difference of all ops for an op in the tier of major ops.
const majorOp = .1

// ops adds the operators of profiled runs, if both sides have some.
func (x *explanation) ops(seen [2]sideOfPoint) {
	base, head := seen[0].ops, seen[1].ops
	if len(base) == 0 || len(head) == 0 {
		return
	}
	level := func(values []float64) float64 { // 0 if the side lacks the op
		if len(values) == 0 {
			return 0
		}
		return median(values)
	}
	keys := slices.AppendSeq(slices.Collect(maps.Keys(base)), maps.Keys(head))
	slices.SortFunc(keys, func(a, b opKey) int { return strings.Compare(a.name+"\x00"+a.kind, b.name+"\x00"+b.kind) })
	keys = slices.Compact(keys)
	total, took := 0.0, 0.0 // difference of all ops, and their sum on the base, in ns
	for _, key := range keys {
		total, took = total+level(head[key])-level(base[key]), took+level(base[key])
	}
	value := func(values []float64) EvidenceValue {
		if len(values) == 0 {
			return EvidenceValue{}
		}
		return number(median(values))
	}
	for _, key := range keys {
		change := level(head[key]) - level(base[key])
		row := ExplainRow{
			Kind: string(OpEvidence), Name: key.name, Base: value(base[key]), Head: value(head[key]),
			Estimate: &EvidenceEstimate{change, math.NaN(), math.NaN()}, Unit: "ns", Scale: schema.ScaleDifference,
		}
		if key.kind != "" && key.kind != key.name {
			row.Name += " (" + key.kind + ")"
		}
		tier := tierOp
		if total != 0 {
			row.Share = new(change / total)
			if *row.Share >= majorOp {
				tier = tierMajorOp
			}
		}
		if math.Abs(change) < judge.DefaultThreshold*took || change == 0 {
			tier = unranked
		}
		x.add(tier, math.Abs(change), row)
	}
}

// EvidenceValue is the value of one side, in one of three forms. The zero value means unknown.
type EvidenceValue struct {
	Texts  []string  // for a fact: its values, ascending
	Number *float64  // for a point, metric, stage or op: in the unit of the row
	Runs   *RunCount // for a warning, status or contrast: number of runs
}

// RunCount is a number of runs out of all.
type RunCount struct{ Runs, Of int }

func (c RunCount) String() string { return fmt.Sprintf("%d of %d", c.Runs, c.Of) }

// number returns the value of a finite number.
func number(v float64) EvidenceValue {
	if answer.Real(v) == nil {
		return EvidenceValue{}
	}
	return EvidenceValue{Number: &v}
}

// counted returns the value of a number of runs out of all.
func counted(runs, of int) EvidenceValue { return EvidenceValue{Runs: &RunCount{runs, of}} }

// cell returns the value as text. A number is in the stored unit, rounded like answer.Computed.
func (v EvidenceValue) cell() any {
	switch {
	case v.Runs != nil:
		return v.Runs.String()
	case v.Number != nil:
		if short, ok := answer.Computed(*v.Number).(float64); ok {
			return schema.CanonicalFloat(short)
		}
	}
	return answer.Text(strings.Join(v.Texts, ", "))
}
