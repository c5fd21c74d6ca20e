package stat

import (
	"cmp"
	"math"
	"slices"
)

// Constants of the search for change points.
const (
	trendLeast      = 3   // values on either side
	trendShortest   = 8   // minimum number of values in an examined interval, and in a series
	trendVisible    = 6   // minimum number of values in a series with a visible, perhaps not statistically significant, change
	trendWhole      = .8  // share of the chance that one step in the series as a whole is given
	trendTwice      = .1  // share of the chance that two steps in it are given
	trendConfidence = .95 // of the interval of a shift
)

// ChangePoint is a point of a series from which on its level differs (a step), or from which on it rises or falls (a ramp).
type ChangePoint struct {
	Index int
	// Until is the end of a ramp: the values from Index-1 up to Until rise or fall. It is 0 for a step.
	Until int
	// After and By enclose a change: it is after the value at After, and not after the one at By. For a step they are an interval of 95
	// %. For a ramp they are its first and its last value.
	After, By int
	// Shift is the Hodges-Lehmann shift from the segment before to the segment after, in the unit of the series, with its interval of 95
	// %. If the series consists of logarithms, it is the logarithm of a ratio. It is slightly too large, because the change point was
	// chosen where the segments differ most. For a ramp it is the shift from its first to its last value.
	Shift Estimate
	// P is the probability of a change at least as strong as the strongest one in a similar series without a change point. It is the
	// larger one of two: for normal values whose neighbours are correlated by at most 0.6, and for independent values of any
	// distribution. It is 1 if it is more than 0.2. A step that was searched for beside others has no smaller P than these. For a ramp it
	// is the probability for a random walk.
	P float64
}

// Trend is a series to be searched for changes of its level, with the shifts of its parts.
type Trend struct {
	series []float64
	parts  []part     // the seeded intervals whose shift may be a change
	twice  *twoShifts // of the series as a whole; nil if it is too short
}

// part is an interval of a series.
type part struct {
	low, size int
	share     float64 // logarithm of its share of the chance
	shift     levelShift
}

// NewTrend measures the shifts in a series. One that is too short, or has values that are not finite, has no changes.
func NewTrend(series []float64) *Trend {
	t := &Trend{series: series}
	if len(series) < trendVisible || slices.ContainsFunc(series, notFinite) {
		return t
	}
	shortest := min(trendShortest, len(series))
	others := -1 // parts that are not the series itself
	seeded(len(series), shortest, func(_, _ int) { others++ })
	shifts := newShifts(series)
	var share, least float64 // of parts of the size last
	last := 0
	seeded(len(series), shortest, func(low, size int) {
		if size != last {
			last, share = size, logShare(size == len(series), others)
			least = minSize(size, share)
		}
		if shift, ok := shifts.in(low, size, least); ok && shift.held(series[low:low+size]) {
			t.parts = append(t.parts, part{low, size, share, shift})
		}
	})
	t.twice = shifts.twice(newNullSize(twiceSizes, len(series)).size(math.Log(trendLevels[0] * trendTwice)))
	return t
}

// logShare returns the logarithm of the share of alpha that a part gets: the series itself (whole), or one of the other intervals.
func logShare(whole bool, others int) float64 {
	switch {
	case others == 0:
		return 0
	case whole:
		return math.Log(trendWhole)
	}
	return math.Log((1 - trendWhole - trendTwice) / float64(others))
}

// minSize returns the smallest size of a shift between n values that can be a change at the largest alpha. It is slightly smaller than
// computed, because logarithms are rounded. Correlated neighbours only make a size smaller.
func minSize(n int, share float64) float64 {
	const rounding = 1e-9
	return newNullSize(trendSizes, n).size(math.Log(trendLevels[0])+share) * (1 - rounding)
}

// changePoints finds the steps of a series, ascending. In a series without a change it finds a step with probability alpha at most;
// alpha is limited to 0.0001 to 0.2. A step whose interval reaches into the margin is dropped. Values are in order, one per session;
// missing values are left out. The result is empty if a value is not finite, and for fewer than 8 values. At least 3 values are needed
// on either side of a step.
//
// The algorithm is seeded binary segmentation (Kovács, Bühlmann, Li and Munk, Biometrika 110, 2023) with the shift of medians in each
// interval of at least 8 values, in standard errors: see levelShift. Outliers have little influence. The standard error allows for the
// correlation of neighbours, because an autocorrelated series looks as if it changed, and for sides with different spread. P values come
// from simulated series that are independent or correlated by up to 0.6. They are at least as large as the p value of the order of
// independent values of any distribution, also of a bimodal one. Where the sides of a step overlap, they are also at least as large as
// the p value of a difference in location between distributions that may differ in everything else. One step of the series as a whole
// gets 80 % of alpha and two steps get 10 %, because this finds few changes best, and the other intervals share the rest equally
// (Bonferroni). The values before, between and after steps are then searched as series of their own. Each of them gets the share of alpha
// that it has of the values, so that a series with steps has a false one with probability alpha at most, too.
func (t *Trend) changePoints(alpha float64, margin Margin) []ChangePoint {
	return t.described(t.steps(thresholdOf(alpha)), margin, certain)
}

// VisibleChanges returns the steps of a series as if its values were independent and only one interval were examined. The estimate of
// each step is beyond the margin. An autocorrelated series has more of them than expected by chance, so they show what a reader sees in
// a series, not what is statistically significant. The result is empty for fewer than 6 values.
func (t *Trend) VisibleChanges(alpha float64, margin Margin) []ChangePoint {
	threshold := thresholdOf(alpha)
	taken := above(t.candidates(func(p part) float64 { return p.visible(t.series, threshold) }), threshold)
	slices.SortFunc(taken, func(a, b change) int { return a.at - b.at })
	return t.described(taken, margin, estimated)
}

// thresholdOf returns the strength of a change whose p value is alpha.
func thresholdOf(alpha float64) float64 {
	return -math.Log(min(max(alpha, trendLevels[len(trendLevels)-1]), trendLevels[0]))
}

// steps returns the steps whose strength is above a threshold, ascending: the strongest one or two of the series, and then the steps of the values
// before, between and after them. Each of these parts gets the share of alpha that it has of the values. None of its steps counts as stronger than
// the first, without which it is not searched.
func (t *Trend) steps(threshold float64) []change {
	if len(t.series) < trendShortest {
		return nil
	}
	found := t.strongest(threshold)
	if len(found) == 0 {
		return nil
	}
	most := slices.MaxFunc(found, func(a, b change) int { return cmp.Compare(a.strength, b.strength) }).strength
	var all []change
	low := 0
	search := func(high int) { // the values from low on
		share := math.Log(float64(high-low) / float64(len(t.series)))
		for _, c := range NewTrend(t.series[low:high]).steps(threshold - share) {
			all = append(all, change{strength: min(c.strength+share, most), at: low + c.at})
		}
	}
	for _, c := range found {
		search(c.at)
		all = append(all, c)
		low = c.at
	}
	search(len(t.series))
	return all
}

// strongest returns the strongest step of the seeded intervals above a threshold, or the two steps of the series as a whole if one is stronger.
func (t *Trend) strongest(threshold float64) []change {
	one := t.candidates(func(p part) float64 { return p.certain(t.series, threshold) })
	best := threshold
	if len(one) > 0 && one[0].strength > threshold {
		best, one = one[0].strength, one[:1]
	} else {
		one = nil
	}
	if two := t.twice.changes(t.series, threshold); slices.ContainsFunc(two, func(c change) bool { return c.strength > best }) {
		return two
	}
	return one
}

// described returns the steps that were taken, ascending, with their places and shifts. A step is dropped if its shift is not beyond the
// margin. seen returns the size at which a shift counts.
func (t *Trend) described(taken []change, margin Margin, seen func(Estimate) float64) []ChangePoint {
	points := make([]ChangePoint, len(taken))
	for i, c := range taken {
		points[i] = ChangePoint{Index: c.at, P: max(math.Exp(-c.strength), math.SmallestNonzeroFloat64)}
	}
	for i := range points {
		low, high := around(t.series, points, i)
		points[i].Index = refined(t.series, low, points[i].Index, high)
	}
	points = withoutSmallest(t.series, points, margin, seen)
	for i := range points {
		low, high := around(t.series, points, i)
		points[i].After, points[i].By = enclosing(t.series, low, points[i].Index, high)
	}
	return points
}

// LeastP returns the smallest P that a step can have after so many values and with so many from it on: the P of a step between two levels
// without noise. It is 1 if there are too few values for a step.
func LeastP(before, after int) float64 {
	series := make([]float64, before+after)
	for i := range after {
		series[before+i] = 1
	}
	least := 1.
	for _, p := range NewTrend(series).changePoints(trendLevels[0], within(0)) {
		least = min(least, p.P)
	}
	return least
}

// candidates returns the strongest changes of the parts of a series, the strongest first. The strength of a change is the negative
// logarithm of its p value.
func (t *Trend) candidates(strength func(part) float64) []change {
	var all []change
	for _, p := range t.parts {
		all = append(all, change{strength: strength(p), low: p.low, high: p.low + p.size, at: p.low + p.shift.at})
	}
	slices.SortStableFunc(all, func(a, b change) int { return cmp.Compare(b.strength, a.strength) })
	return all
}

// certain returns the strength of the shift in a part of a series. The sides of a shift that is stronger than the threshold differ in location.
func (p part) certain(series []float64, threshold float64) float64 {
	return p.located(min(p.strengthOf(p.shift.size/p.shift.inflation), -p.shift.orders)+p.share, p.shift.inflation, series, threshold)
}

// visible returns the strength of the shift in a part of a series as if the values were independent.
func (p part) visible(series []float64, threshold float64) float64 {
	strength := p.strengthOf(p.shift.size) + p.share
	if p.size < trendShortest { // of so few values no order is rare
		return strength
	}
	return p.located(min(strength, -p.shift.orders), 1, series, threshold)
}

// located returns a strength, or that of the difference in location if it is less. Most strengths are below the threshold and stay as they are,
// because the test sorts the values.
func (p part) located(strength, inflation float64, series []float64, threshold float64) float64 {
	if strength <= threshold {
		return strength
	}
	return min(strength, p.share-p.shift.location(series[p.low:p.low+p.size], inflation))
}

// strengthOf returns the negative logarithm of the p value of a shift in a part. size is in standard errors; it is infinite if the
// values of each side are equal.
func (p part) strengthOf(size float64) float64 {
	if math.IsInf(size, 1) {
		return size
	}
	return -newNullSize(trendSizes, p.size).logP(size)
}

// logChoose returns the logarithm of the number of ways to choose k of n.
func logChoose(n, k int) float64 {
	if k < 0 || k > n {
		return math.Inf(-1)
	}
	of := func(n int) float64 { v, _ := math.Lgamma(float64(n + 1)); return v }
	return of(n) - of(k) - of(n-k)
}

// around returns the ends of the segments on either side of a point.
func around(series []float64, points []ChangePoint, i int) (low, high int) {
	low, high = 0, len(series)
	if i > 0 {
		low = points[i-1].Index
	}
	if i+1 < len(points) {
		high = points[i+1].Index
	}
	return low, high
}

// refined moves a change between the segments from low and up to high to where the absolute deviations of the values from the medians of
// the segments are least (Bai, "Least absolute deviation estimation of a shift", Econometric Theory 11, 1995): the statistic that
// detects a change does not locate it as well. Among equally good places it chooses the first.
func refined(series []float64, low, at, high int) int {
	before, after := Median(slices.Clone(series[low:at])), Median(slices.Clone(series[at:high]))
	var sum, least float64
	for i := low; i <= high-trendLeast; i++ {
		switch {
		case i == low+trendLeast, i > low+trendLeast && sum < least:
			at, least = i, sum
		}
		sum += math.Abs(series[i]-before) - math.Abs(series[i]-after)
	}
	return at
}

// Margin returns the largest shift at which a level counts as unchanged. The level is the one before the shift. Both are in the unit of the
// series.
type Margin func(level float64) float64

// within returns a margin that is the same for all levels.
func within(shift float64) Margin { return func(float64) float64 { return shift } }

// withoutSmallest returns points their shifts and drops the points whose shift is not beyond the margin. It drops the smallest first,
// because the neighbouring segments then become one. seen returns the size at which a shift counts.
func withoutSmallest(series []float64, points []ChangePoint, margin Margin, seen func(Estimate) float64) []ChangePoint {
	beyond := make([]float64, len(points))
	measure := func(i int) {
		low, high := around(series, points, i)
		before, after := series[low:points[i].Index], series[points[i].Index:high]
		points[i].Shift = Shift(before, after, trendConfidence)
		size := seen(points[i].Shift)
		if beyond[i] = size - margin(Median(slices.Clone(before))); size == 0 {
			beyond[i] = math.Inf(-1)
		}
	}
	for i := range points {
		measure(i)
	}
	for len(points) > 0 {
		least := slices.Index(beyond, slices.Min(beyond))
		if beyond[least] >= 0 {
			break
		}
		points, beyond = slices.Delete(points, least, least+1), slices.Delete(beyond, least, least+1)
		for i := max(least-1, 0); i < min(least+1, len(points)); i++ {
			measure(i)
		}
	}
	return points
}

// certain returns the smallest absolute shift within the interval; 0 if the interval contains 0.
func certain(shift Estimate) float64 { return max(shift.Low, -shift.High, 0) }

// estimated returns how large a shift probably is.
func estimated(shift Estimate) float64 { return math.Abs(shift.Value) }

// nullSize has the sizes of the most likely change of n values under the null hypothesis: a value for each of trendLevels. Their
// coordinate is log(1 + size²/(n-2)), in which the logarithm of the tail of Student's t is nearly straight. Beyond the table it
// extrapolates with the flatter one of the last two slopes, because the last column rests on few draws.
type nullSize struct {
	freedom     float64
	coordinates [len(trendLevels)]float64
	beyond      float64 // slope of the logarithm of the chance beyond the table
}

// newNullSize interpolates the rows of the table linearly in the logarithm of n. Beyond the last row it extrapolates a rising line;
// since the sizes rise more and more slowly, this is slightly conservative.
func newNullSize(table []nullSizes, n int) nullSize {
	right := 1
	for right < len(table)-1 && n > table[right].n {
		right++
	}
	low, high := table[right-1], table[right]
	share := math.Log(float64(n)/float64(low.n)) / math.Log(float64(high.n)/float64(low.n))
	null := nullSize{freedom: float64(n - 2)}
	for i := range null.coordinates {
		size := low.sizes[i] + share*(high.sizes[i]-low.sizes[i])
		if share > 1 {
			size = max(size, high.sizes[i])
		}
		null.coordinates[i] = null.coordinate(size)
	}
	last := len(trendLevels) - 1
	null.beyond = max(null.slope(last-1), null.slope(last))
	return null
}

// slope returns the slope of the line between a column and the one before it.
func (null nullSize) slope(column int) float64 {
	return (math.Log(trendLevels[column]) - math.Log(trendLevels[column-1])) / (null.coordinates[column] - null.coordinates[column-1])
}

func (null nullSize) coordinate(size float64) float64 { return math.Log1p(size * size / null.freedom) }

// logP returns the logarithm of the chance of a size.
func (null nullSize) logP(size float64) float64 {
	at := null.coordinate(size)
	known, last := null.coordinates, len(trendLevels)-1
	switch {
	case at < known[0]:
		return 0
	case at > known[last]:
		return math.Log(trendLevels[last]) + null.beyond*(at-known[last])
	}
	i := 1
	for i < last && at >= known[i] {
		i++
	}
	share := (at - known[i-1]) / (known[i] - known[i-1])
	low, high := math.Log(trendLevels[i-1]), math.Log(trendLevels[i])
	return low + share*(high-low)
}

// size returns the inverse of logP, for logarithms of p values no larger than the one of the first column.
func (null nullSize) size(logP float64) float64 {
	i, last := 1, len(trendLevels)-1
	for i < last && logP <= math.Log(trendLevels[i]) {
		i++
	}
	low, high := math.Log(trendLevels[i-1]), math.Log(trendLevels[i])
	share := (logP - low) / (high - low)
	at := null.coordinates[i-1] + share*(null.coordinates[i]-null.coordinates[i-1])
	if logP < high {
		at = null.coordinates[last] + (logP-high)/null.beyond
	}
	return math.Sqrt(math.Expm1(at) * null.freedom)
}

// trendLevels are the chances of the table's columns, and trendDraws how often each row was drawn.
var trendLevels = [...]float64{.2, .1, .05, .02, .01, .001, .0001}

const trendDraws = 99_999

// nullSizes are the sizes of n values with the chances of trendLevels.
type nullSizes struct {
	n     int
	sizes [len(trendLevels)]float64
}

// trendSizes are the sizes of the most likely change of n values with these p values, in standard errors that allow for the correlation
// of neighbours: the largest of three simulations of normal values, independent or correlated by 0.3 or 0.6, each drawn trendDraws
// times. The test of this table draws it again.
var trendSizes = []nullSizes{
	{6, [...]float64{1.3416, 1.8229, 2.3236, 3.0556, 3.6942, 6.7827, 12.5591}},
	{7, [...]float64{1.7105, 2.2814, 2.8575, 3.7167, 4.4390, 7.6978, 12.9086}},
	{8, [...]float64{1.8857, 2.4729, 3.0446, 3.8004, 4.3879, 6.7408, 10.5820}},
	{9, [...]float64{2.0578, 2.6512, 3.2514, 4.0299, 4.6270, 6.8418, 9.9455}},
	{10, [...]float64{2.1310, 2.7360, 3.3104, 4.0325, 4.5879, 6.8605, 9.8622}},
	{11, [...]float64{2.2314, 2.8457, 3.4320, 4.1604, 4.7044, 6.8078, 10.3468}},
	{12, [...]float64{2.2653, 2.8701, 3.4427, 4.1582, 4.6861, 6.7582, 9.5234}},
	{14, [...]float64{2.3378, 2.9372, 3.5129, 4.2445, 4.7848, 6.6345, 9.0071}},
	{16, [...]float64{2.4095, 3.0054, 3.5727, 4.2809, 4.8179, 6.4619, 8.2274}},
	{18, [...]float64{2.4366, 3.0329, 3.5833, 4.2931, 4.8152, 6.4495, 8.4822}},
	{20, [...]float64{2.4535, 3.0390, 3.5983, 4.3009, 4.8198, 6.4624, 8.1666}},
	{23, [...]float64{2.4667, 3.0340, 3.5969, 4.2843, 4.8119, 6.3502, 8.7477}},
	{26, [...]float64{2.4634, 3.0220, 3.5648, 4.2407, 4.7431, 6.3399, 7.9707}},
	{30, [...]float64{2.4624, 3.0036, 3.5203, 4.1924, 4.6803, 6.1997, 8.1474}},
	{35, [...]float64{2.4705, 2.9842, 3.4755, 4.1522, 4.6461, 6.1907, 7.8699}},
	{40, [...]float64{2.4448, 2.9430, 3.4212, 4.0430, 4.5170, 5.9472, 7.4737}},
	{50, [...]float64{2.4406, 2.9156, 3.3715, 3.9482, 4.3461, 5.6402, 6.8126}},
	{60, [...]float64{2.4302, 2.8726, 3.2911, 3.8422, 4.2495, 5.6594, 6.7055}},
	{80, [...]float64{2.4265, 2.8454, 3.2407, 3.7310, 4.0879, 5.2441, 6.6789}},
	{100, [...]float64{2.4289, 2.8179, 3.1898, 3.6584, 4.0093, 5.1281, 6.3000}},
	{130, [...]float64{2.4363, 2.8161, 3.1604, 3.6032, 3.9011, 4.9171, 5.8867}},
	{160, [...]float64{2.4789, 2.8080, 3.1281, 3.5392, 3.8250, 4.8185, 5.6519}},
	{200, [...]float64{2.5451, 2.8701, 3.1531, 3.5011, 3.7862, 4.6231, 5.5228}},
	{250, [...]float64{2.6029, 2.9216, 3.2038, 3.5387, 3.7597, 4.5794, 5.3183}},
	{300, [...]float64{2.6450, 2.9670, 3.2516, 3.5861, 3.8098, 4.5277, 5.2734}},
	{365, [...]float64{2.6857, 3.0070, 3.2975, 3.6123, 3.8488, 4.5379, 5.2205}},
}
