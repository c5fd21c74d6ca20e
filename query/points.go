package query

import (
	"context"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// SessionPoint sums up the runs of a point in a session; in a session with two sides, those of one side. SessionPointFields describes
// each value. A missing value is nil or an empty text.
type SessionPoint struct {
	PointID, Side        string
	Point                // without the machine
	Runs, OKRuns         int
	Statuses             map[string]int
	SamplesMin           *int64
	SamplesMax           *int64
	Metric, Unit, Better string
	Median, P99, Spread  *float64
	Level                schema.Level  // what a sample measures; the first by name if the runs differ
	Metrics              []PointMetric // set by AddMetrics
	Warnings             []string
	Failures             []Failure
	ValuedRuns           int // the ok runs that have a value of the metric
}

// Failure is a way in which some runs of a point failed.
type Failure struct {
	Status, Stage, ErrorKind, Error string
	Runs                            int
}

// SessionPoints sums up the runs of purpose measure of a session, and the runs of earlier sessions that it resumed (counted, by
// run_id), per point and side, in the order of their first runs. The numbers of a point are, over its ok runs,
//
//	SELECT median(coalesce(p50, mean)) AS median, median(p99) AS p99, median(1.4826 * mad / nullif(abs(p50), 0)) AS spread
//	FROM runs WHERE point_id = '...' AND purpose = 'measure' AND status = 'ok'
//
// but p99 is missing if a run has only one sample, spread ignores such runs, runs without a metric have no number, and all numbers are
// missing if the others differ in metric or unit. Failures are sorted by frequency, the most frequent first, then by their fields.
func (db *DB) SessionPoints(ctx context.Context, session string, counted []string) ([]SessionPoint, error) {
	columns, err := scan.RunColumns(pointsColumns)
	if err != nil {
		return nil, err
	}
	own := scan.SessionRuns(session, counted)
	var points []SessionPoint
	err = db.stores.Ask(ctx, func(r *scan.Reader) error {
		sel, err := r.Selected(ctx, scan.Question{})
		if err != nil {
			return err
		}
		runs := sel.Src.Scan(scan.WithColumns(columns, sel.Columns), sel.RestrictedTo("purpose = 'measure' AND ("+own+")"))
		t, err := r.Conn.Table(ctx, duck.Statement{SQL: pointsSQL(runs), Args: sel.Args})
		if err != nil {
			return err
		}
		points = make([]SessionPoint, len(t.Rows))
		for i, row := range t.Rows {
			points[i] = sessionPointOf(row)
		}
		return nil
	})
	return points, err
}

// sessionPointOf reads a row of pointsSQL.
func sessionPointOf(row []any) SessionPoint {
	c := cells{row}
	p := SessionPoint{
		PointID: c.text(), Side: c.text(), Point: c.point(), Runs: c.count(), OKRuns: c.count(), Statuses: c.counts(),
		SamplesMin: c.integer(), SamplesMax: c.integer(), Metric: c.text(), Unit: c.text(), Better: c.text(),
		Median: c.real(), P99: c.real(), Spread: c.real(), Level: schema.Level(c.text()),
	}
	for _, word := range duck.List(c.next()) {
		p.Warnings = append(p.Warnings, duck.Text(word))
	}
	for _, v := range duck.List(c.next()) {
		f, _ := v.(map[string]any)
		p.Failures = append(p.Failures, Failure{
			Status: duck.Text(f["status"]), Stage: duck.Text(f["stage"]), ErrorKind: duck.Text(f["error_kind"]), Error: duck.Text(f["error"]),
			Runs: int(duck.Integer(f["runs"])),
		})
	}
	p.ValuedRuns = c.count()
	return p
}

// pointsColumns are the columns of runs that pointsSQL reads.
var pointsColumns = []string{
	"run_id", "session_id", "point_id", "side", "purpose", "benchmark", "variant", "backend", "model", "precision", "batch_size", "seq_len", "params",
	"status", "stage", "error_kind", "error", "warnings", "n_samples", "metric", "unit", "better", "p50", "p99", "mean", "mad", "level",
}

// pointsSQL is the SQL of SessionPoints over a subquery of runs of purpose measure. sessionPointOf reads its columns.
func pointsSQL(runs string) string {
	return `SELECT point_id, side, benchmark, variant, backend, model, "precision", batch_size, seq_len, NULL AS machine, params, runs, ok_runs, statuses,
	samples_min, samples_max, metric, unit, better, median, p99, spread, level, warnings, failures, valued_runs FROM ` + scan.PointRows(runs, "", ", min(level) FILTER (ok) AS level") + " ORDER BY first_run"
}
