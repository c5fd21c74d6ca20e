package scan_test

import (
	"slices"
	"testing"
	"time"

	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// TestLikelyMetrics: a mistake in a filter does not make the samples of all runs be read. Each third of 30 runs has a primary metric and
// another one of its own.
func TestLikelyMetrics(t *testing.T) {
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
		20: {"accuracy", "first", "power", "second", "third"},
		99: {"accuracy", "first", "loss", "power", "second", "third"},
	} {
		err := querytest.Open(t, dir).Stores().Ask(t.Context(), func(r *scan.Reader) error {
			got, err := scan.LikelyMetrics(r, t.Context(), n)
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
