package compare_test

import (
	"math"
	"testing"

	"github.com/neurolens/neurolens/query/compare"
)

// TestValues: values of a fact, a number and a count of runs are texts of one column; what is not known is NULL.
func TestValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value compare.EvidenceValue
		want  any
	}{
		{compare.EvidenceValue{}, nil},
		{compare.EvidenceValue{Texts: []string{"a", "b"}}, "a, b"},
		{compare.EvidenceValue{Number: new(168686609.55999994)}, "168686609.56"},
		{compare.EvidenceValue{Number: new(0.)}, "0"},
		{compare.EvidenceValue{Number: new(math.NaN())}, nil},
		{compare.EvidenceValue{Runs: &compare.RunCount{Runs: 0, Of: 7}}, "0 of 7"},
	} {
		for _, f := range compare.ExplainFields() {
			row := compare.ExplainRow{Base: c.value}
			if f.Name == "head" {
				row = compare.ExplainRow{Head: c.value}
			}
			if got := f.Of(&row); (f.Name == "base" || f.Name == "head") && got != c.want {
				t.Errorf("%s of %+v: %v, want %v", f.Name, c.value, got, c.want)
			}
		}
	}
}
