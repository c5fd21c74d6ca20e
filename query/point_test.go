package query_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestPoint: a point is read back unchanged, and missing values are NULL, not empty. A parameter without a value
// is no parameter.
func TestPoint(t *testing.T) {
	t.Parallel()
	values := []any{"gemm", nil, "torch", "m", "fp16", int64(8), nil, "lab3"}
	params := map[string]any{"dim": "64", "code": nil}
	p := query.PointOf(values, params)
	for i, column := range query.Identity {
		valuetest.Equal(t, p.Value(column), values[i], column)
	}
	if got, want := p.Value("params"), map[string]any{"dim": "64"}; !reflect.DeepEqual(got, want) {
		t.Errorf("params: %v, want %v", got, want)
	}
	if got := p.Parameter("code"); got != nil {
		t.Errorf("a parameter without a value is %v", got)
	}
	none := query.PointOf(make([]any, len(query.Identity)), nil)
	if got := none.Value("params"); got != nil {
		t.Errorf("no params are %v", got)
	}
}

// TestPointWith: each column and parameter can be replaced by that of another point without changing anything else, including the original point.
func TestPointWith(t *testing.T) {
	t.Parallel()
	p := query.PointOf([]any{"gemm", "a", "torch", "m", "fp16", int64(8), int64(1), "lab3"}, map[string]any{"dim": "64", "code": "0"})
	of := query.PointOf([]any{"conv", "b", "cuda", "n", "fp32", nil, int64(2), "lab4"}, map[string]any{"dim": "32", "tile": "4"})
	fields := append([]string{"param.dim", "param.code", "param.tile"}, query.Identity...)
	get := func(p *query.Point, field string) any {
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
			valuetest.Equal(t, get(&changed, other), want, "with another", field, other)
		}
	}
	valuetest.Equal(t, fmt.Sprint(p), before, "the point was")
}
