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
		Metric: p.name, Verdict: p.verdict, Reason: p.reason, Change: o.Change.Value, Ratio: !p.byDifference(), Method: o.Method,
		SessionSD: o.SessionSD, History: len(p.history), MoreRuns: o.MoreRuns, Looks: p.looks(),
		BaseOK: p.base != nil && p.base.measured(), Failures: p.moreFailures(), FailureChance: 1,
	}
	if c.Failures {
		c.FailureChance = p.failureChance()
	}
	if !p.whole() {
		c.Change = math.NaN()
	}
	return c
}

// choose finds the points that become rows, with all that is to be said of them: the worst first where that is asked for,
// else all of a metric in the order in which they ran. A limit is one of each metric.
func (m *comparing) choose(ctx context.Context, all []*pairing) error {
	for len(all) > 0 {
		end := slices.IndexFunc(all, func(p *pairing) bool { return p.name != all[0].name })
		if end < 0 {
			end = len(all)
		}
		family := slices.Clone(all[:end])
		all = all[end:]
		if m.req.Worst {
			worstFirst(family)
		} else {
			slices.SortFunc(family, inOrder)
		}
		if m.req.Limit > 0 && len(family) > m.req.Limit {
			family = family[:m.req.Limit]
		}
		m.chosen = append(m.chosen, family...)
	}
	return m.name(ctx, m.chosen)
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

// worstFirst orders points: those that changed before those that did not, the largest change first.
func worstFirst(all []*pairing) {
	type weighed struct {
		*pairing
		rank int
		size float64
	}
	weights := make([]weighed, len(all))
	for i, p := range all {
		weights[i] = weighed{p, slices.Index(Verdicts, p.verdict), 0}
		if change := p.outcome.Change.Value; !math.IsNaN(change) {
			weights[i].size = math.Abs(change)
		}
	}
	slices.SortStableFunc(weights, func(a, b weighed) int {
		if a.rank != b.rank {
			return a.rank - b.rank
		}
		return cmp.Compare(b.size, a.size)
	})
	for i := range weights {
		all[i] = weights[i].pairing
	}
}
