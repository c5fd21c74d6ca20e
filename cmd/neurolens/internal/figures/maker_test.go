package figures

import (
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/figure"
)

// TestScaleOfSamples: one sample far from the others leaves these no room on a linear axis.
func TestScaleOfSamples(t *testing.T) {
	for last, want := range map[float64]figure.Scale{3: figure.Linear, 80: figure.Log, -1: figure.Linear} {
		if got := scaleOfSamples([]float64{1, 1.1, last}); got != want {
			t.Errorf("up to %v: %q, want %q", last, got, want)
		}
	}
}
