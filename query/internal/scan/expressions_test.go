package scan

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema"
)

// connect opens a connection of DuckDB that is closed when the test ends.
func connect(t *testing.T) *duck.Conn {
	t.Helper()
	e, err := duck.Open(0, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c, err := e.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(c.Close(), e.Close()); err != nil {
			t.Error(err)
		}
	})
	return c
}

// TestPointAggregates: the aggregates of points are what the plain ones of DuckDB are, for every group of up to three runs: with and
// without a status, a metric and a unit, and with runs that do not count.
func TestPointAggregates(t *testing.T) {
	t.Parallel()
	c := connect(t)
	rows, err := c.Table(t.Context(), duck.Statement{SQL: `WITH one AS (SELECT status, metric, unit, status = 'ok' AS ok FROM
		(SELECT unnest(['ok', 'error', 'timeout', NULL]) AS status), (SELECT unnest(['a', 'b', NULL]) AS metric), (SELECT unnest(['ns', 's', NULL]) AS unit)),
	numbered AS (SELECT *, row_number() OVER () AS n FROM one),
	several AS (SELECT a.n * 10000 + b.n * 100 + c.n AS g, [a, b, c] AS runs FROM numbered a, numbered b, numbered c WHERE a.n <= b.n AND b.n <= c.n
		UNION ALL SELECT -a.n * 100 - b.n, [a, b] FROM numbered a, numbered b UNION ALL SELECT -10000 * a.n, [a] FROM numbered a),
	runs AS (SELECT g, unnest(runs, recursive := true) FROM several)
	SELECT count(*), count(*) FILTER (same IS DISTINCT FROM plain_same), count(*) FILTER (statuses IS DISTINCT FROM plain_statuses), count(DISTINCT statuses), count(*) FILTER (same) FROM
	(SELECT g, ` + SameSQL("ok_metric", "ok_run") + " AND " + SameSQL("ok_unit", "ok_run") + ` AS same, count(DISTINCT (metric, unit)) FILTER (ok) <= 1 AS plain_same,
		` + statusesSQL + ` AS statuses, histogram(status) AS plain_statuses
		FROM (SELECT *, CASE WHEN ok THEN true END AS ok_run, CASE WHEN ok THEN metric END AS ok_metric, CASE WHEN ok THEN unit END AS ok_unit FROM runs) GROUP BY g)`})
	if err != nil {
		t.Fatal(err)
	}
	row := rows.Rows[0]
	if groups, _ := row[0].(int64); groups != 36+36*36+36*37*38/6 {
		t.Errorf("%v groups", row[0])
	}
	if row[1] != int64(0) || row[2] != int64(0) {
		t.Errorf("of %v groups %v differ in whether metric and unit are the same, %v in the statuses", row[0], row[1], row[2])
	}
	if statuses, _ := row[3].(int64); statuses != 19 {
		t.Errorf("%v different statuses of groups", row[3])
	}
	if same, _ := row[4].(int64); same == 0 || same == row[0] {
		t.Errorf("%v groups have the same metric and unit", row[4])
	}
}

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
