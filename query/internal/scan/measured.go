package scan

import (
	"cmp"
	"math"
	"strings"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema"
)

// IsMeasurement is the SQL condition of the runs that are compared.
const IsMeasurement = "purpose = 'measure'"

// WrongSQL is the SQL condition of runs with a wrong result, like schema.IsWrong.
var WrongSQL = "(status = '" + string(schema.StatusError) + "' AND stage = '" + string(schema.StageValidate) +
	"' AND error_kind IN ('" + strings.Join(schema.WrongResults, "', '") + "'))"

// FailedRequestsSQL is the SQL condition of runs in which more requests failed than are allowed: see schema.FailedRequestsWarning. It is false if
// the metric is the number of failed requests, which is right in such a run.
var FailedRequestsSQL = "(metric IS DISTINCT FROM " + duck.Literal(schema.MetricFailedRequests) +
	" AND coalesce(len(list_filter(warnings, lambda w: regexp_matches(w, " + duck.Literal(schema.FailedRequestsWarning) + "))), 0) > 0)"

// LocationSQL is the SQL of the location of an ok run, by the scale of its metric: see LocationOf.
func LocationSQL() string {
	return "CASE WHEN " + byDifference() + " THEN " + LocationSQLOf(schema.ScaleDifference) + " ELSE " + LocationSQLOf(schema.ScaleRatio) + " END"
}

// byDifference is the SQL condition of metrics that are always compared by difference.
func byDifference() string {
	var names []string
	for _, k := range schema.MetricKinds {
		if k.Scale == schema.ScaleDifference {
			names = append(names, duck.Literal(k.Name))
		}
	}
	return "metric IN (" + strings.Join(names, ", ") + ")"
}

// ValueSQL is the SQL of the location of an ok run in the unit of its metric, also if the location has no logarithm. For a metric that is always
// compared by difference it is the location. For all others it is exp(log_median), unless the median differs by no more than rounding or there
// is no log_median: then it is the median or, without one, the mean. A baseline file has the same number. It is NULL if the run has no value.
func ValueSQL() string {
	return "CASE WHEN " + byDifference() + " THEN " + LocationSQLOf(schema.ScaleDifference) +
		" WHEN abs(exp(log_median) - p50) > 1e-12 * p50 THEN exp(log_median) ELSE coalesce(p50, exp(log_median), mean) END"
}

// ValueOfMetric does in Go what Value does in SQL. It is NaN if there is none.
func ValueOfMetric(m *schema.Metric) float64 {
	s := &m.Summary
	switch middle := cmp.Or(s.P50, s.Mean); {
	case schema.ScaleOf(m.Name) == schema.ScaleRatio && s.LogMedian != nil && (s.P50 == nil || math.Abs(math.Exp(*s.LogMedian)-*s.P50) > 1e-12*(*s.P50)):
		return math.Exp(*s.LogMedian)
	case middle == nil:
		return math.NaN()
	default:
		return *middle
	}
}

// LocationSQLOf is the SQL of the location of an ok run. For a ratio it is the median of the logarithms or, if a sample is not positive but
// the median is, the logarithm of the median. For a difference it is the median. If an imported file only has a mean, that is used
// instead of the median, and the run has a warning. It is NULL if there is no finite value, and minus infinity if the median has no
// logarithm.
func LocationSQLOf(scale schema.Scale) string {
	const middle = "coalesce(p50, mean)"
	if scale == schema.ScaleDifference {
		return middle
	}
	return "coalesce(log_median, CASE WHEN " + middle + " <= 0 THEN '-Infinity'::DOUBLE ELSE ln(" + middle + ") END)"
}
