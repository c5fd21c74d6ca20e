package compare

import (
	"maps"
	"math"
	"slices"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// inOrder reports whether the locations are in the order in which the runs started: each start is known, and no two runs started together.
func (g *runGroup) inOrder() bool {
	return g.OneBlock == 0 && g.Started != nil && len(slices.Compact(slices.Clone(g.Started))) == len(g.Locations)
}

// knownStarts returns the starts of the runs that have one, ascending.
func (g *runGroup) knownStarts() []int64 {
	first, _ := slices.BinarySearch(g.Started, 1)
	return g.Started[first:]
}

// startsBySession returns the starts of the runs of each session, in Unix microseconds, ascending. Runs without a start are left out.
func (g *runGroup) startsBySession() map[string][]int64 {
	all, known := map[string][]int64{}, g.knownStarts()
	if len(g.Sessions) == 1 {
		all[g.Sessions[0]] = known
		return all
	}
	for i := len(g.Started) - len(known); i < len(g.Started); i++ {
		session := g.sessionOf(i)
		all[session] = append(all[session], g.Started[i])
	}
	return all
}

// sharesSession reports whether some session, known or not, has ok runs of both groups.
func (g *runGroup) sharesSession(other *runGroup) bool {
	return slices.ContainsFunc(g.Sessions, func(id string) bool {
		_, both := slices.BinarySearch(other.Sessions, id)
		return both
	})
}

// sessionOf returns the session of the run with location i; empty: unknown.
func (g *runGroup) sessionOf(i int) string {
	if len(g.Sessions) == 1 {
		return g.Sessions[0]
	}
	return g.Places[i].session
}

// placeOf returns the session and block of the run with location i.
func (g *runGroup) placeOf(i int) runPlace { return runPlace{g.sessionOf(i), g.Places[i].Block} }

// countRepeats returns the number of repeats up to the last ok run.
func (g *runGroup) countRepeats() int {
	last := int64(-1)
	for _, n := range g.Repeats {
		last = max(last, n)
	}
	return int(last) + 1
}

// upToRepeat returns the group as it was after a number of repeats.
func (g *runGroup) upToRepeat(repeats int) *runGroup {
	of := g.Repeats
	if len(of) != len(g.Locations) {
		return g
	}
	return g.only(func(i int) bool { return of[i] < int64(repeats) })
}

// ofSessions returns the group with only the runs of some sessions, which are given in ascending order. The start of each run must be
// known.
func (g *runGroup) ofSessions(sessions []string) *runGroup {
	some := g.only(func(i int) bool {
		_, there := slices.BinarySearch(sessions, g.sessionOf(i))
		return there
	})
	some.Sessions = sessions
	return some
}

// only returns the group with only some of its locations.
func (g *runGroup) only(kept func(i int) bool) *runGroup {
	some := *g
	some.Locations, some.Started, some.Places, some.Repeats, some.Median = nil, nil, nil, nil, nil
	for i, location := range g.Locations {
		if !kept(i) {
			continue
		}
		some.Locations, some.Started = append(some.Locations, location), append(some.Started, g.Started[i])
		if g.Places != nil {
			some.Places = append(some.Places, g.Places[i])
		}
		if g.Repeats != nil {
			some.Repeats = append(some.Repeats, g.Repeats[i])
		}
	}
	return &some
}

// differing returns the first of metric, unit, clock and level in which two kinds differ; empty: none.
func (k metricKind) differing(other metricKind) string {
	switch {
	case k.Name != other.Name:
		return "metric"
	case k.Unit != other.Unit:
		return "unit"
	case k.Clock != other.Clock:
		return "clock"
	case k.Level != other.Level:
		return "level"
	}
	return ""
}

// measured reports whether a run was ok, even if it has no finite value.
func (g *runGroup) measured() bool { return g.OK > 0 }

// unsupported reports whether there is no ok run, and no run failed: all are unsupported or skipped.
func (g *runGroup) unsupported() bool {
	for status := range g.Failed {
		if schema.Status(status).Failed() {
			return false
		}
	}
	return g.OK == 0 && len(g.Failed) > 0
}

// skipped reports whether all runs were skipped.
func (g *runGroup) skipped() bool {
	failed := g.Failed
	_, skipped := failed[string(schema.StatusSkipped)]
	return g.OK == 0 && skipped && len(failed) == 1
}

// failures returns the number of failed runs, without cancelled and lost ones.
func (g *runGroup) failures() (n int64) {
	for status, count := range g.Failed {
		s := schema.Status(status)
		if s.Failed() && s != schema.StatusCancelled && s != schema.StatusLost {
			k, _ := count.(int64)
			n += k
		}
	}
	return n
}

// statuses returns the numbers of runs per status.
func (g *runGroup) statuses() map[string]any {
	all := maps.Clone(g.Failed)
	if all == nil {
		all = map[string]any{}
	}
	if g.OK > 0 {
		all[string(schema.StatusOK)] = g.OK
	}
	return all
}

// level returns the location of the point: the median of the locations of its runs.
func (g *runGroup) level() float64 {
	if slices.IsSorted(g.Locations) {
		return stat.Quantile(g.Locations, .5)
	}
	const few = 32 // number of runs up to which no heap memory is needed
	var space [few]float64
	return stat.Median(append(space[:0], g.Locations...))
}

// shown returns the value of the point in the unit: the median of its runs' medians or, where means are compared, of their means.
func (g *runGroup) shown(scale schema.Scale) float64 {
	if g.Median != nil {
		return *g.Median
	}
	values := make([]float64, len(g.Locations))
	for i, location := range g.Locations {
		values[i] = scale.InUnit(location)
	}
	return stat.Median(values)
}

// values returns the group with the values of its runs instead of their logarithms. It does not change the group itself, which may be
// the base of other points.
func (g *runGroup) values() *runGroup {
	values := *g
	values.Locations = make([]float64, len(g.Locations))
	for i, location := range g.Locations {
		values.Locations[i] = math.Exp(location)
	}
	return &values
}

// median returns the median; it does not change the order of the values.
func median(values []float64) float64 { return stat.Median(slices.Clone(values)) }

// ofSamples returns the group with the samples of all runs as the replicates, instead of the runs. It does not change the group itself,
// which may be the base of other points, whose runs are compared. For a ratio all samples must be positive.
func (g *runGroup) ofSamples(values []any, scale schema.Scale) *runGroup {
	of := *g
	of.OneBlock, of.Repeats, of.Locations = len(g.Locations), nil, nil
	for _, v := range values {
		location, ok := v.(float64)
		switch {
		case !ok || math.IsNaN(location) || math.IsInf(location, 0):
			of.NoValue++
			continue
		case scale == schema.ScaleRatio:
			location = math.Log(location)
		}
		of.Locations = append(of.Locations, location)
	}
	return &of
}
