package scan_test

import (
	"database/sql/driver"
	"slices"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// TestMetricsOfNewest: a mistake in a filter does not make the samples of all runs be read. Each third of 30 runs has metrics of its own.
func TestMetricsOfNewest(t *testing.T) {
	t.Parallel()
	dir := querytest.NewStore(t)
	for third, names := range [][2]string{{"first", "loss"}, {"second", "accuracy"}, {"third", "power"}} {
		var runs []schema.Run
		for n := range 10 {
			runs = append(runs, querytest.NewRun(10*third+n, 100, func(r *schema.Run) {
				r.StartedAt = querytest.Start.Add(time.Duration(10*third+n) * time.Hour)
				r.Metrics = []schema.Metric{
					querytest.MetricOf(names[0], "ns", schema.BetterLower, 5), querytest.MetricOf(names[1], "ratio", schema.BetterLower, 1),
				}
				r.Primary = names[0]
			}))
		}
		querytest.Seal(t, dir, runs...)
	}
	for n, want := range map[int][]string{
		5:  {"accuracy", "power", "second", "third"},
		10: {"accuracy", "power", "second", "third"},
		20: {"accuracy", "first", "loss", "power", "second", "third"},
		99: {"accuracy", "first", "loss", "power", "second", "third"},
	} {
		err := querytest.Open(t, dir).Stores().Query(t.Context(), func(r *scan.Reader) error {
			got, err := scan.Newest(r, n).Metrics(t.Context())
			if !slices.Equal(got, want) {
				t.Errorf("of the newest %d: %q, want %q", n, got, want)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestMetricTable: in however many parts the samples are read, each run has one row of the metric.
func TestMetricTable(t *testing.T) {
	t.Parallel()
	runs := querytest.VariousRuns()
	dir := querytest.LiveStore(t, runs[45:]...)
	for n := range 5 { // each file has runs of all the time
		var some []schema.Run
		for i := n; i < 45; i += 5 {
			some = append(some, runs[i])
		}
		querytest.Seal(t, dir, some...)
	}
	removed := []string{runs[5].RunID, runs[50].RunID}
	querytest.Annotate(t, dir, ingest.Annotation{Kind: schema.EventRemove, Runs: removed})
	want := querytest.IDsWhere(runs, func(r *schema.Run) bool { return r.Metric("loss") != nil && !slices.Contains(removed, r.RunID) })
	err := querytest.Open(t, dir).Stores().Query(t.Context(), func(r *scan.Reader) error {
		for _, atOnce := range []int{1, 10, 20, 1 << 40} {
			if err := scan.FillMetricTable(r, t.Context(), "filled", "loss", "n_samples", atOnce); err != nil {
				return err
			}
			var got []string
			err := r.Conn.Query(t.Context(), duck.Statement{SQL: "SELECT of_run FROM filled ORDER BY of_run"}, func(row []driver.Value) error {
				got = append(got, duck.Text(row[0]))
				return nil
			})
			if !slices.Equal(got, want) {
				t.Errorf("%d at once: %q, want %q", atOnce, got, want)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
