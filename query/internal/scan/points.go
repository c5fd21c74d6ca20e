package scan

import "github.com/neurolens/neurolens/query/internal/duck"

// PointRows is a subquery with one row per point, side and value of the columns by ("a, b, "), over a subquery of runs. Its columns are
// described at query.SessionPoints. Runs of other purposes than measure only count in runs and statuses. comparable is whether the ok
// runs have the same metric and unit. more are further aggregates (", min(a) AS a"), which may use ok for the runs with measurements.
func PointRows(runs, by, more string) string {
	return `(WITH points AS (SELECT ` + by + `point_id, side,
	min(benchmark) AS benchmark, min(variant) AS variant, min(backend) AS backend, min(model) AS model,
	min("precision") AS "precision", min(batch_size) AS batch_size, min(seq_len) AS seq_len, any_value(params) AS params,
	count(*) AS runs, count(*) FILTER (ok) AS ok_runs, histogram(status) AS statuses,
	min(n_samples) FILTER (ok) AS samples_min, max(n_samples) FILTER (ok) AS samples_max,
	min(metric) FILTER (ok) AS metric, min(unit) FILTER (ok) AS unit, min(better) FILTER (ok) AS better,
	count(*) FILTER (` + WrongSQL + `) AS wrong_runs,
	median(coalesce(p50, mean)) FILTER (ok) AS median, CASE WHEN count(*) FILTER (ok AND n_samples = 1) = 0 THEN median(p99) FILTER (ok) END AS p99,
	median(1.4826 * mad / nullif(p50, 0)) FILTER (ok AND n_samples IS DISTINCT FROM 1) AS spread,
	list_sort(list_distinct(flatten(coalesce(list(warnings) FILTER (warnings IS NOT NULL), [])))) AS warnings,
	list_transform(list_sort(list_transform(
		coalesce(map_entries(histogram({'status': status, 'stage': stage, 'error_kind': error_kind, 'error': error}) FILTER (NOT ok)), []),
		lambda e: {'fewer': -e.value::BIGINT, 'failure': e.key})),
		lambda e: struct_insert(e.failure, runs := -e.fewer)) AS failures,
	count(DISTINCT (metric, unit)) FILTER (ok) <= 1 AS comparable, min(run_id) AS first_run` + more + `
	FROM (SELECT *, status = 'ok' AND purpose = 'measure' AS ok FROM ` + runs + `) GROUP BY ` + by + `point_id, side)
SELECT * REPLACE (
	CASE WHEN comparable THEN metric END AS metric, CASE WHEN comparable THEN unit END AS unit,
	CASE WHEN comparable THEN better END AS better, CASE WHEN comparable THEN median END AS median,
	CASE WHEN comparable THEN p99 END AS p99, CASE WHEN comparable THEN spread END AS spread
) FROM points)`
}

// SessionRuns is the SQL condition of the runs of a session and of the counted runs of other sessions.
func SessionRuns(session string, counted []string) string {
	own := "session_id = " + duck.Literal(session)
	if len(counted) > 0 {
		own += " OR run_id IN (SELECT unnest(" + TextList(counted) + "))"
	}
	return own
}
