package stat

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// PermutationP returns the p values of statistics by permutation: of the data (the first) and of each permutation (all others). The data
// count among the permutations, so no p value is 0 (Phipson and Smyth, Statistical Applications in Genetics and Molecular Biology 9,
// 2010). Larger statistics are stronger evidence; differences of less than a billionth are ties.
func PermutationP(statistics []float64) []float64 {
	sorted := ordered(statistics)
	p := make([]float64, len(statistics))
	for i, v := range statistics {
		below, _ := slices.BinarySearch(sorted, v-1e-9)
		p[i] = float64(len(statistics)-below) / float64(len(statistics))
	}
	return p
}

// AdjustMinP adjusts p values so that a level bounds the family-wise error rate, the probability of even one false rejection: the
// step-down procedure by the smallest p (Westfall and Young, Resampling-Based Multiple Testing, 1993; Ge, Dudoit and Speed, Test 12,
// 2003). Unlike Holm's procedure it takes into account the dependence between the tests, and that a test of few cases cannot have a
// small p: permuted[i][k] is the p of test i for permutation k, as PermutationP returns it; the permutations are the same for all tests.
// A test of weight w counts as if its p were p / w, as in Holm 1979; the weights may not depend on the tested data.
func AdjustMinP(p []float64, permuted [][]float64, weights []float64) []float64 {
	adjusted := make([]float64, len(p))
	if len(p) == 0 {
		return adjusted
	}
	weighted := make([]float64, len(p))
	for i := range p {
		weighted[i] = p[i] / weights[i]
	}
	order := ascending(weighted)
	least := slices.Repeat([]float64{math.Inf(1)}, len(permuted[0]))
	for _, i := range slices.Backward(order) {
		count := 0
		for k, q := range permuted[i] {
			least[k] = min(least[k], q/weights[i])
			if least[k] <= weighted[i]*(1+1e-12) {
				count++
			}
		}
		adjusted[i] = float64(count) / float64(len(least))
	}
	last := 0.
	for _, i := range order {
		last = max(last, adjusted[i], min(1, p[i]))
		adjusted[i] = last
	}
	return adjusted
}

// Autocorrelated corrects the two-sided p of a correlation for autocorrelated series. p is the value for independent values, and rho is
// the product of the lag-1 autocorrelations of both series: the variance of their covariance is (1 + rho) / (1 - rho) times as large
// (Bartlett, Journal of the Royal Statistical Society 98, 1935). A rho that is not positive changes nothing.
func Autocorrelated(p, rho float64) float64 {
	if !(rho > 0) || p >= 1 {
		return p
	}
	rho = min(rho, .99)
	z := mathext.NormalQuantile(1-p/2) * math.Sqrt((1-rho)/(1+rho))
	return math.Erfc(z / math.Sqrt2)
}

// Ranks returns the ranks of values, from 1. Equal values have the mean of their ranks. Values that are NaN have the rank
// NaN, and do not count.
func Ranks(values []float64) []float64 {
	ranks := make([]float64, len(values))
	order := ascending(values)
	for i := range ranks {
		ranks[i] = math.NaN()
	}
	for i := 0; i < len(order); {
		k := i + 1
		for k < len(order) && values[order[k]] == values[order[i]] {
			k++
		}
		for _, at := range order[i:k] {
			ranks[at] = float64(i+1+k) / 2
		}
		i = k
	}
	return ranks
}
