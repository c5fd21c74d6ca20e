package query

import (
	"maps"
	"math"
	"slices"

	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// metric is the name of the metric of a point: that of its ok runs.
func (p *pairing) metric() string {
	if p.head != nil && p.head.metric.name != "" {
		return p.head.metric.name
	}
	if p.base != nil && p.base.metric.name != "" {
		return p.base.metric.name
	}
	return ""
}

// byDifference tells whether the metric is compared by its difference.
func (p *pairing) byDifference() bool {
	k, ok := schema.KindOfMetric(p.name)
	return ok && k.Scale == schema.ScaleDifference
}

// whole tells whether both sides have values.
func (p *pairing) whole() bool {
	return p.base != nil && p.head != nil && len(p.base.locations) > 0 && len(p.head.locations) > 0
}

// pair is what there is to judge. A point that has no values on one side has none to judge on either.
func (p *pairing) toJudge(thresholds map[string]Threshold) compare.Pair {
	if !p.whole() {
		return compare.Pair{}
	}
	pair := compare.Pair{
		Base: p.base.locations, Head: p.head.locations,
		Confounded: !slices.Equal(p.base.sessions, p.head.sessions), History: p.history, Barred: p.barred(),
	}
	pair.BetterOf(schema.Better(p.head.metric.better))
	if !pair.Confounded {
		pair.Blocks, pair.Ordered = p.blocks(), p.oneAfterTheOther()
	}
	if pair.Barred == compare.Units {
		pair.Base, pair.Head, pair.Blocks = nil, nil, nil
		return pair
	}
	pair.DeadZone = p.deadZone(thresholds)
	pair.Resolution = p.resolution()
	return pair
}

// blocks are the differences of the runs that ran in the same block of the same session, in the order of the head's.
func (p *pairing) blocks() []float64 {
	base := make(map[place]float64, len(p.base.places))
	for i, l := range p.base.places {
		if l.block >= 0 {
			base[l] = p.base.locations[i]
		}
	}
	var differences []float64
	for i, l := range p.head.places {
		if location, ok := base[l]; ok {
			differences = append(differences, p.head.locations[i]-location)
		}
	}
	return differences
}

// barred is why there can be no verdict: the sides are not comparable.
func (p *pairing) barred() compare.Reason {
	base, head := p.base, p.head
	differ := func(what, a, b string) bool { return a != b || base.differing == what || head.differing == what }
	switch {
	case differ("metric", base.metric.name, head.metric.name), differ("unit", base.metric.unit, head.metric.unit):
		return compare.Units
	case base.nonPositive+head.nonPositive > 0:
		return compare.NotPositive
	case differ("clock", base.metric.clock, head.metric.clock):
		return compare.Clocks
	case differ("level", base.metric.level, head.metric.level):
		return compare.Levels
	case base.machine != head.machine:
		return compare.Machines
	}
	return ""
}

// deadZone is the threshold of the metric in the scale in which it is compared. A metric that is compared by its
// difference has none unless it is given.
func (p *pairing) deadZone(thresholds map[string]Threshold) float64 {
	byDifference := p.byDifference()
	t, ok := thresholds[p.name]
	if !ok {
		t, ok = thresholds[""]
		ok = ok && t.Absolute == byDifference
	}
	switch {
	case !ok && byDifference:
		return 0
	case !ok:
		return math.Log1p(DefaultThreshold)
	case t.Absolute == byDifference && byDifference:
		return t.Value
	case t.Absolute:
		return math.Log1p(t.Value / math.Exp(p.base.level()))
	case byDifference:
		return t.Value * math.Abs(p.base.level())
	}
	return math.Log1p(t.Value)
}

// level is the location of the point: the median of those of its runs.
func (g *group) level() float64 {
	return stat.Quantile(slices.Sorted(slices.Values(g.locations)), .5)
}

// resolution is the step in which the metric was read, where runs say that it is coarse: at least one of the stored unit.
func (p *pairing) resolution() float64 {
	if !p.base.warns(stat.WarnQuantised) && !p.head.warns(stat.WarnQuantised) {
		return 0
	}
	if p.byDifference() {
		return 1
	}
	return math.Log1p(1 / math.Exp(min(p.base.level(), p.head.level())))
}

func (g *group) warns(word string) bool { return slices.Contains(g.warnings, word) }

// state is what is said of a point that has no values on a side.
func (p *pairing) state() (verdict compare.Verdict, reason compare.Reason) {
	switch {
	case p.head == nil:
		return Missing, ""
	case p.base == nil:
		return Added, ""
	case p.base.measured() && p.head.measured():
		return compare.Estimate, p.barredOrNone()
	case p.base.measured() && p.head.unsupported(), p.base.unsupported() && p.head.unsupported():
		return Unsupported, ""
	case p.base.measured(), !p.head.measured():
		return Failed, ""
	}
	return Fixed, ""
}

func (p *pairing) barredOrNone() compare.Reason {
	if barred := p.barred(); barred != "" {
		return barred
	}
	return compare.NoValues
}

// What is said of points that are not on both sides.
const (
	Missing     compare.Verdict = "missing"     // the head does not have it
	Added       compare.Verdict = "added"       // the base does not have it
	Failed      compare.Verdict = "failed"      // no run of the head is ok
	Fixed       compare.Verdict = "fixed"       // no run of the base is ok, some of the head are
	Unsupported compare.Verdict = "unsupported" // the head does not support it
)

// measured tells whether a run was ok, whether or not it has a finite value.
func (g *group) measured() bool { return g.ok > 0 }

// unsupported tells whether the runs did not fail, but are not possible.
func (g *group) unsupported() bool {
	for status := range g.failed {
		if schema.Status(status).Failed() {
			return false
		}
	}
	return g.ok == 0 && len(g.failed) > 0
}

// failures is the number of runs that failed by themselves: nobody cancelled them, no supervisor was lost.
func (g *group) failures() (n int64) {
	for status, count := range g.failed {
		s := schema.Status(status)
		if s.Failed() && s != schema.StatusCancelled && s != schema.StatusLost {
			k, _ := count.(int64)
			n += k
		}
	}
	return n
}

// statuses are the numbers of runs by how they ended.
func (g *group) statuses() map[string]any {
	all := maps.Clone(g.failed)
	if all == nil {
		all = map[string]any{}
	}
	if g.ok > 0 {
		all[string(schema.StatusOK)] = g.ok
	}
	return all
}
