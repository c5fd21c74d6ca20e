package main

import (
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema/stat"
)

// TestUnknownWarning: a word of another version stands in the rows without an explanation, also where every row has it.
func TestUnknownWarning(t *testing.T) {
	points := []query.SessionPoint{{Warnings: []string{"newer", "load"}}, {Warnings: []string{"newer", "load"}}}
	n := notes{}
	if words, _ := n.point(&points[0], common(points)); words != "newer" {
		t.Errorf("the row says %q, want newer", words)
	}
	if lines := n.lines(); len(lines) != 2 || !strings.HasPrefix(lines[0], "load"+term.Gap+"(all points) more") {
		t.Errorf("notes %q", lines)
	}
}

// TestEveryWarningIsExplained: a word below a table says what it means.
func TestEveryWarningIsExplained(t *testing.T) {
	for _, word := range []string{
		probe.WarnLoad, probe.WarnGovernor, probe.WarnThrottled, probe.WarnForeignGPU, task.WarnLeftRunning, task.WarnAppliedUnknown,
		runner.WarnFileChanged,
		stat.WarnSpread, stat.WarnDrift, stat.WarnModes, stat.WarnAutocorrelation, stat.WarnQuantised, stat.WarnShort, stat.WarnSlowStart, stat.WarnUnsteady,
		computedIn + "fp32",
	} {
		if warningMeaning(word) == "" {
			t.Errorf("%s has no meaning", word)
		}
	}
}
