package facts_test

import (
	"reflect"
	"testing"

	"github.com/neurolens/neurolens/query/facts"
)

// TestPoint: what a point is comes back as it was, and what it has no value for is NULL, not empty.
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
	if got := p.Value("params"); !reflect.DeepEqual(got, params) {
		t.Errorf("params: %v, want %v", got, params)
	}
	if got := p.Parameter("code"); got != nil {
		t.Errorf("a parameter without a value is %v", got)
	}
	none := facts.PointOf(make([]any, len(facts.Identity)), nil)
	if got := none.Value("params"); got != nil {
		t.Errorf("no params are %v", got)
	}
}
