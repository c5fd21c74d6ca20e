package query

import (
	"context"
	"slices"

	"github.com/neurolens/neurolens/query/compare"
)

// CompareRequest asks for the difference between two selections of runs, point by point. Runs of purpose measure alone
// are compared.
type CompareRequest struct {
	// Base and Head are filters. Without a Head, Base selects both sides of sessions that have two (bench --against).
	Base, Head string

	// Axis and Reference, in place of Head, compare every value of an axis among the runs of Base with the one named.
	Axis, Reference string

	// Metrics are compared one by one; none: the primary metric of each point.
	Metrics []string

	// Thresholds are the dead zones by metric; that of the empty name is for all others that are compared by their ratio. A
	// metric that is not among them has the one that the head's sweep gives it.
	Thresholds map[string]Threshold

	Rules compare.Rules

	// Limit is the most points that become rows; 0: all. Worst puts the worst first.
	Limit int
	Worst bool

	// Pages takes the rows, at most 1,000 at a time, in place of the Comparison's Table: of very many points they are
	// larger than all they are made of. Its error ends the comparison.
	Pages func(Table) error
}

// Threshold is a difference that nobody wants to hear of: a share (0.05) of a metric that is compared by its ratio, or
// an amount in its unit of one that is compared by its difference.
type Threshold struct {
	Value    float64
	Absolute bool
}

// DefaultThreshold is the dead zone where none is given: 2 %.
const DefaultThreshold = .02

// Comparison is the answer: a row for each point and metric of both sides, what is said of all of them, and what the
// sides are.
//
// Columns: the identity of the point (the head's, where it has the point), machine and params; base_point_id and
// head_point_id; metric, unit, better, scale; for each side runs, the ok ones with a value of the metric, samples, the
// least n_samples of a run, statuses, a map of status to number of runs, and the location of the side; change, low, high:
// of the ratio less 1, or of the difference; noise and dead_zone likewise; p, p_adjusted; verdict, reason, more_runs;
// looks, the sessions of the head; flags; method; and what these are made of: base_locations, head_locations,
// block_differences and history (logarithms, unless the scale is difference), variance, df, session_sd, prior_variance,
// prior_df, family.
type Comparison struct {
	Table
	Base, Head CompareSide
	Differs    []Difference
	Metrics    []string        // that were compared, as they were asked for, else ascending
	Points     []ComparedPoint // all of them, also those beyond the limit
}

// Compare compares two selections.
//
// Points match where all identity fields and the machine are equal, but for fields in which each side is constant and
// the sides differ. It is an ErrInput if a selection has no runs, if a run is on both sides, and if no point of one side
// has a match on the other.
func (db *DB) Compare(ctx context.Context, req CompareRequest) (Comparison, error) {
	return db.compare(ctx, &comparing{req: req, many: manyCompared})
}

func (db *DB) compare(ctx context.Context, m *comparing) (Comparison, error) {
	var c Comparison
	raised := false
	err := db.ask(ctx, db.listAll, func(r *reader) error {
		m.reader, m.chosen = r, nil
		if !raised { // the next time there is more
			if err := m.conn.raise(ctx, compareMemory); err != nil {
				return err
			}
			raised = true
		}
		var err error
		c, err = m.compare(ctx)
		return err
	})
	if err != nil {
		return Comparison{}, err
	}
	return c, m.handOut(&c)
}

// comparePage is how many rows are handed out at a time.
const comparePage = 1000

// handOut makes the rows of the points that were chosen.
func (m *comparing) handOut(c *Comparison) error {
	page := Table{Columns: c.Columns}
	for i, p := range m.chosen {
		page.Rows = append(page.Rows, p.row())
		if m.req.Pages != nil && (len(page.Rows) == comparePage || i == len(m.chosen)-1) {
			if err := m.req.Pages(page); err != nil {
				return err
			}
			page.Rows = nil
		}
	}
	c.Rows = page.Rows
	return nil
}

// compareMemory is what DuckDB may use to group runs, in bytes.
const compareMemory = 256 << 20

// comparing is a comparison in the making.
type comparing struct {
	*reader
	req        CompareRequest
	many       int // see manyCompared
	base, head *side
	names      []Difference // in what the points of the sides are called
	chosen     []*pairing   // what becomes rows
}

func (m *comparing) compare(ctx context.Context) (Comparison, error) {
	if err := m.sides(ctx); err != nil {
		return Comparison{}, err
	}
	c := Comparison{Base: m.base.CompareSide, Head: m.head.CompareSide, Table: Table{Columns: compareColumns()}}
	base, err := m.facts(ctx, m.base)
	if err != nil {
		return Comparison{}, err
	}
	head, err := m.facts(ctx, m.head)
	if err != nil {
		return Comparison{}, err
	}
	differs := differences(base, head)
	m.req.Thresholds = head.thresholds(m.req.Thresholds)
	metrics := m.req.Metrics
	if len(metrics) == 0 {
		metrics = []string{""}
	}
	for _, metric := range metrics {
		if err := m.metric(ctx, metric, &c); err != nil {
			return Comparison{}, err
		}
	}
	if len(m.req.Metrics) == 0 {
		slices.Sort(c.Metrics)
	}
	c.Differs = append(differs, slices.DeleteFunc(m.names, func(d Difference) bool { return d.Name == "machine" })...)
	slices.SortStableFunc(c.Differs, func(a, b Difference) int { return rankOf(a) - rankOf(b) })
	return c, nil
}

// metric compares one metric, the primary ones where it is empty, and adds its rows.
func (m *comparing) metric(ctx context.Context, metric string, c *Comparison) error {
	matched, err := m.matched(ctx, metric)
	if err != nil {
		return err
	}
	if metric != "" && !slices.ContainsFunc(matched, func(p *pairing) bool { return p.name != "" }) {
		return input("compare: no run has the metric %q", brief(metric))
	}
	if err := m.processes(ctx, matched, metric); err != nil {
		return err
	}
	if err := m.histories(ctx, matched, metric); err != nil {
		return err
	}
	m.judge(matched)
	for _, p := range matched {
		if p.name != "" && !slices.Contains(c.Metrics, p.name) {
			c.Metrics = append(c.Metrics, p.name)
		}
		c.Points = append(c.Points, p.point())
	}
	chosen, err := m.choose(ctx, matched)
	m.chosen = append(m.chosen, chosen...)
	return err
}

// manyCompared is from when on no more is read than the answer needs: not in which order the runs of a point ran.
const manyCompared = 200_000

// matched are the points of both sides.
func (m *comparing) matched(ctx context.Context, metric string) ([]*pairing, error) {
	everything := m.req.Limit == 0 || m.req.Axis != "" || m.base.Runs+m.head.Runs < m.many
	a := asked{metric: metric, order: everything, blocks: m.sameSessions(), names: m.req.Axis != ""}
	for {
		base, err := m.groups(ctx, m.base, a)
		if err != nil {
			return nil, err
		}
		head, err := m.groups(ctx, m.head, a)
		if err != nil {
			return nil, err
		}
		if a.names || inCommon(base, head) {
			by := newMatcher(base, head, m.req.Axis)
			m.names = by.differs
			return by.match(base, head)
		}
		a.names = true
	}
}

// judge judges the points of each metric as a family.
func (m *comparing) judge(matched []*pairing) {
	families := map[string][]*pairing{}
	for _, p := range matched {
		families[p.name] = append(families[p.name], p)
	}
	for _, family := range families {
		pairs := make([]compare.Pair, len(family))
		for i, p := range family {
			pairs[i] = p.toJudge(m.req.Thresholds)
		}
		j := compare.Judge(pairs, m.req.Rules)
		for i, p := range family {
			p.pair, p.outcome, p.judgement = &pairs[i], &j.Outcomes[i], &j
			if p.verdict, p.reason = p.outcome.Verdict, p.outcome.Reason; !p.whole() {
				p.verdict, p.reason = p.state()
			}
		}
	}
}
