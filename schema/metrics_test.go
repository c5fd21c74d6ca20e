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
