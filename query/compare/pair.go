package compare

import (
	"math"
	"slices"
	"time"

	"github.com/neurolens/neurolens/query/internal/sides"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// kind is what the values of a point are: those of the head, if it has ok runs.
func (p *pairing) kind() sides.Kind {
	for _, g := range []*sides.Group{p.head, p.base} {
		if g != nil && g.Metric.Name != "" {
			return *g.Metric
		}
	}
	return sides.Kind{}
}

// byDifference tells whether the metric is compared by its difference.
func (p *pairing) byDifference() bool {
	return schema.ScaleOf(p.name) == schema.ScaleDifference
}

// whole tells whether both sides have values.
func (p *pairing) whole() bool {
	return p.base != nil && p.head != nil && len(p.base.Locations) > 0 && len(p.head.Locations) > 0
}

// relate finds how the runs of a point on both sides relate: which ran next to one another, which side came first, and
// whether what sessions differ by looks like a change. Where it was not read when each ran, each side is of one session, and
// they are apart as a whole.
func (p *pairing) relate(apart int64) {
	if !p.whole() {
		return
	}
	base, head := p.base.Starts(), p.head.Starts()
	p.ordered = isOrdered(base, head)
	if p.sameSessions() {
		if blocks := p.differences(); float64(len(blocks)) >= blockShare*float64(max(len(p.base.Locations), len(p.head.Locations))) {
			p.blocks = blocks
		}
		p.confounded = len(p.blocks) == 0 && !(p.balanced() && nearby(base, head))
	} else {
		p.confounded = true
	}
	if p.apart = apart; p.base.Started != nil && p.head.Started != nil {
		p.apart = p.sidesApart()
	}
}

// unknown is how far apart sides are of which it is not known.
const unknown = -1

// sidesApart is how far from one another, in microseconds, the sides ran as a whole.
func (m *comparing) sidesApart() int64 {
	if m.base.Since == 0 || m.head.Since == 0 {
		return unknown
	}
	return max(distance(m.base.Since, m.head.Since), distance(m.base.Until, m.head.Until))
}

// sidesApart is how far from one another, in microseconds, the middle runs of the sides of the point are. It is not known of
// runs of which nobody knows when they ran, or in which session.
func (p *pairing) sidesApart() int64 {
	base, head := p.base.Told(), p.head.Told()
	if len(base) == 0 || len(head) == 0 || slices.Contains(p.base.Sessions, "") || slices.Contains(p.head.Sessions, "") {
		return unknown
	}
	return distance(base[len(base)/2], head[len(head)/2])
}

func distance(a, b int64) int64 { return max(a-b, b-a) }

// toJudge is what there is to judge. A point that has no values on one side has none to judge on either.
func (p *pairing) toJudge() judge.Pair {
	if !p.whole() {
		return judge.Pair{}
	}
	pair := judge.Pair{
		Base: p.base.Locations, Head: p.head.Locations, Blocks: p.blocks, Ordered: p.ordered, Confounded: p.confounded, History: p.history,
		Barred: p.barred(),
	}
	if slices.Contains([]judge.Reason{judge.Units, judge.Wrong, judge.Unchecked}, pair.Barred) { // values are in no mean
		return judge.Pair{Barred: pair.Barred}
	}
	if p.base.Metric.Better == p.head.Metric.Better {
		pair.BetterOf(schema.Better(p.head.Metric.Better))
	}
	if !p.confounded { // of different sessions, more runs hardly change what is said
		pair.Looks, pair.Planned = p.looks(), p.planned
	}
	pair.DeadZone = p.deadZone()
	pair.Resolution = p.resolution()
	return pair
}

// blockShare is how many of the runs of each side have to be in blocks for these to stand for all; sessionShare by how
// much the shares of a session among the runs of the sides may differ, for what sessions differ by not to matter.
const (
	blockShare   = .8
	sessionShare = .1
)

// sameSessions tells whether the sides are of the same sessions, which are known.
func (p *pairing) sameSessions() bool {
	return slices.Equal(p.base.Sessions, p.head.Sessions) && len(p.base.Sessions) > 0 && p.base.Sessions[0] != ""
}

// balanced tells whether each session has about the same share of either side's runs.
func (p *pairing) balanced() bool {
	share := func(g *sides.Group, session string) float64 {
		n := 0
		for i := range g.Locations {
			if g.SessionOf(i) == session {
				n++
			}
		}
		return float64(n) / float64(len(g.Locations))
	}
	return !slices.ContainsFunc(p.base.Sessions, func(id string) bool {
		return math.Abs(share(p.base, id)-share(p.head, id)) > sessionShare
	})
}

// sidesGap is how far from one another the sides may run in a session, beside what the runs of a side are spread over. After
// a longer time the machine may be in another state, as in another session: what a file calls one may be several.
const sidesGap = 30 * time.Minute

// nearby tells whether in no session the sides ran far from one another. Of sides of one length, one right after the other,
// the middles are that length apart, which is twice the distance between the quartiles of each.
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

// isOrdered tells whether, in every session that both sides have, all runs of the same side came before those of the
// other.
func isOrdered(base, head map[string][]int64) bool {
	before, after, both := 0, 0, 0
	for session, b := range base {
		h := head[session]
		if len(b) == 0 || len(h) == 0 {
			continue
		}
		both++
		if b[len(b)-1] < h[0] {
			before++
		}
		if h[len(h)-1] < b[0] {
			after++
		}
	}
	return both > 0 && (before == both || after == both)
}

// differences are those of the runs that ran in the same block of the same session, in the order of the head's.
func (p *pairing) differences() []float64 {
	base := make(map[sides.Place]float64, len(p.base.Places))
	for i, l := range p.base.Places {
		if l.Block >= 0 {
			base[l] = p.base.Locations[i]
		}
	}
	var differences []float64
	for i, l := range p.head.Places {
		if location, ok := base[l]; ok {
			differences = append(differences, p.head.Locations[i]-location)
		}
	}
	return differences
}

// barred is why there can be no verdict: the sides are not comparable.
func (p *pairing) barred() judge.Reason {
	base, head := p.base, p.head
	differ := func(what, a, b string) bool {
		return a != b || base.Noted().Differing == what || head.Noted().Differing == what
	}
	switch {
	case differ("metric", base.Metric.Name, head.Metric.Name), differ("unit", base.Metric.Unit, head.Metric.Unit):
		return judge.Units
	case base.Noted().NonPositive+head.Noted().NonPositive > 0:
		return judge.NotPositive
	case base.Noted().Wrong+head.Noted().Wrong > 0:
		return judge.Wrong
	case slices.Contains(base.Noted().Warnings, schema.WarnUnchecked), slices.Contains(head.Noted().Warnings, schema.WarnUnchecked):
		return judge.Unchecked
	case differ("clock", base.Metric.Clock, head.Metric.Clock):
		return judge.Clocks
	case differ("level", base.Metric.Level, head.Metric.Level):
		return judge.Levels
	case base.Machine != head.Machine, base.Machine == "":
		return judge.Machines
	}
	return ""
}

// deadZone is the threshold of the metric in the scale in which it is compared. A metric that is compared by its
// difference has none unless it is given.
func (p *pairing) deadZone() float64 {
	return p.thresholds.For(p.name).In(schema.ScaleOf(p.name), p.base.Level())
}

// resolution is the step in which the metric was read, in the scale in which it is compared: that of the clock, where runs say
// that it is coarse, or that which the values show; 0 where neither does.
func (p *pairing) resolution() float64 {
	tick := max(p.base.Noted().Tick, p.head.Noted().Tick)
	if tick == 0 {
		tick = p.stepShown()
	}
	if tick == 0 || p.byDifference() {
		return tick
	}
	return math.Log1p(tick / math.Exp(min(p.base.Level(), p.head.Level())))
}

// coarse is the share of a value from which on the step in which it was read matters: as in stat.WarnQuantised.
const coarse = judge.DefaultThreshold / 4

// leastShown is how many runs together show a step: of 4 times that were read finely, all are multiples of a coarse one less
// than once in 10,000 points.
const leastShown = 4

// stepShown is the step in which times were read, in ns, as far as their own values show it and it matters; else 0. A clock
// of a millisecond that nobody named reads 10 ms each time, and then 11.
func (p *pairing) stepShown() float64 {
	if p.byDifference() || p.kind().Unit != "ns" || len(p.base.Locations)+len(p.head.Locations) < leastShown {
		return 0
	}
	first := []float64{math.Exp(p.base.Locations[0]), math.Exp(p.head.Locations[0])}
	if stat.DecimalStep(first) < coarse*slices.Min(first) { // as of nearly all
		return 0
	}
	values := make([]float64, 0, len(p.base.Locations)+len(p.head.Locations))
	for _, location := range slices.Concat(p.base.Locations, p.head.Locations) {
		values = append(values, math.Exp(location))
	}
	if step := stat.DecimalStep(values); step >= coarse*slices.Min(values) {
		return step
	}
	return 0
}

// state is what is said of a point that has no values on a side.
func (p *pairing) state() (verdict judge.Verdict, reason judge.Reason) {
	switch {
	case p.head == nil, p.head.Absent:
		return Missing, ""
	case p.base == nil:
		return Added, ""
	case p.base.Measured() && p.head.Measured():
		return judge.Estimate, p.barredOrNone()
	case p.head.Skipped():
		return Unsupported, Skipped
	case p.base.Measured() && p.head.Unsupported(), p.base.Unsupported() && p.head.Unsupported():
		return Unsupported, ""
	case p.base.Measured(), !p.head.Measured():
		return Failed, ""
	}
	return Fixed, ""
}

func (p *pairing) barredOrNone() judge.Reason {
	if barred := p.barred(); barred != "" {
		return barred
	}
	return judge.NoValues
}

// Skipped is the reason of a point that the head could have run, but did not.
const Skipped judge.Reason = "skipped"

// What is said of points that are not on both sides.
const (
	Missing     judge.Verdict = "missing"     // the head does not have it
	Added       judge.Verdict = "added"       // the base does not have it
	Failed      judge.Verdict = "failed"      // no run of the head is ok
	Fixed       judge.Verdict = "fixed"       // no run of the base is ok, some of the head are
	Unsupported judge.Verdict = "unsupported" // the head does not support it
)
