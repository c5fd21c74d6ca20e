package stat

import (
	"math"
	"slices"
)

// What steadyStart looks for.
const (
	steadyLeast     = 30  // samples; with fewer the last sixth is shorter than the shortest segment
	steadyBatches   = 200 // at most
	steadyTolerance = .05 // by which the medians of steady segments may differ from the last one's
	segmentLeast    = 5   // batches on either side of a change
)

// steadyStart finds where the steady state of a run begins: index is its first sample, counted from 0. There is none (ok is
// false) where the samples still change in the last sixth of the run, where there are fewer than 30, too few to tell,
// and where one is not finite.
//
// The medians of at most 200 batches are cut where their level changes; from the last segment back, those whose median
// is within 5 % of the last one's are the steady state. The place is right to within a batch or two; a level held for
// less than 5 batches is not seen, nor would it move the median.
func steadyStart(values []float64) (index int, ok bool) {
	if len(values) < steadyLeast || slices.ContainsFunc(values, notFinite) {
		return 0, false
	}
	medians, ends := batchMedians(values, steadyBatches)
	begins := append([]int{0}, changes(medians, threshold(len(medians)))...)
	end := len(medians)
	steady, last := end, 0.0
	for i, begin := range slices.Backward(begins) {
		level := median(slices.Clone(medians[begin:end]))
		if i == len(begins)-1 {
			last = level
		}
		if math.Abs(level-last) > steadyTolerance*math.Abs(last) {
			break
		}
		steady, end = begin, begin
	}
	if 6*steady >= 5*len(medians) {
		return 0, false
	}
	return ends[steady], true
}

// changes are the ascending places where the level of a series changes. Where nearly all values are equal, an exception
// passes for a change: whoever acts on one compares the medians of its sides.
func changes(series []float64, threshold float64) []int {
	var places []int
	if slices.Min(series) == slices.Max(series) { // as with what is counted, not timed: bytes, allocations
		return nil
	}
	for _, c := range above(candidates(series, segmentation{least: segmentLeast}), threshold) {
		places = append(places, c.at)
	}
	slices.Sort(places)
	return places
}
