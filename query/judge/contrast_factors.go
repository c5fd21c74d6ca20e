package judge

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/schema/stat"
)

// Condition is what a run meets or not: that a fact is equal to a value, at least or less than it. An empty Value of = is
// that the fact is not known.
type Condition struct {
	Fact, Operator, Value string

	bound float64 // of a number
}

// met tells whether a fact meets the condition.
func (c Condition) met(value string) bool {
	switch number, err := strconv.ParseFloat(value, 64); c.Operator {
	case "=":
		return value == c.Value
	case ">=":
		return err == nil && number >= c.bound
	default:
		return err == nil && number < c.bound
	}
}

// factor is a fact, or several that split the runs alike.
type factor struct {
	names   []string
	codes   []int     // of each run, the place of its value among levels
	levels  []string  // the different values, ascending; of a run that does not have the fact it is empty
	numbers []float64 // of each run, NaN where it is not known; nil where the values are categories
}

// fewOfValue is the number of runs that each of the values of a number must have to be looked at as categories.
const fewOfValue = 3

// factorsOf are the facts that are not the same in all runs; those that split the runs alike are one.
func factorsOf(runs []ContrastRun, names []string) []*factor {
	var all []*factor
	alike := map[string]*factor{}
	for _, name := range names {
		f := factorOf(runs, name)
		if len(f.levels) < 2 {
			continue
		}
		key := f.key()
		if first := alike[key]; first != nil {
			first.names = append(first.names, name)
			continue
		}
		alike[key] = f
		all = append(all, f)
	}
	return all
}

func factorOf(runs []ContrastRun, name string) *factor {
	f := &factor{names: []string{name}, codes: make([]int, len(runs))}
	for _, r := range runs {
		f.levels = append(f.levels, r.Facts[name])
	}
	slices.Sort(f.levels)
	f.levels = slices.Compact(f.levels)
	sizes := make([]int, len(f.levels))
	for i, r := range runs {
		f.codes[i], _ = slices.BinarySearch(f.levels, r.Facts[name])
		sizes[f.codes[i]]++
	}
	if len(f.levels) > 2 && slices.Min(sizes) < fewOfValue {
		f.numbers = numbersOf(runs, name)
	}
	return f
}

// numbersOf are the values of a fact as numbers, NaN of runs that do not have it; nil where one is no number.
func numbersOf(runs []ContrastRun, name string) []float64 {
	numbers := make([]float64, len(runs))
	for i, r := range runs {
		numbers[i] = math.NaN()
		if text := r.Facts[name]; text != "" {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
				return nil
			}
			numbers[i] = v
		}
	}
	return numbers
}

// key is the same for facts that split the runs alike: numbers by their order, up or down, others into the same parts.
func (f *factor) key() string {
	codes := f.codes
	if f.numbers != nil {
		ranks := stat.Ranks(f.numbers)
		known := slices.DeleteFunc(slices.Clone(ranks), math.IsNaN)
		if len(known) > 0 && known[0] > float64(len(known)+1)/2 {
			for i := range ranks {
				ranks[i] = float64(len(known)+1) - ranks[i]
			}
		}
		var b strings.Builder
		for _, r := range ranks {
			b.WriteString(strconv.FormatFloat(r, 'g', -1, 64) + " ")
		}
		return b.String()
	}
	var b strings.Builder
	b.WriteString("parts ")
	seen := map[int]int{}
	for _, code := range codes {
		if _, ok := seen[code]; !ok {
			seen[code] = len(seen)
		}
		b.WriteString(strconv.Itoa(seen[code]) + " ")
	}
	return b.String()
}

// value is that of a run, as text.
func (f *factor) value(run int) string { return f.levels[f.codes[run]] }

// known tells whether a run counts: of numbers, whether it has one.
func (f *factor) known(run int) bool { return f.numbers == nil || !math.IsNaN(f.numbers[run]) }
