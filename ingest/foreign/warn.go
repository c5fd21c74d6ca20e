package foreign

import (
	"math"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// Names of warnings about imported runs, besides those of schema/stat.
const (
	// WarnAggregates: the file has samples that cannot all be read, so its aggregates are used in place of them.
	WarnAggregates = "aggregates"

	// WarnMean: the file has neither samples nor a median of the primary metric, so its mean is used in place of the
	// median.
	WarnMean = "mean"

	// WarnNotFinite: samples of the primary metric are NaN or infinite, so there is no summary.
	WarnNotFinite = "not_finite"

	// WarnRounded: samples of the primary metric are integers that a float64 cannot represent, so the summary is rounded.
	// The samples are not.
	WarnRounded = "rounded"
)

// warnFailedRequests warns of failed requests, unless the file does: it may be of a run in which they are allowed.
func warnFailedRequests(r *schema.Run) {
	failed, all := schema.RequestsOf(r)
	if failed == 0 || r.Status != schema.StatusOK {
		return
	}
	text := schema.RequestsFailed(failed, all)
	if !slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.HasPrefix(w, text) }) {
		r.Warnings = append(r.Warnings, text)
	}
}

// maxWarned is the number of samples up to which their order is checked, because the checks take more than linear time.
const maxWarned = 10_000

// warnings gives the warnings about the primary metric of a run. Requests and tokens are different from each other, so
// their spread is no warning.
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
	return stat.Warnings(m.Values(), 0, 0) // the step of the clock is unknown
}
