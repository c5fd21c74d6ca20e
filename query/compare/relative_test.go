package compare_test

import (
	"math"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// nightsOf returns ten sessions of points 1 to n, each of which is slower or faster as a whole; the last one by a fifth, and
// its point 3 by 6 % more. The first points are controls, which exist from some session on.
func nightsOf(points, controls, from int) (runs []schema.Run) {
	n := 0
	for session, factor := range []float64{1, 1.08, .96, 1.03, .92, 1.06, 1.01, .95, 1.04, 1.2} {
		for k := range points {
			if k < controls && session < from {
				continue
			}
			level := float64(1000*(k+1)) * factor * (1 + .001*float64((session*7+k*5)%3))
			if session == 9 && k+1 == 3 {
				level *= 1.06
			}
			runs = append(runs, querytest.RunsOf(&n, session, func(r *schema.Run) {
				r.BatchSize = new(int64(k + 1))
				if k < controls {
					r.Env.Facts = map[string]string{"runner.control": "true"}
				}
			}, wobble(level)...)...)
		}
	}
	return runs
}

// TestCompareRelative: in a session where all points are a fifth slower, only the one that is slower by more than the others is
// found. It is relative to controls if there are any, and to nothing if there are too few points.
func TestCompareRelative(t *testing.T) {
	querytest.NeedsLong(t)
	t.Parallel()
	req := compare.Request{Base: "session=last~1", Head: "session=last", Worst: compare.Verdicts}
	for _, c := range []struct {
		points, controls int
		from             int // session from which on there are controls
		absolute         bool
		judged, of       int // points that are judged relative to so many
	}{
		{12, 0, 0, false, 12, 12},
		{12, 2, 0, false, 10, 2},
		{4, 1, 0, false, 3, 1},
		{12, 2, 8, false, 10, 12}, // too new to tell what was left of earlier sessions
		{7, 0, 0, false, 0, 0},
		{12, 0, 0, true, 0, 0},
	} {
		req := req
		req.Absolute = c.absolute
		got := mustCompare(t, querytest.SealedRuns(t, nightsOf(c.points, c.controls, c.from)), req)
		judged := 0
		for i, p := range got.Points {
			if p.Verdict == judge.Regressed {
				t.Errorf("%+v: point %d is said to be slower by itself", c, i)
			}
			if p.RelativeVerdict != "" {
				judged++
			}
		}
		shared, there := got.Shared["latency"]
		if judged != c.judged || shared.Points != c.of || there != (c.judged > 0) || shared.Controls != (c.controls > 0 && c.from == 0 && there) {
			t.Errorf("%+v: %d judged, %+v", c, judged, got.Shared)
		}
		if g := got.Gate(); g.Points != c.points-c.controls || g.Inconclusive != g.Points {
			t.Errorf("%+v: the gate is about %d points, %d of them inconclusive", c, g.Points, g.Inconclusive)
		}
		if _, n, _, _ := got.GeometricMean("latency"); n != c.points-c.controls {
			t.Errorf("%+v: the mean is of %d points", c, n)
		}
		if c.judged == 0 {
			continue
		}
		valuetest.Near(t, shared.Change, .154, .01, c, "shared", shared, "want 1.2/1.04 less 1")
		called := slices.DeleteFunc(slices.Clone(got.Rows), func(r compare.Row) bool {
			return r.Relative == nil || r.Relative.Verdict == judge.Unchanged || r.Relative.Verdict == judge.Inconclusive
		})
		if len(called) != 1 || *called[0].Identity.BatchSize != 3 || called[0].Relative.Verdict != judge.Regressed ||
			*got.Rows[0].Identity.BatchSize != 3 {
			t.Errorf("%+v: %d rows are called relative to the others, the first is %v", c, len(called), got.Rows[0])
			continue
		}
		if change := realOf(t, got, 0, "relative_change"); math.Abs(change-.06) > .01 || realOf(t, got, 0, "relative_low") > change || realOf(t, got, 0, "relative_high") < change {
			t.Errorf("%+v: relative change %g", c, change)
		}
	}
}
