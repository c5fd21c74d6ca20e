package stat

import (
	"math"
	"slices"
)

// Conditions for a spike.
const (
	spikeBeyond   = 5      // robust standard deviations of its level
	spikeMost     = 2      // such values in a row: three are a level
	spikeLeast    = 5      // values of a level
	meanOfNormals = 1.2533 // standard deviations of normal values in a mean absolute deviation
)

// Spike is a value far from the level of the values before and after it.
type Spike struct {
	Index int
	By    float64 // how far it is above the median of the level, in the unit of the series
}

// Spikes returns the outliers of a level, a series without a change point: values that are more than 5 robust standard deviations from
// the median (1.4826 median absolute deviations or, if that is 0, 1.2533 mean ones: Iglewicz and Hoaglin, How to Detect and Handle
// Outliers, 1993) and not within the margin of the level. At most two of them are in a row on the same side of the median, and other values are before
// and after: a change begins with values that look like spikes until there are enough. For fewer than 5 values the result is empty.
func Spikes(level []float64, margin Margin) []Spike {
	middle, far := outliers(level, margin)
	var spikes []Spike
	for first := 0; first < len(level); {
		end := first
		for end < len(level) && far(level[end]) && sameSide(middle, level[first], level[end]) {
			end++
		}
		if n := end - first; n > 0 && n <= spikeMost && first > 0 && end < len(level) {
			for i := first; i < end; i++ {
				spikes = append(spikes, Spike{i, level[i] - middle})
			}
		}
		first = max(end, first+1)
	}
	return spikes
}

// sameSide reports whether two values are both above a level or both below it.
func sameSide(level, a, b float64) bool { return (a > level) == (b > level) }

// Departure returns how many values at the end of a level are outliers by the rule of Spikes, on the same side of its median as the last value,
// and how far the last value is above the median. A change may begin with them.
func Departure(level []float64, margin Margin) (values int, by float64) {
	middle, far := outliers(level, margin)
	for _, v := range slices.Backward(level) {
		if !far(v) || values > 0 && !sameSide(middle, v, level[len(level)-1]) {
			break
		}
		values++
	}
	if values == 0 {
		return 0, 0
	}
	return values, level[len(level)-1] - middle
}

// Prominences returns how far each value of a level is above its median, as a multiple of the largest distance of the other values from it
// or, if that is larger, of the margin. The others of each of the newest values are those before all of these, with which a change may begin.
func Prominences(level []float64, newest int, margin Margin) []float64 {
	middle := Median(slices.Clone(level))
	first, second, before := 0., 0., 0.
	for i, v := range level {
		d := math.Abs(v - middle)
		first, second = max(first, d), max(second, min(first, d))
		if i < len(level)-newest {
			before = max(before, d)
		}
	}
	all := make([]float64, len(level))
	for i, v := range level {
		others := first
		switch {
		case v == middle:
			continue // also if all values are equal, and there is no margin
		case i >= len(level)-newest:
			others = before
		case math.Abs(v-middle) == first:
			others = second
		}
		all[i] = (v - middle) / max(others, margin(middle))
	}
	return all
}

// outliers returns the median of a level, and what reports whether a value is an outlier of it: see Spikes.
func outliers(level []float64, margin Margin) (middle float64, far func(v float64) bool) {
	if len(level) < spikeLeast || slices.ContainsFunc(level, notFinite) {
		return math.NaN(), func(float64) bool { return false }
	}
	middle = Median(slices.Clone(level))
	bound := max(spikeBeyond*robustDeviation(level, middle), margin(middle))
	return middle, func(v float64) bool { return math.Abs(v-middle) >= bound && v != middle }
}

// robustDeviation returns the robust standard deviation of values about their median: 1.4826 median absolute deviations or, if that is 0, 1.2533
// mean ones.
func robustDeviation(values []float64, median float64) float64 {
	deviations := make([]float64, len(values))
	for i, v := range values {
		deviations[i] = math.Abs(v - median)
	}
	mean, _ := moments(deviations)
	if deviation := madOfNormals * Median(deviations); deviation != 0 {
		return deviation
	}
	return meanOfNormals * mean
}
