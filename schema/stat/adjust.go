package stat

import (
	"math"
	"slices"
)

// Holm adjusts the p values of a family of tests so that a level bounds the probability of even one false rejection among them, the
// family-wise error rate (Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of Statistics 6, 1979):
// the k-th smallest of n is multiplied by n - k + 1, and adjusted values never decrease in the order of p. A p that is NaN stays NaN and
// does not count.
func Holm(p []float64) []float64 {
	adjusted := slices.Clone(p)
	order := ascending(p)
	last := 0.
	for k, i := range order {
		last = max(last, min(1, p[i]*float64(len(order)-k)))
		adjusted[i] = last
	}
	return adjusted
}

// BenjaminiHochberg adjusts the p values of a family of tests so that a level bounds the false discovery rate, the expected share of
// false rejections among the rejections (Benjamini and Hochberg, Journal of the Royal Statistical Society B 57, 1995): the k-th smallest
// of n is multiplied by n / k, and adjusted values never decrease in the order of p. A p that is NaN stays NaN and does not count.
func BenjaminiHochberg(p []float64) []float64 {
	adjusted := slices.Clone(p)
	order := ascending(p)
	last := 1.
	for k, i := range slices.Backward(order) {
		last = min(last, p[i]*(float64(len(order))/float64(k+1)))
		adjusted[i] = last
	}
	return adjusted
}

// ascending returns the places of the p that are numbers, by ascending p.
func ascending(p []float64) []int {
	order := make([]int, 0, len(p))
	for i, v := range p {
		if !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case p[a] < p[b]:
			return -1
		case p[a] > p[b]:
			return 1
		}
		return a - b
	})
	return order
}
