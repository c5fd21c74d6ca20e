package filter

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestCompares: numbers compare as in DuckDB.
func TestCompares(t *testing.T) {
	t.Parallel()
	e := valuetest.Must(duck.Open(0, ""))
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	c := valuetest.Must(e.Connect(context.Background()))
	defer c.Close()
	reals := []any{math.NaN(), math.Inf(1), math.Inf(-1), 0.0, math.Copysign(0, -1), 1.0, 9007199254740993.0, math.MaxFloat64}
	integers := []any{int64(0), int64(1), int64(9007199254740993), int64(math.MaxInt64), int64(math.MinInt64)}
	compare := func(values, with []any, types string) {
		for _, value := range values {
			for _, other := range with {
				for _, op := range []string{"=", "<", "<=", ">", ">="} {
					row := valuetest.Must(c.One(t.Context(), duck.Statement{SQL: fmt.Sprintf("SELECT $1::"+types, op), Args: []any{value, other}}))
					if got := compares(op, other)(value); got != row[0] {
						t.Errorf("%v %s %v is %t; in DuckDB %v", value, op, other, got, row[0])
					}
				}
			}
		}
	}
	compare(reals, reals, "DOUBLE %s $2::DOUBLE")
	compare(integers, integers, "BIGINT %s $2::BIGINT")
	compare(integers, reals, "BIGINT %s $2::DOUBLE")
	for _, value := range []any{nil, "1", true} {
		if compares("=", 1.0)(value) {
			t.Errorf("%v is a number", value)
		}
	}
}
