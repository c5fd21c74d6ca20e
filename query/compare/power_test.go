package compare_test

import (
	"context"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestForesee: the newest session of a point that has two sides tells what the next one can find: less of noisier points, more
// of more blocks. Sessions of one side, of other points, and of a side without a run do not count, and neither do other points of a session.
func TestForesee(t *testing.T) {
	t.Parallel()
	n := 0
	benchmark := func(name string) func(r *schema.Run) {
		return func(r *schema.Run) { r.Benchmark = name; r.PointID = schema.PointID(r) }
	}
	side := func(session int, name, side string, locations ...float64) []schema.Run {
		return querytest.RunsOf(&n, session, func(r *schema.Run) { benchmark(name)(r); r.Side = side }, locations...)
	}
	base := []float64{1000, 1010, 990, 1005, 995, 1000}
	calm, noisy := []float64{1003, 1008, 994, 1001, 999, 1000}, []float64{1100, 900, 1200, 800, 1000, 1050}
	runs := slices.Concat(
		side(1, "s", "base", base...), side(1, "s", "head", noisy...),
		side(2, "s", "base", base...), side(2, "s", "head", calm...), side(2, "wild", "base", base...), side(2, "wild", "head", noisy...),
		side(3, "s", "", base...),
		side(4, "noisy", "base", base...), side(4, "noisy", "head", noisy...),
		side(5, "alone", "head", base...),
	)
	db := querytest.SealedRuns(t, runs)
	seen := func(name string, blocks, looks int) (float64, bool) {
		var of schema.Run
		for _, r := range runs {
			if r.Benchmark == name {
				of = r
			}
		}
		f, err := compare.Predict(context.Background(), db, []string{of.PointID})
		valuetest.OK(t, err, name)
		if name == "s" && (f.Session != querytest.SessionID(2) || f.Machine == "") {
			t.Errorf("%+v, want session 2", f)
		}
		return f.MinDetectableEffect(blocks, looks)
	}
	calmly, ok := seen("s", 6, 1)
	if !ok || calmly < .02 || calmly > .05 {
		t.Errorf("%g %v is seen where blocks differ by half a percent", calmly, ok)
	}
	noisily, ok := seen("noisy", 6, 1)
	if !ok || noisily < .2 {
		t.Errorf("%g %v is seen where blocks differ by 15 %%", noisily, ok)
	}
	if more, _ := seen("noisy", 20, 1); more >= noisily {
		t.Errorf("%g is seen with 20 blocks, %g with 6", more, noisily)
	}
	if often, _ := seen("noisy", 6, 5); often <= noisily {
		t.Errorf("%g is seen with five looks, %g with one", often, noisily)
	}
	for _, name := range []string{"alone", "unknown"} {
		if change, ok := seen(name, 6, 1); ok {
			t.Errorf("%s: %g is seen", name, change)
		}
	}
}
