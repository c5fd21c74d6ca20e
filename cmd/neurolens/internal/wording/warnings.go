package wording

import (
	"maps"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// computedIn begins the word of warning for work that was done in another number format than that of the model.
const computedIn = "computed_in_"

// Means is the word for samples that hold several iterations.
const Means = "means"

// warningMeanings explain the words of warning, each with what to do.
var warningMeanings = map[string]string{
	Means:                    "a sample is the mean of several iterations, so p99 is that of such means; --iterations-per-sample 1 measures single ones",
	probe.WarnLoad:           "more wanted to run than there are processors when a run began; stop other work, run again",
	probe.WarnGovernor:       "the clock of the processor follows the load; neurolens doctor says how to fix it",
	probe.WarnThrottled:      "heat or a power limit held a clock down; let it cool, lower the load, --order random",
	probe.WarnForeignGPU:     "another process computed on the GPU; end it, run again",
	task.WarnLeftRunning:     "processes were still running when the benchmark was done, and were killed",
	task.WarnAppliedUnknown:  "the worker did not say what it applied",
	stat.WarnSpread:          "in some run the middle half of the samples is wider than 10 % of their median; more iterations, less other work",
	stat.WarnDrift:           "samples of a run rise or fall in the order they were taken; let it cool, more warm-up, --order random",
	stat.WarnModes:           "samples of a run gather around two values; more iterations will not help, find what switches",
	stat.WarnAutocorrelation: "neighbouring samples resemble each other, so that many count as few; rely on repeats, not on iterations",
	stat.WarnQuantised:       "the step of the clock is more than 0.5 % of the median; repeat the work within an iteration",
	stat.WarnShort:           "an iteration takes less than 20 times what reading the clock takes; --iterations-per-sample, or repeat the work within it",
	stat.WarnSlowStart:       "the first sample is more than twice the median; more warm-up",
	stat.WarnUnsteady:        "samples of a run never settle; more warm-up, more iterations",
	schema.WarnUnchecked:     "its result could not be checked, and may be wrong",
	runner.WarnFileChanged:   "a file that it runs is not what it was when the session began, or changed while it ran; compare by the stored hashes",
	foreign.WarnNotFinite:    "a metric of the benchmark was not a finite number",
	foreign.WarnRounded:      "samples are whole numbers beyond 2^53: they are kept, and what sums them up is rounded to 16 digits",
	foreign.WarnMean:         "the file gives a mean, no samples and no median: the mean stands for the run",
}

// WarningWords are the words of warning that have one meaning, in alphabetical order.
func WarningWords() []string { return slices.Sorted(maps.Keys(warningMeanings)) }

// WarningMeaning explains a word; empty where it is not known.
func WarningMeaning(word string) string {
	if format, ok := strings.CutPrefix(word, computedIn); ok {
		return "the model's own format is another one than " + format + ", which it was computed in"
	}
	return warningMeanings[word]
}

// WarningText is a word of warning with its meaning.
func WarningText(word string) string {
	if meaning := WarningMeaning(word); meaning != "" {
		return word + ": " + meaning
	}
	return word
}
