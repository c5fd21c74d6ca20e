package judge

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/schema/stat"
)

// Condition is a condition on a fact of a run: the fact is equal to a value (=), at least it (>=) or below it (<). With = an empty
// Value means that the fact is unknown.
type Condition struct {
	Fact, Operator, Value string

	bound float64 // of a number
}

// met reports whether a fact with this value meets the condition.
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

// factor is a fact, or several facts that split the runs in the same way.
type factor struct {
	names   []string
	codes   []int     // per run: index of its value in levels
	levels  []string  // the different values, ascending; empty for runs without the fact
	numbers []float64 // per run: its value, NaN if unknown; nil if the values are categories
}

// fewOfValue is the number of runs that each value of a number must have for the values to be treated as categories.
const fewOfValue = 3

// factorsOf are the facts that vary between the runs. Facts that split the runs in the same way are one factor.
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

// numbersOf are the values of a fact as numbers, NaN for runs without it; nil if a value is not a number.
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

// key is equal for facts that split the runs in the same way: numbers with the same or the reverse order, categories with the same
// parts.
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

// value is the value of a run, as text.
func (f *factor) value(run int) string { return f.levels[f.codes[run]] }

// known reports whether a run counts: for numbers, whether it has one.
func (f *factor) known(run int) bool { return f.numbers == nil || !math.IsNaN(f.numbers[run]) }
