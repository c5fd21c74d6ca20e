package stat

import (
	"math"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestEquivalent: an interval inside the limits, and only one that there is.
func TestEquivalent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		interval Estimate
		want     bool
	}{
		{Estimate{0, -.01, .019, .95}, true},
		{Estimate{.01, .005, .015, .95}, true},
		{Estimate{0, -.01, .02, .95}, false},
		{Estimate{0, -.02, .01, .95}, false},
		{Estimate{0, -.01, .03, .95}, false},
		{unbounded(0), false},
		{Estimate{}, false},
		{Estimate{0, math.NaN(), math.NaN(), .95}, false},
	} {
		valuetest.Equal(t, Equivalent(c.interval, .02), c.want, c.interval, "within 0.02")
	}
}
