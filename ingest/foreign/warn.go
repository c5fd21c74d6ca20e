package foreign

import (
	"math"
	"slices"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// Words of warning about runs of files, beside those of schema/stat.
const (
	// WarnMean: the file has neither samples nor a median of the primary metric. Where a median would stand for the run,
	// its mean does.
	WarnMean = "mean"

	// WarnNotFinite: samples of the primary metric are NaN or infinite, so that nothing sums it up.
	WarnNotFinite = "not_finite"

	// WarnRounded: samples of the primary metric are integers that real numbers do not hold, so that what sums them up is
	// rounded. The samples are not.
	WarnRounded = "rounded"
)

// maxWarned is of how many samples something is said about their order: what finds out takes longer than linear time.
const maxWarned = 10_000

// warnings are the words about the primary metric of a run. Requests and tokens differ by what they ask for: that they
// spread says nothing.
func warnings(r *schema.Run) []string {
	m := r.Metric(r.Primary)
	if m == nil {
		return nil
	}
	if m.Ticks == nil && m.Reals == nil {
		if m.Summary.P50 == nil && m.Summary.Mean != nil {
			return []string{WarnMean}
		}
		return nil
	}
	if slices.ContainsFunc(m.Reals, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
		return []string{WarnNotFinite}
	}
	if slices.ContainsFunc(m.Ticks, func(t int64) bool { return t > exactIntegers || t < -exactIntegers }) {
		return []string{WarnRounded}
	}
	timed := m.Level == schema.LevelIteration || m.Level == schema.LevelProcess
	if !timed || max(len(m.Ticks), len(m.Reals)) > maxWarned {
		return nil
	}
	return stat.Warnings(m.Values(), 0, 0) // the step of the clock is not known
}
