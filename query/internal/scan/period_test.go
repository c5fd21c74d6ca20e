package scan_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/neurolens/neurolens/query/internal/scan"
)

// TestSpans: whether periods overlap is what comparing each with each says.
func TestSpans(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	draw := func() [2]int64 {
		first := random.Int64N(60)
		return [2]int64{first, first + random.Int64N(6)}
	}
	for range 500 {
		all := make([][2]int64, random.IntN(8))
		for i := range all {
			all[i] = draw()
		}
		spans, asked := scan.NewSpans(slices.Clone(all)), draw()
		hit := slices.ContainsFunc(all, func(p [2]int64) bool { return p[0] <= asked[1] && asked[0] <= p[1] })
		if spans.Miss(asked[0], asked[1]) == hit {
			t.Fatalf("%v overlaps one of %v: %t, and it is not so by %v", asked, all, hit, spans)
		}
	}
}

// TestBounds: a run without a start, whose time is 0, is within no bounds, and the second bound is not part of the period.
func TestBounds(t *testing.T) {
	t.Parallel()
	at := func(ms int64) time.Time { return time.UnixMilli(ms) }
	for _, c := range []struct {
		bounds      scan.Period
		first, last int64
		want        bool
	}{
		{scan.NewPeriod(time.Time{}, time.Time{}), 0, 0, true},
		{scan.NewPeriod(time.Time{}, at(50)), 0, 0, false},
		{scan.NewPeriod(time.Time{}, at(50)), 49, 90, true},
		{scan.NewPeriod(time.Time{}, at(50)), 50, 90, false},
		{scan.NewPeriod(at(50), time.Time{}), 0, 49, false},
		{scan.NewPeriod(at(50), time.Time{}), 0, 50, true},
	} {
		if got := c.bounds.Overlap(c.first, c.last); got != c.want {
			t.Errorf("%+v and %d to %d: %t", c.bounds, c.first, c.last, got)
		}
	}
}
