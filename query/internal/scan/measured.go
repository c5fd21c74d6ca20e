package scan

import (
	"context"
	"strings"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema"
)

// Measured is the SQL condition of the runs that are compared.
const Measured = "purpose = 'measure'"

// WrongSQL is the SQL condition of runs with a wrong result, like schema.IsWrong.
var WrongSQL = "(status = '" + string(schema.StatusError) + "' AND stage = '" + string(schema.StageValidate) +
	"' AND error_kind IN ('" + strings.Join(schema.WrongResults, "', '") + "'))"

// LocationSQL is the SQL of the location of an ok run, by the scale of its metric: see LocationOf.
func LocationSQL() string {
	var names []string
	for _, k := range schema.MetricKinds {
		if k.Scale == schema.ScaleDifference {
			names = append(names, duck.Literal(k.Name))
		}
	}
	return "CASE WHEN metric IN (" + strings.Join(names, ", ") + ") THEN " + LocationOf(schema.ScaleDifference) + " ELSE " + LocationOf(schema.ScaleRatio) + " END"
}

// LocationOf is the SQL of the location of an ok run. For a ratio it is the median of the logarithms or, if a sample is not positive but
// the median is, the logarithm of the median. For a difference it is the median. If an imported file only has a mean, that is used
// instead of the median, and the run has a warning. It is NULL if there is no finite value, and minus infinity if the median has no
// logarithm.
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

// OfRuns follows a subquery and restricts it to the runs of a list of ids, which is parameter $1.
const OfRuns = " SEMI JOIN (SELECT unnest($1::VARCHAR[]) AS run_id) USING (run_id)"

// OnlyProfiles reports whether a selection without a measured run has runs under a profiler. A profiler slows what it measures, so its
// times are no evidence of speed.
func (r *Reader) OnlyProfiles(ctx context.Context, sel Selection) (bool, error) {
	columns := WithColumns([]*schema.Column{schema.RunColumn("purpose")}, sel.Columns)
	text := "SELECT count(*) > 0 FROM " + r.Src.Scan(columns, sel.RestrictedTo("purpose = 'profile'"))
	row, err := r.Conn.One(ctx, duck.Statement{SQL: text, Args: sel.Args})
	return err == nil && len(row) > 0 && row[0] == true, err
}

// SessionRuns is the SQL condition of the runs of a session and of the counted runs of other sessions.
func SessionRuns(session string, counted []string) string {
	own := "session_id = " + duck.Literal(session)
	if len(counted) > 0 {
		own += " OR run_id IN (SELECT unnest(" + duck.TextList(counted) + "))"
	}
	return own
}
