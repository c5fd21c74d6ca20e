package query

import (
	"cmp"
	"context"
	"database/sql/driver"
	"math"
	"slices"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/schema"
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
	points = slices.Clone(points)
	if m.req.Worst != nil {
		worstFirst(points, m.req.Worst)
	} else {
		slices.SortFunc(points, inOrder)
	}
	if m.req.Limit > 0 {
		points = points[:min(len(points), m.req.Limit)]
	}
	return points
}

// name reads what points are, where that is not known yet.
func (m *comparing) name(ctx context.Context, all []*pairing) error {
	byRun := map[string][]*group{}
	var ids []schema.ULID
	for _, p := range all {
		g := p.either()
		if g.identity != nil {
			continue
		}
		if byRun[g.someRun] == nil {
			id, err := schema.ParseULID(g.someRun)
			if err != nil {
				return &engineErr{message: err.Error(), kind: duckdb.ErrorTypeIO}
			}
			ids = append(ids, id)
		}
		byRun[g.someRun] = append(byRun[g.someRun], g)
	}
	if len(ids) == 0 {
		return nil
	}
	columns, err := runColumns(append([]string{"run_id"}, identityColumns()...))
	if err != nil {
		return err
	}
	slices.SortFunc(ids, compareIDs)
	q, err := m.some(ctx, ids, columns)
	if err != nil {
		return err
	}
	interned := interning{}
	return m.conn.query(ctx, q, func(row []driver.Value) error {
		for _, g := range byRun[textOf(row[0])] {
			if g.identity == nil {
				g.readIdentity(row[1:], interned)
			}
		}
		return nil
	})
}

// Verdicts are all that can be said of a point, in the order in which people want to read them: the worst first.
var Verdicts = []compare.Verdict{
	Missing, Failed, Unsupported, compare.Regressed, compare.Changed, compare.Improved, Fixed, Added,
	compare.Estimate, compare.Inconclusive, compare.Unchanged,
}

// worstFirst orders points by their verdicts, those that are not named after all others, the largest change of each first.
func worstFirst(all []*pairing, verdicts []compare.Verdict) {
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
	slices.SortStableFunc(weights, func(a, b weighed) int {
		return cmp.Or(a.rank-b.rank, cmp.Compare(b.size, a.size)) // no size is the least
	})
	for i := range weights {
		all[i] = weights[i].pairing
	}
}
