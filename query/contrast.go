package query

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/query/filter"
)

// Contrast is an axis and the value that other values of it are compared with.
type Contrast struct {
	Axis, Value string
	Work        bool // the axis probably is the amount of work (ContrastsOf)
}

// String returns AXIS=VALUE; it is empty if there is no axis.
func (c Contrast) String() string {
	if c.Axis == "" {
		return ""
	}
	return c.Axis + "=" + c.Value
}

// Named reports whether the contrast is no guess, because its variant is called baseline.
func (c Contrast) Named() bool { return c.Axis == "variant" && c.Value == BaselineVariant }

// ContrastOf returns the first of ContrastsOf; it is empty if there is none. work reports that it probably is the amount of work.
func ContrastOf(points []Point, medians []*float64) (c Contrast, work bool) {
	all, work := ContrastsOf(points, medians)
	if len(all) == 0 {
		return Contrast{}, false
	}
	return all[0], work
}

// BaselineVariant is the variant that is the baseline if none is named.
const BaselineVariant = "baseline"

// ContrastsOf chooses an axis to compare for points without a named baseline, with the value of the first point as the baseline. If a variant
// is BaselineVariant, it is the baseline, and the axis comes first. Otherwise it is a guess from medians, which has the median of each point,
// nil where there is none. An axis whose effect is less than a quarter of the largest, by the logarithm, comes after the others. Of the rest
// it prefers names to numbers, then the largest effect, then few values. Benchmarks are compared only if they are functions of one file. The
// amount of work, numbers with which the medians grow, is chosen last, and its effect is not compared with others. work reports that it was
// chosen, or that the only axis is one of numbers. The axis chosen is the first of all in which points differ.
func ContrastsOf(points []Point, medians []*float64) (sorted []Contrast, work bool) {
	var all []candidate
	consider := func(axis, field string, rank int, of func(p *Point) any) {
		values := map[any]bool{}
		for i := range points {
			if v := of(&points[i]); v != nil {
				values[v] = true
			}
		}
		if len(values) > 1 && of(&points[0]) != nil {
			c := candidate{Contrast: Contrast{Axis: axis, Value: fmt.Sprint(of(&points[0]))}, rank: rank, values: len(values)}
			if field == "variant" && values[BaselineVariant] {
				c.Value, c.named = BaselineVariant, true
			}
			var grows bool
			c.effect, grows = effect(points, medians, field, of)
			if c.Work = rank >= numbers && grows; c.Work {
				c.rank += numbers
			}
			all = append(all, c)
		}
	}
	for rank, columns := range [][]string{names: {"variant", "backend", "precision"}, others: {"model", "benchmark"}, sizes: {"batch_size", "seq_len"}} {
		for _, column := range columns {
			if column != "benchmark" || inOneFile(points) {
				consider(column, column, rank, func(p *Point) any { return p.Value(column) })
			}
		}
	}
	if len(points) == 0 {
		return nil, false
	}
	for _, name := range slices.Sorted(maps.Keys(points[0].Params)) {
		rank := names
		if _, err := strconv.ParseFloat(points[0].Params[name], 64); err == nil {
			rank = numbers
		}
		consider(filter.ParameterKey(name), filter.ParamPrefix+name, rank, func(p *Point) any { return p.Parameter(name) })
	}
	slices.SortStableFunc(all, byPreference(all))
	for _, c := range all {
		sorted = append(sorted, c.Contrast)
	}
	return sorted, len(all) > 0 && (all[0].Work || all[0].rank >= numbers && len(all) == 1)
}

// candidate is an axis that ContrastOf may choose.
type candidate struct {
	Contrast
	named        bool    // a variant is called baseline
	effect       float64 // see effect
	rank, values int
}

// The ranks of axes for ContrastOf. Models and functions do different work, whatever they are called.
const (
	names = iota
	others
	numbers
	sizes
)

// byPreference returns the order in which ContrastOf prefers candidates.
func byPreference(all []candidate) func(a, b candidate) int {
	largest := 0.
	for _, c := range all {
		if !c.Work && c.rank != others {
			largest = max(largest, c.effect)
		}
	}
	late := func(c candidate) int {
		switch {
		case c.named:
			return -1
		case c.Work:
			return 2
		case c.effect < largest/4:
			return 1
		}
		return 0
	}
	return func(a, b candidate) int {
		return cmp.Or(late(a)-late(b), a.rank-b.rank, cmp.Compare(b.effect, a.effect), a.values-b.values)
	}
}

// effect returns how much medians differ along an axis where points differ in nothing else: the mean logarithm of the largest by the
// smallest; 0: unknown. work reports that they grow with the value everywhere as an amount of work does: the largest value is at least 4
// times the smallest, and the median grows at least by the square root of that.
func effect(points []Point, medians []*float64, axis string, of func(p *Point) any) (size float64, work bool) {
	type step struct{ value, median float64 }
	rows := map[string][]step{}
	others := WithoutAxis(points[:len(medians)], axis)
	for i := range medians {
		if medians[i] == nil || of(&points[i]) == nil {
			continue
		}
		value, err := strconv.ParseFloat(fmt.Sprint(of(&points[i])), 64)
		if err != nil {
			value = math.NaN()
		}
		key := others[i].Key()
		rows[key] = append(rows[key], step{value, *medians[i]})
	}
	counted, span := 0, 0.
	work = true
	for _, row := range rows {
		slices.SortFunc(row, func(a, b step) int { return cmp.Compare(a.value, b.value) })
		least, most := row[0].median, row[0].median
		for i, s := range row[1:] {
			work = work && s.median > row[i].median && s.value > row[i].value
			least, most = min(least, s.median), max(most, s.median)
		}
		if len(row) > 1 && least > 0 {
			counted++
			size += math.Log(most / least)
			span = max(span, math.Log(row[len(row)-1].value/row[0].value)) // NaN of texts
		}
	}
	if counted == 0 {
		return 0, false
	}
	size /= float64(counted)
	return size, work && span >= math.Log(4) && size >= span/2
}

// inOneFile reports whether the benchmarks of points are functions of one Python file that bench measured. Those of pytest, FILE.py::NAME, are
// no variants of each other.
func inOneFile(points []Point) bool {
	return !slices.ContainsFunc(points, func(p Point) bool {
		first, _, _ := strings.Cut(points[0].Benchmark, ".py:")
		file, name, isFunction := strings.Cut(p.Benchmark, ".py:")
		return !isFunction || file != first || strings.HasPrefix(name, ":")
	})
}
