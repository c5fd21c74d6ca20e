package query

import (
	"context"
	"database/sql/driver"
	"slices"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// SessionPoint aggregates the runs of a point in a session; in a session with two sides, the runs of one side. SessionPointFields
// describes each value. A missing value is nil or an empty text.
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
	ValuedRuns           int       // the ok runs that have a value of the metric
	Locations            []float64 // natural logarithms of the locations of these runs, in their order, see stat.RunsRelError; none if the runs differ in metric
}

// RelError returns how precisely the runs determine their location, as stat.RunsRelError does; nil if it is unknown.
func (p *SessionPoint) RelError() *float64 {
	relError, ok := stat.RunsRelError(p.Locations)
	if !ok {
		return nil
	}
	return &relError
}

// Failure describes one way in which some runs of a point failed.
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
	err = db.stores.Query(ctx, func(r *scan.Reader) error {
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
	if values := duck.List(c.next()); p.Median != nil {
		for _, v := range values {
			if location, ok := v.(float64); ok {
				p.Locations = append(p.Locations, location)
			}
		}
	}
	return p
}

// pointsColumns are the columns of runs that pointsSQL reads.
var pointsColumns = []string{
	"run_id", "session_id", "point_id", "side", "purpose", "benchmark", "variant", "backend", "model", "precision", "batch_size", "seq_len", "params",
	"status", "stage", "error_kind", "error", "warnings", "n_samples", "metric", "unit", "better", "p50", "p99", "mean", "mad", "level", "log_median",
}

// pointsSQL returns the SQL of SessionPoints over a subquery of runs of purpose measure. sessionPointOf reads its columns.
func pointsSQL(runs string) string {
	return `SELECT point_id, side, benchmark, variant, backend, model, "precision", batch_size, seq_len, NULL AS machine, params, runs, ok_runs, statuses,
	samples_min, samples_max, metric, unit, better, median, p99, spread, level, warnings, failures, valued_runs, locations FROM ` +
		scan.PointRows(runs, "", ", min(level) FILTER (ok) AS level, list(log_median ORDER BY run_id) FILTER (ok AND log_median IS NOT NULL) AS locations") + " ORDER BY first_run"
}

// SessionPointFields returns the columns of the points of a session.
func SessionPointFields() []answer.Field[SessionPoint] {
	ids := []answer.Field[SessionPoint]{
		answer.TextField("point_id", "id of the point", func(p *SessionPoint) string { return p.PointID }),
		answer.TextField("side", schema.RunColumn("side").Doc, func(p *SessionPoint) string { return p.Side }),
	}
	identity := PointFields(func(p *SessionPoint) *Point { return &p.Point }, IdentityColumns()...)
	return slices.Concat(ids, identity, pointCounts(), pointNumbers(), pointTroubles())
}

// pointCounts returns the numbers of runs and samples of a point.
func pointCounts() []answer.Field[SessionPoint] {
	return []answer.Field[SessionPoint]{
		answer.NewField("runs", answer.TypeInteger, "number of runs", func(p *SessionPoint) any { return int64(p.Runs) }),
		answer.NewField("ok_runs", answer.TypeInteger, "number of runs with status ok; only these are measurements", func(p *SessionPoint) any { return int64(p.OKRuns) }),
		answer.NewField("statuses", answer.TypeMap, "number of runs per status", func(p *SessionPoint) any { return statusCounts(p.Statuses) }),
		answer.NewField("samples_min", answer.TypeInteger, "smallest number of samples in an ok run", func(p *SessionPoint) any { return answer.Value(p.SamplesMin) }),
		answer.NewField("samples_max", answer.TypeInteger, "largest number of samples in an ok run", func(p *SessionPoint) any { return answer.Value(p.SamplesMax) }),
	}
}

// pointNumbers returns the measurements of a point.
func pointNumbers() []answer.Field[SessionPoint] {
	number := func(name, meaning string, of func(*SessionPoint) *float64) answer.Field[SessionPoint] {
		return answer.NewField(name, answer.TypeReal, meaning, func(p *SessionPoint) any { return answer.Statistic(of(p)) }).In(schema.UnitOfRow)
	}
	return []answer.Field[SessionPoint]{
		answer.TextField("metric", "metric; NULL if the runs have different ones", func(p *SessionPoint) string { return p.Metric }),
		answer.TextField("unit", "unit of the metric; NULL if the runs have different ones", func(p *SessionPoint) string { return p.Unit }),
		answer.TextField("better", "which direction is better: lower or higher", func(p *SessionPoint) string { return p.Better }),
		number("median", "plain median of the ok runs' medians, without logarithms", func(p *SessionPoint) *float64 { return p.Median }),
		number("p99", "median of their 99th percentiles; NULL if a run has only one sample", func(p *SessionPoint) *float64 { return p.P99 }),
		answer.NewField("spread", answer.TypeReal, "how much samples vary within a run: median of the runs' robust spreads (1.4826 MAD / median); runs with one sample are ignored",
			func(p *SessionPoint) any { return answer.ComputedValue(p.Spread) }).In("ratio"),
		answer.NewField("rel_error", answer.TypeReal, "how precisely the runs determine their location: half-width of its 95 % interval, relative to it; NULL for fewer than 3 runs",
			func(p *SessionPoint) any { return answer.ComputedValue(p.RelError()) }).In("ratio"),
		answer.TextField("level", schema.RunColumn("level").Doc, func(p *SessionPoint) string { return string(p.Level) }),
	}
}

// pointTroubles returns the warnings and failures of a point.
func pointTroubles() []answer.Field[SessionPoint] {
	return []answer.Field[SessionPoint]{
		answer.NewField("warnings", answer.TypeList, "warnings of any of the runs", func(p *SessionPoint) any {
			words := make([]any, len(p.Warnings))
			for i, word := range p.Warnings {
				words[i] = word
			}
			return words
		}),
		answer.NewField("failures", answer.TypeList, "how runs failed, most frequent first: status, stage, error_kind, error and number of runs", func(p *SessionPoint) any {
			failures := make([]any, len(p.Failures))
			for i, f := range p.Failures {
				failures[i] = map[string]any{
					"status": answer.Text(f.Status), "stage": answer.Text(f.Stage), "error_kind": answer.Text(f.ErrorKind), "error": answer.Text(f.Error), "runs": int64(f.Runs),
				}
			}
			return failures
		}),
		answer.NewField("valued_runs", answer.TypeInteger, "number of ok runs that have a value of the metric, of which median, p99 and spread are", func(p *SessionPoint) any { return int64(p.ValuedRuns) }),
	}
}

// PointMetric is the value of a requested metric over the ok runs of a point.
type PointMetric struct {
	Unit   string   // empty if no run has the metric, or the runs have different units
	Median *float64 // median of the runs' medians or, if unknown, means
	Mean   *float64 // mean of the runs' means
	Runs   int      // that have a value
}

// AddMetrics adds metrics to the points that SessionPoints returned for the same session and counted runs.
func (db *DB) AddMetrics(ctx context.Context, points []SessionPoint, session string, counted, metrics []string) (Absent, error) {
	var absent Absent
	err := db.stores.Query(ctx, func(r *scan.Reader) error {
		sides, ids, err := okSides(ctx, r, session, counted)
		if err != nil {
			return err
		}
		found := map[string]bool{}
		for i := range points {
			points[i].Metrics = make([]PointMetric, len(metrics))
		}
		absent = Absent{}
		if len(ids) == 0 {
			return nil
		}
		s, err := sampled(ctx, r, ids)
		if err != nil {
			return err
		}
		t, err := s.table(ctx, "run_id, metric, unit, coalesce(p50, mean), mean", metrics)
		if err != nil {
			return err
		}
		values := map[pointSide][]pointValues{}
		for _, row := range t.Rows {
			metric := duck.Text(row[1])
			of := sides[duck.Text(row[0])]
			if values[of] == nil {
				values[of] = make([]pointValues, len(metrics))
			}
			found[metric] = true
			values[of][slices.Index(metrics, metric)].add(duck.Text(row[2]), row[3], row[4])
		}
		for i := range points {
			for k, v := range values[pointSide{points[i].PointID, points[i].Side}] {
				points[i].Metrics[k] = v.sum()
			}
		}
		absent, err = s.absent(ctx, metrics, found)
		return err
	})
	return absent, err
}

// pointSide is a point of a session, or one of its sides.
type pointSide struct{ point, side string }

// okSides returns the ok runs of purpose measure of a session and the counted runs, by run_id, and their ids.
func okSides(ctx context.Context, r *scan.Reader, session string, counted []string) (sides map[string]pointSide, ids []schema.ULID, err error) {
	columns, err := scan.RunColumns([]string{"run_id", "point_id", "side", "session_id", "purpose", "status"})
	if err != nil {
		return nil, nil, err
	}
	sel, err := r.Selected(ctx, scan.Question{})
	if err != nil {
		return nil, nil, err
	}
	sides = map[string]pointSide{}
	runs := sel.Src.Scan(scan.WithColumns(columns, sel.Columns), sel.RestrictedTo(scan.IsMeasurement+" AND status = 'ok' AND ("+scan.SessionRuns(session, counted)+")"))
	err = r.Conn.Query(ctx, duck.Statement{SQL: "SELECT run_id, point_id, side FROM " + runs + " ORDER BY run_id", Args: sel.Args}, func(row []driver.Value) error {
		var err error
		sides[duck.Text(row[0])] = pointSide{duck.Text(row[1]), duck.Text(row[2])}
		ids, err = scan.AppendID(ids, row[0])
		return err
	})
	return sides, slices.Compact(ids), err
}

// pointValues are the values of the runs of a point in a metric.
type pointValues struct {
	unit   string
	mixed  bool // runs have different units
	values []float64
	means  []float64
}

func (v *pointValues) add(unit string, value, mean any) {
	if v.values != nil && unit != v.unit {
		v.mixed = true
	}
	if number, ok := value.(float64); ok {
		v.unit, v.values = unit, append(v.values, number)
	}
	if number, ok := mean.(float64); ok {
		v.means = append(v.means, number)
	}
}

func (v *pointValues) sum() PointMetric {
	if v.mixed || len(v.values) == 0 {
		return PointMetric{}
	}
	slices.Sort(v.values)
	m := PointMetric{Unit: v.unit, Median: new(stat.Quantile(v.values, .5)), Runs: len(v.values)}
	if len(v.means) > 0 {
		sum := 0.0
		for _, mean := range v.means {
			sum += mean
		}
		m.Mean = new(sum / float64(len(v.means)))
	}
	return m
}

// SessionMetricFields returns the columns of the metrics that AddMetrics added. They follow those of SessionPointFields.
func SessionMetricFields(metrics []string) (fields []answer.Field[SessionPoint]) {
	for i, metric := range metrics {
		of := func(p *SessionPoint) PointMetric {
			if i >= len(p.Metrics) {
				return PointMetric{}
			}
			return p.Metrics[i]
		}
		columns := metricColumns(metric)
		fields = append(
			fields,
			answer.NewField(columns[0].Name, columns[0].Type, "median of the ok runs' medians of "+metric, func(p *SessionPoint) any { return answer.Statistic(of(p).Median) }),
			answer.TextField(columns[1].Name, "its unit", func(p *SessionPoint) string { return of(p).Unit }),
		)
	}
	return fields
}
