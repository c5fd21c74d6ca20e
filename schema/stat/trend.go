package stat

import (
	"math"
	"slices"
)

// What change points are looked for with.
const (
	trendLeast      = 3   // values on either side
	trendPasses     = 3   // in which the correlation of neighbours is estimated
	trendConfidence = .95 // of the interval of a shift
	trendMostRho    = .99 // that a correlation is taken for
)

// ChangePoint says that from Index on a series has another level.
type ChangePoint struct {
	Index int
	// Shift is the Hodges-Lehmann shift from the segment before to the segment after, in the unit of the series, with its
	// interval of 95 %: of logarithms it is that of the ratio's. That the place was chosen where the segments differ most
	// makes it a little too large.
	Shift Estimate
	// P is the chance that the strongest change of such a series without a change point is as strong, from the table of
	// permutations: 1 where it is more than 0.2, and 0.00001 where it is less than that.
	P float64
}

// ChangePoints finds where the level of a series changes, ascending: in a series without a change, there is one with
// the chance alpha at most, which counts from 0.0001 to 0.2. Shifts smaller than least, a size in the unit of the
// series, are no changes. Values are in order, one of each session; those that are missing are left out. There are none
// where a value is not finite. At least 3 values are needed on either side, and below 8 values in all even the clearest
// change is as likely by chance as 0.05.
//
// It is seeded binary segmentation (Kovács, Bühlmann, Li and Munk, Biometrika 110, 2023) with normal scores of the ranks
// in each interval, so that neither outliers nor the distribution matter: the threshold is that of permutations. It is
// multiplied by √((1+ρ)/(1-ρ)), where ρ is the correlation of neighbours about their segments' medians: a series that
// wanders looks as if it changed. ρ is the lag-1 autocorrelation plus its bias, (1+4ρ)/n (Kendall, Biometrika 41, 1954),
// and at least 0. As segments are needed for ρ and ρ for segments, both are found in 3 passes.
func ChangePoints(series []float64, alpha, least float64) []ChangePoint {
	if len(series) < 2*trendLeast || slices.ContainsFunc(series, notFinite) {
		return nil
	}
	null := newNullStrength(len(series))
	all := candidates(series, segmentation{least: trendLeast, untied: true})
	var taken []change
	inflation := 1.0
	for pass := range trendPasses {
		if pass > 0 {
			inflation = inflationOf(series, taken)
		}
		taken = above(all, null.reached(alpha)*inflation)
	}
	slices.SortFunc(taken, func(a, b change) int { return a.at - b.at })
	points := make([]ChangePoint, len(taken))
	for i, c := range taken {
		points[i] = ChangePoint{Index: c.at, P: null.p(c.strength / inflation)}
	}
	for i := range points {
		low, high := around(series, points, i)
		points[i].Index = refined(series, low, points[i].Index, high)
	}
	return withoutSmallest(series, points, least)
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
// ranks tell that there is a change better than where it is. Of equally good places it is the first.
func refined(series []float64, low, at, high int) int {
	before, after := median(slices.Clone(series[low:at])), median(slices.Clone(series[at:high]))
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

// inflationOf is how many times the deviations of sums of neighbours are those of independent values.
func inflationOf(series []float64, taken []change) float64 {
	ends := []int{0, len(series)}
	for _, c := range taken {
		ends = append(ends, c.at)
	}
	slices.Sort(ends)
	residuals := make([]float64, 0, len(series))
	for i, end := range ends[1:] {
		segment := series[ends[i]:end]
		level := median(slices.Clone(segment))
		for _, v := range segment {
			residuals = append(residuals, v-level)
		}
	}
	if !slices.ContainsFunc(residuals, func(r float64) bool { return r != 0 }) {
		return 1
	}
	rho := lag1(residuals)
	rho = min(max(rho+(1+4*rho)/float64(len(series)), 0), trendMostRho)
	return math.Sqrt((1 + rho) / (1 - rho))
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

// nullStrength is how strong the strongest change of n values is by chance: strengths by trendLevels, squared, as the
// logarithm of a normal tail is nearly straight in the square.
type nullStrength [len(trendLevels)]float64

// newNullStrength joins the table's rows by lines in the logarithm of n. Beyond the last row the line goes on: it rises
// less and less, so that this is a little more than is needed.
func newNullStrength(n int) nullStrength {
	right := 1
	for right < len(trendThresholds)-1 && n > trendThresholds[right].n {
		right++
	}
	low, high := trendThresholds[right-1], trendThresholds[right]
	share := math.Log(float64(n)/float64(low.n)) / math.Log(float64(high.n)/float64(low.n))
	var null nullStrength
	for i := range null {
		strength := low.strengths[i] + share*(high.strengths[i]-low.strengths[i])
		null[i] = strength * strength
	}
	return null
}

// reached is the strength that has the chance p.
func (null nullStrength) reached(p float64) float64 {
	p = min(max(p, trendLevels[len(trendLevels)-1]), trendLevels[0])
	i := 1
	for p < trendLevels[i] {
		i++
	}
	share := math.Log(p/trendLevels[i-1]) / math.Log(trendLevels[i]/trendLevels[i-1])
	return math.Sqrt(null[i-1] + share*(null[i]-null[i-1]))
}

// p is the chance of a strength. Beyond the table the last line goes on down to the chance that no shuffle told of.
func (null nullStrength) p(strength float64) float64 {
	square := strength * strength
	if square < null[0] {
		return 1
	}
	i := 1
	for i < len(null)-1 && square >= null[i] {
		i++
	}
	if null[i] == null[i-1] {
		return trendLevels[i]
	}
	share := (square - null[i-1]) / (null[i] - null[i-1])
	p := trendLevels[i-1] * math.Pow(trendLevels[i]/trendLevels[i-1], share)
	return max(p, 1./(trendDraws+1))
}
