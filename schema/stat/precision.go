package stat

import (
	"math"
	"slices"
	"sort"
)

// precisionLeast is the fewest samples, replicates the fewest and the most batches that they are divided into (Schmeiser,
// "Batch Size Effects in the Analysis of Simulation Output", Operations Research 30, 1982: 10 to 30 batches suffice).
const (
	precisionLeast = 20
	batchesLeast   = 10
	batchesMost    = 30
	runsLeast      = 3
	stopLeast      = 5 // minimum number of runs
	stopTimes      = 3 // number of consecutive runs that have to be precise
)

// BatchMeans estimates how precisely the samples of one run determine their median. relError is the half-width of its 95 % interval,
// relative to the median: 0.01 means that more iterations of this same run are expected to move the median by at most 1 %. It does not
// cover differences between runs; see RunsRelError.
//
// The interval comes from the method of batch means, which is robust against autocorrelation as long as a batch is long compared to it:
// t(0.975, b-1)·s/√b, where s is the standard deviation of the medians of b consecutive batches, and b is √n, at least 10 and at most
// 30. It uses medians because the location of a run is a median: a few slow samples would widen the interval of the mean tenfold. To
// stop at a precision, check again only after a fifth more samples: a check after every sample stops too early by chance.
//
// ok is false for fewer than 20 samples, if one is not finite, and if the median is not positive.
func BatchMeans(values []float64) (relError float64, ok bool) {
	if len(values) < precisionLeast || slices.ContainsFunc(values, notFinite) {
		return 0, false
	}
	location := median(slices.Clone(values))
	if location <= 0 {
		return 0, false
	}
	medians, _ := batchMedians(values, batchCount(len(values)))
	relError = halfWidth(medians) / location
	return relError, !notFinite(relError)
}

// RunsRelError estimates how precisely runs determine the location of a point, from the natural logarithms of their locations
// (Summary.LogMedian). relError is the relative excess of the upper end of the 95 % t interval over the location, e^h - 1 with h =
// t(0.975, R-1)·s/√R. ok is false for fewer than 3 runs and for a location that is not finite.
func RunsRelError(logLocations []float64) (relError float64, ok bool) {
	if len(logLocations) < runsLeast || slices.ContainsFunc(logLocations, notFinite) {
		return 0, false
	}
	relError = math.Expm1(halfWidth(logLocations))
	return relError, !notFinite(relError)
}

// RunsPrecise reports whether a point has enough runs: whether RunsRelError is at most relError three times in a row (with all runs,
// without the last, and without the last two), from 5 runs on. So 7 runs are the minimum. The locations are in the order of the runs.
//
// A check after each run tends to stop where the spread looks smaller than it is (Anscombe, Proceedings of the Cambridge Philosophical
// Society 48, 1952), so the interval at which it stops covers the location in less than 95 % of cases. Each row of the table is a rule:
// the number of runs from which the precision counts, and how often in a row. It has the smallest coverage for a spread of runs of 0.2
// to 10 times relError, with at most 20 runs, and the number of runs for a spread of relError:
//
//	from 3, once           90.3 %   6.1 runs
//	from 5, once           92.1 %   6.7 runs
//	from 3, twice          92.2 %   7.4 runs
//	from 5, twice          92.9 %   7.8 runs
//	from 5, three times    93.4 %   8.9 runs
//
// TestRunsPreciseCovers has the cells of the last row. With a spread of twice relError, 55 % of points stop within 20 runs, and 94 % of
// these intervals cover the location. Of the 2 % that stop at 7 runs by chance, four in five cover it.
func RunsPrecise(logLocations []float64, relError float64) bool {
	for last := range stopTimes {
		runs := len(logLocations) - last
		if runs < stopLeast {
			return false
		}
		if got, ok := RunsRelError(logLocations[:runs]); !ok || got > relError {
			return false
		}
	}
	return true
}

// MaxRunsNeeded is the largest number that RunsNeeded returns.
const MaxRunsNeeded = 1000

// RunsNeeded returns the number of runs, with those that there are, after which RunsPrecise would probably hold; 0 if that is more than
// 1,000, or if RunsRelError is not known. It goes by the upper 80 % confidence limit of the variance of the runs, because the estimate itself
// promises too much in half of all cases (Browne, Statistics in Medicine 14, 1995).
func RunsNeeded(logLocations []float64, relError float64) int {
	if _, ok := RunsRelError(logLocations); !ok || relError <= 0 {
		return 0
	}
	_, deviation := moments(logLocations)
	variance := UpperVariance(deviation*deviation, float64(len(logLocations)-1), .8)
	least, half := stopLeast+stopTimes-1, math.Log1p(relError)
	more := sort.Search(MaxRunsNeeded+1-least, func(i int) bool {
		n := float64(least + i)
		return studentQuantile(.025, n-1)*math.Sqrt(variance/n) <= half
	})
	if least+more > MaxRunsNeeded {
		return 0
	}
	return least + more
}

// UpperVariance returns the upper confidence limit, with a confidence of share, of a variance that was estimated with df degrees of freedom,
// by the approximation of chi-squared of Wilson and Hilferty (Proceedings of the National Academy of Sciences 17, 1931).
func UpperVariance(variance, df, share float64) float64 {
	if math.IsInf(df, 1) {
		return variance
	}
	part := 2 / (9 * df)
	root := 1 - part - math.Sqrt2*math.Erfcinv(2*(1-share))*math.Sqrt(part)
	return variance / (root * root * root)
}

// halfWidth is half the width of the 95 % t interval of the mean of independent values.
func halfWidth(values []float64) float64 {
	_, deviation := moments(values)
	n := float64(len(values))
	return studentQuantile(.025, n-1) * deviation / math.Sqrt(n)
}

// batchCount returns the number of batches for the precision of n samples.
func batchCount(n int) int {
	return min(max(int(math.Sqrt(float64(n))), batchesLeast), batchesMost)
}

// effectiveSize returns the effective sample size, the number of independent samples that would determine the mean equally well:
// n·s²/(B·s_b²), where s is the standard deviation of the samples and s_b the standard deviation of the means of batches of B samples,
// with the batches of BatchMeans. It is at most n. ok is false for fewer than 20 samples, if all samples are equal, and if one is not
// finite.
func effectiveSize(values []float64) (samples float64, ok bool) {
	if len(values) < precisionLeast || slices.ContainsFunc(values, notFinite) {
		return 0, false
	}
	ends := bounds(len(values), batchCount(len(values)))
	means := make([]float64, len(ends)-1)
	for i := range means {
		means[i], _ = moments(values[ends[i]:ends[i+1]])
	}
	_, deviation := moments(values)
	_, between := moments(means)
	// n/B is the number of batches.
	samples = float64(len(means)) * (deviation / between) * (deviation / between)
	if math.IsNaN(samples) {
		return 0, false
	}
	return min(samples, float64(len(values))), true
}
