package stat

import "math"

// Constants of the search for two steps.
const (
	twiceAlpha    = .05 // chance of either step as the only one of the values up to the other step
	returnedShare = .9  // share of the chance that a third level like the first is given where three levels may be two: it has more orders
)

// twoShifts are the most likely two changes of level of a series, each in the values up to the other one.
type twoShifts struct {
	steps  [2]part
	size   float64 // the smaller shift, in standard errors that allow for the correlation of neighbours
	orders float64 // logarithm of the share of the orders of the values that separate the levels as well: see separated
}

// twice measures the most likely two changes of level of the series. Where the values before and after one place are compared, a level
// between two others hides both changes. The result is nil if the series is too short, if a step is not held by its values, or if one is
// certainly smaller than least.
func (s *shifts) twice(least float64) *twoShifts {
	n := len(s.series)
	values := s.series
	if n < twiceSizes[0].n {
		return nil
	}
	first, second, ok := dividedTwice(values)
	if !ok {
		return nil
	}
	both := &twoShifts{}
	for range 2 {
		first = refined(values, 0, first, second)
		second = refined(values, first, second, n)
	}
	levels := [...]float64{medianOfAll(values[:first]), medianOfAll(values[first:second]), medianOfAll(values[second:])}
	both.steps[0] = part{low: 0, size: second, shift: levelShift{at: first, low: levels[0], high: levels[1]}}
	both.steps[1] = part{low: first, size: n - first, shift: levelShift{at: second - first, low: levels[1], high: levels[2]}}
	both.size = math.Inf(1)
	for i := range both.steps {
		p := &both.steps[i]
		p.share = math.Log(float64(p.size) / float64(n))
		part := values[p.low : p.low+p.size]
		if p.shift.clearlyLess(part, least) || !p.shift.held(part) {
			return nil
		}
		p.shift = s.measured(part, p.shift)
		both.size = min(both.size, p.shift.size/p.shift.inflation)
	}
	both.orders = separated(values, [...]int{first, second, n}, levels)
	return both
}

// dividedTwice divides a series into three parts of at least trendLeast values, where the squares about the means of the parts are least. What
// is squared are logarithms of distances from the median, in robust standard deviations, so that an outlier counts little more than a large
// step. ok is false if the values are equal or too far apart for a number.
func dividedTwice(series []float64) (first, second int, ok bool) {
	n := len(series)
	middle := medianOfAll(series)
	spread := robustDeviation(series, middle)
	if !(spread > 0) || math.IsInf(spread, 1) {
		return 0, 0, false
	}
	sums := make([]float64, n+1)
	for i, v := range series {
		sums[i+1] = sums[i] + math.Copysign(math.Log1p(math.Abs(v-middle)/spread), v-middle)
	}
	mean := sums[n] / float64(n)
	for i := range sums {
		sums[i] -= mean * float64(i)
	}
	after, inverse := make([]float64, n), make([]float64, n) // what the values from an index on explain, and 1/index
	for i := 1; i < n; i++ {
		after[i], inverse[i] = sums[i]*sums[i]/float64(n-i), 1/float64(i)
	}
	most := 0.
	for i := trendLeast; i <= n-2*trendLeast; i++ {
		before := sums[i] * sums[i] * inverse[i]
		for j := i + trendLeast; j <= n-trendLeast; j++ {
			between := sums[j] - sums[i]
			if explained := before + between*between*inverse[j-i] + after[j]; explained > most {
				first, second, most = i, j, explained
			}
		}
	}
	return first, second, most > 0
}

// separated returns the logarithm of the p value of a permutation test of the order of the values, as levelShift.separation does for two
// levels: the share of all orders in which three parts separate the values nearest to each level, with no more values on the wrong side
// than here. The parts end before the ends. An order with e values on the wrong side is given by their places, of which there are C(n, e)
// choices, by their levels, of which there are at most 3^e, and by the order of the levels of the others, of which there are 3!. If the level
// in the middle is the highest or the lowest, the outer two may be one level. The others are then given by where the middle begins, and by
// which of two levels is there. In this case the result is the smaller of two p values, each divided by its share of the chance.
func separated(values []float64, ends [3]int, levels [3]float64) float64 {
	var counts [3]int // of the values nearest to each level
	wrong, misplaced, part := 0, 0, 0
	for i, v := range values {
		if i == ends[part] {
			part++
		}
		nearest := 0
		for l, level := range levels {
			if math.Abs(v-level) < math.Abs(v-levels[nearest]) {
				nearest = l
			}
		}
		counts[nearest]++
		if nearest != part {
			wrong++
		}
		if (nearest == 1) != (part == 1) { // not in the middle, or there in error
			misplaced++
		}
	}
	n := len(values)
	three := math.Log(6) + logChoose(n, wrong) + float64(wrong)*math.Log(3) - logChoose(n, counts[0]) - logChoose(n-counts[0], counts[1])
	if (levels[1] > levels[0]) == (levels[2] > levels[1]) {
		return min(three, 0)
	}
	inside := counts[1]
	returned := math.Log(float64(2*(n-inside+1))) + logChoose(n, misplaced) + float64(misplaced)*math.Ln2 - logChoose(n, inside)
	return min(three-math.Log(1-returnedShare), returned-math.Log(returnedShare), 0)
}

// changes returns the steps that are stronger than a threshold: the series as a whole has two steps, and the values on either side of the step
// differ. They have to differ on either side of the other step, too, at twiceAlpha: else it only ends the values that were compared, where they
// differ most.
func (both *twoShifts) changes(series []float64, threshold float64) []change {
	if both == nil {
		return nil
	}
	whole := min(-newNullSize(twiceSizes, len(series)).logP(both.size), -both.orders) + math.Log(trendTwice)
	if !(whole > threshold) {
		return nil
	}
	least := min(threshold, -math.Log(twiceAlpha))
	var found []change
	for _, p := range both.steps {
		strength := p.certain(series, least)
		if !(strength > least) {
			return nil
		}
		if strength = min(strength, whole); strength > threshold {
			found = append(found, change{strength: strength, at: p.low + p.shift.at})
		}
	}
	return found
}

// twiceSizes are the sizes of the most likely two changes of n values with these p values, drawn as trendSizes are.
var twiceSizes = []nullSizes{
	{11, [...]float64{0.4919, 1.3374, 1.8674, 2.4459, 2.8462, 4.1599, 5.6602}},
	{12, [...]float64{1.0824, 1.6677, 2.1380, 2.6711, 3.0396, 4.4429, 6.4207}},
	{14, [...]float64{1.5029, 2.0153, 2.4515, 2.9622, 3.3553, 4.6261, 6.2458}},
	{16, [...]float64{1.7306, 2.2148, 2.6403, 3.1466, 3.5109, 4.7200, 5.9114}},
	{18, [...]float64{1.8943, 2.3519, 2.7735, 3.2735, 3.6540, 4.7967, 6.0924}},
	{20, [...]float64{2.0146, 2.4717, 2.8933, 3.4007, 3.7717, 4.9881, 6.4227}},
	{23, [...]float64{2.1313, 2.5878, 2.9971, 3.5220, 3.9075, 5.1309, 6.2465}},
	{26, [...]float64{2.2161, 2.6706, 3.0783, 3.5872, 3.9714, 5.1400, 6.2222}},
	{30, [...]float64{2.3043, 2.7360, 3.1448, 3.6585, 4.0220, 5.2097, 6.3176}},
	{35, [...]float64{2.3783, 2.8150, 3.2156, 3.7094, 4.0777, 5.2786, 6.7162}},
	{40, [...]float64{2.4230, 2.8473, 3.2433, 3.7488, 4.0960, 5.2342, 6.4316}},
	{50, [...]float64{2.4979, 2.9138, 3.3037, 3.7927, 4.1372, 5.1792, 6.3837}},
	{60, [...]float64{2.5486, 2.9509, 3.3239, 3.7738, 4.1246, 5.1606, 6.2180}},
	{80, [...]float64{2.6084, 2.9873, 3.3442, 3.7872, 4.0975, 5.1069, 6.1694}},
	{100, [...]float64{2.6596, 3.0276, 3.3612, 3.7843, 4.0910, 5.0115, 6.0505}},
	{130, [...]float64{2.7366, 3.0732, 3.3938, 3.7995, 4.0870, 4.9457, 5.6787}},
	{160, [...]float64{2.8233, 3.1279, 3.4051, 3.7862, 4.0556, 4.8961, 5.7768}},
	{200, [...]float64{2.9106, 3.2165, 3.4746, 3.7989, 4.0361, 4.8335, 5.4892}},
	{250, [...]float64{2.9933, 3.2921, 3.5545, 3.8586, 4.0677, 4.8098, 5.5219}},
	{300, [...]float64{3.0781, 3.3729, 3.6201, 3.9108, 4.1278, 4.8009, 5.5867}},
	{365, [...]float64{3.1670, 3.4609, 3.7088, 3.9939, 4.1889, 4.7871, 5.4795}},
}
