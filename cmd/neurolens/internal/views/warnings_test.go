package views

import (
	"strings"
	"testing"

	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/python"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// TestEveryWarningIsExplained: a word below a table says what it means.
func TestEveryWarningIsExplained(t *testing.T) {
	for _, word := range []string{
		probe.WarnLoad, probe.WarnGovernor, probe.WarnThrottled, probe.WarnForeignGPU, task.WarnLeftRunning, task.WarnAppliedUnknown,
		python.WarnFirstCall, python.WarnLazyResult, python.WarnUnseeded, python.WarnConfigIgnored,
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

// TestFirstCallHasItsTimes: the warning has the time of the first call and of the later calls.
func TestFirstCallHasItsTimes(t *testing.T) {
	run := &schema.Run{Env: schema.Env{Facts: map[string]string{python.FactFirstCall: "10100000"}}}
	run.Metrics = []schema.Metric{{Name: schema.PrimaryMetric, Unit: "ns", Summary: schema.Summary{P50: new(73.0)}}}
	if text := WarningOf(run, python.WarnFirstCall); !strings.HasSuffix(text, "(10.1 ms, then 73.0 ns)") {
		t.Errorf("%s", text)
	}
	run.Env.Facts[python.FactUnseeded] = "numpy.random.default_rng"
	if text := WarningOf(run, python.WarnUnseeded); !strings.HasSuffix(text, "seed it in the benchmark (numpy.random.default_rng)") {
		t.Errorf("%s", text)
	}
	for _, word := range []string{stat.WarnSpread, python.WarnLazyResult} {
		if text := WarningOf(run, word); text != WarningText(word) {
			t.Errorf("%s: %s", word, text)
		}
	}
	run.Metrics = nil
	if text := WarningOf(run, python.WarnFirstCall); text != WarningText(python.WarnFirstCall) {
		t.Errorf("without a latency: %s", text)
	}
}
