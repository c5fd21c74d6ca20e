package facts_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/query/facts"
)

// TestPoint: a point is read back unchanged, and missing values are NULL, not empty. A parameter without a value
// is no parameter.
func TestPoint(t *testing.T) {
	t.Parallel()
	values := []any{"gemm", nil, "torch", "m", "fp16", int64(8), nil, "lab3"}
	params := map[string]any{"dim": "64", "code": nil}
	p := facts.PointOf(values, params)
	for i, column := range facts.Identity {
		if got := p.Value(column); got != values[i] {
			t.Errorf("%s: %v, want %v", column, got, values[i])
		}
	}
	if got, want := p.Value("params"), map[string]any{"dim": "64"}; !reflect.DeepEqual(got, want) {
		t.Errorf("params: %v, want %v", got, want)
	}
	if got := p.Parameter("code"); got != nil {
		t.Errorf("a parameter without a value is %v", got)
	}
	none := facts.PointOf(make([]any, len(facts.Identity)), nil)
	if got := none.Value("params"); got != nil {
		t.Errorf("no params are %v", got)
	}
}

// TestPointWith: each column and parameter can be replaced by that of another point without changing anything else, including the original point.
func TestPointWith(t *testing.T) {
	t.Parallel()
	p := facts.PointOf([]any{"gemm", "a", "torch", "m", "fp16", int64(8), int64(1), "lab3"}, map[string]any{"dim": "64", "code": "0"})
	of := facts.PointOf([]any{"conv", "b", "cuda", "n", "fp32", nil, int64(2), "lab4"}, map[string]any{"dim": "32", "tile": "4"})
	fields := append([]string{"param.dim", "param.code", "param.tile"}, facts.Identity...)
	get := func(p *facts.Point, field string) any {
		if name, ok := strings.CutPrefix(field, "param."); ok {
			return p.Parameter(name)
		}
		return p.Value(field)
	}
	before := fmt.Sprint(p)
	for _, field := range fields {
		changed := p.With(field, &of)
		for _, other := range fields {
			want := get(&p, other)
			if other == field {
				want = get(&of, other)
			}
			if got := get(&changed, other); got != want {
				t.Errorf("with another %s, %s is %v, want %v", field, other, got, want)
			}
		}
	}
	if got := fmt.Sprint(p); got != before {
		t.Errorf("the point was %s, is %s", before, got)
	}
}
