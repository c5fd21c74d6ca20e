package query

import (
	"context"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// Points summarises the runs of purpose measure that match, one row for each point (and side of an A/B session), in the
// order of their first runs. Runs of every session and machine that match are taken together.
//
// Columns: point_id, side, benchmark, variant, backend, model, precision, batch_size, seq_len, params; runs (all of
// them), ok_runs; statuses, a map of status to number of runs; samples_min and samples_max, the smallest and largest
// n_samples of an ok run; metric, unit, better; median, p99, spread; warnings, all different ones; failures, the
// different {status, stage, error_kind, error} of the runs that are not ok, each with its number of runs, the most frequent
// first, then in the order of these fields. The numbers of a point are, over its ok runs,
//
//	SELECT median(coalesce(p50, mean)) AS median, median(p99) AS p99, median(1.4826 * mad / nullif(p50, 0)) AS spread
//	FROM runs WHERE point_id = '...' AND purpose = 'measure' AND status = 'ok'
//
// and NULL where these runs differ in metric or unit.
func (db *DB) Points(ctx context.Context, filter string) (answer.Table, error) {
	return db.points(ctx, scan.Question{Filter: filter}, "purpose = 'measure'")
}

// SessionPoints is Points of the runs of a session and of runs of earlier ones that it counts as its own, by run_id.
func (db *DB) SessionPoints(ctx context.Context, session string, counted []string) (answer.Table, error) {
	own := "session_id = " + duck.Literal(session)
	if len(counted) > 0 {
		own += " OR run_id IN (SELECT unnest(" + scan.TextList(counted) + "))"
	}
	return db.points(ctx, scan.Question{}, "purpose = 'measure' AND ("+own+")")
}

// points is Points of the runs that answer a question and meet a condition.
func (db *DB) points(ctx context.Context, q scan.Question, condition string) (answer.Table, error) {
	columns, err := scan.RunColumns(pointsColumns)
	if err != nil {
		return answer.Table{}, err
	}
	var t answer.Table
	err = db.stores.Ask(ctx, func(r *scan.Reader) error {
		sel, err := r.Selected(ctx, q)
		if err != nil {
			return err
		}
		q := duck.Statement{SQL: pointsSQL(sel.Src.Scan(scan.WithColumns(columns, sel.Columns), sel.RestrictedTo(condition))), Args: sel.Args}
		if t, err = r.Conn.Table(ctx, q); err == nil && len(t.Rows) == 0 {
			err = r.Nothing(ctx, sel)
		}
		return err
	})
	if err != nil {
		return answer.Table{}, err
	}
	t.SetUnits(nil)
	t.Columns[t.Index("median")].Unit = schema.UnitOfRow
	t.Columns[t.Index("spread")].Unit = "ratio"
	return t, nil
}

// pointsColumns are the columns of runs that pointsSQL reads.
var pointsColumns = []string{
	"run_id", "session_id", "point_id", "side", "purpose", "benchmark", "variant", "backend", "model", "precision", "batch_size", "seq_len", "params",
	"status", "stage", "error_kind", "error", "warnings", "n_samples", "metric", "unit", "better", "p50", "p99", "mean", "mad",
}

// pointsSQL is what Points describes, of a subquery of runs of purpose measure.
func pointsSQL(runs string) string {
	return "SELECT * EXCLUDE (comparable, first_run) FROM " + pointRows(runs, "") + " ORDER BY first_run"
}

// pointRows is a subquery of the rows that Points describes, of a subquery of runs, one for each point, side and value of
// the columns by ("a, b, "). Runs of another purpose than measure are in runs and statuses alone. comparable tells
// whether the ok runs agree in metric and unit.
func pointRows(runs, by string) string {
	return `(WITH points AS (SELECT ` + by + `point_id, side,
	min(benchmark) AS benchmark, min(variant) AS variant, min(backend) AS backend, min(model) AS model,
	min("precision") AS "precision", min(batch_size) AS batch_size, min(seq_len) AS seq_len, any_value(params) AS params,
	count(*) AS runs, count(*) FILTER (ok) AS ok_runs, histogram(status) AS statuses,
	min(n_samples) FILTER (ok) AS samples_min, max(n_samples) FILTER (ok) AS samples_max,
	min(metric) FILTER (ok) AS metric, min(unit) FILTER (ok) AS unit, min(better) FILTER (ok) AS better,
	median(coalesce(p50, mean)) FILTER (ok) AS median, median(p99) FILTER (ok) AS p99, median(1.4826 * mad / nullif(p50, 0)) FILTER (ok) AS spread,
	list_sort(list_distinct(flatten(coalesce(list(warnings) FILTER (warnings IS NOT NULL), [])))) AS warnings,
	list_transform(list_sort(list_transform(
		coalesce(map_entries(histogram({'status': status, 'stage': stage, 'error_kind': error_kind, 'error': error}) FILTER (NOT ok)), []),
		lambda e: {'fewer': -e.value::BIGINT, 'failure': e.key})),
		lambda e: struct_insert(e.failure, runs := -e.fewer)) AS failures,
	count(DISTINCT (metric, unit)) FILTER (ok) <= 1 AS comparable, min(run_id) AS first_run
	FROM (SELECT *, status = 'ok' AND purpose = 'measure' AS ok FROM ` + runs + `) GROUP BY ` + by + `point_id, side)
SELECT * REPLACE (
	CASE WHEN comparable THEN metric END AS metric, CASE WHEN comparable THEN unit END AS unit,
	CASE WHEN comparable THEN better END AS better, CASE WHEN comparable THEN median END AS median,
	CASE WHEN comparable THEN p99 END AS p99, CASE WHEN comparable THEN spread END AS spread
) FROM points)`
}
