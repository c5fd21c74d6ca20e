package scan

import (
	"database/sql/driver"
	"fmt"
	"math"
	"testing"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema"
)

// TestValue: Go and SQL give the same value, whatever numbers a summary has. For a metric that is always compared by difference it is the location.
func TestValue(t *testing.T) {
	t.Parallel()
	c := connect(t)
	text := func(v *float64) string {
		if v == nil {
			return "NULL"
		}
		return fmt.Sprintf("%g", *v)
	}
	numbers := []*float64{nil, new(-2.), new(0.), new(3.)}
	for _, name := range []string{"latency", schema.MetricFailedRequests} {
		for _, p50 := range numbers {
			for _, mean := range numbers {
				for _, logMedian := range []*float64{nil, new(math.Log(3)), new(1.)} {
					m := schema.Metric{Name: name, Summary: schema.Summary{P50: p50, Mean: mean, LogMedian: logMedian}}
					from := fmt.Sprintf(" FROM (SELECT '%s' AS metric, %s::DOUBLE AS p50, %s::DOUBLE AS mean, %s::DOUBLE AS log_median)", name, text(p50), text(mean), text(logMedian))
					row, err := c.One(t.Context(), duck.Statement{SQL: "SELECT " + ValueSQL() + ", " + LocationSQL() + from})
					if err != nil {
						t.Fatal(err)
					}
					number := func(v driver.Value) float64 {
						if v, is := v.(float64); is {
							return v
						}
						return math.NaN()
					}
					same := func(a, b float64) bool { return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-12 }
					got, want := number(row[0]), ValueOfMetric(&m)
					if !same(got, want) || name != "latency" && !same(got, number(row[1])) {
						t.Errorf("%s: %v, want %g", from, row, want)
					}
				}
			}
		}
	}
}
