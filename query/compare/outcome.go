package compare

import (
	"maps"
	"math"
	"slices"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// Measured reports whether a run was ok, even if it has no finite value.
func (g *sideGroup) Measured() bool { return g.OK > 0 }

// Unsupported reports whether there is no ok run, and no run failed: all are unsupported or skipped.
func (g *sideGroup) Unsupported() bool {
	for status := range g.Noted().Failed {
		if schema.Status(status).Failed() {
			return false
		}
	}
	return g.OK == 0 && len(g.Noted().Failed) > 0
}

// Skipped reports whether all runs were skipped.
func (g *sideGroup) Skipped() bool {
	failed := g.Noted().Failed
	_, skipped := failed[string(schema.StatusSkipped)]
	return g.OK == 0 && skipped && len(failed) == 1
}

// Failures is the number of failed runs, without cancelled and lost ones.
func (g *sideGroup) Failures() (n int64) {
	for status, count := range g.Noted().Failed {
		s := schema.Status(status)
		if s.Failed() && s != schema.StatusCancelled && s != schema.StatusLost {
			k, _ := count.(int64)
			n += k
		}
	}
	return n
}

// Statuses are the numbers of runs per status.
func (g *sideGroup) Statuses() map[string]any {
	all := maps.Clone(g.Noted().Failed)
	if all == nil {
		all = map[string]any{}
	}
	if g.OK > 0 {
		all[string(schema.StatusOK)] = g.OK
	}
	return all
}

// Level is the location of the point: the median of those of its runs.
func (g *sideGroup) Level() float64 {
	if slices.IsSorted(g.Locations) {
		return stat.Quantile(g.Locations, .5)
	}
	const few = 32 // up to which it needs no memory from the heap
	var space [few]float64
	return stat.Median(append(space[:0], g.Locations...))
}

// Values returns the group with the values of its runs in place of their logarithms. The group itself may be the base of other points.
func (g *sideGroup) Values() *sideGroup {
	g = g.clone()
	g.Locations = slices.Clone(g.Locations)
	for i, location := range g.Locations {
		g.Locations[i] = math.Exp(location)
	}
	return g
}

// medianOf is the median.
func medianOf(values []float64) float64 {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	return stat.Quantile(sorted, .5)
}

// OfSamples is the group with the samples of all runs as the replicates, instead of the runs. The group itself may be the base of
// other points, whose runs are compared. For a ratio all samples must be positive.
func (g *sideGroup) OfSamples(values []any, scale schema.Scale) *sideGroup {
	n := len(g.Locations)
	g = g.clone()
	g.Note().OneBlock = n
	g.Note().Repeats, g.Locations, g.InOrder = nil, nil, false
	for _, v := range values {
		location, ok := v.(float64)
		switch {
		case !ok || math.IsNaN(location) || math.IsInf(location, 0):
			g.Note().NoValue++
			continue
		case scale == schema.ScaleRatio:
			location = math.Log(location)
		}
		g.Locations = append(g.Locations, location)
	}
	return g
}
