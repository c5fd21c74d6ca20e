package stat

import (
	"math"
	"slices"
	"sync"
)

// Constants of steadyStart.
const (
	steadyLeast     = 30  // samples; with fewer the last sixth is shorter than the shortest segment
	steadyBatches   = 200 // at most
	steadyTolerance = .05 // by which the medians of steady segments may differ from the last one's
	segmentLeast    = 5   // batches on either side of a change
)

// steadyScores are the normal scores of the seeded intervals of as many batches as most runs have, by their size.
var steadyScores = sync.OnceValue(func() map[int][]float64 {
	scores := map[int][]float64{}
	seeded(steadyBatches, 2*segmentLeast, func(_, size int) {
		if scores[size] == nil {
			scores[size] = normalScores(size)
		}
	})
	return scores
})

// steadyStart finds where the steady state of a run begins: index is its first sample, from 0. ok is false if the samples
// still change in the last sixth of the run, if there are fewer than 30, or if one is not finite.
//
// The medians of at most 200 batches are divided where their level changes. The steady state consists of the last
// segments whose median is within 5 % of the last one's. The index is right to within a batch or two. A level of less
// than 5 batches is not found, but it would not move the median either.
func steadyStart(values []float64) (index int, ok bool) {
	if len(values) < steadyLeast || !allFinite(values) {
		return 0, false
	}
	medians, ends := batchMedians(values, steadyBatches)
	changed := changes(medians, threshold(len(medians)))
	if changed == nil { // one segment
		return 0, true
	}
	begins := append([]int{0}, changed...)
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

// changes returns the ascending indices where the level of a series changes. If nearly all values are equal, an exception passes for a
// change, so callers compare the medians of the two sides before they use one.
func changes(series []float64, threshold float64) []int {
	var places []int
	if slices.Min(series) == slices.Max(series) { // typical of counts such as bytes and allocations
		return nil
	}
	for _, c := range above(candidates(series, segmentation{least: segmentLeast}, threshold), threshold) {
		places = append(places, c.at)
	}
	slices.Sort(places)
	return places
}

// steadyThresholds are the thresholds for the strongest change of n values: the 0.95 quantiles of the strongest change of n exchangeable
// values without ties, which is the 950th of 999 shuffles in ascending order. They depend only on ranks, so they hold for any
// distribution. The test of this table draws it again.
var steadyThresholds = []struct {
	n         int
	threshold float64
}{
	{30, 2.8782479208},
	{40, 3.0561952723},
	{60, 3.1803609843},
	{80, 3.3494592428},
	{100, 3.4327108718},
	{150, 3.5890508721},
	{200, 3.6383633787},
}

// threshold returns the threshold for the strongest change of n values, for n of the table's first to its last. It interpolates linearly
// between rows.
func threshold(n int) float64 {
	for i, right := range steadyThresholds {
		if n == right.n {
			return right.threshold
		}
		if n < right.n {
			left := steadyThresholds[i-1]
			share := float64(n-left.n) / float64(right.n-left.n)
			return left.threshold + share*(right.threshold-left.threshold)
		}
	}
	return steadyThresholds[len(steadyThresholds)-1].threshold
}
