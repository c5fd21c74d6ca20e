package stat

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// longestPeriod is the longest period, in values, that Periodogram.P searches. Longer ones are hard to distinguish from drift.
const longestPeriod = 6

// Periodogram is the mean periodogram of series of one length. It shows whether they share a periodic component.
type Periodogram struct {
	shares []float64 // sums over the series: of the power at the frequencies 1/n, 2/n ... 1/2, relative to all power of the series
	series float64
	length int
}

// Add adds a series of finite values. All series must have the same length. A series of equal values adds nothing.
func (p *Periodogram) Add(series []float64) {
	n := len(series)
	mean, _ := moments(series)
	power, total := make([]float64, n/2), 0.
	for i := range power {
		step := 2 * math.Pi * float64(i+1) / float64(n)
		var re, im float64
		for k, v := range series {
			sin, cos := math.Sincos(step * float64(k))
			re, im = re+(v-mean)*cos, im+(v-mean)*sin
		}
		if power[i] = 2 * (re*re + im*im); p.alone(i, n) {
			power[i] /= 2
		}
		total += power[i]
	}
	if !(total > 0) {
		return
	}
	if p.shares == nil {
		p.shares, p.length = make([]float64, n/2), n
	}
	p.series++
	for i := range power {
		p.shares[i] += power[i] / total
	}
}

// alone reports whether frequency i of n values has only a cosine and no sine: the highest frequency of an even number.
func (*Periodogram) alone(i, n int) bool { return 2*(i+1) == n }

// P returns the p-value of the highest peak at a period of at most 6 values if the series are white noise; 1 without a series. A
// frequency with less power than the next lower one is no peak: the power of drift, and of runs that resemble their neighbours, falls
// with the frequency.
//
// The test is Fisher's (Proceedings of the Royal Society A 125, 1929) with Bonferroni's bound. In one series, the share of a frequency
// has a beta distribution. The mean of several is approximated by the beta distribution of the same mean and variance.
func (p *Periodogram) P() float64 {
	if p.series == 0 {
		return 1
	}
	least, looked := 1., 0
	for i, sum := range p.shares {
		if p.length > longestPeriod*(i+1) {
			continue
		}
		looked++
		if i > 0 && sum < p.shares[i-1] {
			continue
		}
		df, all := 2., float64(p.length-1)
		if p.alone(i, p.length) {
			df = 1
		}
		mean, size := df/all, p.series*(all/2+1)-1
		if share := min(sum/p.series, 1); df < all {
			least = min(least, 1-mathext.RegIncBeta(mean*size, (1-mean)*size, share))
		}
	}
	return min(least*float64(looked), 1)
}
