package stat

import (
	"cmp"
	"math"
	"slices"
)

// MinRamp is the number of values that a ramp has at least.
const MinRamp = 15

// Constants of the search for ramps.
const (
	rampBlock  = 3  // values of a block, at least
	rampBlocks = 12 // blocks, at most

	// Shares of alpha. The interval of the whole series gets the rest.
	rampEndings = .1 // of the parts that end with the newest value, together
	rampOthers  = .2 // of the seeded intervals, together
)

// walkExcess is the ratio of the standard deviations of two sums: of the increments between block means of a random walk, and of as many
// independent increments with the same variance. For long blocks, neighbouring increments are correlated by 1/4, and each has 2/3 of the
// variance that the walk gains in a block.
var walkExcess = math.Sqrt(1.5)

// Changes finds the changes of level of a series, and its slow rises and falls: the steps of changePoints outside of ramps, and ramps,
// each at the level alpha. A ramp has at least 15 values.
//
// A part is a ramp if the increments between the means of neighbouring blocks, of which there are 5 to 12, have a mean other than zero,
// by Student's t. This holds neither for a step, which has one large increment, nor for a random walk, nor for values whose neighbours
// are correlated. As for steps, the parts are seeded intervals, and also the intervals that end with the newest value, because a ramp
// that has not ended matters most. A ramp counts if a line through its values fits better than the steps that are found in them.
//
// The parts between ramps are searched for steps as separate series. Each has the level alpha again, so that a series with k ramps has a
// false step with a probability of at most (k+1)·alpha.
func (t *Trend) Changes(alpha float64, margin Margin) []ChangePoint {
	steps := t.changePoints(alpha, margin)
	ramps := slices.DeleteFunc(t.ramps(alpha, margin), func(r ChangePoint) bool { return !fitsBetter(t.series, r, steps) })
	if len(ramps) == 0 {
		return steps
	}
	var all []ChangePoint
	low := 0
	between := func(high int) {
		for _, p := range NewTrend(t.series[low:high]).changePoints(alpha, margin) {
			p.Index, p.After, p.By = p.Index+low, p.After+low, p.By+low
			all = append(all, p)
		}
	}
	for _, r := range ramps {
		between(r.Index)
		all = append(all, r)
		low = r.Until
	}
	between(len(t.series))
	return all
}

// fitsBetter reports whether the values of a ramp are nearer to its line than to the levels between steps.
func fitsBetter(series []float64, r ChangePoint, steps []ChangePoint) bool {
	first := r.Index - 1
	values := series[first:r.Until]
	slope := r.Shift.Value / float64(len(values)-1)
	rest := make([]float64, len(values))
	for i, v := range values {
		rest[i] = v - slope*float64(i)
	}
	var toLevels float64
	for from := 0; from < len(values); {
		to := len(values)
		if next := slices.IndexFunc(steps, func(p ChangePoint) bool { return p.Index > first+from && p.Index < r.Until }); next >= 0 {
			to = steps[next].Index - first
		}
		toLevels += absoluteDeviations(values[from:to])
		from = to
	}
	return absoluteDeviations(rest) < toLevels
}

// absoluteDeviations returns the sum of the absolute deviations of values from their median.
func absoluteDeviations(values []float64) (sum float64) {
	middle := Median(slices.Clone(values))
	for _, v := range values {
		sum += math.Abs(v - middle)
	}
	return sum
}

// ramps returns the ramps of a series, ascending. No two of them share a value.
func (t *Trend) ramps(alpha float64, margin Margin) []ChangePoint {
	if len(t.series) < MinRamp || slices.ContainsFunc(t.series, notFinite) {
		return nil
	}
	var all []change
	rampParts(len(t.series), func(low, size int, share float64) {
		if strength := math.Log(share) - math.Log(slopeOf(t.series[low:low+size]).p()); strength >= -math.Log(alpha) {
			all = append(all, change{strength: strength, low: low, high: low + size})
		}
	})
	slices.SortStableFunc(all, func(a, b change) int { return cmp.Compare(b.strength, a.strength) })
	var found []ChangePoint
	for _, c := range all {
		low, high := 0, len(t.series) // between the ramps that have been found
		overlaps := false
		for _, f := range found {
			overlaps = overlaps || c.low < f.Until && f.Index-1 < c.high
			if f.Until <= c.low {
				low = max(low, f.Until)
			} else {
				high = min(high, f.Index-1)
			}
		}
		if overlaps {
			continue
		}
		first, end := rampWithin(t.series[low:high], c.low-low, c.high-low)
		first, end = first+low, end+low
		r := ChangePoint{Index: first + 1, Until: end, After: first, By: end - 1, P: math.Exp(-c.strength), Shift: slopeOf(t.series[first:end]).shift()}
		if size := certain(r.Shift); size > 0 && size >= margin(t.series[first]) {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(a, b ChangePoint) int { return a.Index - b.Index })
	return found
}

// rampParts calls yield with the parts of a series of n values that may be a ramp, and their shares of alpha: the seeded intervals,
// beginning with the series itself, and parts that end with the newest value, whose lengths grow by the square root of two.
func rampParts(n int, yield func(low, size int, share float64)) {
	others := -1
	seeded(n, MinRamp, func(_, _ int) { others++ })
	var endings []int
	for length := MinRamp * math.Sqrt2; int(length) < n; length *= math.Sqrt2 {
		endings = append(endings, int(length))
	}
	whole := 1.
	if len(endings) > 0 {
		whole -= rampEndings
	}
	if others > 0 {
		whole -= rampOthers
	}
	seeded(n, MinRamp, func(low, size int) {
		if size == n {
			yield(low, size, whole)
		} else {
			yield(low, size, rampOthers/float64(others))
		}
	})
	for _, size := range endings {
		yield(n-size, size, rampEndings/float64(len(endings)))
	}
}

// slope is the mean increment from a value to the next, estimated from the means of blocks of neighbouring values.
type slope struct {
	mean, error float64 // error is the standard error of the mean if the values are a random walk, whose increments accumulate
	blocks      int
	values      int
}

// slopeOf returns the slope of values, which must be at least MinRamp.
func slopeOf(values []float64) slope {
	n := len(values)
	blocks := min(n/rampBlock, rampBlocks)
	increments := make([]float64, blocks-1)
	var before, centre float64
	for b := range blocks {
		low, high := b*n/blocks, (b+1)*n/blocks
		level, _ := moments(values[low:high])
		at := float64(low+high-1) / 2
		if b > 0 {
			increments[b-1] = (level - before) / (at - centre)
		}
		before, centre = level, at
	}
	mean, deviation := moments(increments)
	return slope{mean: mean, error: walkExcess * deviation / math.Sqrt(float64(blocks-1)), blocks: blocks, values: n}
}

// p returns the probability of such a slope in a series without a ramp. It is not smaller than 2/blocks!, the probability that the means
// of the blocks are in ascending or descending order. So a part of few blocks has no small p: with the alpha of a gate that runs each
// day of a year, it takes about 30 values, which have 10 blocks.
func (s slope) p() float64 {
	if s.mean == 0 {
		return 1
	}
	orders, _ := math.Lgamma(float64(s.blocks + 1))
	return max(2*studentTail(math.Abs(s.mean)/s.error, float64(s.blocks-2)), 2*math.Exp(-orders))
}

// shift is by how much the last value is above the first.
func (s slope) shift() Estimate {
	steps := float64(s.values - 1)
	half := studentQuantile((1-trendConfidence)/2, float64(s.blocks-2)) * s.error
	return Estimate{Value: steps * s.mean, Low: steps * (s.mean - half), High: steps * (s.mean + half), Confidence: trendConfidence}
}

// rampWithin moves the ends of a ramp to where a line between two levels fits best by least squares, of values smoothed by medians of
// three (Tukey, Exploratory Data Analysis, 1977), so that single outliers do not count. Its first value is at the level before, its last
// one at the level after.
func rampWithin(values []float64, first, end int) (bestFirst, bestEnd int) {
	smooth := slices.Clone(values)
	for i := 1; i < len(values)-1; i++ {
		smooth[i] = max(min(values[i-1], values[i]), min(max(values[i-1], values[i]), values[i+1]))
	}
	for range 2 { // alternate between the best first value and the best end, twice
		least := math.Inf(1)
		for f := 0; f <= end-MinRamp; f++ {
			if misfit := hingeMisfit(smooth, f, end-1); misfit < least {
				first, least = f, misfit
			}
		}
		least = math.Inf(1)
		for e := first + MinRamp; e <= len(values); e++ {
			if misfit := hingeMisfit(smooth, first, e-1); misfit < least {
				end, least = e, misfit
			}
		}
	}
	return first, end
}

// hingeMisfit returns the sum of the squared residuals of values about a level up to first, a line from first to last, and a level from
// last on.
func hingeMisfit(values []float64, first, last int) float64 {
	n := float64(len(values))
	var x, y, xx, xy, yy float64
	for i, v := range values {
		at := min(max(float64(i-first)/float64(last-first), 0), 1)
		v -= values[0]
		x, y, xx, xy, yy = x+at, y+v, xx+at*at, xy+at*v, yy+v*v
	}
	return yy - y*y/n - (xy-x*y/n)*(xy-x*y/n)/(xx-x*x/n)
}
