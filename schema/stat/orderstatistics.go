package stat

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/mathext"
)

// binomialNormal is from what variance on a binomial distribution is taken for the normal one, which is then right to
// one rank; the incomplete beta function is not of much larger numbers.
const binomialNormal = 1e6

// OrderInterval gives the ranks, from 1, of the samples between which a quantile lies: of n independent ones in
// ascending order, at least a share of confidence of the intervals from the low-th to the high-th contain the quantile
// p, and at most half of the rest miss it on either side (Hahn and Meeker, Statistical Intervals, 1991, section 5.2).
// Samples that resemble their neighbours are not independent: the interval is then far too narrow. ok is false where n
// is too small (95 % take 6 samples for the median, 36 for the quantile 0.9 and 368 for 0.99), and where p or the
// confidence is not between 0 and 1.
func OrderInterval(n int, p, confidence float64) (low, high int, ok bool) {
	chance, ok := tailChance(confidence)
	if !ok || n < 1 || !(p > 0 && p < 1) {
		return 0, 0, false
	}
	// How many samples are below the quantile is binomial: P(B <= k) = I(1-p; n-k, k+1), P(B >= k) = I(p; k, n-k+1).
	size := float64(n)
	if variance := size * p * (1 - p); variance > binomialNormal {
		low, _ = normalRank(size*p, math.Sqrt(variance), chance)
		high, _ = normalRank(size*(1-p), math.Sqrt(variance), chance)
		return low, n + 1 - high, true
	}
	low = sort.Search(n, func(k int) bool { return mathext.RegIncBeta(size-float64(k), float64(k)+1, 1-p) > chance })
	high = 1 + sort.Search(n, func(k int) bool { return mathext.RegIncBeta(float64(k)+1, size-float64(k), p) <= chance })
	if low < 1 || high > n {
		return 0, 0, false
	}
	return low, high, true
}

// BinomialTail is P(B >= k) of a binomial number of n with a chance of p each: I(p; k, n-k+1) (Abramowitz and Stegun,
// Handbook of Mathematical Functions, 1964, 26.5.24). It is NaN for a p that is not between 0 and 1.
func BinomialTail(n, k int, p float64) float64 {
	switch {
	case !(p >= 0 && p <= 1):
		return math.NaN()
	case k <= 0:
		return 1
	case k > n:
		return 0
	}
	return mathext.RegIncBeta(float64(k), float64(n-k)+1, p)
}
