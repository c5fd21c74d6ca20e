package stat

import (
	"slices"
)

// Components are the variance of samples within runs and that of the levels of runs, in the square of the unit of the
// samples, by the analysis of variance of runs of different length (Searle, Casella and McCulloch, Variance Components,
// 1992, chapter 3): within is MSW and between (MSB - MSW) / n₀, or 0 where that is negative, with n₀ = (N - Σ n_j² / N)
// / (R - 1). Runs without samples do not count. ok is false for fewer than 2 runs, where none has 2 samples, and where
// a sample or a variance is not finite.
func Components(runs [][]float64) (within, between float64, ok bool) {
	var count, squaredCounts, inside, total float64
	means, weights := make([]float64, 0, len(runs)), make([]float64, 0, len(runs))
	for _, run := range runs {
		if len(run) == 0 {
			continue
		}
		if slices.ContainsFunc(run, notFinite) {
			return 0, 0, false
		}
		n := float64(len(run))
		mean, _ := moments(run)
		count += n
		squaredCounts += n * n
		inside += squares(run)
		total += (mean - total) * n / count // the mean of all samples so far
		means, weights = append(means, mean), append(weights, n)
	}
	of := float64(len(means))
	if of < 2 || count == of {
		return 0, 0, false
	}
	var outside float64
	for i, mean := range means {
		outside += weights[i] * (mean - total) * (mean - total)
	}
	within = inside / (count - of)
	size := (count - squaredCounts/count) / (of - 1)
	between = max(0, (outside/(of-1)-within)/size)
	return within, between, !notFinite(within) && !notFinite(between)
}
