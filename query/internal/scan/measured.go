package scan

import (
	"strings"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema"
)

// Measured is the SQL condition of the runs that are compared.
const Measured = "purpose = 'measure'"

// WrongSQL is the SQL condition of runs whose result is wrong, as schema.IsWrong has it.
var WrongSQL = "(status = '" + string(schema.StatusError) + "' AND stage = '" + string(schema.StageValidate) +
	"' AND error_kind IN ('" + strings.Join(schema.WrongResults, "', '") + "'))"

// LocationSQL is LocationOf the metric of each run.
func LocationSQL() string {
	var names []string
	for _, k := range schema.MetricKinds {
		if k.Scale == schema.ScaleDifference {
			names = append(names, duck.Literal(k.Name))
		}
	}
	return "CASE WHEN metric IN (" + strings.Join(names, ", ") + ") THEN " + LocationOf(schema.ScaleDifference) + " ELSE " + LocationOf(schema.ScaleRatio) + " END"
}

// LocationOf is the SQL of the location of an ok run: the median of the logarithms or, where some sample is not positive
// but the median is, its logarithm; of a metric that is compared by its difference the median. Where another tool's file
// gives the mean alone, that stands for the median, and the run has a warning. It is NULL where a value is not finite or
// there is none, and minus infinity where a median has no logarithm.
func LocationOf(scale schema.Scale) string {
	const middle = "coalesce(p50, mean)"
	if scale == schema.ScaleDifference {
		return middle
	}
	return "coalesce(log_median, CASE WHEN " + middle + " <= 0 THEN '-Infinity'::DOUBLE ELSE ln(" + middle + ") END)"
}

// NamesOf lists columns of a table.
func NamesOf(table string, names []string) string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = table + "." + duck.Identifier(name)
	}
	return strings.Join(all, ", ")
}

// OfRuns restricts a subquery before it to the runs of a list of ids.
const OfRuns = " SEMI JOIN (SELECT unnest($1::VARCHAR[]) AS run_id) USING (run_id)"
