package query_test

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/schema"
)

// TestAddMetrics: the metrics of a point are those of its ok runs in the session, separately for each side; failed runs do not
// count, and runs that differ in a unit have no number.
func TestAddMetrics(t *testing.T) {
	t.Parallel()
	n := 0
	run := func(session int, side string, status schema.Status, metrics ...schema.Metric) schema.Run {
		n++
		return querytest.NewRun(n, 0, func(r *schema.Run) {
			r.SessionID, r.Side, r.Status, r.BatchSize, r.Params, r.Metrics, r.Primary = querytest.SessionID(session), side, status, new(int64(1)), nil, metrics, metrics[0].Name
			if status != schema.StatusOK {
				r.Stage, r.ErrorKind, r.Error = schema.StageValidate, "check", "wrong"
			}
		})
	}
	reals := func(name, unit string, values ...float64) schema.Metric {
		return schema.Metric{Name: name, Unit: unit, Reals: values}
	}
	db := querytest.Open(t, querytest.NewStore(
		t,
		run(1, "base", schema.StatusOK, reals("latency", "ns", 10), reals("loss", "", 1)),
		run(1, "base", schema.StatusOK, reals("latency", "ns", 20, 30, 90), reals("loss", "", 3)),
		run(1, "base", schema.StatusError, reals("latency", "ns", 1), reals("loss", "", 900)),
		run(1, "head", schema.StatusOK, reals("latency", "ns", 50), reals("size", "B", 7)),
		run(1, "head", schema.StatusOK, reals("latency", "ns", 50), reals("size", "ns", 7)),
		run(2, "head", schema.StatusOK, reals("latency", "ns", 70), reals("only", "", 7)),
	))
	ctx := context.Background()
	points, err := db.SessionPoints(ctx, querytest.SessionID(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	metrics := []string{"loss", "latency", "size", "only"}
	absent, err := db.AddMetrics(ctx, points, querytest.SessionID(1), nil, metrics)
	if want := (query.Absent{Metrics: []string{"only"}, Others: []string{"latency", "loss", "size"}}); err != nil || !reflect.DeepEqual(absent, want) {
		t.Errorf("%v, %v, want %v", absent, err, want)
	}
	got := answer.TableOf(query.SessionMetricFields(metrics), points)
	if got.Columns[0].Name != "metric.loss" || got.Columns[1].Name != "metric.loss.unit" {
		t.Errorf("columns %v", got.Columns)
	}
	want := "[[2 <nil> 20 ns <nil> <nil> <nil> <nil>] [<nil> <nil> 50 ns <nil> <nil> <nil> <nil>]]"
	if text := fmt.Sprint(got.Rows); text != want {
		t.Errorf("%s, want %s", text, want)
	}
}
