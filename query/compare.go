package query

import (
	"cmp"
	"context"
	"database/sql/driver"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/schema"
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

	// Thresholds are the dead zones by metric; that of the empty name is for all others that are compared by their ratio.
	Thresholds map[string]Threshold

	Rules compare.Rules

	// Limit is the most points that become rows; 0: all. Worst puts the worst first.
	Limit int
	Worst bool
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
	Metrics    []string        // that were compared, ascending
	Points     []ComparedPoint // all of them, also those beyond the limit
}

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
	Failures  bool // runs of the head failed, none of the base did
}

// Compare compares two selections.
//
// Points match where all identity fields and the machine are equal, but for fields in which each side is constant and
// the sides differ. It is an ErrInput if a selection has no runs, if a run is on both sides, and if no point of one side
// has a match on the other.
func (db *DB) Compare(ctx context.Context, req CompareRequest) (Comparison, error) {
	return db.compare(ctx, comparing{req: req, many: manyCompared})
}

func (db *DB) compare(ctx context.Context, m comparing) (Comparison, error) {
	var c Comparison
	err := db.ask(ctx, db.listAll, func(r *reader) error {
		m.reader = r
		if err := m.conn.raise(ctx, compareMemory); err != nil {
			return err
		}
		var err error
		c, err = m.compare(ctx)
		return err
	})
	if err != nil {
		return Comparison{}, err
	}
	return c, nil
}

// compareMemory is what DuckDB may use to group runs, in bytes.
const compareMemory = 256 << 20

// comparing is a comparison in the making.
type comparing struct {
	*reader
	req        CompareRequest
	many       int // see manyCompared
	base, head *side
}

func (m *comparing) compare(ctx context.Context) (Comparison, error) {
	if err := m.sides(ctx); err != nil {
		return Comparison{}, err
	}
	c := Comparison{Base: m.base.CompareSide, Head: m.head.CompareSide, Table: Table{Columns: compareColumns()}}
	metrics := m.req.Metrics
	if len(metrics) == 0 {
		metrics = []string{""}
	}
	for _, metric := range metrics {
		if err := m.metric(ctx, metric, &c); err != nil {
			return Comparison{}, err
		}
	}
	slices.Sort(c.Metrics)
	c.Metrics = slices.Compact(c.Metrics)
	var err error
	c.Differs, err = m.differences(ctx)
	return c, err
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
	judgements := m.judge(matched)
	for _, p := range matched {
		c.Metrics = addText(c.Metrics, p.name)
		c.Points = append(c.Points, p.point())
	}
	chosen, err := m.chosen(ctx, matched)
	if err != nil {
		return err
	}
	for _, p := range chosen {
		c.Rows = append(c.Rows, p.row(judgements[p.name]))
	}
	return nil
}

// manyCompared is from when on no more is read than the answer needs: not in which order the runs of a point ran.
const manyCompared = 200_000

// matched are the points of both sides.
func (m *comparing) matched(ctx context.Context, metric string) ([]*pairing, error) {
	everything := m.req.Limit == 0 || m.req.Axis != "" || m.base.Runs+m.head.Runs < m.many
	a := asked{metric: metric, places: everything || m.sameSessions(), names: everything}
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
			return match(base, head, m.req.Axis)
		}
		a.names = true
	}
}

// sameSessions tells whether a session has runs of both sides.
func (m *comparing) sameSessions() bool {
	return slices.ContainsFunc(m.base.Sessions, func(id string) bool { return slices.Contains(m.head.Sessions, id) })
}

// judge judges the points of each metric as a family, and gives the judgement of each.
func (m *comparing) judge(matched []*pairing) map[string]*compare.Judgement {
	families := map[string][]*pairing{}
	for _, p := range matched {
		families[p.name] = append(families[p.name], p)
	}
	judgements := map[string]*compare.Judgement{}
	for name, family := range families {
		pairs := make([]compare.Pair, len(family))
		for i, p := range family {
			pairs[i] = p.toJudge(m.req.Thresholds)
		}
		j := compare.Judge(pairs, m.req.Rules)
		for i, p := range family {
			p.pair, p.outcome = &pairs[i], &j.Outcomes[i]
			if p.verdict, p.reason = p.outcome.Verdict, p.outcome.Reason; !p.whole() {
				p.verdict, p.reason = p.state()
			}
		}
		judgements[name] = &j
	}
	return judgements
}

// point is what counts are made of.
func (p *pairing) point() ComparedPoint {
	o := p.outcome
	c := ComparedPoint{
		Metric: p.name, Verdict: p.verdict, Reason: p.reason, Change: o.Change.Value, Ratio: !p.byDifference(), Method: o.Method,
		SessionSD: o.SessionSD, History: len(p.history), MoreRuns: o.MoreRuns, Looks: p.looks(),
		BaseOK: p.base != nil && p.base.measured(), Failures: p.newFailures(),
	}
	if !p.whole() {
		c.Change = math.NaN()
	}
	return c
}

// chosen are the points that become rows, with all that is to be said of them: the worst first where there is a limit,
// else all in the order in which they ran.
func (m *comparing) chosen(ctx context.Context, matched []*pairing) ([]*pairing, error) {
	all := slices.Clone(matched)
	if m.req.Worst {
		worstFirst(all)
	} else {
		slices.SortFunc(all, inOrder)
	}
	if m.req.Limit > 0 && len(all) > m.req.Limit {
		all = all[:m.req.Limit]
	}
	return all, m.name(ctx, all)
}

// name reads what points are, where that is not known yet.
func (m *comparing) name(ctx context.Context, all []*pairing) error {
	byRun := map[string][]*group{}
	var ids []schema.ULID
	for _, p := range all {
		for _, g := range []*group{p.base, p.head} {
			if g == nil || g.identity != nil {
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
	return m.conn.query(ctx, q, func(row []driver.Value) error {
		for _, g := range byRun[textOf(row[0])] {
			if g.identity == nil {
				g.readIdentity(row[1:])
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

// sides finds the runs of both sides.
func (m *comparing) sides(ctx context.Context) error {
	base, head := question{filter: m.req.Base}, question{filter: m.req.Head}
	names := [2]string{"BASE", "HEAD"}
	switch {
	case m.req.Axis != "":
		word := m.req.Axis + "=" + m.req.Reference
		base.filter, head.filter = both(m.req.Base, word), both(m.req.Base, "not "+word)
		names = [2]string{word, "not " + word}
	case strings.TrimSpace(m.req.Head) == "":
		base.filter, head.filter = both(m.req.Base, "side=base"), both(m.req.Base, "side=head")
		names = [2]string{"side=base", "side=head"}
	}
	var err error
	if m.base, err = m.side(ctx, names[0], base); err != nil {
		return err
	}
	if m.head, err = m.side(ctx, names[1], head); err != nil {
		return err
	}
	return m.apart(ctx, base.filter, head.filter)
}

// both is the filter of what matches two.
func both(a, b string) string {
	a = strings.TrimSpace(a)
	switch {
	case a == "":
		return b
	case strings.ContainsAny(a, " \t\n"):
		return "(" + a + ") " + b
	}
	return a + " " + b
}

// apart refuses runs that are on both sides: what is compared with itself does not differ.
func (m *comparing) apart(ctx context.Context, base, head string) error {
	if !m.sameSessions() {
		return nil
	}
	sel, err := m.selected(ctx, question{filter: both(base, "("+orAll(head)+")")})
	if err != nil {
		return err
	}
	text := "SELECT count(*) FROM " + sel.src.scan(withColumns([]*schema.Column{runColumn("purpose")}, sel.columns), sel.restrictedTo(measured))
	row, err := m.conn.one(ctx, statement{text, sel.args})
	if err != nil {
		return err
	}
	if n, _ := row[0].(int64); n > 0 {
		return input("compare: %d runs match both BASE and HEAD", n)
	}
	return nil
}

// orAll is a filter that matches all in place of none.
func orAll(filter string) string {
	if strings.TrimSpace(filter) == "" {
		return "not run_id=null"
	}
	return filter
}

// measured is the SQL condition of the runs that are compared.
const measured = "purpose = 'measure'"

// side is one side: its runs by session and machine, and how to find them.
type side struct {
	CompareSide
	sel    selection
	strata []stratum
	kinds  []kindOfMetric // of the ok runs
}

// CompareSide says what a side is.
type CompareSide struct {
	Filter            string
	Runs              int
	Sessions          []string // ids, the oldest first
	Machines, Commits []string // ascending
	Since, Until      int64    // starts of the first and the last run in Unix microseconds; 0 where not known
}

// side finds the runs of a side.
func (m *comparing) side(ctx context.Context, name string, q question) (*side, error) {
	sel, err := m.selected(ctx, q)
	if err != nil {
		return nil, err
	}
	s := &side{CompareSide: CompareSide{Filter: q.filter}, sel: sel}
	if err := m.stratify(ctx, s); err != nil {
		return nil, err
	}
	if s.Runs == 0 {
		if err := m.check(ctx, sel.unsure); err != nil {
			return nil, err
		}
		if strings.HasPrefix(name, "side=") {
			return nil, input("compare: %s has no runs of two sides (bench --against makes them): want BASE and HEAD", nameOf("the store", m.req.Base))
		}
		return nil, input("compare: %s matches no run (%s)", nameOf(name, q.filter), m.sessionsKnown(ctx))
	}
	return s, nil
}

// nameOf is what to call a selection in an error: what was typed.
func nameOf(name, filter string) string {
	if strings.TrimSpace(filter) == "" {
		return name
	}
	return filter
}

// sessionsKnown says how many sessions there are to choose from.
func (m *comparing) sessionsKnown(ctx context.Context) string {
	session := []*schema.Column{runColumn("session_id")}
	row, err := m.conn.one(ctx, statement{text: "SELECT count(DISTINCT session_id) FROM " + m.src.scan(session, "")})
	if err != nil || len(row) == 0 {
		return "no session is known"
	}
	n, _ := row[0].(int64)
	if n == 1 {
		return "1 session in this store"
	}
	return fmt.Sprintf("%d sessions in this store", n)
}
