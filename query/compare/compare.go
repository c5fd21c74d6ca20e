// Package compare compares two selections of runs, the base and the head, point by point.
//
// A comparison has these steps, which the method compare calls in this order:
//
//  1. The sides are selected (sides.go), and the facts read in which they differ (facts.go).
//  2. The runs of each side are grouped by point (groups.go), and points of the two sides are paired (match.go).
//  3. Each pair gets what its verdict needs, in this order, because each step reads what the steps before it set: the scale and the replicates
//     (scale.go), the runs of sessions that only one side has are left out, it is determined how the runs relate (whether the sides alternated,
//     whether they are from different sessions: pair.go), the planned looks (judge.go), and the earlier sessions (history.go).
//  4. Package judge decides, at the look at which a point had its last run (judge.go), and once more relative to the common change of all
//     points (relative.go). Points without values on a side get their verdicts from pairing.state (pair.go).
//  5. The requested points are chosen (choose.go) and become rows (row.go).
//
// # Explanations
//
// Explain shows what else differs at the point where two sides differ most.
//
// It compares the sides, chooses the point to explain, reads its runs on both sides, and collects evidence:
// facts, other metrics, stages and ops that differ between the sides (explain.go), and contrasts, which are facts that distinguish slow
// from fast runs of the same side (contrasts.go). Verdicts on metrics and stages are corrected for their number. Evidence is ranked by
// its kind, then by its size. It shows correlations, which need not be causes.
//
// # Baselines
//
// ReadBaseline makes points of a baseline file (see schema/baseline) from the runs of one session. It rejects runs that cannot be a
// baseline: failed runs, runs of several sessions or of both sides of a session, and runs without a machine. Baseline.Write writes the
// points to a file.
//
// # Sides and history
//
// selectSide compiles the filter of a side and finds the sessions, machines, commits and so on of its runs (strata). readSides groups the
// runs of both sides by point, machine and metric. A runGroup has the locations of the runs, when and where they ran, and anything
// unusual about them (notes).
//
// historyQuery reads the earlier sessions of points. How much these differ is what a change between two sessions has to exceed.
//
// A store may have tens of thousands of sessions, and a hundred say nearly all. So the newest runs are read first, and older ones only
// until there are enough sessions of each point. What is found does not depend on how the runs are spread over files: it is what reading
// all runs would find.
package compare

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/query/judge"
)

// Request selects the runs to compare and how. Only runs of purpose measure are compared, unless Metrics are of passes of profilers alone.
type Request struct {
	// Base and Head are filters. If Head is empty, Base selects sessions with two sides (bench --against), and these sides are
	// compared. If no session has two sides, the points are compared with the baseline that their sweep names or, except for a gate, with one
	// that is guessed (query.ContrastsOf), as with Axis, Reference and Paired. With BaseDB an empty Head selects all runs.
	Base, Head string

	// BaseDB has the runs of Base if they are in other stores than those of Head, for example because Base is a file; nil: both
	// are in the same stores. Earlier sessions are read from the stores of Head.
	BaseDB *query.DB

	// BaseFile and HeadFile are the names of the files that the runs of a side were read from; Side.Filter has them instead of a
	// filter. Empty: the runs are stored.
	BaseFile, HeadFile string

	// Axis and Reference are used instead of Head: every value of the axis among the runs of Base is compared with Reference.
	Axis, Reference string

	// Metrics are compared one by one; empty: the primary metric of each point. If no measured run of the sides has any of them, passes of
	// profilers are compared that have them: see Comparison.Passes.
	Metrics []string
	// SecondLook is a metric that is compared too where the first look does not decide: if Metrics is empty, the verdict on a latency is
	// inconclusive, and there are at most maxSecondLook points. It is no error if it cannot be compared. Empty: none.
	SecondLook string
	// Others is how many other metrics are compared too, if Metrics is empty, all runs of both sides were imported, and there are at most
	// maxSecondLook points. Results of a tool often have few metrics, which belong together: ns/op, B/op and allocs/op.
	Others int
	// Thresholds are the thresholds per metric. The empty name stands for all other metrics that are compared by ratio. A metric
	// without a threshold has the one that the sweep of the head gives it at a point.
	Thresholds judge.Thresholds
	// Usual are the thresholds for metrics that have one neither in Thresholds nor in the sweep.
	Usual judge.Thresholds

	Rules judge.Rules

	// Absolute skips the verdicts relative to the common change of all points.
	Absolute bool
	// Paired leaves out points that only one side has. An axis with many values would have very many of them.
	Paired bool
	// Limit is the maximum number of points per metric that become rows; 0: all. Worst is an order of verdicts, such as Verdicts:
	// rows are sorted by it, then by descending size of the change. If it is nil, points are in the order in which they ran.
	Limit int
	Worst []judge.Verdict

	// together makes the intervals of all points of a metric hold together (Bonferroni).
	together bool

	// Inputs adds to each row the numbers that its results are computed from. They double its size.
	Inputs bool
	// Pages receives the rows, at most 1,000 at a time, instead of Comparison.Rows, which saves memory if there are very many
	// points. Its error ends the comparison.
	Pages func([]Row) error
}

// Comparison is the result: one row per point and metric, what holds for all of them, and a description of the sides.
//
// If a session had planned looks, each point is judged as JudgeSession describes: among the points of the look at which it had its
// last run.
type Comparison struct {
	Rows       []Row
	SecondLook []Row // see Request.SecondLook; the error rates hold for it by itself
	Others     []Row // see Request.Others; the error rates hold for each metric by itself
	Base, Head Side
	Contrast   query.Contrast   // the baseline that the values of an axis are compared with; empty: two sides are
	Guesses    []query.Contrast // if Contrast is a guess, as nobody named a baseline: all that it was chosen from, the best first
	Differs    []query.FactDifference
	Common     []string          // identity columns and parameters (as param.NAME) that are known to be equal in all points
	Thresholds judge.Thresholds  // thresholds of the metrics that have the same one at all points
	Metrics    []string          // metrics that were compared, in the requested order, otherwise ascending
	Absent     query.Absent      // of Metrics those that no run of either side has, and so no point
	Passes     []string          // the profilers whose passes were compared, ascending; none: measured runs were
	Shared     map[string]Shared // common change per metric; none if points were not judged relative to it
	Points     []Point           // all points, including those beyond Request.Limit
	LeftOut    []string          // sessions of runs that were left out, as the other side of their point has no run of it, ascending
	NotNumbers map[string]int    // as in Listing
}

// HasSecondLook reports whether both sides of a point have the metric of Request.SecondLook, which was compared.
func (c *Comparison) HasSecondLook() bool {
	return slices.ContainsFunc(c.SecondLook, func(r Row) bool { return r.Base != nil && r.Head != nil })
}

// Compare compares two selections.
//
// Two points are paired if all their identity fields and their machine are equal. Fields that are constant on each side but differ between the
// sides are ignored if both filters name one of them, or if both sides are files. The machine is ignored wherever each side has one. It is an
// ErrInput if a selection has no runs, if a run is on both sides, if no points can be paired, and if BaseDB has runs of a session of Head. If
// BaseDB has several machines, only those that Head has are compared, if there are any.
func Compare(ctx context.Context, db *query.DB, req Request) (Comparison, error) {
	return compare(ctx, db, req, manyRuns)
}

// Above manyRuns runs, two things are not read, to save memory: the order of the runs of a point, and the identity of points that become no
// rows.
const manyRuns = 200_000

// groupMemory is the number of bytes that DuckDB may use to group runs.
const groupMemory = 256 << 20

func compare(ctx context.Context, db *query.DB, req Request, many int) (Comparison, error) {
	var c Comparison
	axis, err := axisOf(req.Axis)
	if err != nil {
		return c, err
	}
	var m *comparison
	err = db.Stores().QueryTwo(ctx, req.BaseDB.Beside(db), func(head, base *scan.Reader) error {
		if m == nil { // otherwise the memory was raised already
			if err := head.Conn.Raise(ctx, groupMemory); err != nil {
				return err
			}
		}
		of := func(passes []string) error {
			m = &comparison{
				req: req, axis: axis, passes: passes, contrast: query.Contrast{Axis: req.Axis, Value: filter.Unquote(req.Reference)}, many: many,
				thresholds: judge.ThresholdCombiner{Given: req.Thresholds, Usual: req.Usual}, okStatuses: map[int64]map[string]any{},
			}
			var err error
			c, err = m.compare(ctx, base, head)
			return err
		}
		err := of(nil)
		if !errors.As(err, new(*unmeasuredError)) {
			return err
		}
		passes, failed := passesWith(ctx, head, req.Metrics)
		if failed == nil && len(passes) > 0 {
			failed = of(passes)
			if failed == nil {
				return nil
			}
		}
		if errors.Is(failed, query.ErrInput) { // some other selection has the passes
			failed = nil
		}
		return cmp.Or(failed, err)
	})
	if err != nil {
		return Comparison{}, err
	}
	if req.Pages == nil {
		c.Rows, c.SecondLook, c.Others = m.rows(m.chosen), m.rows(m.second), m.rows(m.others)
		return c, nil
	}
	const rowsAtOnce = 1000
	for points := range slices.Chunk(m.chosen, rowsAtOnce) {
		if ctx.Err() != nil {
			break
		}
		if err := req.Pages(m.rows(points)); err != nil {
			return c, err
		}
	}
	return c, ctx.Err()
}

// rows makes the rows of points.
func (m *comparison) rows(points []*pairing) []Row {
	rows := make([]Row, len(points))
	for i, p := range points {
		rows[i] = m.row(p)
	}
	return rows
}

// comparison is a comparison that is being made.
type comparison struct {
	req        Request
	axis       string   // field of Request.Axis
	passes     []string // see Comparison.Passes
	contrast   query.Contrast
	guesses    []query.Contrast // see Comparison.Guesses
	many       int              // see manyRuns
	base, head *selectedSide
	primary    string                             // metric that was asked for and is the primary one of all runs; empty: none
	names      []query.FactDifference             // identity fields in which the sides differ
	plans      plannedLooks                       // of the sessions that both sides have
	facts      map[string]pointFacts              // of the points of the head, by id
	devices    [2]map[pointKey][]any              // that measured the points of base and head, if both sides have sessions with several
	clocks     [2]map[pointKey]query.DeviceClocks // of the points of base and head, if both sides have readings
	thresholds judge.ThresholdCombiner            // combines the thresholds of the request and of points
	rates      scan.RateUnits                     // of the points that become rows
	chosen     []*pairing                         // points that become rows
	second     []*pairing                         // points of the second look that become rows
	others     []*pairing                         // points of other metrics that become rows
	okStatuses map[int64]map[string]any           // Measured.Statuses by number of runs, if all are ok
}

// few reports whether there are few enough runs to read everything about them.
func (m *comparison) few() bool { return m.base.Runs+m.head.Runs < m.many }

func (m *comparison) compare(ctx context.Context, ofBase, ofHead *scan.Reader) (Comparison, error) {
	if err := m.sides(ctx, ofBase, ofHead); err != nil {
		return Comparison{}, err
	}
	var c Comparison
	base, err := m.base.facts(ctx)
	if err != nil {
		return Comparison{}, err
	}
	head, err := m.head.facts(ctx)
	if err != nil {
		return Comparison{}, err
	}
	c.Base, c.Head, c.Contrast, c.Guesses, c.Passes = m.base.Side, m.head.Side, m.contrast, m.guesses, m.passes
	c.Differs = base.differences(head, m.base, m.head)
	if m.plans, err = m.plannedLooks(ctx, head); err != nil {
		return Comparison{}, err
	}
	if m.facts, err = m.head.pointFacts(ctx, head); err != nil {
		return Comparison{}, err
	}
	if err := m.readDevices(ctx, base, head); err != nil {
		return Comparison{}, err
	}
	if err := m.readClocks(ctx, base, head); err != nil {
		return Comparison{}, err
	}
	families, err := m.families(ctx)
	if err != nil {
		return Comparison{}, err
	}
	if c.Absent, err = m.absentMetrics(ctx, families); err != nil {
		return Comparison{}, err
	}
	if err := m.head.Conn.Trim(ctx); err != nil {
		return Comparison{}, err
	}
	if err := m.judge(ctx, families); err != nil {
		return Comparison{}, err
	}
	if !m.req.Absolute {
		c.Shared = m.relative(families)
	}
	c.Thresholds = judge.Thresholds{}
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
			for _, id := range p.leftOutSessions {
				if at, there := slices.BinarySearch(c.LeftOut, id); !there {
					c.LeftOut = slices.Insert(c.LeftOut, at, id)
				}
			}
		}
		m.chosen = append(m.chosen, m.choose(f.points)...)
	}
	if m.req.Worst != nil { // without an ok run they have no metric, so they are a family of their own
		slices.SortStableFunc(m.chosen, func(a, b *pairing) int { return a.rankOfUnsupported() - b.rankOfUnsupported() })
	}
	if c.Common, err = m.common(ctx, families); err != nil {
		return Comparison{}, err
	}
	if c.NotNumbers, err = m.notNumbers(ctx); err != nil {
		return Comparison{}, err
	}
	c.Differs = append(c.Differs, slices.DeleteFunc(m.names, func(d query.FactDifference) bool { return d.Name == "machine" })...)
	slices.SortStableFunc(c.Differs, func(a, b query.FactDifference) int { return query.FactRank(a) - query.FactRank(b) })
	if m.second, err = m.secondLook(ctx, families); err != nil {
		return Comparison{}, err
	}
	if m.others, err = m.otherMetrics(ctx, families); err != nil {
		return c, err
	}
	m.rates, err = m.head.RateUnits(ctx, func(yield func(string) bool) {
		for _, chosen := range [][]*pairing{m.chosen, m.second, m.others} {
			for _, p := range chosen {
				if !yield(p.kind().Unit) {
					return
				}
			}
		}
	})
	return c, err
}

// metrics returns the metrics that are compared, without repetition. The primary metric of all runs is given as "", because it can be read
// from the table runs.
func (m *comparison) metrics() []string {
	if len(m.req.Metrics) == 0 {
		return []string{""}
	}
	var all []string
	for _, metric := range m.req.Metrics {
		other := func(k metricKind) bool { return k.Name != metric }
		if !slices.ContainsFunc(m.base.kinds, other) && !slices.ContainsFunc(m.head.kinds, other) {
			m.primary, metric = metric, ""
		}
		if !slices.Contains(all, metric) {
			all = append(all, metric)
		}
	}
	return all
}

// metric reads one metric of all points; "" is the primary metric of each. It returns nil if no run has the metric.
func (m *comparison) metric(ctx context.Context, metric string) ([]*pairing, error) {
	matched, err := m.matched(ctx, metric)
	if err != nil {
		return nil, err
	}
	for _, p := range matched {
		p.name = cmp.Or(p.kind().Name, metric, m.primary) // if all runs failed, the requested one
		var facts pointFacts
		if p.head != nil {
			facts = m.facts[p.head.PointID]
		}
		p.thresholds, p.control, p.printed = m.thresholds.Of(facts.thresholds), facts.control, facts.printed
	}
	if err := m.scales(ctx, matched, metric); err != nil {
		return nil, err
	}
	if err := m.means(ctx, matched, metric); err != nil {
		return nil, err
	}
	for _, p := range matched {
		least := judge.MinRuns
		if m.req.Rules.Gate {
			least = judge.FirmRuns
		}
		p.leaveOut(least)
		p.relate(m.sidesApart())
		p.plan(m.plans)
		if m.req.together {
			p.planned = max(p.planned, 1) * len(matched)
		}
	}
	if err := m.processes(ctx, matched, metric); err != nil {
		return nil, err
	}
	if err := m.ticks(ctx, matched, metric); err != nil {
		return nil, err
	}
	m.useClocks(matched)
	m.useDevices(matched)
	return matched, m.histories(ctx, matched, metric)
}

// matched reads and pairs the points of both sides.
func (m *comparison) matched(ctx context.Context, metric string) ([]*pairing, error) {
	everything := m.req.Limit == 0 || m.axis != "" || m.few()
	a := groupColumns{Metric: metric, Order: everything, Blocks: m.sameSessions(), Repeats: len(m.plans) > 0, Names: m.axis != "", Shared: newInterner()}
	for {
		base, head, err := readSides(ctx, m.base, m.head, a)
		if err != nil {
			return nil, err
		}
		common := m.axis == "" && inCommon(base, head)
		if a.Names || common {
			if base, head = base.with(metric), head.with(metric); !base.have(metric) && !head.have(metric) {
				return nil, nil
			}
			if err := m.checkBaseFile(ctx, metric); err != nil {
				return nil, err
			}
			by := newMatcher(base, head, m.axis, len(m.guesses) > 0, common, m.named)
			if m.names == nil && len(base) > 0 && len(head) > 0 { // a metric that one side lacks says nothing of the sides
				m.names = by.differs
			}
			return by.match(base, head, m.req.Paired)
		}
		a.Names = true
	}
}

// notNumbers counts the values that < or > in the filters could not compare, over the runs of both sides.
func (m *comparison) notNumbers(ctx context.Context) (map[string]int, error) {
	if len(m.base.sel.NotNumbers)+len(m.head.sel.NotNumbers) == 0 {
		return nil, nil
	}
	if m.hasOwnStores() {
		all := map[string]int{}
		for _, s := range []*selectedSide{m.base, m.head} {
			counts, err := m.head.CountNotNumbers(ctx, s.sel)
			if err != nil {
				return nil, err
			}
			for name, n := range counts {
				all[name] += n
			}
		}
		return all, nil
	}
	sel, err := m.head.Selected(ctx, scan.Question{Filter: "(" + orAllRuns(m.base.Narrowed) + ") or (" + orAllRuns(m.head.Narrowed) + ")"})
	if err != nil {
		return nil, err
	}
	return m.head.CountNotNumbers(ctx, sel)
}
