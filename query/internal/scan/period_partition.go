package scan

import (
	"cmp"
	"slices"
)

// Start is when a file of runs begins, in Unix milliseconds.
type Start struct {
	At   int64
	Runs int
}

// Windows divides all time into windows with about so many runs each, if the runs of each file are of its start. It changes the order of starts.
func Windows(starts []Start, runs int) []Period {
	slices.SortFunc(starts, func(a, b Start) int { return cmp.Compare(a.At, b.At) })
	all := []Period{{}}
	held := 0
	for _, s := range starts {
		if last := &all[len(all)-1]; held >= runs && s.At > last.Since {
			last.Until = s.At
			all, held = append(all, Period{Since: s.At}), 0
		}
		held += s.Runs
	}
	return all
}

// JoinPeriods joins neighbouring windows that have at most so many runs together. counts are the runs of each window, of which the last may be missing.
func JoinPeriods(windows []Period, counts []int64, runs int64) []Period {
	var all []Period
	held := int64(0)
	for i, b := range windows {
		n := int64(0)
		if i < len(counts) {
			n = counts[i]
		}
		if i > 0 && held+n <= runs {
			all[len(all)-1].Until, held = b.Until, held+n
		} else {
			all, held = append(all, b), n
		}
	}
	return all
}
