package query

import (
	"context"
	"slices"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// RunMetric is the value of one of several requested metrics of a run.
type RunMetric struct {
	Unit       string   // empty if the run does not have the metric
	UnitInFile string   // for a rate: as in ListedRun
	Value      *float64 // median or, if unknown, mean
}

// beside reads several metrics: one row per id, in the order of the metrics. found has the metrics that at least one run has.
func (s samplesOf) beside(ctx context.Context, ids []schema.ULID, metrics []string) (all [][]RunMetric, found map[string]bool, err error) {
	t, err := s.table(ctx, "run_id, metric, unit, coalesce(p50, mean)", metrics)
	if err != nil {
		return nil, nil, err
	}
	places, found := make(map[string]int, len(ids)), map[string]bool{}
	all = make([][]RunMetric, len(ids))
	for i, id := range ids {
		places[id.String()], all[i] = i, make([]RunMetric, len(metrics))
	}
	for _, row := range t.Rows {
		id, _ := row[0].(string)
		metric, _ := row[1].(string)
		found[metric] = true
		own := &all[places[id]][slices.Index(metrics, metric)]
		own.Unit, _ = row[2].(string)
		if value, ok := row[3].(float64); ok {
			own.Value = &value
		}
	}
	return all, found, nil
}

// metricColumns are the columns of one of several requested metrics: its value and its unit.
func metricColumns(metric string) []answer.Column {
	return []answer.Column{{Name: "metric." + metric, Type: answer.TypeReal}, {Name: "metric." + metric + ".unit", Type: answer.TypeText}}
}

// withMetrics is a table with the columns of metrics added at the end.
func withMetrics(t answer.Table, metrics []string, beside [][]RunMetric) answer.Table {
	wide := answer.Table{Columns: slices.Clone(t.Columns), Rows: make([][]any, len(t.Rows))}
	for _, metric := range metrics {
		wide.Columns = append(wide.Columns, metricColumns(metric)...)
	}
	for i, row := range t.Rows {
		wide.Rows[i] = slices.Clone(row)
		for _, m := range beside[i] {
			wide.Rows[i] = append(wide.Rows[i], answer.Statistic(m.Value), answer.Text(m.Unit))
		}
	}
	return wide
}
