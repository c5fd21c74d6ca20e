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

// PointMetric is the value of a requested metric over the ok runs of a point.
type PointMetric struct {
	Unit   string   // empty if no run has the metric, or the runs have different units
	Median *float64 // median of the runs' medians or, if unknown, means
	Runs   int      // that have a value
}

// AddMetrics adds metrics to the points that SessionPoints returned for the same session and counted runs.
func (db *DB) AddMetrics(ctx context.Context, points []SessionPoint, session string, counted, metrics []string) (Absent, error) {
	var absent Absent
	err := db.stores.Ask(ctx, func(r *scan.Reader) error {
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
		t, err := s.table(ctx, "run_id, metric, unit, coalesce(p50, mean)", metrics)
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
			values[of][slices.Index(metrics, metric)].add(duck.Text(row[2]), row[3])
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

// okSides are the ok runs of purpose measure of a session and the counted runs, by run_id, and their ids.
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
}

func (v *pointValues) add(unit string, value any) {
	if v.values != nil && unit != v.unit {
		v.mixed = true
	}
	if number, ok := value.(float64); ok {
		v.unit, v.values = unit, append(v.values, number)
	}
}

func (v *pointValues) sum() PointMetric {
	if v.mixed || len(v.values) == 0 {
		return PointMetric{}
	}
	slices.Sort(v.values)
	return PointMetric{v.unit, new(stat.Quantile(v.values, .5)), len(v.values)}
}

// SessionMetricFields are the columns of the metrics that AddMetrics added. They follow those of SessionPointFields.
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
			answer.Field[SessionPoint]{Column: columns[0], Meaning: "median of the ok runs' medians of " + metric, Of: func(p *SessionPoint) any { return answer.Statistic(of(p).Median) }},
			answer.Field[SessionPoint]{Column: columns[1], Meaning: "its unit", Of: func(p *SessionPoint) any { return answer.Text(of(p).Unit) }},
		)
	}
	return fields
}
