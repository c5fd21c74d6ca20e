package screens

import (
	"slices"
	"testing"

	"github.com/neurolens/neurolens/query/operators"
	"github.com/neurolens/neurolens/schema"
)

// TestAboutOperators: the lines below the operators say what their times are totals of, and whether rows contain others.
func TestAboutOperators(t *testing.T) {
	t.Parallel()
	profiled := &schema.Run{Env: schema.Env{Facts: map[string]string{"profile.iterations": "30"}}}
	const total, nested = "TIME is the total of 30 iterations under the profiler", "some rows contain or start others (ranges, calls), and SHARE counts the time of both; plot ops does not"
	for kind, want := range map[string][]string{"kernel": {total}, "NVTX": {total, nested}, "cpu_op": {total, nested}} {
		if got := aboutOperators(profiled, []operators.Operator{{Name: "a", Type: kind, DurationNS: new(int64(1))}}); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
	if got := noOperators(&schema.Run{RunID: "01JESKVTNA8241VY8C7CQ591QS", Source: schema.SourceNeuroLens}); got != "run 7CQ591QS has no operators: bench --profile measures them, in a separate run" {
		t.Error(got)
	}
}
