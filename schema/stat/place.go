package stat

import (
	"math"
	"slices"
)

// placeLimit is the likelihood ratio up to which an index belongs to the 95 % interval of a change point: -2 log(1 - √0.95) (Hansen,
// "Sample splitting and threshold estimation", Econometrica 68, 2000).
var placeLimit = -2 * math.Log(1-math.Sqrt(trendConfidence))

// enclosing returns the confidence interval of the position of a step between two segments, from low up to high: the last value that
// certainly belongs to the level before, and the first one that certainly belongs to the level after. The interval contains the
// positions at which the misfit of the two levels is not much larger than at the best one, in variances that allow for the correlation
// of neighbours.
func enclosing(series []float64, low, at, high int) (after, by int) {
	values := series[low:high]
	s := shifts{}
	s.setResiduals(values, levelShift{at: at - low, low: medianOfAll(series[low:at]), high: medianOfAll(series[at:high])})
	clip := s.clip()
	if clip == 0 {
		clip = math.Inf(1)
	}
	sd := scatter(s.residuals, clip)
	limit := placeLimit * sd * sd * inflationOf(s.residuals) * inflationOf(s.residuals)
	before, later := medianOfAll(series[low:at]), medianOfAll(series[at:high])
	misfits := make([]float64, len(values)) // of a step that begins at each value, relative to the misfit without a step
	var sum float64
	for i := 1; i < len(values); i++ {
		sum += huber(values[i-1]-before, clip) - huber(values[i-1]-later, clip)
		misfits[i] = sum
	}
	least := math.Inf(1)
	for _, misfit := range misfits[1:] {
		least = min(least, misfit)
	}
	first, last := at, at
	for i, misfit := range misfits {
		if i > 0 && misfit <= least+limit {
			first, last = min(first, low+i), max(last, low+i)
		}
	}
	return first - 1, last
}

// medianOfAll returns the median of values without reordering them.
func medianOfAll(values []float64) float64 { return Median(slices.Clone(values)) }

// huber returns Huber's loss of a residual, which is quadratic up to a bound and linear beyond (Annals of Mathematical Statistics 35,
// 1964).
func huber(residual, bound float64) float64 {
	if size := math.Abs(residual); size > bound {
		return bound * (2*size - bound)
	}
	return residual * residual
}
