package answer_test

import (
	"math"
	"reflect"
	"testing"

	"github.com/neurolens/neurolens/query/answer"
)

// TestComputed: rounding errors of logarithms are not shown, and a value that is not a number is missing.
func TestComputed(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]any{
		168686609.55999994: 168686609.56, -1.0000000000000002: -1., 0: 0., 5e-324: 5e-324, math.MaxFloat64: 1.79769313486e308,
		math.Inf(1): nil, math.Inf(-1): nil,
	} {
		if got := answer.Computed(v); got != want {
			t.Errorf("%g: %v, want %v", v, got, want)
		}
	}
	if got := answer.Computed(math.NaN()); got != nil {
		t.Errorf("NaN: %v", got)
	}
}

// TestStatistic: a statistic of samples has the digits that a float64 represents exactly; an integer has all, and a sample is unchanged.
func TestStatistic(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]any{
		168686609.55999994: 168686609.56, 6131094.920000001: 6131094.92, 0.1: .1, 1. / 3: 0.333333333333333, 9007199254740991: 9007199254740991.,
		math.Inf(1): math.Inf(1), 0: 0.,
	} {
		if got := answer.Statistic(&v); got != want {
			t.Errorf("%v: %v, want %v", v, got, want)
		}
		if got := answer.OfRun(answer.Column{Name: "p99"}, v); got != want {
			t.Errorf("p99 %v: %v, want %v", v, got, want)
		}
		if got := answer.OfRun(answer.Column{Name: "min"}, v); got != v {
			t.Errorf("min %v: %v", v, got)
		}
	}
	if got := answer.Statistic(nil); got != nil {
		t.Errorf("%v of nothing", got)
	}
}

// TestTableOf: a table has the columns of the fields in their order, and a missing value is NULL.
func TestTableOf(t *testing.T) {
	t.Parallel()
	type row struct {
		name string
		runs *int64
	}
	fields := []answer.Field[row]{
		{Column: answer.Column{Name: "name", Type: answer.TypeText}, Of: func(r *row) any { return answer.Text(r.name) }},
		{Column: answer.Column{Name: "runs", Type: answer.TypeInteger}, Of: func(r *row) any { return answer.Value(r.runs) }},
	}
	got := answer.TableOf(fields, []row{{"a", new(int64(2))}, {"", nil}})
	want := answer.Table{
		Columns: []answer.Column{{Name: "name", Type: answer.TypeText}, {Name: "runs", Type: answer.TypeInteger}},
		Rows:    [][]any{{"a", int64(2)}, {nil, nil}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestTablesOf: a table in the memory of another has the new rows alone, fewer or more than before.
func TestTablesOf(t *testing.T) {
	t.Parallel()
	fields := []answer.Field[int]{
		answer.NewField("n", answer.TypeInteger, "", func(n *int) any { return answer.Positive(*n) }),
		answer.NewField("twice", answer.TypeInteger, "", func(n *int) any { return int64(2 * *n) }),
	}
	tableOf := answer.TablesOf(fields)
	for _, rows := range [][]int{{1, 2, 3}, {0}, {}, {4, 5, 6, 7, 0}} {
		got, want := tableOf(rows), answer.TableOf(fields, rows)
		if !reflect.DeepEqual(got, want) || len(got.Rows) != len(rows) {
			t.Errorf("%v: %v, want %v", rows, got, want)
		}
	}
}
