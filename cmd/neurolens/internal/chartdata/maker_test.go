package chartdata

import (
	"slices"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query"
)

// TestScaleOfSamples: one sample far from the others leaves these no room on a linear axis.
func TestScaleOfSamples(t *testing.T) {
	for last, want := range map[float64]chart.Scale{3: chart.Linear, 80: chart.Log, -1: chart.Linear} {
		if got := scaleOfSamples([]float64{1, 1.1, last}); got != want {
			t.Errorf("up to %v: %q, want %q", last, got, want)
		}
	}
}

// TestTitleOfCommands: the title of a chart of programs names them, in place of the benchmark that all programs share.
func TestTitleOfCommands(t *testing.T) {
	var all []views.Subject
	for i, variant := range []string{"f.py:a", "f.py:b", "f.py:b", "f.py:c", "f.py:d"} {
		all = append(all, views.Subject{Point: query.Point{Benchmark: "commands", Variant: variant, Machine: "lab3"}})
		common, _ := named(all, append(slices.Clone(views.IdentityColumns), "machine"))
		if titles := []string{"commands · f.py:a · lab3", "f.py:a, f.py:b · lab3", "f.py:a, f.py:b · lab3", "f.py:a, f.py:b, f.py:c · lab3", "f.py:a, f.py:b, f.py:c and 1 more · lab3"}; common != titles[i] {
			t.Errorf("got %s, want %s", common, titles[i])
		}
	}
}
