package compare_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestGeometricMeanOfPrinted: the mean of results that a program printed has not the program's own time, which contains them. Alone it counts.
func TestGeometricMeanOfPrinted(t *testing.T) {
	t.Parallel()
	n := 0
	point := func(benchmark, variant string, printed bool, value float64) []schema.Run {
		return querytest.RunsOf(&n, 1, func(r *schema.Run) {
			if r.Benchmark, r.Variant = benchmark, variant; printed {
				r.Env.Facts[schema.FactRead] = "go-bench"
			}
			r.PointID = schema.PointID(r)
		}, value, value, value, value, value, value)
	}
	own := slices.Concat(point("program", "a", false, 1000), point("program", "b", false, 8000))
	printed := slices.Concat(point("x", "a", true, 100), point("x", "b", true, 200), point("y", "a", true, 100), point("y", "b", true, 200))
	for _, c := range []struct {
		runs             []schema.Run
		ratio            float64
		points, programs int
	}{{slices.Concat(own, printed), 2, 2, 1}, {own, 8, 1, 0}, {printed, 2, 2, 0}} {
		got, err := compare.Compare(context.Background(), querytest.SealedRuns(t, c.runs), compare.Request{Base: "variant=a", Head: "variant=b"})
		valuetest.OK(t, err)
		mean, points, _, programs := got.GeometricMean("latency")
		if math.Abs(1+mean-c.ratio) > 1e-6 || points != c.points || programs != c.programs {
			t.Errorf("a ratio of %g over %d points without %d, want %g, %d, %d", 1+mean, points, programs, c.ratio, c.points, c.programs)
		}
		groups, err := got.By(nil)
		valuetest.OK(t, err)
		if len(groups) != 1 || groups[0].GeometricMean != mean {
			t.Errorf("as a group: %+v, want %g", groups, mean)
		}
	}
}
