package query

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/query/filter"
)

// Contrast is an axis and the value that other values of it are compared with.
type Contrast struct{ Axis, Value string }

// String returns AXIS=VALUE; it is empty if there is no axis.
func (c Contrast) String() string {
	if c.Axis == "" {
		return ""
	}
	return c.Axis + "=" + c.Value
}

// ContrastOf chooses an axis to compare for points without a named baseline, with the value of the first point as the baseline. It is a
// guess: it prefers names to numbers, and few values to many. Benchmarks are compared only if they are functions of one file. medians has
// the median of each point, nil where there is none. An axis of numbers with which the medians only grow is chosen last, because it
// probably is the amount of work. work reports that such an axis was chosen, or that the only axis is one of numbers. There is no axis if
// the points differ in none.
func ContrastOf(points []Point, medians []*float64) (c Contrast, work bool) {
	type candidate struct {
		Contrast
		work         bool
		rank, values int
	}
	var all []candidate
	consider := func(axis, field string, rank int, of func(p *Point) any) {
		values := map[any]bool{}
		for i := range points {
			if v := of(&points[i]); v != nil {
				values[v] = true
			}
		}
		if len(values) > 1 && of(&points[0]) != nil {
			c := candidate{Contrast{axis, fmt.Sprint(of(&points[0]))}, false, rank, len(values)}
			if c.work = rank >= numbers && grows(points, medians, field, of); c.work {
				c.rank += numbers
			}
			all = append(all, c)
		}
	}
	ranks := []string{"variant", "backend", "", "precision", "model", "benchmark", "", "batch_size", "seq_len"} // between them parameters
	for rank, column := range ranks {
		if column != "" && (column != "benchmark" || inOneFile(points)) {
			consider(column, column, rank, func(p *Point) any { return p.Value(column) })
		}
	}
	if len(points) == 0 {
		return Contrast{}, false
	}
	for _, name := range slices.Sorted(maps.Keys(points[0].Params)) {
		rank := texts
		if _, err := strconv.ParseFloat(points[0].Params[name], 64); err == nil {
			rank = numbers
		}
		consider(filter.ParameterKey(name), filter.ParamPrefix+name, rank, func(p *Point) any { return p.Parameter(name) })
	}
	if len(all) == 0 {
		return Contrast{}, false
	}
	first := slices.MinFunc(all, func(a, b candidate) int { return cmp.Or(a.rank-b.rank, a.values-b.values) })
	return first.Contrast, first.work || first.rank >= numbers && len(all) == 1
}

// The ranks of parameters among the axes that ContrastOf chooses from.
const texts, numbers = 2, 6

// grows reports whether the median is the larger, the larger the value of an axis is, wherever points differ in nothing else.
func grows(points []Point, medians []*float64, axis string, of func(p *Point) any) bool {
	type step struct{ value, median float64 }
	rows := map[string][]step{}
	for i := range medians {
		value, err := strconv.ParseFloat(fmt.Sprint(of(&points[i])), 64)
		if medians[i] == nil || err != nil {
			continue
		}
		others := points[i].With(axis, &Point{})
		key := others.Key()
		rows[key] = append(rows[key], step{value, *medians[i]})
	}
	steps := 0
	for _, row := range rows {
		slices.SortFunc(row, func(a, b step) int { return cmp.Compare(a.value, b.value) })
		for i, s := range row[1:] {
			if s.median <= row[i].median {
				return false
			}
			steps++
		}
	}
	return steps > 0
}

// inOneFile reports whether the benchmarks of points are functions of one Python file.
func inOneFile(points []Point) bool {
	return !slices.ContainsFunc(points, func(p Point) bool {
		first, _, _ := strings.Cut(points[0].Benchmark, ".py:")
		file, _, isFunction := strings.Cut(p.Benchmark, ".py:")
		return !isFunction || file != first
	})
}
