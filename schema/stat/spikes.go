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
// Outliers, 1993) and not within the margin of the level. At most two of them are in a row, and other values are before and after: a
// change begins with values that look like spikes until there are enough. For fewer than 5 values the result is empty.
func Spikes(level []float64, margin Margin) []Spike {
	if len(level) < spikeLeast || slices.ContainsFunc(level, notFinite) {
		return nil
	}
	middle := Median(slices.Clone(level))
	deviations := make([]float64, len(level))
	for i, v := range level {
		deviations[i] = math.Abs(v - middle)
	}
	mean, _ := moments(deviations)
	spread := madOfNormals * Median(deviations)
	if spread == 0 {
		spread = meanOfNormals * mean
	}
	bound := max(spikeBeyond*spread, margin(middle))
	var spikes []Spike
	for first := 0; first < len(level); {
		end := first
		for end < len(level) && math.Abs(level[end]-middle) >= bound && level[end] != middle {
			end++
		}
		if n := end - first; n > 0 && n <= spikeMost && first > 0 && end < len(level) {
			for i := first; i < end; i++ {
				spikes = append(spikes, Spike{i, level[i] - middle})
			}
		}
		first = end + 1
	}
	return spikes
}
