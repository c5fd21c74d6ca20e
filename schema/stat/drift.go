package stat

import (
	"math"
	"slices"
)

// Drift is searched in the medians of at most driftBatches batches; its p value must be less than driftChance.
const (
	driftBatches = 100
	driftChance  = .01
)

// drift returns the change of level from the first to the last sample by the Theil-Sen slope, if the samples have a monotone trend by
// the Mann-Kendall test; otherwise 0.
func drift(values []float64) float64 {
	medians, _ := batchMedians(values, driftBatches)
	if mannKendall(medians) >= driftChance {
		return 0
	}
	return theilSen(medians) * float64(len(medians))
}

// mannKendall returns the two-sided p of the Mann-Kendall test for a monotone trend (Mann, Econometrica 13, 1945; Kendall 1975), by the
// normal approximation with the corrections for ties and for continuity. It is 1 if all values are equal.
func mannKendall(values []float64) float64 {
	n := len(values)
	var s float64
	for i, a := range values {
		for _, b := range values[i+1:] {
			if b > a {
				s++
			} else if b < a {
				s--
			}
		}
	}
	variance := pairs(n)
	sorted := ordered(values)
	for first, next := 0, 0; first < n; first = next {
		for next = first; next < n && sorted[next] == sorted[first]; next++ {
		}
		variance -= pairs(next - first)
	}
	if variance == 0 || s == 0 {
		return 1
	}
	return math.Erfc((math.Abs(s) - 1) / math.Sqrt(2*variance))
}

// pairs returns the variance of Kendall's S of n values without ties.
func pairs(n int) float64 {
	return float64(n) * float64(n-1) * float64(2*n+5) / 18
}

// theilSen returns the median of the slopes between all pairs of values, per place (Sen, Journal of the American Statistical
// Association 63, 1968).
func theilSen(values []float64) float64 {
	slopes := make([]float64, 0, len(values)*(len(values)-1)/2)
	for i, a := range values {
		for j, b := range values[i+1:] {
			slopes = append(slopes, (b-a)/float64(j+1))
		}
	}
	return median(slopes)
}

// Neighbours returns the lag-1 autocorrelation of values, increased by its bias, (1+4ρ)/n (Kendall, Biometrika 41, 1954). ok
// is false for fewer than 3 values, if all are equal, and if one is not finite.
func Neighbours(values []float64) (rho float64, ok bool) {
	if len(values) < 3 || slices.ContainsFunc(values, notFinite) || slices.Max(values) == slices.Min(values) {
		return 0, false
	}
	rho = lag1(values)
	return rho + (1+4*rho)/float64(len(values)), true
}

// lag1 returns the autocorrelation of neighbouring samples: Σ(x_i - x̄)(x_{i+1} - x̄) / Σ(x_i - x̄)² (Box and Jenkins). It is 0 if all
// are equal.
func lag1(values []float64) float64 {
	mean, _ := moments(values)
	var products, squares float64
	for i, v := range values {
		squares += (v - mean) * (v - mean)
		if i > 0 {
			products += (values[i-1] - mean) * (v - mean)
		}
	}
	if squares == 0 {
		return 0
	}
	return products / squares
}
