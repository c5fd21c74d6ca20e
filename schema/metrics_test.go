package schema

import (
	"math"
	"testing"
)

// TestScale: ratios are of logarithms; what has no bound stays so, and nothing in a unit is infinite.
func TestScale(t *testing.T) {
	t.Parallel()
	if got := ScaleOf("accuracy"); got != ScaleDifference {
		t.Errorf("accuracy: %s", got)
	}
	if got := ScaleOf("of somebody's own"); got != ScaleRatio {
		t.Errorf("a metric that is not known: %s", got)
	}
	for _, c := range []struct {
		scale                      Scale
		difference, change, inUnit float64
	}{
		{ScaleRatio, math.Log(1.5), .5, 1.5},
		{ScaleRatio, math.Inf(-1), math.Inf(-1), 0},
		{ScaleRatio, 1e4, math.Inf(1), math.MaxFloat64},
		{ScaleDifference, -2, -2, -2},
	} {
		if change, inUnit := c.scale.Change(c.difference), c.scale.InUnit(c.difference); math.Abs(change-c.change) > 1e-12 || math.Abs(inUnit-c.inUnit) > 1e-12 {
			t.Errorf("%s %g: change %g, %g in the unit", c.scale, c.difference, change, inUnit)
		}
	}
}

// TestShown: one sample has no tail and no spread, and what OfSeveral names is what is left out. The number of samples of a file may be unknown.
func TestShown(t *testing.T) {
	v := new(1.0)
	full := Summary{Min: v, P25: v, P50: v, P75: v, P90: v, P95: v, P99: v, MAD: v, Mean: v}
	for n, want := range map[*int64]int{nil: 0, new(int64(1)): len(OfSeveral), new(int64(2)): 0} {
		full.N = n
		shown, missing := full.Shown(), 0
		for _, x := range []*float64{shown.Min, shown.P25, shown.P50, shown.P75, shown.P90, shown.P95, shown.P99, shown.MAD, shown.Mean} {
			if x == nil {
				missing++
			}
		}
		if missing != want {
			t.Errorf("%d numbers are not shown, want %d", missing, want)
		}
	}
}
