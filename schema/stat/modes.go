package stat

import (
	"math"
	"sort"
)

// Conditions for two modes.
const (
	modesLeast  = 20   // samples
	modesMinor  = .10  // least share of the smaller one
	modesAshman = 2    // least distance in terms of their widths
	modesValley = 2.58 // z of the difference between the valley and either mode: one-sided p of .005
)

// modesGap returns the distance between two modes of ascending samples, where they have two; 0 if they do not.
//
// Samples are cut in two so that the absolute deviations from the medians of the parts are least, with at least a tenth
// of the samples in each. These are modes where the medians lie far apart by Ashman's D > 2 (Ashman, Bird and Zepf, The
// Astronomical Journal 108, 1994; with scaled median absolute deviations for the widths), and fewer samples lie in the
// middle third of the way from one to the other than in as wide a window around each: a density with one mode is nowhere
// lower between two places than at both.
func modesGap(sorted []float64) float64 {
	if len(sorted) < modesLeast {
		return 0
	}
	cut := bestCut(sorted)
	low, high := Quantile(sorted[:cut], .5), Quantile(sorted[cut:], .5)
	gap := high - low
	width := madScale * math.Hypot(medianDeviation(sorted[:cut], low), medianDeviation(sorted[cut:], high))
	if math.Sqrt2*gap <= modesAshman*width {
		return 0
	}
	around := func(center float64) float64 {
		return float64(sort.SearchFloat64s(sorted, center+gap/6) - sort.SearchFloat64s(sorted, center-gap/6))
	}
	valley, lesser := around(low+gap/2), min(around(low), around(high))
	if lesser-valley <= modesValley*math.Sqrt(lesser+valley) {
		return 0
	}
	return gap
}

// bestCut returns the number of samples in the lower part.
func bestCut(sorted []float64) int {
	n := len(sorted)
	sums := make([]float64, n+1) // of the samples before each
	for i, v := range sorted {
		sums[i+1] = sums[i] + v
	}
	// deviation is the sum of absolute deviations of sorted[low:high] from its median.
	deviation := func(low, high int) float64 {
		return (sums[high] - sums[(low+high+1)/2]) - (sums[(low+high)/2] - sums[low])
	}
	least, best := int(math.Ceil(modesMinor*float64(n))), math.Inf(1)
	cut := least
	for k := least; k <= n-least; k++ {
		if d := deviation(0, k) + deviation(k, n); d < best {
			best, cut = d, k
		}
	}
	return cut
}
