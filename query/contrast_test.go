package query_test

import (
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
		"impl=old":         {with("impl", "old", "size", "1"), with("impl", "new", "size", "2")},
		"few=x":            {with("few", "x", "alike", "a"), with("few", "y", "alike", "b"), with("few", "y", "alike", "c")},
		"n=1":              {with("n", "1"), with("n", "2")},
		"benchmark=f.py:a": {with("benchmark", "f.py:a"), with("benchmark", "f.py:b")},
		"param.bs=a":       {with("bs", "a"), with("bs", "b")},
	} {
		valuetest.Equal(t, query.ContrastOf(points).String(), want, points)
	}
	for _, points := range [][]query.Point{{with("n", "1"), with("n", "1")}, {with("benchmark", "f.py:a"), with("benchmark", "g.py:b")}, {with(), with("n", "1")}} {
		valuetest.Equal(t, query.ContrastOf(points), query.Contrast{}, points)
	}
}
