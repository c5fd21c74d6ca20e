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
// guess: it prefers names to numbers, and few values to many. Benchmarks are compared only if they are functions of one file. There is no
// axis if the points differ in none.
func ContrastOf(points []Point) Contrast {
	type candidate struct {
		Contrast
		rank, values int
	}
	var all []candidate
	consider := func(axis string, rank int, of func(p *Point) any) {
		values := map[any]bool{}
		for i := range points {
			if v := of(&points[i]); v != nil {
				values[v] = true
			}
		}
		if len(values) > 1 && of(&points[0]) != nil {
			all = append(all, candidate{Contrast{axis, fmt.Sprint(of(&points[0]))}, rank, len(values)})
		}
	}
	ranks := []string{"variant", "backend", "", "precision", "model", "benchmark", "", "batch_size", "seq_len"} // between them parameters
	const texts, numbers = 2, 6
	for rank, column := range ranks {
		if column != "" && (column != "benchmark" || inOneFile(points)) {
			consider(column, rank, func(p *Point) any { return p.Value(column) })
		}
	}
	if len(points) == 0 {
		return Contrast{}
	}
	for _, name := range slices.Sorted(maps.Keys(points[0].Params)) {
		rank := texts
		if _, err := strconv.ParseFloat(points[0].Params[name], 64); err == nil {
			rank = numbers
		}
		consider(filter.ParameterKey(name), rank, func(p *Point) any { return p.Parameter(name) })
	}
	if len(all) == 0 {
		return Contrast{}
	}
	return slices.MinFunc(all, func(a, b candidate) int { return cmp.Or(a.rank-b.rank, a.values-b.values) }).Contrast
}

// inOneFile reports whether the benchmarks of points are functions of one Python file.
func inOneFile(points []Point) bool {
	return !slices.ContainsFunc(points, func(p Point) bool {
		first, _, _ := strings.Cut(points[0].Benchmark, ".py:")
		file, _, isFunction := strings.Cut(p.Benchmark, ".py:")
		return !isFunction || file != first
	})
}
