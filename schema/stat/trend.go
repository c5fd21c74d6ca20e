package stat

import (
	"cmp"
	"math"
	"slices"
)

// Constants of the search for change points.
const (
	trendLeast      = 3   // values on either side
	trendShortest   = 8   // values in a part of a series that is looked at, and in a series
	trendVisible    = 6   // values in a series in which a change can be seen, but is not statistically significant
	trendWhole      = .8  // share of the chance that the series as a whole is given
	trendConfidence = .95 // of the interval of a shift
)

// ChangePoint is a place in a series, Index, from which on it has another level.
type ChangePoint struct {
	Index int
	// Shift is the Hodges-Lehmann shift from the segment before to the segment after, in the unit of the series, with its
	// interval of 95 %: of logarithms it is that of the ratio's. That the place was chosen where the segments differ most
	// makes it a little too large.
	Shift Estimate
	// P is the probability that the strongest change of such a series without a change point is as strong, for normal
	// values whose neighbours are correlated by at most 0.6. It is 1 if it is more than 0.2, and 0.00001 if it is less
	// than that.
	P float64
}

// Trend is a series in which changes of its level are looked for, with the shifts of its parts.
type Trend struct {
	series []float64
	parts  []part // the seeded intervals whose shift may be a change
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
	return t
}

// logShare is the logarithm of the share of the chance that a part is given: the series itself, or one of so many others.
func logShare(whole bool, others int) float64 {
	switch {
	case others == 0:
		return 0
	case whole:
		return math.Log(trendWhole)
	}
	return math.Log((1 - trendWhole) / float64(others))
}

// minSize is the smallest size of a shift between n values that can be a change with the largest alpha there is. It is slightly smaller than
// computed, because logarithms are rounded. Correlated neighbours only make a size smaller.
func minSize(n int, share float64) float64 {
	const rounding = 1e-9
	return newNullSize(n).size(math.Log(trendLevels[0])+share) * (1 - rounding)
}

// ChangePoints finds where the level of a series changes, ascending: in a series without a change, there is one with
// the chance alpha at most, which counts from 0.0001 to 0.2. Shifts smaller than least, a size in the unit of the
// series, are no changes. Values are in order, one of each session; those that are missing are left out. There are none
// where a value is not finite, and none in fewer than 8 values. At least 3 values are needed on either side.
//
// It is seeded binary segmentation (Kovács, Bühlmann, Li and Munk, Biometrika 110, 2023) with the shift of medians in
// each interval of at least 8 values, in standard errors: see levelShift. Outliers count little in it, the standard error
// allows for the correlation of neighbours, as a series that wanders looks as if it changed, and the chances are those of
// simulated series that are independent or correlated by up to 0.6. The interval that is the series itself is given 80 %
// of alpha and the others share the rest equally (Bonferroni), so that the only change of a series is found best.
func (t *Trend) ChangePoints(alpha, least float64) []ChangePoint {
	if len(t.series) < trendShortest {
		return nil
	}
	return t.points(alpha, least, func(s levelShift) float64 { return s.size / s.inflation })
}

// VisibleChanges gives the change points of a series as if its values were independent. An autocorrelated series has more
// of them than expected by chance, so they show what can be seen in a series, not what is statistically significant.
// There are none in fewer than 6 values.
func (t *Trend) VisibleChanges(alpha, least float64) []ChangePoint {
	return t.points(alpha, least, func(s levelShift) float64 { return s.size })
}

// points are the change points; size is that of a shift in standard errors.
func (t *Trend) points(alpha, least float64, size func(levelShift) float64) []ChangePoint {
	alpha = min(max(alpha, trendLevels[len(trendLevels)-1]), trendLevels[0])
	taken := above(t.candidates(size), -math.Log(alpha))
	slices.SortFunc(taken, func(a, b change) int { return a.at - b.at })
	points := make([]ChangePoint, len(taken))
	for i, c := range taken {
		points[i] = ChangePoint{Index: c.at, P: max(math.Exp(-c.strength), 1./(trendDraws+1))}
	}
	for i := range points {
		low, high := around(t.series, points, i)
		points[i].Index = refined(t.series, low, points[i].Index, high)
	}
	return withoutSmallest(t.series, points, least)
}

// candidates are the strongest changes of the parts of a series, the strongest first. The strength of one is the negative logarithm of its
// chance.
func (t *Trend) candidates(size func(levelShift) float64) []change {
	var all []change
	for _, p := range t.parts {
		strength := strengthOf(p.size, p.shift, size(p.shift)) + p.share
		all = append(all, change{strength: strength, low: p.low, high: p.low + p.size, at: p.low + p.shift.at})
	}
	slices.SortStableFunc(all, func(a, b change) int { return cmp.Compare(b.strength, a.strength) })
	return all
}

// strengthOf is the negative logarithm of the chance of a shift between n values, of a size in standard errors.
func strengthOf(n int, shift levelShift, size float64) float64 {
	if math.IsInf(shift.size, 1) {
		// Of all orders of two different values two have all of one before all of the other.
		return logChoose(n, shift.at) - math.Ln2
	}
	return -newNullSize(n).logP(size)
}

// logChoose is the logarithm of the number of ways to choose k of n.
func logChoose(n, k int) float64 {
	if k < 0 || k > n {
		return math.Inf(-1)
	}
	of := func(n int) float64 { v, _ := math.Lgamma(float64(n + 1)); return v }
	return of(n) - of(k) - of(n-k)
}

// around are the ends of the segments on either side of a point.
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

// refined puts a change between the segments from low and up to high where the values' absolute deviations from the
// medians of the segments are least (Bai, "Least absolute deviation estimation of a shift", Econometric Theory 11, 1995):
// what tells that there is a change does not tell as well where it is. Of equally good places it is the first.
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

// withoutSmallest gives points their shifts and drops those smaller than least, and those without any, the smallest
// first, as its segments then become one.
func withoutSmallest(series []float64, points []ChangePoint, least float64) []ChangePoint {
	measure := func(i int) {
		low, high := around(series, points, i)
		at := points[i].Index
		points[i].Shift = Shift(series[low:at], series[at:high], trendConfidence)
	}
	for i := range points {
		measure(i)
	}
	for len(points) > 0 {
		smallest := 0
		for i, p := range points {
			if math.Abs(p.Shift.Value) < math.Abs(points[smallest].Shift.Value) {
				smallest = i
			}
		}
		if size := math.Abs(points[smallest].Shift.Value); size >= least && size > 0 {
			break
		}
		points = slices.Delete(points, smallest, smallest+1)
		for i := max(smallest-1, 0); i < min(smallest+1, len(points)); i++ {
			measure(i)
		}
	}
	return points
}

// nullSize is how large the most likely change of n values is by chance: a value for each of trendLevels. Their coordinate is
// log(1 + size²/(n-2)), in which the logarithm of the tail of Student's t is nearly straight.
type nullSize struct {
	freedom     float64
	coordinates [len(trendLevels)]float64
}

// newNullSize joins the table's rows by lines in the logarithm of n. Beyond the last row a line goes on if it rises: it rises
// less and less, so that this is a little more than is needed.
func newNullSize(n int) nullSize {
	right := 1
	for right < len(trendSizes)-1 && n > trendSizes[right].n {
		right++
	}
	low, high := trendSizes[right-1], trendSizes[right]
	share := math.Log(float64(n)/float64(low.n)) / math.Log(float64(high.n)/float64(low.n))
	null := nullSize{freedom: float64(n - 2)}
	for i := range null.coordinates {
		size := low.sizes[i] + share*(high.sizes[i]-low.sizes[i])
		if share > 1 {
			size = max(size, high.sizes[i])
		}
		null.coordinates[i] = null.coordinate(size)
	}
	return null
}

func (null nullSize) coordinate(size float64) float64 { return math.Log1p(size * size / null.freedom) }

// logP is the logarithm of the chance of a size. Beyond the table the last line goes on.
func (null nullSize) logP(size float64) float64 {
	at := null.coordinate(size)
	known := null.coordinates
	if at < known[0] {
		return 0
	}
	i := 1
	for i < len(known)-1 && at >= known[i] {
		i++
	}
	share := (at - known[i-1]) / (known[i] - known[i-1])
	low, high := math.Log(trendLevels[i-1]), math.Log(trendLevels[i])
	return low + share*(high-low)
}

// size is the inverse of logP, for the logarithm of a chance that is no larger than that of the first column.
func (null nullSize) size(logP float64) float64 {
	i := 1
	for i < len(trendLevels)-1 && logP <= math.Log(trendLevels[i]) {
		i++
	}
	low, high := math.Log(trendLevels[i-1]), math.Log(trendLevels[i])
	share := (logP - low) / (high - low)
	at := null.coordinates[i-1] + share*(null.coordinates[i]-null.coordinates[i-1])
	return math.Sqrt(math.Expm1(at) * null.freedom)
}
