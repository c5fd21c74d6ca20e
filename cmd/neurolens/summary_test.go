package main

import (
	"testing"

	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema/stat"
)

// TestEveryWarningIsExplained: a word below a table says what it means.
func TestEveryWarningIsExplained(t *testing.T) {
	for _, word := range []string{
		probe.WarnLoad, probe.WarnGovernor, probe.WarnThrottled, probe.WarnForeignGPU, task.WarnLeftRunning, task.WarnAppliedUnknown,
		stat.WarnSpread, stat.WarnDrift, stat.WarnModes, stat.WarnAutocorrelation, stat.WarnQuantised, stat.WarnShort, stat.WarnSlowStart, stat.WarnUnsteady,
	} {
		if warningMeanings[word] == "" {
			t.Errorf("%s has no meaning", word)
		}
	}
}

// TestNotesWithoutMeaning: a word that nobody can explain, as of another version, takes no empty line.
func TestNotesWithoutMeaning(t *testing.T) {
	n := notes{}
	n.add("computed_in_fp32", warningMeanings["computed_in_fp32"])
	if lines := n.lines(); len(lines) != 0 {
		t.Errorf("the notes are %q", lines)
	}
}
