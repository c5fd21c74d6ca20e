package stat

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// BinomialTail returns P(B >= k) of a binomial distribution with n trials of probability p: I(p; k, n-k+1) (Abramowitz and Stegun,
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
