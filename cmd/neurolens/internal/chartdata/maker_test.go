package chartdata

import (
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
)

// TestScaleOfSamples: one sample far from the others leaves these no room on a linear axis.
func TestScaleOfSamples(t *testing.T) {
	for last, want := range map[float64]chart.Scale{3: chart.Linear, 80: chart.Log, -1: chart.Linear} {
		if got := scaleOfSamples([]float64{1, 1.1, last}); got != want {
			t.Errorf("up to %v: %q, want %q", last, got, want)
		}
	}
}
