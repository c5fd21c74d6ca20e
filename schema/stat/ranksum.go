package stat

import (
	"math"
	"sort"
	"sync"

	"gonum.org/v1/gonum/mathext"
)

// maxExact is the number of values per side up to which the distributions of rank statistics are counted exactly. Nearly all comparisons
// have at most exactUsual, for which a thirtieth of the time and of the memory is enough.
const (
	maxExact   = 50
	exactUsual = 20
)

// null is the null distribution of a rank statistic, symmetric over 0..last: below[u] of all total cases are at most u, for the lower
// half of u. Cases are whole numbers, exact up to 2⁵³ and right to 15 digits above.
type null struct {
	below []float64
	total float64
	last  int
}

// atMost returns the number of cases with a statistic of at most u.
func (d null) atMost(u int) float64 {
	switch {
	case u < 0:
		return 0
	case u >= d.last:
		return d.total
	case u < len(d.below):
		return d.below[u]
	}
	return d.total - d.atMost(d.last-1-u)
}

// rank returns the number of u with P(U <= u) of at most chance, and the confidence of an interval that leaves out the values of lower
// ranks on either side; both are 0 if there is no such u.
func (d null) rank(chance float64) (rank int, confidence float64) {
	rank = sort.Search(len(d.below), func(u int) bool { return d.below[u] > chance*d.total })
	if rank == 0 {
		return 0, 0
	}
	return rank, 1 - 2*d.below[rank-1]/d.total
}

// normalRank is rank for a normal distribution with a correction for continuity.
func normalRank(mean, deviation, chance float64) (rank int, confidence float64) {
	last := math.Floor(mean - .5 - mathext.NormalQuantile(1-chance)*deviation)
	if last < 0 {
		return 0, 0
	}
	return int(last) + 1, math.Erf((mean - .5 - last) / deviation / math.Sqrt2)
}

// shiftRank returns the rank of the differences of n and m values where an interval ends, by the distribution of U.
func shiftRank(n, m int, confidence float64) (rank int, reached float64) {
	chance, ok := tailChance(confidence)
	if !ok {
		return 0, 0
	}
	if max(n, m) <= maxExact {
		return rankSum(n, m).rank(chance)
	}
	mean, variance := uMoments(n, m)
	return normalRank(mean, math.Sqrt(variance), chance)
}

// uMoments returns the mean and the variance of U without ties (Mann and Whitney, Annals of Mathematical Statistics 18,
// 1947).
func uMoments(n, m int) (mean, variance float64) {
	a, b := float64(n), float64(m)
	return a * b / 2, a * b * (a + b + 1) / 12
}

// signedRank returns the rank of the Walsh averages of n values where an interval ends, by the distribution of V.
func signedRank(n int, confidence float64) (rank int, reached float64) {
	chance, ok := tailChance(confidence)
	if !ok {
		return 0, 0
	}
	if n <= maxExact {
		return signedRanks()[n].rank(chance)
	}
	count := float64(n)
	return normalRank(count*(count+1)/4, math.Sqrt(count*(count+1)*(2*count+1)/24), chance)
}

// rankSum returns the distribution of U for n and m values, of up to maxExact.
func rankSum(n, m int) null {
	if max(n, m) <= exactUsual {
		return usualRankSums()[min(n, m)][max(n, m)]
	}
	return allRankSums()[min(n, m)][max(n, m)]
}

var (
	usualRankSums = sync.OnceValue(func() [][]null { return countRankSums(exactUsual) })
	allRankSums   = sync.OnceValue(func() [][]null { return countRankSums(maxExact) })
)

// countRankSums returns the distributions of U for n <= m values a side at [n][m], up to size: the largest value of all
// belongs either to the n, and is then above all m, or to the m (Mann and Whitney 1947). The same holds of cases up to
// u.
func countRankSums(size int) [][]null {
	table := make([][]null, size+1)
	for n := range table {
		table[n] = make([]null, size+1)
		for m := n; m <= size; m++ {
			if n == 0 {
				table[n][m] = null{total: 1}
				continue
			}
			of, without := table[n-1][m], table[min(n, m-1)][max(n, m-1)]
			d := null{below: make([]float64, (n*m+1)/2), total: of.total + without.total, last: n * m}
			for u := range d.below {
				d.below[u] = of.atMost(u-m) + without.atMost(u)
			}
			table[n][m] = d
		}
	}
	return table
}

// signedRanks are the distributions of V for n values at [n], up to maxExact: the largest rank is in the sum or not
// (Wilcoxon, Biometrics Bulletin 1, 1945).
var signedRanks = sync.OnceValue(func() []null {
	table := []null{{total: 1}}
	for n := 1; n <= maxExact; n++ {
		last := n * (n + 1) / 2
		d := null{below: make([]float64, (last+1)/2), total: 2 * table[n-1].total, last: last}
		for v := range d.below {
			d.below[v] = table[n-1].atMost(v-n) + table[n-1].atMost(v)
		}
		table = append(table, d)
	}
	return table
})
