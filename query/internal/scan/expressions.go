package scan

import (
	"cmp"
	"context"
	"fmt"
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

// BisectSQL is the SQL condition of runs that a search for a commit measured: see schema.WarnBisect.
var BisectSQL = "coalesce(list_contains(warnings, " + duck.Literal(schema.WarnBisect) + "), false)"

// FailedRequestsSQL is the SQL condition of runs in which more requests failed than are allowed: see schema.FailedRequestsWarning. It is
// false if the metric is the number of failed requests, which is right in such a run. CASE keeps the function list_filter from runs
// without warnings: DuckDB prepares its lambda for each vector, and each live file is a separate vector.
var FailedRequestsSQL = "(metric IS DISTINCT FROM " + duck.Literal(schema.MetricFailedRequests) +
	" AND CASE WHEN len(warnings) > 0 THEN len(list_filter(warnings, lambda w: regexp_matches(w, " +
	duck.Literal(schema.FailedRequestsWarning) + "))) > 0 ELSE false END)"

// LocationSQL returns the SQL of the location of an ok run, by the scale of its metric: see LocationOf.
func LocationSQL() string {
	return "CASE WHEN " + byDifference() + " THEN " + LocationSQLOf(schema.ScaleDifference) + " ELSE " + LocationSQLOf(schema.ScaleRatio) + " END"
}

// byDifference returns the SQL condition of metrics that are always compared by difference.
func byDifference() string {
	var names []string
	for _, k := range schema.MetricKinds {
		if k.Scale == schema.ScaleDifference {
			names = append(names, duck.Literal(k.Name))
		}
	}
	return "metric IN (" + strings.Join(names, ", ") + ")"
}

// ValueSQL returns the SQL of the location of an ok run in the unit of its metric, also if the location has no logarithm. For a metric that
// is always compared by difference it is the location. For all others it is exp(log_median), unless the median differs by no more than
// rounding or there is no log_median: then it is the median or, without one, the mean. A baseline file has the same number. It is NULL if
// the run has no value.
func ValueSQL() string {
	return "CASE WHEN " + byDifference() + " THEN " + LocationSQLOf(schema.ScaleDifference) +
		" WHEN abs(exp(log_median) - p50) > 1e-12 * p50 THEN exp(log_median) ELSE coalesce(p50, exp(log_median), mean) END"
}

// ValueOfMetric computes in Go the value that ValueSQL computes in SQL. It is NaN if there is none.
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

// LocationSQLOf returns the SQL of the location of an ok run. For a ratio it is the median of the logarithms or, if a sample is not
// positive but the median is, the logarithm of the median. For a difference it is the median. If an imported file only has a mean, that is
// used instead of the median, and the run has a warning. It is NULL if there is no finite value, and minus infinity if the median has no
// logarithm.
func LocationSQLOf(scale schema.Scale) string {
	const middle = "coalesce(p50, mean)"
	if scale == schema.ScaleDifference {
		return middle
	}
	return "coalesce(log_median, CASE WHEN " + middle + " <= 0 THEN '-Infinity'::DOUBLE ELSE ln(" + middle + ") END)"
}

// PointRows returns a subquery with one row per point, side and value of the columns by ("a, b, "), over a subquery of runs. Its columns
// are described at query.SessionPoints. Runs of other purposes than measure only count in runs and statuses. comparable reports whether
// the ok runs that have a metric have the same one, in the same unit; valued_runs counts the runs that have a value of it. more are
// further aggregates (", min(a) AS a"), which may use ok for the runs with measurements.
//
// The values of other runs are NULL, which aggregates skip. A FILTER would do the same, but DuckDB copies the input of all aggregates
// for each aggregate that has one.
func PointRows(runs, by, more string) string {
	return `(WITH points AS (SELECT ` + by + `point_id, side,
	min(benchmark) AS benchmark, min(variant) AS variant, min(backend) AS backend, min(model) AS model,
	min("precision") AS "precision", min(batch_size) AS batch_size, min(seq_len) AS seq_len, any_value(params) AS params,
	count(*) AS runs, count(ok_run) AS ok_runs, count(CASE WHEN ok THEN coalesce(p50, mean) END) AS valued_runs, ` + statusesSQL + ` AS statuses,
	min(ok_samples) AS samples_min, max(ok_samples) AS samples_max,
	min(ok_metric) AS metric, min(ok_unit) AS unit, min(CASE WHEN ok THEN better END) AS better,
	count(CASE WHEN ` + WrongSQL + ` THEN true END) AS wrong_runs,
	median(CASE WHEN ok THEN coalesce(p50, mean) END) AS median, CASE WHEN count(CASE WHEN ok_samples = 1 THEN true END) = 0 THEN median(CASE WHEN ok THEN p99 END) END AS p99,
	median(CASE WHEN ok AND n_samples IS DISTINCT FROM 1 THEN 1.4826 * mad / nullif(abs(p50), 0) END) AS spread,
	list_sort(list_distinct(flatten(coalesce(list(warnings) FILTER (warnings IS NOT NULL), [])))) AS warnings,
	list_transform(list_sort(list_transform(
		coalesce(map_entries(histogram({'status': status, 'stage': stage, 'error_kind': error_kind, 'error': error}) FILTER (NOT ok)), []),
		lambda e: {'fewer': -e.value::BIGINT, 'failure': e.key})),
		lambda e: struct_insert(e.failure, runs := -e.fewer)) AS failures,
	` + SameSQL("ok_metric", "ok_metric") + " AND " + SameSQL("ok_unit", "ok_metric") + ` AS comparable, min(run_id) AS first_run` + more + `
	FROM (SELECT *, CASE WHEN ok THEN true END AS ok_run, CASE WHEN ok THEN n_samples END AS ok_samples,
		CASE WHEN ok THEN metric END AS ok_metric, CASE WHEN ok AND metric IS NOT NULL THEN unit END AS ok_unit
		FROM (SELECT *, status = 'ok' AND purpose = 'measure' AS ok FROM ` + runs + `)) GROUP BY ` + by + `point_id, side)
SELECT * REPLACE (
	CASE WHEN comparable THEN metric END AS metric, CASE WHEN comparable THEN unit END AS unit,
	CASE WHEN comparable THEN better END AS better, CASE WHEN comparable THEN median END AS median,
	CASE WHEN comparable THEN p99 END AS p99, CASE WHEN comparable THEN spread END AS spread
) FROM points)`
}

// Processors are the columns of runs that decide how fast a run is, besides its machine.
var Processors = []string{"gpu_name", "cpu_model"}

// VariedSQL returns an aggregate for PointRows that reports whether the ok runs of a point have several values of a column.
func VariedSQL(column string) string {
	of := "CASE WHEN ok THEN " + column + " END"
	return fmt.Sprintf("coalesce(min(%[1]s) < max(%[1]s), false)", of)
}

// SameSQL returns an SQL aggregate that reports whether the rows in which a column is not NULL have the same value in another column,
// which may be NULL. The other column is NULL in all other rows.
func SameSQL(column, among string) string {
	return fmt.Sprintf("min(%[1]s) IS NOT DISTINCT FROM max(%[1]s) AND count(%[1]s) IN (0, count(%[2]s))", column, among)
}

// statusesSQL is the SQL aggregate of the number of runs per status, in the form of histogram(status). Nearly all runs are ok, and
// counting them separately saves a map for each group.
const statusesSQL = `CASE WHEN count(CASE WHEN status = 'ok' THEN true END) = 0 THEN histogram(CASE WHEN status <> 'ok' THEN status END)
	WHEN histogram(CASE WHEN status <> 'ok' THEN status END) IS NULL THEN MAP {'ok': count(CASE WHEN status = 'ok' THEN true END)::UBIGINT}
	ELSE map_from_entries(list_sort(list_append(map_entries(histogram(CASE WHEN status <> 'ok' THEN status END)),
		{'key': 'ok', 'value': count(CASE WHEN status = 'ok' THEN true END)::UBIGINT}))) END`

// OfRuns follows a subquery and restricts it to the runs of a list of ids, which is parameter $1.
const OfRuns = " SEMI JOIN (SELECT unnest($1::VARCHAR[]) AS run_id) USING (run_id)"

// OnlyProfiles reports whether a selection without a measured run has runs under a profiler. A profiler slows the program that it
// measures, so its times are no evidence of speed.
func (r *Reader) OnlyProfiles(ctx context.Context, sel Selection) (bool, error) {
	columns := WithColumns([]*schema.Column{schema.RunColumn("purpose")}, sel.Columns)
	text := "SELECT count(*) > 0 FROM " + r.Src.Scan(columns, sel.RestrictedTo("purpose = 'profile'"))
	row, err := r.Conn.One(ctx, duck.Statement{SQL: text, Args: sel.Args})
	return err == nil && len(row) > 0 && row[0] == true, err
}

// SessionRuns returns the SQL condition of the runs of a session and of the counted runs of other sessions.
func SessionRuns(session string, counted []string) string {
	own := "session_id = " + duck.Literal(session)
	if len(counted) > 0 {
		own += " OR run_id IN (SELECT unnest(" + duck.TextList(counted) + "))"
	}
	return own
}
