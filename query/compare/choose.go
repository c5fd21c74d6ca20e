package compare

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"maps"
	"math"
	"slices"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
)

// Point is the short result for a point, from which counts and gates are computed.
type Point struct {
	Metric    string
	Better    string // lower, higher, or empty if unknown
	Verdict   judge.Verdict
	Reason    judge.Reason
	Change    float64 // logarithm of head / base, or head - base; NaN: none
	Size      float64 // size by which changes of a metric are ordered: see pairing.size; NaN: none
	Ratio     bool    // the point is compared by ratio
	Method    judge.Method
	Blocks    int     // number of blocks with runs of both sides
	SessionSD float64 // standard deviation between sessions; NaN: unknown
	History   int     // number of earlier sessions of the point that count, at least Gap apart; negative: unknown, but fewer than are needed
	Gap       int64   // minimum distance between earlier sessions, in microseconds; negative: unknown
	MoreRuns  int
	Warnings  []string // of the runs of both sides, ascending
	Looks     int      // maximum number of looks
	Planned   bool     // the looks were planned
	Spend     float64  // share of the significance level that the point may use: judge.Spend

	RelativeVerdict judge.Verdict // verdict relative to the common change of all points; empty: none
	Repeats         *Repeats      // what the repeats say about a point without a verdict; nil: none

	LeftOut int    // number of runs that were left out, as their sessions have no run of the other side
	Decides string // the newest session with enough runs of both sides to decide alone, if Confounded; empty: none

	Confounded bool // the sides are from different sessions, or ran so far apart that they are treated like that

	NoValue  bool // neither side has a value of the metric, so Better is not known
	BaseOK   bool // the base has ok runs
	Failures bool // a larger share of the head's runs failed than of the base's
	Control  bool // the sweep marks it as a control, which no change should affect
	Printed  bool // it is a result that a program printed
	// FailureChance is the p-value of Fisher's exact test that the head fails more often than the base.
	FailureChance float64
}

// point makes the short result.
func (p *pairing) point() Point {
	o := p.outcome
	c := Point{
		Metric: p.name, Better: p.kind().Better, Verdict: p.verdict, Reason: p.reason, Change: p.change(), Size: p.size(), Ratio: !p.byDifference(), Method: o.Method, Blocks: len(p.blocks),
		SessionSD: o.SessionSD, History: p.knownHistory, Gap: p.gap(), MoreRuns: o.MoreRuns, Warnings: p.warnings(), Looks: p.looks(), Planned: p.planned > 0, Spend: p.spend(),
		NoValue: p.kind().Name == "", BaseOK: p.base != nil && p.base.measured(), Failures: p.moreFailures(), FailureChance: 1, Control: p.control, Printed: p.printed, Confounded: p.confounded,
		LeftOut: p.leftOut, Decides: p.decides,
	}
	if p.relative != nil {
		c.RelativeVerdict = p.relative.Verdict
	}
	c.Repeats = p.repeatsResult()
	if c.Failures {
		c.FailureChance = p.failureChance()
	}
	return c
}

// warnings returns the warnings of the runs of both sides, ascending and without repetition.
func (p *pairing) warnings() []string {
	var words []string
	for _, g := range []*runGroup{p.base, p.head} {
		if g != nil {
			words = append(words, g.Warnings...)
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// change returns the estimate, on the scale on which the point is compared; NaN if a side has no values.
func (p *pairing) change() float64 {
	if !p.hasBothSides() {
		return math.NaN()
	}
	return p.outcome.Change.Value
}

// size returns the size of a change: the absolute logarithm of head / base, also for a point that is compared by difference because of
// its values or its threshold. A change from or to 0 has an infinite size. For a metric that is always compared by difference, the size
// is the absolute difference.
func (p *pairing) size() float64 {
	change := math.Abs(p.change())
	if !p.byDifference() || schema.ScaleOf(p.name) == schema.ScaleDifference || !(change > 0) {
		return change
	}
	return math.Log1p(change / min(math.Abs(p.base.level()), math.Abs(p.head.level())))
}

// NeitherSupports reports whether neither side could run the point.
func (p *Point) NeitherSupports() bool { return p.Verdict == Unsupported && !p.BaseOK }

// rankOfUnsupported returns 1 if the point has no metric because neither side supports it, otherwise 0.
func (p *pairing) rankOfUnsupported() int {
	if p.name == "" && p.verdict == Unsupported {
		return 1
	}
	return 0
}

// choose selects the points of a metric that become rows, in their order.
func (m *comparison) choose(points []*pairing) []*pairing {
	limit := m.req.Limit
	if limit == 0 {
		limit = len(points)
	}
	if m.req.Worst != nil {
		return worstFirst(points, m.req.Worst, limit)
	}
	return firstN(points, limit, inOrder)
}

// firstN returns the first limit values in an order. Equal values keep their order.
func firstN[T any](all []T, limit int, order func(a, b T) int) []T {
	all = slices.Clone(all)
	slices.SortStableFunc(all, order)
	return all[:min(len(all), limit)]
}

// common reads the identity of the points that become rows, and returns the fields that are equal in all points.
func (m *comparison) common(ctx context.Context, families []family) ([]string, error) {
	named := m.chosen
	if m.few() {
		named = nil
		for _, f := range families {
			named = append(named, f.points...)
		}
	}
	if err := m.name(ctx, named); err != nil {
		return nil, err
	}
	all := 0
	for _, f := range families {
		all += len(f.points)
	}
	if len(named) < all {
		return m.commonStrata(), nil
	}
	return commonFields(named), nil
}

// commonFields returns the fields that are equal in all points.
func commonFields(points []*pairing) []string {
	if len(points) == 0 {
		return nil
	}
	of := &matcher{}
	first := points[0].either()
	fields := slices.Clone(query.Identity)
	for _, name := range slices.Sorted(maps.Keys(first.Point.Params)) {
		fields = append(fields, filter.ParamPrefix+name)
	}
	return slices.DeleteFunc(fields, func(field string) bool {
		value := of.fieldOf(first, field)
		return slices.ContainsFunc(points, func(p *pairing) bool { return of.fieldOf(p.either(), field) != value })
	})
}

// commonStrata returns the fields that are equal in all runs of both sides according to the strata.
func (m *comparison) commonStrata() []string {
	var fields []string
	all := slices.Concat(m.base.strata, m.head.strata)
	if !slices.ContainsFunc(all, func(t stratum) bool { return t.benchmark != all[0].benchmark }) {
		fields = append(fields, "benchmark")
	}
	if !slices.ContainsFunc(all, func(t stratum) bool { return t.backend != all[0].backend }) {
		fields = append(fields, "backend")
	}
	return fields
}

// namedAtOnce is the number of points whose identity one query reads.
const namedAtOnce = 16_384

// name reads the identity of points that do not have it yet.
func (m *comparison) name(ctx context.Context, all []*pairing) error {
	unnamed := map[*scan.Reader]runGroups{}
	for _, p := range all {
		r := m.head.Reader
		if p.head == nil {
			r = m.base.Reader
		}
		if g := p.either(); g.Point == nil {
			unnamed[r] = append(unnamed[r], g)
		}
	}
	shared := newInterner()
	for r, groups := range unnamed {
		slices.SortStableFunc(groups, func(a, b *runGroup) int { return cmp.Compare(a.First, b.First) })
		for some := range slices.Chunk(groups, namedAtOnce) {
			if err := errors.Join(nameSome(ctx, r, some, shared), r.Conn.Trim(ctx)); err != nil {
				return err
			}
		}
	}
	return nil
}

// nameSome reads the identity of groups, which are sorted by the time of their first run. It only reads runs of those times.
func nameSome(ctx context.Context, r *scan.Reader, some runGroups, shared *interner) error {
	byID := map[string][]*runGroup{}
	for _, g := range some {
		byID[g.PointID] = append(byID[g.PointID], g)
	}
	since, until := some[0].First, some[len(some)-1].First
	columns, err := scan.RunColumns(append([]string{"point_id", "started_at"}, query.IdentityColumns()...))
	if err != nil {
		return err
	}
	src, during, args := r.Src, "", []any{slices.Collect(maps.Keys(byID))}
	if since > 0 { // the first start of each is known
		src = src.Within(scan.Period{Since: since / 1000, Until: until/1000 + 1})
		during = "started_at BETWEEN make_timestamptz($2::BIGINT) AND make_timestamptz($3::BIGINT)"
		args = append(args, since, until)
	}
	text := "SELECT point, " + query.IdentitySQL() + " FROM (SELECT *, coalesce(point_id, '') AS point FROM " + src.Scan(columns, during) +
		") SEMI JOIN (SELECT unnest($1::VARCHAR[]) AS point) USING (point) GROUP BY point"
	return r.Conn.Query(ctx, duck.Statement{SQL: text, Args: args}, func(row []driver.Value) error {
		for _, g := range byID[duck.Text(row[0])] {
			g.readIdentity(row[1:], shared)
		}
		return nil
	})
}

// Verdicts are all verdicts in the order of their relevance: points that changed, the worst first, then points that one side has no value of,
// then those that are not decided or did not change.
var Verdicts = []judge.Verdict{
	judge.Regressed, judge.Changed, judge.Improved, Missing, Failed, Unsupported, Fixed, Added,
	judge.Estimate, judge.Inconclusive, judge.Unchanged,
}

// rankIn returns the rank of a verdict in an order: 0 is the worst. A verdict that is not in it comes after all others.
func rankIn(verdicts []judge.Verdict, v judge.Verdict) int {
	if rank := slices.Index(verdicts, v); rank >= 0 {
		return rank
	}
	return len(verdicts)
}

// weight is the relevance of a point.
type weight struct {
	rank         int // of its verdict or its relative verdict, whichever is worse; 0: the worst
	same         int // 0: the repeats of the sides differ, or are not compared; 1: they do not differ
	size, change float64
}

func weightOf(verdicts []judge.Verdict, p Point) weight {
	rank := rankIn(verdicts, p.Verdict)
	if p.RelativeVerdict != "" {
		rank = min(rank, rankIn(verdicts, p.RelativeVerdict))
	}
	if p.NeitherSupports() { // such a point has no change
		rank = len(verdicts)
	}
	same := 0
	if p.Repeats != nil && !p.Repeats.Differ() {
		same = 1
	}
	return weight{rank, same, p.Size, math.Abs(p.Change)}
}

// compare orders the worst first, then points whose repeats differ, then by descending size, and among infinite ones by the change; NaN last.
func (w weight) compare(other weight) int {
	return cmp.Or(w.rank-other.rank, w.same-other.same, cmp.Compare(other.size, w.size), cmp.Compare(other.change, w.change))
}

// WorstOf returns the row with the worst verdict in an order of verdicts and, among equal verdicts, the largest change; nil if there are no
// rows.
func WorstOf(rows []Row, verdicts []judge.Verdict) *Row {
	var worst *Row
	for i := range rows {
		if worst == nil || weightOf(verdicts, rows[i].Point).compare(weightOf(verdicts, worst.Point)) < 0 {
			worst = &rows[i]
		}
	}
	return worst
}

// worstFirst returns the first limit points, sorted by verdict and then by descending size of the change.
func worstFirst(all []*pairing, verdicts []judge.Verdict, limit int) []*pairing {
	type weighed struct {
		*pairing
		weight
	}
	weights := make([]weighed, len(all))
	for i, p := range all {
		weights[i] = weighed{p, weightOf(verdicts, p.point())}
	}
	weights = firstN(weights, limit, func(a, b weighed) int { return a.weight.compare(b.weight) })
	worst := make([]*pairing, len(weights))
	for i := range weights {
		worst[i] = weights[i].pairing
	}
	return worst
}
