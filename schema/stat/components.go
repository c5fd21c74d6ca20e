package stat

import (
	"math"
	"slices"
	"sort"
	"sync"
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

// How surely RunsNeeded finds a difference, and up to how many runs.
const (
	neededTail  = .025
	neededMiss  = .20
	neededLimit = 10_000
)

// RunsNeeded is how many runs a side find a difference of means: the least R of at least 2 with (t(0.975, 2R-2) +
// t(0.80, 2R-2))·√(2·variance/R) <= distance, where variance is that between runs and distance that of the difference
// from the nearest one that is not of interest, in its square root's unit. The 95 % interval then leaves that one out
// four times in five (Zar, Biostatistical Analysis, 4th edition 1999, chapter 8). ok is false where more than 10,000
// are needed, and where distance is not positive or variance is negative.
func RunsNeeded(variance, distance float64) (runs int, ok bool) {
	if !(variance >= 0) || !(distance > 0) {
		return 0, false
	}
	deviations := math.Sqrt(2*variance) / distance
	if table := neededUsual(); deviations <= table[len(table)-1] {
		return 2 + sort.SearchFloat64s(table, deviations), true
	}
	// Quantiles of t are above those of the normal distribution, so that no fewer than these are enough.
	infinite := math.Inf(1)
	least := (studentQuantile(neededTail, infinite) + studentQuantile(neededMiss, infinite)) * deviations
	for runs := math.Floor(least * least); runs <= neededLimit; runs++ {
		if found(runs) >= deviations {
			return int(runs), true
		}
	}
	return 0, false
}

// found is how many times the distance the standard deviation of a difference of two single runs may be, for so many
// runs a side to find it.
func found(runs float64) float64 {
	df := 2*runs - 2
	return math.Sqrt(runs) / (studentQuantile(neededTail, df) + studentQuantile(neededMiss, df))
}

// neededUsual is found for 2 runs and so on, ascending.
var neededUsual = sync.OnceValue(func() []float64 {
	table := make([]float64, 100)
	for i := range table {
		table[i] = found(float64(i + 2))
	}
	return table
})
