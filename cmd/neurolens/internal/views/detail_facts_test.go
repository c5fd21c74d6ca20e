package views

import (
	"slices"
	"testing"

	"github.com/neurolens/neurolens/schema"
)

// TestOrigins: show says of each setting where it comes from, and nothing of runs that did not store it.
func TestOrigins(t *testing.T) {
	t.Parallel()
	detail := Detail{Settings: []string{"control", "profile", "warmup", "iterations", "budget", "seed"}}
	run := schema.Run{Source: schema.SourceNeuroLens, Applied: map[string]string{"iterations": "7", "timing": "perf_counter", "seed": "4", "threads": "2"}, Env: schema.Env{Facts: map[string]string{
		"runner.profile": "ort", "runner.warmup": "10", "runner.iterations": "3", "runner.budget": "10s", "runner.seed": "4", "runner.threads": "2",
		schema.FactOrigins: `{"iterations":"sweep","budget":"preset quick","seed":"flag","threads":"variant"}`,
	}}}
	lines := detail.configurationLines(&run)
	for _, want := range []string{
		"profile     ort", "warmup      10 (default)", "budget      10s (preset quick)", "seed        4 (flag)",
		"iterations  7 (get_config)", "timing      perf_counter (applied)", "threads     2 (variant)",
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("%q is not in %q", want, lines)
		}
	}
	run.Source = "seed"
	if lines = detail.configurationLines(&run); !slices.Contains(lines, "iterations  7 (applied)") {
		t.Errorf("of a run of another tool: %q", lines)
	}
	delete(run.Env.Facts, schema.FactOrigins)
	if lines = detail.configurationLines(&run); !slices.Contains(lines, "budget      10s") {
		t.Errorf("of a run without origins: %q", lines)
	}
}
