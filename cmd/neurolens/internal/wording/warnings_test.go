package wording

import (
	"testing"

	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// TestEveryWarningIsExplained: a word below a table says what it means.
func TestEveryWarningIsExplained(t *testing.T) {
	for _, word := range []string{
		probe.WarnLoad, probe.WarnGovernor, probe.WarnThrottled, probe.WarnForeignGPU, task.WarnLeftRunning, task.WarnAppliedUnknown,
		schema.WarnUnchecked,
		runner.WarnFileChanged,
		stat.WarnSpread, stat.WarnDrift, stat.WarnModes, stat.WarnAutocorrelation, stat.WarnQuantised, stat.WarnShort, stat.WarnSlowStart, stat.WarnUnsteady,
		computedIn + "fp32",
	} {
		if WarningMeaning(word) == "" {
			t.Errorf("%s has no meaning", word)
		}
	}
}
