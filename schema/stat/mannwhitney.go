package stat

import (
	"math"
	"slices"
)

// maxExactTied is the number of values per side up to which the distribution of U is computed exactly if there are ties.
const maxExactTied = 25

// MannWhitney tests whether the values of one side tend to be larger than the values of the other (Mann and Whitney, Annals of
// Mathematical Statistics 18, 1947). u counts the pairs with a_i > b_j, and half of the equal pairs. p is two-sided, min(1, 2 min(P(U <=
// u), P(U >= u))). p is exact for up to 50 values per side, and with ties for up to 25. With ties it uses the distribution given the
// ties, which is not symmetric if the sides differ in size (Lehmann, Nonparametrics, 1975, chapter 1). Above, p comes from the normal
// approximation with the corrections for ties and for continuity.
//
// Infinite values have ranks like others. u is 0 and p is 1 if a side has no values; both are NaN if a value is NaN.
func MannWhitney(a, b []float64) (u, p float64) {
	if slices.ContainsFunc(a, math.IsNaN) || slices.ContainsFunc(b, math.IsNaN) {
		return math.NaN(), math.NaN()
	}
	if len(a) == 0 || len(b) == 0 {
		return 0, 1
	}
	t := newTies(a, b)
	lower, upper := t.tails()
	return t.u, min(1, 2*min(lower, upper))
}

// ties are two samples in common order.
type ties struct {
	n, m  int
	u     float64
	sizes []int // of the groups of equal values, ascending
}

func newTies(a, b []float64) ties {
	a, b = ordered(a), ordered(b)
	t := ties{n: len(a), m: len(b), sizes: make([]int, 0, len(a)+len(b))}
	for i, j := 0, 0; i < t.n || j < t.m; {
		var least float64
		if j == t.m || i < t.n && a[i] < b[j] {
			least = a[i]
		} else {
			least = b[j]
		}
		fromA, fromB := 0, 0
		for ; i < t.n && a[i] == least; i++ {
			fromA++
		}
		t.u += float64(fromA) * float64(j)
		for ; j < t.m && b[j] == least; j++ {
			fromB++
		}
		t.u += float64(fromA) * float64(fromB) / 2
		t.sizes = append(t.sizes, fromA+fromB)
	}
	return t
}

// tails are P(U <= u) and P(U >= u) where the sides do not differ.
func (t ties) tails() (lower, upper float64) {
	tied := len(t.sizes) < t.n+t.m
	switch larger := max(t.n, t.m); {
	case tied && larger <= maxExactTied:
		return t.conditional()
	case !tied && larger <= maxExact:
		d := rankSum(t.n, t.m)
		return d.atMost(int(t.u)) / d.total, d.atMost(d.last-int(t.u)) / d.total
	}
	return t.normal()
}

// conditional returns the tails of the distribution given the ties. ways[i][w] counts how i of the values seen so far can
// be of the first side with 2U = w; of a group of t, s more can be in as many ways as t values have subsets of s, and
// each is above the i' of the other side seen before, and level with t - s.
func (t ties) conditional() (lower, upper float64) {
	last := 2 * t.n * t.m
	ways := make([][]float64, t.n+1)
	for i := range ways {
		ways[i] = make([]float64, last+1)
	}
	ways[0][0] = 1
	seen := 0
	for _, size := range t.sizes {
		// Descending, so that the values that are read do not include this group yet.
		for i := min(seen+size, t.n); i >= 0; i-- {
			subsets := 1.
			for s := 1; s <= min(size, i); s++ {
				subsets = subsets * float64(size-s+1) / float64(s)
				others := seen - (i - s)
				if others < 0 || others > t.m {
					continue
				}
				more := 2*s*others + s*(size-s)
				for w := 0; w+more <= last; w++ {
					ways[i][w+more] += subsets * ways[i-s][w]
				}
			}
		}
		seen += size
	}
	var total float64
	for w, count := range ways[t.n] {
		total += count
		if float64(w) <= 2*t.u {
			lower += count
		}
		if float64(w) >= 2*t.u {
			upper += count
		}
	}
	return lower / total, upper / total
}

// normal returns the tails of the normal approximation.
func (t ties) normal() (lower, upper float64) {
	mean, variance := uMoments(t.n, t.m)
	all := float64(t.n) + float64(t.m)
	var correction float64
	for _, size := range t.sizes {
		s := float64(size)
		correction += (s - 1) * s * (s + 1)
	}
	variance *= 1 - correction/((all-1)*all*(all+1))
	if variance <= 0 || len(t.sizes) == 1 {
		return 1, 1
	}
	deviation := math.Sqrt(2 * variance)
	return math.Erfc((mean-t.u-.5)/deviation) / 2, math.Erfc((t.u-mean-.5)/deviation) / 2
}
