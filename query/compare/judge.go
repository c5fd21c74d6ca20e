package compare

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// family is a family of hypotheses, whose p values are corrected together: all points of one metric. The metric is empty if no run of
// the points is ok.
type family struct {
	metric string
	points []*pairing
}

// families reads all points, grouped by metric: in the requested order, otherwise ascending. The family of a metric that no run has is
// empty.
func (m *comparison) families(ctx context.Context) ([]family, error) {
	var all []family
	for _, metric := range m.metrics() {
		matched, err := m.metric(ctx, metric)
		if err != nil {
			return nil, err
		}
		if matched == nil {
			all = append(all, family{metric: metric})
			continue
		}
		all = append(all, byMetric(matched)...)
	}
	return all, nil
}

// absentMetrics returns the metrics that no run has. It is an error if no run has any of the requested ones.
func (m *comparison) absentMetrics(ctx context.Context, families []family) (absent query.Absent, err error) {
	for _, f := range families {
		if len(f.points) == 0 {
			absent.Metrics = append(absent.Metrics, f.metric)
		}
	}
	if len(absent.Metrics) == 0 {
		return absent, nil
	}
	if len(absent.Metrics) == len(m.metrics()) {
		return absent, unmeasured(m.head.NoMetric(ctx, "compare", absent.Metrics[0]))
	}
	absent.Others, err = m.head.RecentMetrics(ctx)
	return absent, err
}

// maxSecondLook is the number of points up to which a second comparison is made. It takes about as long as the first.
const maxSecondLook = 1000

// secondLook compares the points of Request.SecondLook and returns the points that become rows; none if the first comparison decided
// all.
func (m *comparison) secondLook(ctx context.Context, families []family) ([]*pairing, error) {
	points, open := 0, false
	for _, f := range families {
		points += len(f.points)
		open = open || f.metric == schema.PrimaryMetric && slices.ContainsFunc(f.points, func(p *pairing) bool { return p.verdict == judge.Inconclusive })
	}
	if m.req.SecondLook == "" || len(m.req.Metrics) > 0 || !open || points > maxSecondLook {
		return nil, nil
	}
	second, err := m.judgeToo(ctx, m.req.SecondLook)
	if err != nil {
		return nil, err
	}
	var chosen []*pairing
	for _, f := range second {
		chosen = append(chosen, m.choose(f.points)...)
	}
	return chosen, m.name(ctx, chosen)
}

// judgeToo compares the points by a further metric; none if it cannot be compared.
func (m *comparison) judgeToo(ctx context.Context, metric string) ([]family, error) {
	matched, err := m.metric(ctx, metric)
	further := byMetric(matched)
	for _, f := range further {
		err = errors.Join(err, f.checkUnits())
	}
	if errors.Is(err, query.ErrInput) { // the metric cannot be compared
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	judgeLooks(further, m.req.Rules)
	if err := m.judgeRepeats(ctx, further); err != nil {
		return nil, err
	}
	if !m.req.Absolute {
		m.relative(further)
	}
	return further, nil
}

// otherMetrics compares the points by the other metrics of Request.Others that both sides have, ascending, and returns those that have them
// on both sides.
func (m *comparison) otherMetrics(ctx context.Context, families []family) (chosen []*pairing, err error) {
	points, primary := 0, []string{}
	for _, f := range families {
		points, primary = points+len(f.points), append(primary, f.metric)
	}
	if m.req.Others == 0 || len(m.req.Metrics) > 0 || !m.imported() || points > maxSecondLook {
		return nil, nil
	}
	base, err := m.base.metrics(ctx)
	if err != nil {
		return nil, err
	}
	head, err := m.head.metrics(ctx)
	if err != nil {
		return nil, err
	}
	names := slices.DeleteFunc(head, func(name string) bool {
		return slices.Contains(primary, name) || !slices.Contains(base, name) || name == m.req.SecondLook // which says when it counts
	})
	for _, name := range names[:min(len(names), m.req.Others)] {
		own, err := m.judgeToo(ctx, name)
		if err != nil {
			return nil, err
		}
		for _, f := range own {
			both := slices.DeleteFunc(f.points, func(p *pairing) bool { return !p.hasBothSides() })
			chosen = append(chosen, worstFirst(both, Verdicts, len(both))...)
		}
	}
	return chosen, m.name(ctx, chosen)
}

// imported reports whether all runs of both sides were imported from files of other tools.
func (m *comparison) imported() bool {
	return m.base.Imported == m.base.Runs && m.head.Imported == m.head.Runs
}

// judgeRepeats judges the points of imported results that have no verdict for want of a machine or of earlier sessions once more, as if both
// sides were of one session on one machine. Two files of one afternoon may be, and no file says so. A gate wants verdicts. Where a side has too
// few runs, its samples are the repeats; samples of one process differ by less than processes do.
func (m *comparison) judgeRepeats(ctx context.Context, families []family) error {
	if m.req.Rules.Gate || !m.imported() {
		return nil
	}
	var pairs [][]judge.Pair
	var of [][]*pairing
	for _, f := range families {
		points := slices.DeleteFunc(slices.Clone(f.points), func(p *pairing) bool {
			unknown := p.verdict == judge.Estimate && p.reason == judge.Machines && p.base.Machine == p.head.Machine || p.verdict == judge.Inconclusive && p.reason == judge.Sessions
			return !p.hasBothSides() || !unknown
		})
		own := make([]judge.Pair, len(points))
		for i, p := range points {
			own[i] = p.toJudge()
			own[i].Barred, own[i].Confounded = "", false
		}
		if err := m.sampleRepeats(ctx, f.metric, points, own); err != nil {
			return err
		}
		pairs, of = append(pairs, own), append(of, points)
	}
	for i, j := range judge.Judge(pairs, m.req.Rules) {
		for k, p := range of[i] {
			p.repeats = &j.Outcomes[k]
		}
	}
	return nil
}

// maxBatches is the number of batches that many samples of few processes are made into.
const maxBatches = 20

// batchMedians returns the medians of consecutive batches of values, at most maxBatches of equal size; values themselves if they are too few
// for batches of two. Iterations of a process are correlated, so that an interval of thousands of them would be far too narrow. Batches that
// are longer than the correlation are not: this is the method of batch means, in Schmeiser's Batch Size Effects in the Analysis of Simulation
// Output (1982), who finds 10 to 30 batches enough.
func batchMedians(values []float64) []float64 {
	size := len(values) / maxBatches
	if size < 2 {
		return values
	}
	medians := make([]float64, maxBatches)
	for i := range medians { // the last few values are in none
		medians[i] = stat.Median(values[i*size : (i+1)*size])
	}
	return medians
}

// sampleRepeats replaces the runs of pairs with too few of them by their samples, if there are enough.
func (m *comparison) sampleRepeats(ctx context.Context, metric string, points []*pairing, pairs []judge.Pair) error {
	var few []*pairing
	pairOf := map[*pairing]*judge.Pair{}
	for i, p := range points {
		if min(len(p.base.Locations), len(p.head.Locations)) < judge.MinRuns {
			few = append(few, p)
			pairOf[p] = &pairs[i]
		}
	}
	return m.eachSamples(ctx, few, metric, func(p *pairing, base, head []any, positive bool) {
		if min(len(base), len(head)) >= judge.MinRuns && (positive || p.byDifference()) {
			of := pairOf[p]
			of.Base, of.Head = batchMedians(p.base.ofSamples(base, p.scale).Locations), batchMedians(p.head.ofSamples(head, p.scale).Locations)
			p.sampled = true
		}
	})
}

// byMetric groups points by metric, ascending.
func byMetric(points []*pairing) []family {
	own := map[string][]*pairing{}
	for _, p := range points {
		own[p.name] = append(own[p.name], p)
	}
	var all []family
	for _, metric := range slices.Sorted(maps.Keys(own)) {
		all = append(all, family{metric, own[metric]})
	}
	return all
}

// judge judges the points of each metric. It is an error if a threshold has another unit than its metric, or if no point has its
// metric.
func (m *comparison) judge(ctx context.Context, families []family) error {
	if err := m.checkThresholds(families); err != nil {
		return err
	}
	judgeLooks(families, m.req.Rules)
	m.commits(families)
	return m.judgeRepeats(ctx, families)
}

// commits replaces the reason of points that are noisy because their sessions measured other pairs of commits: more runs would not decide
// them.
func (m *comparison) commits(families []family) {
	if max(len(m.base.Commits), len(m.head.Commits)) < 2 {
		return
	}
	for _, f := range families {
		for _, p := range f.points {
			if p.reason == judge.Noise && !p.confounded && p.sessions() > 1 {
				p.reason, p.outcome.MoreRuns = judge.Commits, 0
			}
		}
	}
}

// checkThresholds rejects thresholds that would silently be ignored.
func (m *comparison) checkThresholds(families []family) error {
	var names []string
	for _, f := range families {
		names = append(names, f.metric)
		if err := f.checkUnits(); err != nil {
			return err
		}
	}
	for _, metric := range slices.Sorted(maps.Keys(m.req.Thresholds)) {
		if metric == "" || slices.Contains(names, metric) {
			continue
		}
		hint := ""
		if near := schema.Nearest(metric, names); near != "" {
			hint = "; did you mean " + near + "?"
		}
		return answer.InputError("compare: threshold for %s: no point has this metric%s", answer.Brief(metric), hint)
	}
	return nil
}

// checkUnits rejects thresholds in another unit than the metric.
func (f family) checkUnits() error {
	for _, p := range f.points {
		t := p.thresholds[f.metric]
		if unit := p.kind().Unit; t.Unit != "" && unit != "" && t.Unit != unit {
			return answer.InputError("compare: the threshold for %s is in %s, but the metric is measured in %s", answer.Brief(f.metric), t.Unit, unit)
		}
	}
	return nil
}

// Decided is the verdict on a point at one interim look at a session.
type Decided struct {
	Verdict judge.Verdict
	Reason  judge.Reason
	Failing bool // a larger share of the head's runs failed than of the base's, which may be chance
}

// Open reports whether more runs may change the decision. A point that failed, or whose sides cannot be compared at all, is as decided
// as one with a verdict.
func (d Decided) Open() bool { return d.Verdict == judge.Inconclusive || d.Failing }

// JudgeSession judges the points of one session with two sides from its runs so far. The result is keyed by point id. It comes to the
// same verdicts as Compare on the same runs once they are stored, with the rules and the correction of a gate, which are the strictest.
// Of the metrics it needs only the summary of the primary one, so it does not see that the sides ran at different clocks.
//
// The session has K planned looks (interim analyses of a group sequential test, schema.FactLooks), and each of them may spend 1/K of the
// significance level (judge.Spend). A point that is decided at a look gets no more runs, and its verdict is final: then, and in every
// later comparison, the point is judged among all others as they were when it had its last run. So a session without a change reports
// one in at most 5 % of cases (TestSettledSessions). The false discovery rate is at most 5 %, as with one look: a change that is
// reported at one look is still reported at the end, so the rate is at most the sum of the rates of the looks.
func JudgeSession(runs []schema.Run) map[string]Decided {
	points, of := sessionPoints(runs)
	plans := plannedLooks{}
	for i := range runs {
		r := &runs[i]
		if _, there := plans[r.SessionID]; !there {
			plans[r.SessionID] = looksOf(r.Env.Facts[schema.FactLooks])
		}
	}
	for _, p := range points {
		p.name = p.kind().Name
	}
	setSessionThresholds(points, runs)
	for _, p := range points {
		base, head := of[p.base], of[p.head]
		if p.setScale() {
			p.useRead(base, head)
		}
		p.useMeans(base, head)
		p.leaveOut(judge.FirmRuns)
		p.relate(unknown)
		p.plan(plans)
	}
	judgeLooks(byMetric(points), judge.Rules{Gate: true})
	all := make(map[string]Decided, len(points))
	for _, p := range points {
		c := p.point()
		all[p.either().PointID] = Decided{p.verdict, p.reason, c.Failures && !c.lost(len(points))}
	}
	return all
}

// sessionPoints groups runs into points, as they would be read from a store, with the values and means of each group.
func sessionPoints(runs []schema.Run) (all []*pairing, of map[*runGroup]*readRuns) {
	found := map[string]*pairing{}
	of = map[*runGroup]*readRuns{}
	for i := range runs {
		r := &runs[i]
		if r.Purpose != schema.PurposeMeasure {
			continue
		}
		p := found[r.PointID]
		if p == nil {
			p = &pairing{}
			found[r.PointID], all = p, append(all, p)
		}
		side := &p.head
		if r.Side == "base" {
			side = &p.base
		}
		if *side == nil {
			*side = &runGroup{PointID: r.PointID, Machine: r.Env.Machine, Metric: &metricKind{}}
			of[*side] = &readRuns{}
		}
		of[*side].addRun(*side, r)
	}
	for g, u := range of {
		g.sortByStart(u.started, u.sessions, u.blocks, u.repeats)
		g.dropNonFinite()
	}
	return all, of
}

// addRun adds a run to a group.
func (u *readRuns) addRun(g *runGroup, r *schema.Run) {
	if r.Status != schema.StatusOK {
		if g.Failed == nil {
			g.Failed = map[string]any{}
		}
		n, _ := g.Failed[string(r.Status)].(int64)
		g.Failed[string(r.Status)] = n + 1
		if schema.IsWrong(r.Status, r.Stage, r.ErrorKind) {
			g.Wrong++
		}
		return
	}
	m := r.Metric(r.Primary)
	if m == nil {
		m = &schema.Metric{}
	}
	kind := metricKind{Name: m.Name, Unit: m.Unit, Better: string(m.Better), Clock: m.Clock, Level: string(m.Level)}
	if g.OK == 0 {
		g.Metric = &kind
	}
	if g.Differing == "" {
		if what := g.Metric.differing(kind); what != "" {
			g.Differing = what
		}
	}
	for _, warning := range r.Warnings {
		if _, failed := schema.FailedRequests(warning); failed || warning == schema.WarnUnchecked {
			g.Warnings = append(g.Warnings, warning)
		}
	}
	if slices.Contains(r.Warnings, stat.WarnQuantised) {
		g.Tick = max(g.Tick, m.Tick)
	}
	g.OK++
	g.Locations = append(g.Locations, locationOfMetric(m))
	mean := math.NaN()
	if m.Summary.Mean != nil {
		mean = *m.Summary.Mean
	}
	u.add(scan.ValueOfMetric(m), mean, r.StartedAt.UnixMicro(), r.SessionID, answer.Integer(r.BlockIndex), answer.Integer(r.RepeatIndex))
}

// locationOfMetric computes in Go the location that scan.LocationSQLOf computes in SQL.
func locationOfMetric(m *schema.Metric) float64 {
	middle := m.Summary.P50
	if middle == nil {
		middle = m.Summary.Mean
	}
	switch log := m.Summary.LogMedian; {
	case schema.ScaleOf(m.Name) == schema.ScaleRatio && log != nil:
		return *log
	case middle == nil:
		return math.NaN()
	case schema.ScaleOf(m.Name) == schema.ScaleDifference:
		return *middle
	case *middle <= 0:
		return math.Inf(-1)
	default:
		return math.Log(*middle)
	}
}

// plannedLooks are, per session, the numbers of repeats after which interim looks were planned; none if no looks were planned.
type plannedLooks map[string][]int

// looksOf parses the value of schema.FactLooks; nil if it is invalid.
func looksOf(text string) []int {
	if text == "" {
		return nil
	}
	var all []int
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n <= 0 || len(all) > 0 && n <= all[len(all)-1] {
			return nil
		}
		all = append(all, n)
	}
	return all
}

// plannedLooks reads the planned looks of the sessions that both sides have; nil if there are none.
func (m *comparison) plannedLooks(ctx context.Context, known sideFacts) (plannedLooks, error) {
	if known["env."+schema.FactLooks] == nil {
		return nil, nil
	}
	first := map[schema.ULID]string{} // a run of each session
	seen := map[string]bool{}
	for _, t := range m.head.strata {
		id, err := schema.ParseULID(t.firstRun)
		if _, both := slices.BinarySearch(m.base.Sessions, t.session); err == nil && both && t.session != "" && !seen[t.session] {
			first[id], seen[t.session] = t.session, true
		}
	}
	ids := slices.SortedFunc(maps.Keys(first), scan.CompareIDs)
	runs, err := query.Facts(ctx, m.head.Reader, ids)
	if err != nil {
		return nil, err
	}
	plans := plannedLooks{}
	for id, run := range runs {
		plans[first[id]] = looksOf(run["env."+schema.FactLooks])
	}
	return plans, nil
}

// plan finds the number of planned looks at the point, and the look at which it had its last run. If n sessions are combined, each had
// up to K looks, and each session is also one more look at the combined data. So K n (n+1) looks are counted, and each has the share of
// a later look (judge.Spend). It does not matter that a session may have ended at any of its looks (TestSettledSessions).
func (p *pairing) plan(plans plannedLooks) {
	if len(plans) == 0 || !p.hasBothSides() || !p.sameSessions() {
		return
	}
	planned := 0
	for _, session := range p.head.Sessions {
		if n := len(plans[session]); n > 0 {
			planned = max(planned, n)
		}
	}
	if n := len(p.head.Sessions); n > 1 {
		p.planned = planned * n * (n + 1)
		return
	}
	if p.planned = planned; planned == 0 {
		return
	}
	looks := plans[p.head.Sessions[0]]
	repeats := max(p.base.countRepeats(), p.head.countRepeats())
	p.look = looks[len(looks)-1]
	for _, n := range slices.Backward(looks) {
		if n >= repeats {
			p.look = n
		}
	}
}

// judgeLooks judges, for each look (interim analysis), all points on the runs that they had by then, and keeps the verdicts of the
// points that had their last run at it. Points without planned looks are judged among all points with their current runs.
func judgeLooks(families []family, rules judge.Rules) {
	var looks []int
	for _, f := range families {
		for _, p := range f.points {
			looks = append(looks, p.look)
		}
	}
	slices.Sort(looks)
	for _, look := range slices.Compact(looks) {
		pairs := make([][]judge.Pair, len(families))
		for i, f := range families {
			pairs[i] = make([]judge.Pair, len(f.points))
			for k, p := range f.points {
				pairs[i][k] = p.at(look).toJudge()
			}
		}
		for i, j := range judge.Judge(pairs, rules) {
			for k, p := range families[i].points {
				if p.look == look {
					p.judged(&j.Outcomes[k], j.Family)
				}
			}
		}
	}
}

// judged stores the outcome of the point.
func (p *pairing) judged(o *judge.Outcome, family int) {
	p.outcome, p.family = o, family
	if p.verdict, p.reason = o.Verdict, o.Reason; !p.hasBothSides() {
		p.verdict, p.reason = p.state()
	}
}

// at returns the point with the runs that it had at a look, after that many repeats; 0: with its current runs.
func (p *pairing) at(look int) *pairing {
	if look == 0 || p.look <= look {
		return p
	}
	early := *p
	early.base, early.head, early.look = p.base.upToRepeat(look), p.head.upToRepeat(look), look
	early.blocks, early.sequence, early.ordered = nil, nil, false
	early.relate(p.distance)
	return &early
}
