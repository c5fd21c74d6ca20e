package stat

import (
	"math"
	"slices"
)

// Pairs of values are written down to be selected from while they are few: in place, or allocated.
const (
	pairsInPlace = 400
	pairsDirect  = 4_000
)

// Shift returns the Hodges-Lehmann estimate of the shift from base to head: the median of all differences head_j - base_i (Hodges and
// Lehmann, Annals of Mathematical Statistics 34, 1963), in the unit of the values. The interval is Moses's (Hollander, Wolfe and
// Chicken, Nonparametric Statistical Methods, 3rd edition 2014, section 4.3): from the k-th smallest to the k-th largest difference,
// where k counts the u with P(U <= u) at most half of 1 - confidence. It uses the exact distribution of U up to 50 values per side, and
// the normal approximation above, whose tails are heavier from 95 % on. The ends belong to the interval; with ties its confidence is at
// least the reported one. 4 values per side have an interval of 95 %, 3 do not.
//
// The result is exact for any number of values: above 4,000 differences they are not stored, see sums.
func Shift(base, head []float64, confidence float64) Estimate {
	n, m := len(base), len(head)
	if n == 0 || m == 0 || slices.ContainsFunc(base, notFinite) || slices.ContainsFunc(head, notFinite) {
		return unbounded(math.NaN())
	}
	rank, reached := shiftRank(n, m, confidence)
	if n*m > pairsDirect {
		negative := make([]float64, n)
		for i, b := range base {
			negative[i] = -b
		}
		slices.Sort(negative)
		return sums{a: ordered(head), b: negative}.estimate(rank, reached)
	}
	var space [pairsInPlace]float64
	differences := space[:0]
	if n*m > pairsInPlace {
		differences = make([]float64, 0, n*m)
	}
	for _, b := range base {
		for _, h := range head {
			differences = append(differences, h-b)
		}
	}
	return estimate(differences, rank, reached)
}

// PairedShift returns the Hodges-Lehmann location of the differences within pairs, or of one sample of symmetric values: the median of
// the Walsh averages (d_i + d_j) / 2, i <= j (Hodges and Lehmann 1963), in their unit. The interval is Tukey's (Hollander, Wolfe and
// Chicken 2014, section 3.3): from the k-th smallest to the k-th largest average, where k counts the v with P(V <= v) at most half of 1
// - confidence, by the exact distribution of Wilcoxon's signed-rank statistic up to 50 differences and its normal approximation above. 6
// differences are the fewest with an interval of 95 %.
func PairedShift(differences []float64, confidence float64) Estimate {
	n := len(differences)
	if n == 0 || slices.ContainsFunc(differences, notFinite) {
		return unbounded(math.NaN())
	}
	rank, reached := signedRank(n, confidence)
	if n*(n+1)/2 > pairsDirect {
		halves := make([]float64, n)
		for i, d := range differences {
			halves[i] = d / 2
		}
		slices.Sort(halves)
		return sums{a: halves, b: halves, once: true}.estimate(rank, reached)
	}
	var space [pairsInPlace]float64
	averages := space[:0]
	if n*(n+1)/2 > pairsInPlace {
		averages = make([]float64, 0, n*(n+1)/2)
	}
	for i, a := range differences {
		for _, b := range differences[i:] {
			averages = append(averages, a/2+b/2)
		}
	}
	return estimate(averages, rank, reached)
}

// estimate returns the median of values with the interval from the rank-th smallest to the rank-th largest, or without an interval for
// rank 0. It reorders the values.
func estimate(values []float64, rank int, reached float64) Estimate {
	n := len(values)
	half := (n - 1) / 2
	place(values, half)
	upper := values[half]
	if n%2 == 0 {
		upper = slices.Min(values[half+1:])
	}
	e := unbounded(middle(values[half], upper))
	if rank > 0 {
		place(values[:half+1], rank-1)
		place(values[half:], n-rank-half)
		e.Low, e.High, e.Confidence = values[rank-1], values[n-rank], reached
	}
	return e
}
