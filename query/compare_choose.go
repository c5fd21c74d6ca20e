package query

import (
	"cmp"
	"context"
	"database/sql/driver"
	"maps"
	"math"
	"slices"

	"github.com/neurolens/neurolens/query/compare"
)

// ComparedPoint is what counts are made of.
type ComparedPoint struct {
	Metric    string
	Verdict   compare.Verdict
	Reason    compare.Reason
	Change    float64 // logarithm of the ratio, or the difference; NaN where there is none
	Ratio     bool    // it is a ratio
	Method    compare.Method
	SessionSD float64 // NaN where it is not known
	History   int     // sessions
	MoreRuns  int
	Looks     int
	BaseOK    bool // the base has ok runs
	Failures  bool // a larger share of the head's runs failed than of the base's

	// FailureChance is how likely so many failures of the head are by chance, if it fails no more often than the base.
	FailureChance float64
}

// point is what counts are made of.
func (p *pairing) point() ComparedPoint {
	o := p.outcome
	c := ComparedPoint{
		Metric: p.name, Verdict: p.verdict, Reason: p.reason, Change: p.change(), Ratio: !p.byDifference(), Method: o.Method,
		SessionSD: o.SessionSD, History: len(p.history), MoreRuns: o.MoreRuns, Looks: p.looks(),
		BaseOK: p.base != nil && p.base.measured(), Failures: p.moreFailures(), FailureChance: 1,
	}
	if c.Failures {
		c.FailureChance = p.failureChance()
	}
	return c
}

// change is the estimate, in the scale in which the point is compared; NaN where a side has no values.
func (p *pairing) change() float64 {
	if !p.whole() {
		return math.NaN()
	}
	return p.outcome.Change.Value
}

// choose finds the points of a metric that become rows, in their order.
func (m *comparing) choose(points []*pairing) []*pairing {
	limit := m.req.Limit
	if limit == 0 {
		limit = len(points)
	}
	if m.req.Worst != nil {
		return worstFirst(points, m.req.Worst, limit)
	}
	return least(points, limit, inOrder)
}

// least are the first of all in their order, at most so many; those that are equal stay as they are.
func least[T any](all []T, limit int, order func(a, b T) int) []T {
	const few = 100 // of which one is put into its place faster than all are sorted
	if limit > few {
		all = slices.Clone(all)
		slices.SortStableFunc(all, order)
		return all[:min(len(all), limit)]
	}
	var first []T
	for _, v := range all {
		if len(first) == limit {
			if order(v, first[limit-1]) >= 0 {
				continue
			}
			first = first[:limit-1]
		}
		at := len(first)
		for at > 0 && order(v, first[at-1]) < 0 {
			at--
		}
		first = slices.Insert(first, at, v)
	}
	return first
}

// name reads what points are, where that is not known yet: of the runs of the time in which these points first ran.
func (m *comparing) name(ctx context.Context, all []*pairing) error {
	byID := map[string][]*group{}
	since, until := int64(math.MaxInt64), int64(0)
	for _, p := range all {
		if g := p.either(); g.identity == nil {
			byID[g.pointID] = append(byID[g.pointID], g)
			since, until = min(since, g.first), max(until, g.first)
		}
	}
	if len(byID) == 0 {
		return nil
	}
	columns, err := runColumns(append([]string{"point_id", "started_at"}, identityColumns()...))
	if err != nil {
		return err
	}
	src, during, args := m.src, "", []any{slices.Collect(maps.Keys(byID))}
	if since > 0 { // each says when
		src = src.within(bounds{since / 1000, until/1000 + 1})
		during = "started_at BETWEEN make_timestamptz($2::BIGINT) AND make_timestamptz($3::BIGINT)"
		args = append(args, since, until)
	}
	text := "SELECT point, " + identitySQL() + " FROM (SELECT *, coalesce(point_id, '') AS point FROM " + src.scan(columns, during) +
		") SEMI JOIN (SELECT unnest($1::VARCHAR[]) AS point) USING (point) GROUP BY point"
	interned := interning{}
	return m.conn.query(ctx, statement{text, args}, func(row []driver.Value) error {
		for _, g := range byID[textOf(row[0])] {
			g.readIdentity(row[1:], interned)
		}
		return nil
	})
}

// Verdicts are all that can be said of a point, in the order in which people want to read them: the worst first.
var Verdicts = []compare.Verdict{
	Missing, Failed, Unsupported, compare.Regressed, compare.Changed, compare.Improved, Fixed, Added,
	compare.Estimate, compare.Inconclusive, compare.Unchanged,
}

// worstFirst orders points by their verdicts, those that are not named after all others, the largest change of each
// first, and gives at most so many of them.
func worstFirst(all []*pairing, verdicts []compare.Verdict, limit int) []*pairing {
	type weighed struct {
		*pairing
		rank int
		size float64
	}
	weights := make([]weighed, len(all))
	for i, p := range all {
		rank := slices.Index(verdicts, p.verdict)
		if rank < 0 {
			rank = len(verdicts)
		}
		weights[i] = weighed{p, rank, math.Abs(p.change())}
	}
	weights = least(weights, limit, func(a, b weighed) int {
		return cmp.Or(a.rank-b.rank, cmp.Compare(b.size, a.size)) // no size is the least
	})
	worst := make([]*pairing, len(weights))
	for i := range weights {
		worst[i] = weights[i].pairing
	}
	return worst
}
