// Package stat has the statistics of NeuroLens: pure functions of samples, without input or output.
//
// Quantiles are Hyndman-Fan type 7 (Hyndman and Fan, "Sample Quantiles in Statistical Packages", The American
// Statistician 50, 1996), the default of NumPy, R and DuckDB's quantile_cont.
package stat

import (
	"math"
	"slices"
	"sort"

	"github.com/neurolens/neurolens/schema"
)

// summaryVersion is the version of the rules in Summarize. It changes when the rules do. Version 1 had no SteadyIndex.
const summaryVersion = 2

// Quantile returns the type 7 quantile of ascending samples: with h = (n-1)p, x[floor h] + (h - floor h)(x[floor h + 1] - x[floor h]).
// It is NaN if there are no samples or p is not in 0..1, and not finite if the difference is not.
func Quantile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 || !(p >= 0 && p <= 1) {
		return math.NaN()
	}
	i, fraction := rank(len(sorted)-1, p)
	if i+1 >= len(sorted) {
		return sorted[i]
	}
	return sorted[i] + fraction*(sorted[i+1]-sorted[i])
}

// rank splits p of a number of steps into whole steps and the rest. If p is a decimal of up to six places it is exact: the rest of a
// float64 has lost its last digits, which showed in the quantile (168686609.55999994).
func rank(steps int, p float64) (whole int, rest float64) {
	const places = 1e6
	if parts := math.Round(p * places); parts/places == p && steps < 1e12 {
		exact := int64(steps) * int64(parts)
		return int(exact / places), float64(exact%places) / places
	}
	h := float64(steps) * p
	whole = int(h)
	return whole, h - float64(whole)
}

// Summarize describes samples in the order in which they were taken. A field that cannot be computed is nil: all except N
// and Version if a sample is not finite, StdDev of one sample, LogMedian unless all are positive, SteadyIndex if there is
// no steady state or there are fewer than 30 samples.
func Summarize(values []float64) schema.Summary {
	s := schema.Summary{N: new(int64(len(values))), Version: new(int64(summaryVersion))}
	if len(values) == 0 || !allFinite(values) {
		return s
	}
	sorted := ordered(values)
	mean, deviation := moments(sorted)

	var made summaryReals
	s.First = made.add(values[0])
	s.Min, s.Max, s.Mean = made.add(sorted[0]), made.add(sorted[len(sorted)-1]), made.finite(mean)
	if len(sorted) > 1 {
		s.StdDev = made.finite(deviation)
	}
	quantile := func(p float64) *float64 { return made.finite(Quantile(sorted, p)) }
	s.P25, s.P50, s.P75, s.P90, s.P95, s.P99 = quantile(.25), quantile(.50), quantile(.75), quantile(.90), quantile(.95), quantile(.99)
	if s.P50 != nil {
		s.MAD = made.finite(medianDeviation(sorted, *s.P50))
	}
	if sorted[0] > 0 {
		s.LogMedian = made.add(logMedian(sorted))
	}
	if index, ok := steadyStart(values); ok {
		s.SteadyIndex = new(int64(index))
	}
	return s
}

// ordered returns a sorted copy of values, identical to the result of slices.Sort, in less time.
func ordered(values []float64) []float64 {
	sorted := slices.Clone(values)
	if k, ok := keysOf(values); ok && k.fewDigits(len(values)) {
		return k.sort(sorted)
	}
	slices.Sort(sorted)
	return sorted
}

func notFinite(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }

// allFinite reports whether no value is NaN or infinite: any other one minus itself is 0.
func allFinite(values []float64) bool {
	for _, v := range values {
		if v-v != 0 {
			return false
		}
	}
	return true
}

// summaryReals has the values of a summary in one piece of memory: imports make summaries by the million.
type summaryReals struct {
	values [13]float64
	used   int
}

func (r *summaryReals) add(v float64) *float64 {
	at := &r.values[r.used]
	*at = v
	r.used++
	return at
}

// finite is add, or nil if a sum or a difference of finite samples overflowed.
func (r *summaryReals) finite(v float64) *float64 {
	if notFinite(v) {
		return nil
	}
	return r.add(v)
}

// moments returns the mean and the sample standard deviation, by Welford's recurrence (Technometrics 4, 1962), which does
// not cancel where the samples are large and close together.
func moments(values []float64) (mean, deviation float64) {
	var squares float64
	for i, v := range values {
		delta := v - mean
		mean += delta / float64(i+1)
		squares += delta * (v - mean)
	}
	return mean, math.Sqrt(squares / float64(len(values)-1))
}

// medianDeviation returns the median absolute deviation from the median. The deviations below the median and the deviations above it are
// each ascending already, away from it, so the middle ones of both together are found without sorting or storing them.
func medianDeviation(sorted []float64, median float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	d := deviations{sorted, median, sort.SearchFloat64s(sorted, median)}
	half, rest := rank(len(sorted)-1, .5)
	i := d.belowAmong(half)
	first := d.smallest(&i, half)
	if half+1 == len(sorted) {
		return first
	}
	return first + rest*(d.smallest(&i, half+1)-first)
}

// deviations are the deviations of ascending values from a median. The values from index above on are not less than the median.
type deviations struct {
	sorted []float64
	median float64
	above  int
}

// below and over return the i-th deviation of the values below the median, and of the other values. They return infinity beyond the last
// value.
func (d deviations) below(i int) float64 {
	if i >= d.above {
		return math.Inf(1)
	}
	return d.median - d.sorted[d.above-1-i]
}

func (d deviations) over(i int) float64 {
	if i >= len(d.sorted)-d.above {
		return math.Inf(1)
	}
	return d.sorted[d.above+i] - d.median
}

// belowAmong returns how many of the n smallest deviations belong to values below the median.
func (d deviations) belowAmong(n int) int {
	least := max(0, n-(len(d.sorted)-d.above))
	return least + sort.Search(min(n, d.above)-least, func(i int) bool {
		i += least
		return d.below(i) >= d.over(n-i-1)
	})
}

// smallest returns the deviation after the n smallest, of which *i belong to values below the median. It increments *i if the returned
// one does, too.
func (d deviations) smallest(i *int, n int) float64 {
	low, high := d.below(*i), d.over(n-*i)
	if low <= high {
		*i++
		return low
	}
	return high
}

// logMedian returns the median of the natural logarithms: with an even count not the logarithm of the median.
func logMedian(sorted []float64) float64 {
	n := len(sorted)
	return (math.Log(sorted[(n-1)/2]) + math.Log(sorted[n/2])) / 2
}

// Complete adds the summary of every metric that has samples. Summaries of metrics without samples, which only imported runs have, stay
// unchanged. So does a summary that Complete made before, because the store calls Complete again for every run.
func Complete(r *schema.Run) {
	for i := range r.Metrics {
		m := &r.Metrics[i]
		if (m.Ticks != nil || m.Reals != nil) && !isComplete(m) {
			m.Summary = Summarize(m.Values())
		}
	}
}

// isComplete reports whether the summary of a metric comes from Summarize: only Summarize sets a version.
func isComplete(m *schema.Metric) bool {
	s := &m.Summary
	return s.Version != nil && *s.Version == summaryVersion && s.N != nil && *s.N == int64(max(len(m.Ticks), len(m.Reals)))
}
