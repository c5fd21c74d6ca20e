package query_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/schema"
)

// TestSeveralMetrics: metrics follow the columns of runs in the requested order, whichever is primary; missing values are
// NULL. If the median is unknown, the mean is used.
func TestSeveralMetrics(t *testing.T) {
	t.Parallel()
	with := func(metrics ...schema.Metric) func(*schema.Run) {
		return func(r *schema.Run) { r.Metrics, r.Primary = metrics, metrics[0].Name }
	}
	reals := func(name, unit string, values ...float64) schema.Metric {
		return schema.Metric{Name: name, Unit: unit, Reals: values}
	}
	runs := []schema.Run{
		querytest.NewRun(0, 0, with(reals("latency", "ns", 10, 20, 90), reals("accuracy", "ratio", .5))),
		querytest.NewRun(1, 0, with(reals("accuracy", "ratio", 0))),
		querytest.NewRun(2, 0, with(schema.Metric{Name: "latency", Unit: "ns", Summary: schema.Summary{Mean: new(7.)}}, reals("loss", "", 3))),
	}
	for name, db := range map[string]*query.DB{"live": querytest.Open(t, querytest.NewStore(t, runs...)), "sealed": querytest.SealedRuns(t, runs)} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			req := query.ListRequest{Metrics: []string{"accuracy", "latency", "nothing"}}
			var got []string
			err := db.Pages(ctx, req, []string{"metric"}, func(p query.Page) error {
				for _, c := range p.Columns {
					got = append(got, c.Name)
				}
				for _, row := range p.Rows {
					got = append(got, strings.TrimSpace(fmt.Sprintln(row...)))
				}
				if want := (query.Absent{Metrics: []string{"nothing"}, Others: []string{"accuracy", "latency", "loss"}}); !reflect.DeepEqual(p.Absent, want) {
					t.Errorf("%v, want %v", p.Absent, want)
				}
				return nil
			})
			want := []string{
				"metric", "metric.accuracy", "metric.accuracy.unit", "metric.latency", "metric.latency.unit", "metric.nothing", "metric.nothing.unit",
				"latency <nil> <nil> 7 ns <nil> <nil>", "accuracy 0 ratio <nil> <nil> <nil> <nil>", "latency 0.5 ratio 20 ns <nil> <nil>",
			}
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%q, %v\nwant %q", got, err, want)
			}
			list, err := db.List(ctx, req)
			if err != nil || len(list.Runs) != 3 || *list.Runs[2].Metrics[1].Value != 20 || list.Runs[2].Metrics[2].Value != nil || list.Runs[1].Metrics[1].Unit != "" {
				t.Errorf("%+v, %v", list.Runs, err)
			}
		})
	}
}

// TestSortByMetric: runs are sorted by any metric, with the value that filters use; those without it come last.
func TestSortByMetric(t *testing.T) {
	t.Parallel()
	with := func(metrics ...schema.Metric) func(*schema.Run) {
		return func(r *schema.Run) { r.Metrics, r.Primary = metrics, metrics[0].Name }
	}
	latency := func(values ...float64) schema.Metric {
		return schema.Metric{Name: "latency", Unit: "ns", Reals: values}
	}
	accuracy := func(value float64) schema.Metric {
		return schema.Metric{Name: "accuracy", Unit: "ratio", Reals: []float64{value}}
	}
	runs := []schema.Run{
		querytest.NewRun(0, 0, with(latency(10, 20, 90), accuracy(.5))),
		querytest.NewRun(1, 0, with(accuracy(0))),
		querytest.NewRun(2, 0, with(schema.Metric{Name: "latency", Unit: "ns", Summary: schema.Summary{Mean: new(7.)}})),
		querytest.NewRun(3, 0, with(latency(11, 12, 13), accuracy(.25))),
	}
	for name, db := range map[string]*query.DB{"live": querytest.Open(t, querytest.NewStore(t, runs...)), "sealed": querytest.SealedRuns(t, runs)} {
		for _, c := range []struct {
			req  query.ListRequest
			want []int
		}{
			{query.ListRequest{Sort: []string{"metric.accuracy"}}, []int{1, 3, 0, 2}},
			{query.ListRequest{Sort: []string{"-metric.accuracy"}, Limit: 2}, []int{0, 3}},
			{query.ListRequest{Sort: []string{"metric.latency"}}, []int{2, 3, 0, 1}},
			{query.ListRequest{Sort: []string{"-metric.latency.max", "metric.accuracy"}, Filter: "metric.latency<1us"}, []int{0, 3, 2}},
			{query.ListRequest{Sort: []string{"-metric.latency.spread"}, Filter: "metric.accuracy>0"}, []int{0, 3}},
		} {
			if got := querytest.IDs(t, db, c.req); !slices.Equal(got, c.want) {
				t.Errorf("%s: %+v: got %v, want %v", name, c.req, got, c.want)
			}
		}
		_, err := db.List(context.Background(), query.ListRequest{Sort: []string{"metric.acuracy"}})
		querytest.WantInput(t, err, `no run has the metric "acuracy"; did you mean accuracy?`)
	}
}
