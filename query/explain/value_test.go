package explain_test

import (
	"math"
	"testing"

	"github.com/neurolens/neurolens/query/explain"
)

// TestValues: values of a fact, a number and a count of runs are texts of one column; what is not known is NULL.
func TestValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value explain.Value
		want  any
	}{
		{explain.Value{}, nil},
		{explain.Value{Texts: []string{"a", "b"}}, "a, b"},
		{explain.Value{Number: new(168686609.55999994)}, "168686609.56"},
		{explain.Value{Number: new(0.)}, "0"},
		{explain.Value{Number: new(math.NaN())}, nil},
		{explain.Value{Runs: &explain.Counted{Runs: 0, Of: 7}}, "0 of 7"},
	} {
		for _, f := range explain.Fields() {
			row := explain.Row{Base: c.value}
			if f.Name == "head" {
				row = explain.Row{Head: c.value}
			}
			if got := f.Of(&row); (f.Name == "base" || f.Name == "head") && got != c.want {
				t.Errorf("%s of %+v: %v, want %v", f.Name, c.value, got, c.want)
			}
		}
	}
}
