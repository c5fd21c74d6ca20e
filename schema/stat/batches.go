package stat

import "slices"

// bounds returns the ends of count batches of n samples in order: as many samples in each, give or take one. Batch i holds
// the samples from bounds[i] to bounds[i+1].
func bounds(n, count int) []int {
	ends := make([]int, count+1)
	for i := range ends {
		ends[i] = i * n / count
	}
	return ends
}

// batchMedians returns the medians of at most limit batches of samples, and where the batches end.
func batchMedians(values []float64, limit int) (medians []float64, ends []int) {
	count := min(len(values), limit)
	ends = bounds(len(values), count)
	medians = make([]float64, count)
	scratch := make([]float64, 0, len(values)/max(count, 1)+1)
	for i := range medians {
		scratch = append(scratch[:0], values[ends[i]:ends[i+1]]...)
		medians[i] = median(scratch)
	}
	return medians, ends
}

// median returns the median of samples, which it sorts.
func median(values []float64) float64 {
	slices.Sort(values)
	return Quantile(values, .5)
}
