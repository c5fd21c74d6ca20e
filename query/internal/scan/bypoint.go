package scan

import (
	"fmt"
)

// PointRows is a subquery with one row per point, side and value of the columns by ("a, b, "), over a subquery of runs. Its columns are
// described at query.SessionPoints. Runs of other purposes than measure only count in runs and statuses. comparable is whether the ok
// runs that have a metric have the same one, in the same unit; valued_runs are those that have a value of it. more are further aggregates (", min(a) AS a"), which may use ok for the runs with measurements.
//
// The values of other runs are NULL, which aggregates skip. A FILTER would do the same, but DuckDB copies what all aggregates read for
// each aggregate that has one.
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

// SameSQL is the SQL aggregate of whether the rows in which a column is not NULL have the same value in another, which may be NULL. That is
// NULL in all other rows.
func SameSQL(column, among string) string {
	return fmt.Sprintf("min(%[1]s) IS NOT DISTINCT FROM max(%[1]s) AND count(%[1]s) IN (0, count(%[2]s))", column, among)
}

// statusesSQL is the SQL aggregate of the number of runs per status, as histogram(status) has it. Nearly all runs are ok, and counting these
// apart saves a map for each group.
const statusesSQL = `CASE WHEN count(CASE WHEN status = 'ok' THEN true END) = 0 THEN histogram(CASE WHEN status <> 'ok' THEN status END)
	WHEN histogram(CASE WHEN status <> 'ok' THEN status END) IS NULL THEN MAP {'ok': count(CASE WHEN status = 'ok' THEN true END)::UBIGINT}
	ELSE map_from_entries(list_sort(list_append(map_entries(histogram(CASE WHEN status <> 'ok' THEN status END)),
		{'key': 'ok', 'value': count(CASE WHEN status = 'ok' THEN true END)::UBIGINT}))) END`
