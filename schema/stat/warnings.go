package stat

import (
	"math"
	"slices"
)

// Names of warnings about the samples of one run, stored with it. The equivalence margin below is a difference of 2 % between two
// points, which counts as unchanged: a disturbance matters if it could hide or mimic a larger one.
const (
	// WarnSpread: the robust spread of at least 10 samples, 1.4826 MAD / median, is above 10 %. It is the spread that tables show.
	WarnSpread = "spread"

	// WarnDrift: at least 10 samples rise or fall over the run, by more than 1 % of the median (half the equivalence margin) by
	// Theil and Sen's slope, and by the test of Mann and Kendall less than one run in a hundred would without a trend.
	// Clocks that heat throttles do this. Samples that resemble their neighbours seem to drift more easily.
	WarnDrift = "drift"

	// WarnModes: at least 20 samples gather around two values more than 2 % of the median apart, and farther than two
	// steps of the clock, with at least a tenth around each and a valley between: Ashman's D above 2. More iterations
	// will not help; something switches between two states.
	WarnModes = "modes"

	// WarnAutocorrelation: at least 20 samples determine their mean no better than a quarter as many independent ones
	// would (effectiveSize), and neighbours are significantly correlated, |ρ₁| > 2/√n. Intervals that take samples for
	// independent are too narrow.
	WarnAutocorrelation = "autocorrelation"

	// WarnQuantised: the step of the clock is more than 0.5 % of the median (a quarter of the equivalence margin). The step is the tick
	// of the stored samples or, if fewer than a tenth of the samples are distinct, the smallest difference between two of them, if that
	// is larger.
	WarnQuantised = "quantised"

	// WarnShort: the median is less than 20 times the smallest interval that the timer can measure, so a sample measures
	// much of the timer itself. Repeat the work within an iteration.
	WarnShort = "short"

	// WarnSlowStart: the first of at least 10 samples is more than twice the median, and farther from it than ten scaled
	// median absolute deviations: more warm-up is needed, or the work is cached.
	WarnSlowStart = "slow_start"

	// WarnUnsteady: at least 30 samples do not reach a steady state; see steadyStart.
	WarnUnsteady = "unsteady"
)

// Thresholds of the warnings. madScale makes the median absolute deviation of normal samples their standard deviation.
const (
	equivalenceMargin = .02
	warnLeast         = 10
	spreadLimit       = .10
	distinctShare     = .10
	sizeShare         = .25
	shortFloors       = 20
	slowRatio         = 2
	slowMADs          = 10
	madScale          = 1.4826
)

// Warnings returns the names of the warnings about the samples of one run, which are in the order in which they were taken. Values, tick
// (the resolution of the values) and timerFloor (the smallest interval that the timer can measure) have the same unit; tick and
// timerFloor are 0 if unknown. The result is empty if the median is not positive, or a sample is not finite.
func Warnings(values []float64, tick, timerFloor float64) []string {
	if len(values) == 0 || slices.ContainsFunc(values, notFinite) {
		return nil
	}
	sorted := ordered(values)
	middle := Quantile(sorted, .5)
	if middle <= 0 {
		return nil
	}
	n := len(values)
	step := clockStep(sorted, tick)
	_, steady := steadyStart(values)
	var words []string
	for _, w := range []struct {
		word  string
		holds bool
	}{
		{WarnSpread, n >= warnLeast && madScale*medianDeviation(sorted, middle) > spreadLimit*middle},
		{WarnDrift, n >= warnLeast && math.Abs(drift(values)) > equivalenceMargin/2*middle},
		{WarnModes, modesGap(sorted) > max(equivalenceMargin*middle, 2*step)},
		{WarnAutocorrelation, correlated(values)},
		{WarnQuantised, step > equivalenceMargin/4*middle},
		{WarnShort, middle < shortFloors*timerFloor},
		{WarnSlowStart, n >= warnLeast && slowStart(values[0], sorted, middle)},
		{WarnUnsteady, n >= steadyLeast && !steady},
	} {
		if w.holds {
			words = append(words, w.word)
		}
	}
	return words
}

// clockStep returns the step of the clock that ascending samples show, at least tick.
func clockStep(sorted []float64, tick float64) float64 {
	distinct, least := 1, math.Inf(1)
	for i := 1; i < len(sorted); i++ {
		if d := sorted[i] - sorted[i-1]; d > 0 {
			distinct++
			least = min(least, d)
		}
	}
	if distinct == 1 || float64(distinct) >= distinctShare*float64(len(sorted)) {
		return tick
	}
	return max(tick, least)
}

func correlated(values []float64) bool {
	size, ok := effectiveSize(values)
	n := float64(len(values))
	return ok && size < sizeShare*n && math.Abs(lag1(values)) > 2/math.Sqrt(n)
}

func slowStart(first float64, sorted []float64, middle float64) bool {
	return first > slowRatio*middle && first-middle > slowMADs*madScale*medianDeviation(sorted, middle)
}
