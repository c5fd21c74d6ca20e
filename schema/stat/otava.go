package stat

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// otavaOptions are the options window_len, max_pvalue and min_magnitude of Apache Otava.
type otavaOptions struct {
	window    int     // values in a window, at least 2
	maxP      float64 // upper bound of the p value of a change point in Otava's t-test
	magnitude float64 // least change of the mean, relative to the smaller of the two means
}

// otavaDefaults are the defaults of Otava.
var otavaDefaults = otavaOptions{window: 50, maxP: .001}

// relaxed returns the p that the first pass accepts.
func (o otavaOptions) relaxed() float64 {
	switch {
	case o.maxP < .05:
		return 10 * o.maxP
	case o.maxP < .5:
		return 2 * o.maxP
	}
	return o.maxP
}

// Otava returns the change points that Apache Otava (at commit 1ceb153) finds in a series with its defaults, ascending: from each of
// these indices on, the series has another level. It exists for comparison with that tool and reproduces it, including its standard deviation with the divisor
// n and its t-tests at places chosen by the data. So its largest p is not the rate of false change points; changePoints controls that rate.
//
// Windows that overlap by half are divided where the energy statistic is largest (Matteson and James, Journal of the American
// Statistical Association 109, 2014), as long as Student's t-test distinguishes the sides at ten times that p. Then the weakest of all
// these change points is dropped until the rest are significant and large enough (Fleming, Kołaczkowski and others, "Hunter", ICPE
// 2023). The result is empty if a value is not finite, and for fewer than 3 values.
func Otava(series []float64) []int { return otavaDefaults.changePoints(series) }

func (o otavaOptions) changePoints(series []float64) []int {
	if len(series) < 3 || slices.ContainsFunc(series, notFinite) {
		return nil
	}
	var weak []int
	for start := 0; start < len(series); {
		last := 0
		for _, at := range divide(series[start:min(start+o.window, len(series))], o.relaxed()) {
			last = start + at
			if !slices.Contains(weak, last) {
				weak = append(weak, last)
			}
		}
		start = max(last, start+o.window/2)
	}
	slices.Sort(weak)
	return withoutWeakest(series, weak, o)
}

// divide returns the places where a window changes, ascending: the most different sides of all its parts first, until
// they do not differ significantly.
func divide(window []float64, maxP float64) []int {
	type part struct {
		low, high, at int
		q             float64
	}
	consider := func(low, high int) part {
		at, q := energySplit(window[low:high])
		return part{low, high, low + at, q}
	}
	parts := []part{consider(0, len(window))}
	var found []int
	for {
		best := -1
		for i, p := range parts {
			if p.high-p.low > 1 && (best < 0 || p.q > parts[best].q) {
				best = i
			}
		}
		if best < 0 {
			return found
		}
		p := parts[best]
		if studentTest(window[p.low:p.at], window[p.at:p.high]).p > maxP {
			return found
		}
		found = append(found, p.at)
		slices.Sort(found)
		parts = slices.Replace(parts, best, best+1, consider(p.low, p.at), consider(p.at, p.high))
	}
}

// energySplit returns the index at which the values before it differ most from the values between it and any later end, by the
// divergence of Matteson and James with the exponent 1, weighted as Otava weights it: with n values before and m after,
//
//	q = 2/(n+m)·Σ|x_i - y_j| - 2m/((n+m)(n-1))·Σ|x_i - x_k| - 2n/((n+m)(m-1))·Σ|y_j - y_k|
//
// where a single value has no pairs. It is 0 for fewer than two values.
func energySplit(values []float64) (at int, q float64) {
	n := len(values)
	before := make([]float64, n) // for each value: the sum of its distances to the values before the index
	total := make([]float64, n)  // and to all that come before it
	for j := range values {
		for _, x := range values[:j] {
			total[j] += math.Abs(values[j] - x)
		}
	}
	q = math.Inf(-1)
	var left float64 // Σ of the pairs before the place
	for place := 1; place < n; place++ {
		for j := place; j < n; j++ {
			before[j] += math.Abs(values[j] - values[place-1])
		}
		var between, right float64
		for end := place + 1; end <= n; end++ {
			between += before[end-1]
			right += total[end-1] - before[end-1]
			nx, ny := float64(place), float64(end-place)
			value := 2 / (nx + ny) * between
			if nx > 1 {
				value -= 2 * ny / (nx + ny) / (nx - 1) * left
			}
			if ny > 1 {
				value -= 2 * nx / (nx + ny) / (ny - 1) * right
			}
			if value > q {
				at, q = place, value
			}
		}
		left += total[place]
	}
	return at, q
}

// difference is how two parts of a series differ.
type difference struct {
	p         float64 // of the t-test
	magnitude float64 // of the change of the mean, relative to the smaller mean; NaN or infinite for a mean of 0
}

// studentTest performs Student's two-sided t-test with pooled variance, from standard deviations with the divisor n. p is 1 for two
// values and if all values are equal.
func studentTest(left, right []float64) difference {
	n, m := float64(len(left)), float64(len(right))
	meanLeft, varianceLeft := populationMoments(left)
	meanRight, varianceRight := populationMoments(right)
	d := difference{p: 1}
	if meanLeft != 0 {
		d.magnitude = math.Abs(meanRight/meanLeft - 1)
	}
	if meanRight != 0 {
		d.magnitude = max(d.magnitude, math.Abs(meanLeft/meanRight-1))
	}
	freedom := n + m - 2
	if freedom <= 0 {
		return d
	}
	pooled := ((n-1)*varianceLeft + (m-1)*varianceRight) / freedom
	t := (meanLeft - meanRight) / math.Sqrt(pooled*(1/n+1/m))
	if !math.IsNaN(t) {
		d.p = 2 * distuv.StudentsT{Sigma: 1, Nu: freedom}.CDF(-math.Abs(t))
	}
	return d
}

// populationMoments returns the mean and the variance with the divisor n.
func populationMoments(values []float64) (mean, variance float64) {
	mean, _ = moments(values)
	for _, v := range values {
		variance += (v - mean) * (v - mean) / float64(len(values))
	}
	return mean, variance
}

// withoutWeakest drops change points until all that are left are significant and large enough: the least significant
// first, then the smallest.
func withoutWeakest(series []float64, points []int, o otavaOptions) []int {
	test := func(i int) difference {
		low, high := 0, len(series)
		if i > 0 {
			low = points[i-1]
		}
		if i+1 < len(points) {
			high = points[i+1]
		}
		return studentTest(series[low:points[i]], series[points[i]:high])
	}
	differences := make([]difference, len(points))
	for i := range points {
		differences[i] = test(i)
	}
	for len(points) > 0 {
		weakest := 0
		for i, d := range differences {
			if d.p > differences[weakest].p {
				weakest = i
			}
		}
		if differences[weakest].p < o.maxP {
			for i, d := range differences {
				if d.magnitude < differences[weakest].magnitude {
					weakest = i
				}
			}
			if differences[weakest].magnitude > o.magnitude {
				break
			}
		}
		points, differences = slices.Delete(points, weakest, weakest+1), slices.Delete(differences, weakest, weakest+1)
		// Like Otava, test the next two again, but keep the earlier result of the one before.
		for i := weakest; i < min(weakest+2, len(points)); i++ {
			differences[i] = test(i)
		}
	}
	return points
}
