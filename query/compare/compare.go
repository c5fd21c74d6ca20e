// Package compare says in what two sides differ, point by point, and what is known of the sides.
//
// A comparison goes this way: the sides are selected and their runs gathered by point (internal/sides); points are matched
// (match.go); how their runs relate is found out (pair.go: did they take turns, are they of different sessions); package
// judge decides (families.go, and looks.go where a session was looked at more than once); what all points share is taken
// out (relative.go); the points that were asked for become rows (choose.go, row.go).
package compare

import (
	"cmp"
	"context"
	"slices"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/facts"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/query/internal/sides"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/query/threshold"
)

// Request asks for the difference between two selections of runs, point by point. Runs of purpose measure alone
// are compared.
type Request struct {
	// Base and Head are filters. Without a Head, Base selects both sides of sessions that have two (bench --against), unless
	// these have stores of their own: there it is all runs.
	Base, Head string

	// BaseDB has the runs of Base, apart from those of Head, as where Base is a file that was read; nil: the stores that are
	// asked have both. Earlier sessions are looked for there, in the stores of Head.
	BaseDB *query.DB

	// BaseFile and HeadFile are what the user calls the files that the runs of a side were read from: the Side has it in place
	// of a filter. Empty: they are stored runs.
	BaseFile, HeadFile string

	// Axis and Reference, in place of Head, compare every value of an axis among the runs of Base with the one named.
	Axis, Reference string

	// Metrics are compared one by one; none: the primary metric of each point.
	Metrics []string

	// Thresholds are the dead zones by metric; that of the empty name is for all others that are compared by their ratio. A
	// metric that is not among them has the one that the head's sweep gives it at a point.
	Thresholds threshold.Set
	// Usual are those where neither Thresholds nor the sweep has one.
	Usual threshold.Set

	Rules judge.Rules

	// Absolute leaves out what is said relative to what all points share.
	Absolute bool

	// Paired leaves out points that only one side has: of an axis with many values they are very many.
	Paired bool

	// Limit is the most points of a metric that become rows; 0: all. Worst is the order of their verdicts, as Verdicts; the
	// largest change of a verdict comes first. Without it points are in the order in which they ran.
	Limit int
	Worst []judge.Verdict

	// Inputs adds to each row what its numbers are made of, so that they can be computed again. That is half of it.
	Inputs bool

	// Pages takes the rows, at most 1,000 at a time, in place of the Comparison's Rows: of very many points they are
	// larger than all they are made of. Its error ends the comparison.
	Pages func([]Row) error
}

// Side says what a side is.
type Side = sides.Side

// Comparison is the answer: a row for each point and metric of both sides, what is said of all of them, and what the
// sides are.
//
// In a session that went on until it was settled, points are judged as JudgeSession says: the family and what it lends are
// those of the look at which the point had its last run.
type Comparison struct {
	Rows       []Row
	Base, Head Side
	Differs    []facts.Difference
	Common     []string          // identity columns and, as param.NAME, parameters that are known to be equal in all points
	Thresholds threshold.Set     // of each of the metrics that has the same one at all points
	Metrics    []string          // that were compared, as they were asked for, else ascending
	Shared     map[string]Shared // by metric; none where points were not judged relative to what they share
	Points     []Point           // all of them, also those beyond the limit
	NotNumbers map[string]int    // as in Listing
}

// Compare compares two selections.
//
// Points match where all identity fields and the machine are equal, but for fields in which each side is constant and
// the sides differ. It is an ErrInput if a selection has no runs, if a run is on both sides, and if no point of one side
// has a match on the other; also if Base has stores of its own and runs of a session of Head. Of several machines in these
// stores the ones of Head count, if it has any of them.
func Compare(ctx context.Context, db *query.DB, req Request) (Comparison, error) {
	return compare(ctx, db, &comparing{req: req, memory: memory{manyCompared}})
}

func compare(ctx context.Context, db *query.DB, m *comparing) (Comparison, error) {
	var c Comparison
	var err error
	if m.axis, err = axisOf(m.req.Axis); err != nil {
		return c, err
	}
	raised := false
	err = db.Stores().AskBeside(ctx, m.req.BaseDB.Beside(db), func(r, base *scan.Reader) error {
		m.Reader, m.ofBase, m.chosen, m.names = r, base, nil, nil
		if !raised { // the next time there is more
			if err := m.Conn.Raise(ctx, groupMemory); err != nil {
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

// correction names what p is adjusted by.
func (m *comparing) correction() string {
	if m.req.Rules.Gate {
		return "holm"
	}
	return "benjamini_hochberg"
}

// handOut makes the rows of the points that were chosen, and lets go of points whose rows went out as a page.
func (m *comparing) handOut(c *Comparison) error {
	if m.req.Pages == nil {
		c.Rows = m.rows(c.Rows, m.chosen)
		return nil
	}
	for points := range slices.Chunk(m.chosen, rowsAtOnce) {
		c.Rows = m.rows(c.Rows[:0], points)
		if err := m.req.Pages(c.Rows); err != nil {
			return err
		}
		m.memory.letGo(points)
	}
	c.Rows = c.Rows[:0]
	return nil
}

// rows adds the rows of points.
func (m *comparing) rows(to []Row, points []*pairing) []Row {
	for _, p := range points {
		row := p.row(m.correction())
		if m.req.Inputs {
			row.Inputs = p.inputs()
		}
		to = append(to, row)
	}
	return to
}

// comparing is a comparison in the making.
type comparing struct {
	*scan.Reader
	ofBase     *scan.Reader // the same, unless the base has stores of its own
	req        Request
	memory     memory
	axis       string // the field that the request's axis is
	base, head *sides.Selected
	names      []facts.Difference // in what the points of the sides are called
	plans      plannedLooks       // of the sessions that both sides have
	chosen     []*pairing         // what becomes rows
}

func (m *comparing) compare(ctx context.Context) (Comparison, error) {
	if err := m.sides(ctx); err != nil {
		return Comparison{}, err
	}
	var c Comparison
	base, err := m.base.Facts(ctx, m.ofBase)
	if err != nil {
		return Comparison{}, err
	}
	head, err := m.head.Facts(ctx, m.Reader)
	if err != nil {
		return Comparison{}, err
	}
	c.Base, c.Head = m.base.Side, m.head.Side
	c.Differs = base.Differences(head, m.base, m.head)
	if m.plans, err = m.plannedLooks(ctx, head); err != nil {
		return Comparison{}, err
	}
	families, err := m.families(ctx)
	if err != nil {
		return Comparison{}, err
	}
	if err := m.nameControls(ctx, families, head); err != nil {
		return Comparison{}, err
	}
	if err := m.setThresholds(ctx, families, head); err != nil {
		return Comparison{}, err
	}
	if err := m.judge(families); err != nil {
		return Comparison{}, err
	}
	if !m.req.Absolute {
		c.Shared = m.relative(families)
	}
	c.Thresholds = threshold.Set{}
	for _, f := range families {
		if f.metric != "" {
			c.Metrics = append(c.Metrics, f.metric)
			if t, ok := f.shared(); ok {
				c.Thresholds[f.metric] = t
			}
		}
		c.Points = slices.Grow(c.Points, len(f.points))
		for _, p := range f.points {
			c.Points = append(c.Points, p.point())
		}
		m.chosen = append(m.chosen, m.choose(f.points)...)
	}
	if c.Common, err = m.common(ctx, families); err != nil {
		return Comparison{}, err
	}
	if c.NotNumbers, err = m.notNumbers(ctx); err != nil {
		return Comparison{}, err
	}
	c.Differs = append(c.Differs, slices.DeleteFunc(m.names, func(d facts.Difference) bool { return d.Name == "machine" })...)
	slices.SortStableFunc(c.Differs, func(a, b facts.Difference) int { return facts.Rank(a) - facts.Rank(b) })
	return c, nil
}

// metrics are those that are compared, each once. One that is the primary one of all runs is asked for as that, which is
// in the rows of the runs.
func (m *comparing) metrics() []string {
	if len(m.req.Metrics) == 0 {
		return []string{""}
	}
	var all []string
	for _, metric := range m.req.Metrics {
		other := func(k sides.Kind) bool { return k.Name != metric }
		if !slices.ContainsFunc(m.base.Kinds, other) && !slices.ContainsFunc(m.head.Kinds, other) {
			metric = ""
		}
		if !slices.Contains(all, metric) {
			all = append(all, metric)
		}
	}
	return all
}

// metric reads one metric of all points, the primary ones where it is empty.
func (m *comparing) metric(ctx context.Context, metric string) ([]*pairing, error) {
	matched, err := m.matched(ctx, metric)
	if err != nil {
		return nil, err
	}
	for _, p := range matched {
		p.name = cmp.Or(p.kind().Name, metric) // where all runs failed it is what was asked for
		p.relate(m.sidesApart())
		p.plan(m.plans)
	}
	m.memory.settle(matched, len(m.plans) > 0)
	if err := m.processes(ctx, matched, metric); err != nil {
		return nil, err
	}
	if err := m.ticks(ctx, matched, metric); err != nil {
		return nil, err
	}
	return matched, m.histories(ctx, matched, metric)
}

// matched are the points of both sides.
func (m *comparing) matched(ctx context.Context, metric string) ([]*pairing, error) {
	everything := m.req.Limit == 0 || m.axis != "" || m.memory.few(m.base, m.head)
	a := sides.Asked{Metric: metric, Order: everything, Blocks: m.sameSessions(), Repeats: len(m.plans) > 0, Names: m.axis != "", Shared: sides.NewShared()}
	for {
		base, head, err := sides.Read(ctx, m.Reader, [2]*sides.Selected{m.base, m.head}, a)
		if err != nil {
			return nil, err
		}
		common := m.axis == "" && inCommon(base, head)
		if a.Names || common {
			if base, head = base.With(metric), head.With(metric); !base.Have(metric) && !head.Have(metric) {
				return nil, m.NoMetric(ctx, "compare", metric)
			}
			by := newMatcher(base, head, m.axis, common)
			if m.names == nil && len(base) > 0 && len(head) > 0 { // a metric that one side lacks says nothing of the sides
				m.names = by.differs
			}
			return by.match(base, head, m.req.Paired)
		}
		a.Names = true
	}
}

// notNumbers counts what orderings of the filters could not use: of runs that either side would have, each once.
func (m *comparing) notNumbers(ctx context.Context) (map[string]int, error) {
	if len(m.base.Sel.NotNumbers)+len(m.head.Sel.NotNumbers) == 0 {
		return nil, nil
	}
	if m.isBeside() {
		all := map[string]int{}
		for _, s := range []*sides.Selected{m.base, m.head} {
			counts, err := m.CountNotNumbers(ctx, s.Sel)
			if err != nil {
				return nil, err
			}
			for name, n := range counts {
				all[name] += n
			}
		}
		return all, nil
	}
	sel, err := m.Selected(ctx, scan.Question{Filter: "(" + sides.OrAll(m.base.Narrowed) + ") or (" + sides.OrAll(m.head.Narrowed) + ")"})
	if err != nil {
		return nil, err
	}
	return m.CountNotNumbers(ctx, sel)
}
