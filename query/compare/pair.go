package compare

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// kind returns the kind of the values of a point: the kind of the head, if it has ok runs, otherwise of the base.
func (p *pairing) kind() metricKind {
	for _, g := range []*runGroup{p.head, p.base} {
		if g != nil && g.Metric.Name != "" {
			return *g.Metric
		}
	}
	return metricKind{}
}

// hasBothSides reports whether both sides have values.
func (p *pairing) hasBothSides() bool {
	return p.base != nil && p.head != nil && len(p.base.Locations) > 0 && len(p.head.Locations) > 0
}

// relate finds how the runs of the two sides relate: which ran next to each other, whether one side came first, and whether a
// difference between sessions would look like a change. distance is the time between the sides as a whole; it is used if the start of
// each run was not read.
func (p *pairing) relate(distance int64) {
	if !p.hasBothSides() {
		return
	}
	var base, head map[string][]int64
	if p.base.sharesSession(p.head) {
		base, head = p.base.startsBySession(), p.head.startsBySession()
		p.ordered = judge.SeparatedInTime(startsOf(base, head))
	}
	if p.sameSessions() {
		if blocks := p.differences(); float64(len(blocks)) >= blockShare*float64(max(len(p.base.Locations), len(p.head.Locations))) {
			p.blocks, p.sequence = blocks, p.sequenceOfRuns()
		}
		p.confounded = len(p.blocks) == 0 && !(p.balanced() && nearby(base, head))
	} else {
		p.confounded = true
	}
	if p.distance = distance; p.base.Started != nil && p.head.Started != nil {
		p.distance = p.sidesApart()
	}
}

// leaveOut drops the runs of sessions that measured only one side, because they carry no information about a difference within a
// session. It does so if the sessions that both sides share have at least that many runs per side, as a verdict needs. Otherwise it
// drops nothing and sets decides to the newest session that could be judged alone.
func (p *pairing) leaveOut(least int) {
	if !p.hasBothSides() || len(p.base.Sessions)+len(p.head.Sessions) == 2 || !p.base.sharesSession(p.head) {
		return
	}
	if p.base.Sessions[0] == "" || p.head.Sessions[0] == "" { // such runs may be of any session
		return
	}
	var shared []string
	for _, id := range p.base.Sessions {
		if _, both := slices.BinarySearch(p.head.Sessions, id); both {
			shared = append(shared, id)
		}
	}
	within := func(sessions []string) *pairing {
		of := &pairing{base: p.base.ofSessions(sessions), head: p.head.ofSessions(sessions), name: p.name, scale: p.scale}
		if min(len(of.base.Locations), len(of.head.Locations)) < least {
			return nil
		}
		if of.relate(unknown); of.confounded || of.ordered {
			return nil
		}
		return of
	}
	if !p.sameSessions() {
		if of := within(shared); of != nil {
			p.leftOut = len(p.base.Locations) + len(p.head.Locations) - len(of.base.Locations) - len(of.head.Locations)
			p.leftOutSessions = slices.DeleteFunc(slices.Concat(p.base.Sessions, p.head.Sessions), func(id string) bool { return slices.Contains(shared, id) })
			p.base, p.head = of.base, of.head
			return
		}
	} else if p.relate(unknown); !p.confounded {
		return
	}
	for _, id := range slices.Backward(shared) {
		if within([]string{id}) != nil {
			p.decides = id
			return
		}
	}
}

// unknown represents an unknown distance or number.
const unknown = -1

// sidesApart returns the time between the sides as a whole, in microseconds.
func (m *comparison) sidesApart() int64 {
	if m.base.Since == 0 || m.head.Since == 0 {
		return unknown
	}
	return max(distance(m.base.Since, m.head.Since), distance(m.base.Until, m.head.Until))
}

// sidesApart returns the time between the median starts of the runs of the two sides of the point, in microseconds. It is unknown if a
// side has no start times, or runs without a session.
func (p *pairing) sidesApart() int64 {
	base, head := p.base.knownStarts(), p.head.knownStarts()
	if len(base) == 0 || len(head) == 0 || slices.Contains(p.base.Sessions, "") || slices.Contains(p.head.Sessions, "") {
		return unknown
	}
	return distance(base[len(base)/2], head[len(head)/2])
}

func distance(a, b int64) int64 { return max(a-b, b-a) }

// toJudge makes the input of package judge. It is empty if a side has no values.
func (p *pairing) toJudge() judge.Pair {
	if !p.hasBothSides() {
		return judge.Pair{}
	}
	pair := judge.Pair{
		Base: p.base.Locations, Head: p.head.Locations, Blocks: p.blocks, Sequence: p.sequence, Ordered: p.ordered, Confounded: p.confounded, History: p.history,
		Barred: p.barred(), Difference: p.byDifference(),
	}
	if slices.Contains([]judge.Reason{judge.Units, judge.Wrong, judge.Unchecked, judge.FailedRequests}, pair.Barred) { // no estimate either
		return judge.Pair{Barred: pair.Barred}
	}
	if p.base.Metric.Better == p.head.Metric.Better {
		pair.BetterOf(schema.Better(p.head.Metric.Better))
	}
	if !p.confounded { // between sessions, more runs hardly change the result
		pair.Looks, pair.Planned = p.looks(), p.planned
	}
	pair.Margin = p.margin()
	pair.Resolution = p.resolution()
	return pair
}

// blockShare is the share of the runs of each side that must be in blocks for the blocks to be used. sessionShare is by how much the
// share of a session may differ between the sides, so that differences between sessions do not matter.
const (
	blockShare   = .8
	sessionShare = .1
)

// sameSessions reports whether both sides have runs of the same, known sessions.
func (p *pairing) sameSessions() bool {
	return slices.Equal(p.base.Sessions, p.head.Sessions) && len(p.base.Sessions) > 0 && p.base.Sessions[0] != ""
}

// balanced reports whether each session has about the same share of the runs of both sides.
func (p *pairing) balanced() bool {
	share := func(g *runGroup, session string) float64 {
		n := 0
		for i := range g.Locations {
			if g.sessionOf(i) == session {
				n++
			}
		}
		return float64(n) / float64(len(g.Locations))
	}
	return !slices.ContainsFunc(p.base.Sessions, func(id string) bool {
		return math.Abs(share(p.base, id)-share(p.head, id)) > sessionShare
	})
}

// sidesGap is the time by which the sides may be apart within a session, in addition to the time that the runs of a side take. After a
// longer time the machine may be in another state, as in another session: a session of an imported file may really be several.
const sidesGap = 30 * time.Minute

// nearby reports whether the sides ran close to each other in every session. If two sides of equal duration run one right after the
// other, their medians are that duration apart, which is twice the distance between the quartiles of a side.
func nearby(base, head map[string][]int64) bool {
	spread := func(starts []int64) int64 { return starts[3*len(starts)/4] - starts[len(starts)/4] }
	for session, b := range base {
		h := head[session]
		if len(b) == 0 || len(h) == 0 {
			continue
		}
		if distance(b[len(b)/2], h[len(h)/2]) > sidesGap.Microseconds()+max(spread(b), spread(h))*5/2 {
			return false
		}
	}
	return true
}

// startsOf returns the starts of the sessions that have runs of both sides, in the order of the sessions.
func startsOf(base, head map[string][]int64) []judge.Starts {
	var both []judge.Starts
	for session, b := range base {
		if h := head[session]; len(b) > 0 && len(h) > 0 {
			both = append(both, judge.Starts{Base: b, Head: h})
		}
	}
	first := func(s judge.Starts) int64 { return min(s.Base[0], s.Head[0]) }
	slices.SortFunc(both, func(a, b judge.Starts) int { return cmp.Compare(first(a), first(b)) })
	return both
}

// sequenceOfRuns returns judge.Pair.Sequence, or nil if the start of some run is unknown.
func (p *pairing) sequenceOfRuns() []bool {
	if len(p.base.knownStarts()) < len(p.base.Locations) || len(p.head.knownStarts()) < len(p.head.Locations) {
		return nil
	}
	return judge.Sequence(p.base.Started, p.head.Started)
}

// differences returns head - base for the runs of the same block of the same session, in the order of the head's runs.
func (p *pairing) differences() []float64 {
	base := make(map[runPlace]float64, len(p.base.Places))
	for i, l := range p.base.Places {
		if l.Block >= 0 {
			base[p.base.placeOf(i)] = p.base.Locations[i]
		}
	}
	var differences []float64
	for i := range p.head.Places {
		if location, ok := base[p.head.placeOf(i)]; ok {
			differences = append(differences, p.head.Locations[i]-location)
		}
	}
	return differences
}

// barred returns the reason why the sides cannot be compared; empty: they can.
func (p *pairing) barred() judge.Reason {
	base, head := p.base, p.head
	differ := func(what, a, b string) bool {
		return a != b || base.Differing == what || head.Differing == what
	}
	switch {
	case differ("metric", base.Metric.Name, head.Metric.Name), differ("unit", base.Metric.Unit, head.Metric.Unit):
		return judge.Units
	case base.Wrong+head.Wrong > 0:
		return judge.Wrong
	case slices.Contains(base.Warnings, schema.WarnUnchecked), slices.Contains(head.Warnings, schema.WarnUnchecked):
		return judge.Unchecked
	case p.failedRequests() != "":
		return judge.FailedRequests
	case differ("clock", base.Metric.Clock, head.Metric.Clock):
		return judge.Clocks
	case differ("level", base.Metric.Level, head.Metric.Level) && !p.means:
		return judge.Levels
	case base.Machine != head.Machine, base.Machine == "":
		return judge.Machines
	case p.otherDevice:
		return judge.Devices
	case p.dependsOnClock() && p.clocks.Differ():
		return judge.OffClock
	}
	return ""
}

// failedRequests returns the warning of the run of the head, or else of the base, in which the most requests failed, and names the side. It
// is empty if no run has more failed requests than are allowed.
func (p *pairing) failedRequests() string {
	if p.name == schema.MetricFailedRequests {
		return ""
	}
	for _, side := range []struct {
		of   *runGroup
		name string
	}{{p.head, "head"}, {p.base, "base"}} {
		if side.of == nil {
			continue
		}
		worst, text := int64(0), ""
		for _, warning := range side.of.Warnings {
			if n, is := schema.FailedRequests(warning); is && n > worst {
				worst, text = n, warning+" on the "+side.name
			}
		}
		if text != "" {
			return text
		}
	}
	return ""
}

// margin returns the threshold of the point on the scale on which it is compared. By difference, a share is a share of the smaller side:
// then a change counts if it would count by ratio, whichever side is the base, and every change from or to 0 counts. A metric that is
// always compared by difference has no threshold unless it is given.
func (p *pairing) margin() float64 {
	return p.thresholds.For(p.name).In(p.scale, min(math.Abs(p.base.level()), math.Abs(p.head.level())))
}

// resolution returns the step of the measured values, on the scale on which they are compared: the step of the clock if the runs have
// the warning of a coarse clock, or the step that the values show; 0 if there is none.
func (p *pairing) resolution() float64 {
	tick := max(p.base.Tick, p.head.Tick)
	if tick == 0 {
		tick = p.stepShown()
	}
	if tick == 0 || p.byDifference() {
		return tick
	}
	return math.Log1p(tick / math.Exp(min(p.base.level(), p.head.level())))
}

// coarse is the relative size of a step from which on it matters, as for stat.WarnQuantised.
const coarse = judge.DefaultThreshold / 4

// minShown is the minimum number of runs, of both sides together, whose values can show a step: 4 finely measured times are all
// multiples of a coarse step less than once in 10,000 points.
const minShown = 4

// stepShown returns the step of times in ns, if the values themselves show it and it is coarse; otherwise 0. For example, an undeclared
// clock of 1 ms reads 10 ms again and again, and then 11 ms. By difference, where values may be 0, the step is compared with the largest
// value.
func (p *pairing) stepShown() float64 {
	if p.kind().Unit != "ns" || len(p.base.Locations)+len(p.head.Locations) < minShown {
		return 0
	}
	inUnit := func(locations ...float64) []float64 {
		for i, location := range locations {
			locations[i] = math.Abs(p.scale.InUnit(location))
		}
		return locations
	}
	least := slices.Min[[]float64]
	if p.byDifference() {
		least = slices.Max[[]float64]
	}
	if first := inUnit(p.base.Locations[0], p.head.Locations[0]); !p.byDifference() && stat.DecimalStep(first) < coarse*least(first) { // the usual case
		return 0
	}
	values := inUnit(slices.Concat(p.base.Locations, p.head.Locations)...)
	if step := stat.DecimalStep(values); step >= coarse*least(values) {
		return step
	}
	return 0
}

// state returns the verdict on a point that has no values on a side.
func (p *pairing) state() (verdict judge.Verdict, reason judge.Reason) {
	switch {
	case p.head == nil, p.head.Absent:
		return Missing, ""
	case p.base == nil:
		return Added, ""
	case p.base.measured() && p.head.measured():
		return judge.Estimate, cmp.Or(p.barred(), judge.NoValues)
	case p.head.skipped():
		return Unsupported, Skipped
	case p.base.measured() && p.head.unsupported(), p.base.unsupported() && p.head.unsupported():
		return Unsupported, ""
	case p.base.measured(), !p.head.measured():
		return Failed, ""
	}
	return Fixed, ""
}

// Skipped is the reason of Unsupported if the head skipped the point although it may be supported.
const Skipped judge.Reason = "skipped"

// Verdicts on points without values on a side.
const (
	Missing     judge.Verdict = "missing"     // the head does not have it
	Added       judge.Verdict = "added"       // the base does not have it
	Failed      judge.Verdict = "failed"      // the head has no ok run
	Fixed       judge.Verdict = "fixed"       // the base has no ok run, the head has
	Unsupported judge.Verdict = "unsupported" // the head does not support it
)
