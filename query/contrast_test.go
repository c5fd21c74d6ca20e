package query_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestContrastOf: a name is compared before a number, and few values before many. Benchmarks are compared only if they are functions of one
// file.
func TestContrastOf(t *testing.T) {
	t.Parallel()
	with := func(pairs ...string) query.Point {
		p := query.Point{Benchmark: "b", Params: map[string]string{}}
		for i := 0; i < len(pairs); i += 2 {
			switch pairs[i] {
			case "variant":
				p.Variant = pairs[i+1]
			case "benchmark":
				p.Benchmark = pairs[i+1]
			default:
				p.Params[pairs[i]] = pairs[i+1]
			}
		}
		return p
	}
	for want, points := range map[string][]query.Point{
		"":                 {},
		"variant=old":      {with("variant", "old", "n", "1"), with("variant", "new", "n", "2")},
		"variant=baseline": {with("impl", "x", "variant", "new"), with("impl", "y", "variant", "baseline")},
		"impl=old":         {with("impl", "old", "size", "1"), with("impl", "new", "size", "2")},
		"few=x":            {with("few", "x", "alike", "a"), with("few", "y", "alike", "b"), with("few", "y", "alike", "c")},
		"n=1":              {with("n", "1"), with("n", "2")},
		"benchmark=f.py:a": {with("benchmark", "f.py:a"), with("benchmark", "f.py:b")},
		"param.bs=a":       {with("bs", "a"), with("bs", "b")},
	} {
		c, _ := query.ContrastOf(points, nil)
		valuetest.Equal(t, c.String(), want, points)
		valuetest.Equal(t, c.Named(), want == "variant=baseline", points)
	}
	for _, points := range [][]query.Point{{with("n", "1"), with("n", "1")}, {with("benchmark", "f.py:a"), with("benchmark", "g.py:b")}, {with("benchmark", "f.py::a"), with("benchmark", "f.py::b")}, {with(), with("n", "1")}} {
		c, _ := query.ContrastOf(points, nil)
		valuetest.Equal(t, c, query.Contrast{}, points)
	}
}

// TestContrastOfWork: an axis of numbers with which the medians only grow is the amount of work, and chosen last; so
// is one of numbers that is the only axis.
func TestContrastOfWork(t *testing.T) {
	t.Parallel()
	var points []query.Point
	var medians []*float64
	for _, n := range []string{"8", "64"} {
		for threads, median := range map[string]map[string]float64{"1": {"8": 10, "64": 80}, "2": {"8": 12, "64": 50}, "10": {"8": 20, "64": 30}} {
			points = append(points, query.Point{Params: map[string]string{"n": n, "threads": threads}})
			medians = append(medians, new(median[n]))
		}
	}
	c, work := query.ContrastOf(points, medians)
	valuetest.Equal(t, c.Axis, "threads")
	valuetest.Equal(t, work, false)
	for _, median := range []float64{80, 5} {
		c, work = query.ContrastOf([]query.Point{{Params: map[string]string{"n": "64"}}, {Params: map[string]string{"n": "8"}}}, []*float64{new(median), new(10.)})
		valuetest.Equal(t, c.Axis, "n")
		valuetest.Equal(t, work, true)
	}
}

// TestContrastOfFunctions: variants that are functions, after which their benchmarks are named, are compared before the amount of work.
func TestContrastOfFunctions(t *testing.T) {
	t.Parallel()
	var points []query.Point
	var medians []*float64
	for variant, median := range map[string]float64{"a": 100, "b": 1} {
		for _, x := range []string{"1", "2"} {
			points = append(points, query.Point{Benchmark: "z.py:" + variant, Variant: variant, Params: map[string]string{"x": x}})
			medians = append(medians, new(median))
			median *= 2
		}
	}
	c, work := query.ContrastOf(points, medians)
	valuetest.Equal(t, c.Axis, "variant")
	valuetest.Equal(t, work, false)
}

// TestWithoutAxis: points without an axis, and what is in step with it, are equal. The machine is left as it is.
func TestWithoutAxis(t *testing.T) {
	t.Parallel()
	points := []query.Point{
		{Variant: "a", Backend: "cpu", Machine: "m", Params: map[string]string{"x": "1", "tile": "8"}},
		{Variant: "b", Backend: "cuda", Machine: "n", Params: map[string]string{"x": "1", "tile": "16"}},
		{Variant: "a", Backend: "cpu", Machine: "m", Params: map[string]string{"x": "2", "tile": "8"}},
	}
	one := func(machine, x string) query.Point {
		return query.Point{Machine: machine, Params: map[string]string{"x": x}}
	}
	valuetest.DeepEqual(t, query.WithoutAxis(points, "variant"), []query.Point{one("m", "1"), one("n", "1"), one("m", "2")})
	points[2].Backend = "cuda"
	valuetest.Equal(t, query.WithoutAxis(points, "variant")[0].Backend, "cpu")
	valuetest.Equal(t, query.WithoutAxis(points, "machine")[0].Machine, "")
}

// TestContrastOfEffect: of axes of one kind the one with the largest effect is compared. A name with hardly any effect comes after a number
// with a large one, but not after the amount of work. A number that only grows is the amount of work if it spans enough, and costs enough.
func TestContrastOfEffect(t *testing.T) {
	t.Parallel()
	of := func(cost map[string]map[string]float64) (points []query.Point, medians []*float64) {
		points, medians = []query.Point{{Params: map[string]string{}}}, []*float64{new(1.)}
		for _, axis := range slices.Sorted(maps.Keys(cost)) {
			var nextPoints []query.Point
			var nextMedians []*float64
			for i := range points {
				for _, value := range slices.Sorted(maps.Keys(cost[axis])) {
					params := maps.Clone(points[i].Params)
					params[axis] = value
					nextPoints, nextMedians = append(nextPoints, query.Point{Params: params}), append(nextMedians, new(*medians[i]*cost[axis][value]))
				}
			}
			points, medians = nextPoints, nextMedians
		}
		return points, medians
	}
	for _, test := range []struct {
		want string
		cost map[string]map[string]float64
	}{
		{"b", map[string]map[string]float64{"a": {"1": 1, "2": 1.3}, "b": {"1": 1, "2": 1.8}, "c": {"1": 1, "2": .99}}},
		{"b", map[string]map[string]float64{"a": {"x": 1, "y": 1.01}, "b": {"1": 1, "2": 1.8}}},
		{"a", map[string]map[string]float64{"a": {"x": 1, "y": 1.2}, "b": {"1": 1, "2": 1.8}}},
		{"a", map[string]map[string]float64{"a": {"x": 1, "y": 1.01}, "b": {"1": 1, "8": 8}}},
		{"b", map[string]map[string]float64{"a": {"1": 1, "2": 1.01}, "b": {"1": 1, "8": 1.8}}},
		{"c", map[string]map[string]float64{"b": {"x": 1, "y": 1.5}, "c": {"x": 1, "y": 3}}},
	} {
		points, medians := of(test.cost)
		c, _ := query.ContrastOf(points, medians)
		valuetest.Equal(t, c.Axis, test.want, test.cost)
	}
}
