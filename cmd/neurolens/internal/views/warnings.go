package views

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/python"
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
	Means:                       "each sample is the mean of several iterations, so p99 is that of means; --iterations-per-sample 1 measures single iterations",
	probe.WarnLoad:              "more threads were ready to run than there are processors when a run began; stop other work, measure again",
	probe.WarnGovernor:          "the processor clock changes with the load; neurolens doctor says how to fix it",
	probe.WarnThrottled:         "heat or a power limit lowered a clock; let the machine cool, lower the load, --order random",
	probe.WarnForeignGPU:        "another process used the GPU; end it, measure again",
	task.WarnLeftRunning:        "the benchmark left processes running, which were killed",
	task.WarnAppliedUnknown:     "the worker did not report which settings it applied",
	task.WarnMultiplexed:        "more counters were asked for than the processor has, so they took turns and their values are estimates; ask for fewer --counters",
	python.WarnFirstCall:        "the first call took more than 10 times as long as later ones, see show; if it filled a cache or used up its input, later calls did not do the work: --prepare, --cold-start",
	python.WarnConfigIgnored:    "get_config of the benchmark asks for something that the run does not have; show says what, and which setting to use",
	python.WarnUnseeded:         "a seed or deterministic algorithms were asked for, and something did not get them, see show; seed it in the benchmark",
	python.WarnLazyResult:       "the benchmark returned an iterator or a function, and work that is left in it was not measured; consume or call it, or return something else; --prepare makes inputs",
	stat.WarnSpread:             "the spread of the samples of a run (1.4826 MAD / median) is above 10 %; more iterations, less other work",
	stat.WarnDrift:              "the samples of a run rise or fall over time; let the machine cool, more warm-up, --order random",
	stat.WarnModes:              "the samples of a run are bimodal (they cluster around two values); more iterations will not help, find what switches",
	stat.WarnAutocorrelation:    "neighbouring samples are similar (autocorrelation), so many count as few; rely on repeats, not on iterations",
	stat.WarnQuantised:          "the resolution of the clock is above 0.5 % of the median; repeat the work within an iteration",
	stat.WarnShort:              "an iteration takes less than 20 times as long as reading the clock; --iterations-per-sample, or repeat the work within it",
	stat.WarnSlowStart:          "the first sample is more than twice the median; more warm-up",
	stat.WarnUnsteady:           "the samples of a run never become steady; more warm-up, more iterations",
	schema.WarnBisect:           "bisect measured the run, perhaps at an old commit, so history leaves it out",
	schema.WarnUnchecked:        "the result could not be checked, and may be wrong",
	runner.WarnFileChanged:      "a file that the benchmark runs changed after the session began; compare the stored hashes",
	foreign.WarnNotFinite:       "a metric of the benchmark was not a finite number",
	foreign.WarnRounded:         "samples are whole numbers beyond 2^53: they are stored exactly, and statistics are rounded to 16 digits",
	foreign.WarnAggregates:      "the samples in the file cannot all be read, so only its aggregates are stored; ingest says why",
	foreign.WarnMean:            "the file has a mean, but no samples and no median: the mean is the value of the run",
	python.WarnOutputNotFinite:  "values of the model's output are infinite or not a number; output.not_finite and output.checked in `show` say how many of how many",
	python.WarnProfilerOverhead: "iterations took at least twice as long under the profiler, so times of short operators are mostly its own; compare operators with each other, not with the latency",
	python.WarnProfileCut:       "the profile has fewer iterations than were asked for, because ONNX Runtime keeps a million events; profile.iterations has their number",
}

// WarningWords returns the words of warning that have one meaning, in alphabetical order.
func WarningWords() []string { return slices.Sorted(maps.Keys(warningMeanings)) }

// WarningMeaning explains a word; empty where it is not known.
func WarningMeaning(word string) string {
	if format, ok := strings.CutPrefix(word, computedIn); ok {
		return "the work was done in " + format + ", which is not the model's own format"
	}
	return warningMeanings[word]
}

// aboutWork are the words of warning that doubt what was measured. The others are about how noisy or how fine the times are.
var aboutWork = []string{
	python.WarnLazyResult, python.WarnOutputNotFinite, runner.WarnFileChanged, schema.WarnUnchecked, task.WarnAppliedUnknown, task.WarnLeftRunning,
}

// AboutWork reports whether a word of warning doubts what was measured.
func AboutWork(word string) bool {
	return slices.Contains(aboutWork, word) || strings.HasPrefix(word, computedIn)
}

// ProfileWarnings returns the warnings of a run that are about its profile, with their meanings.
func ProfileWarnings(warnings []string) (texts []string) {
	for _, word := range warnings {
		if word == python.WarnProfilerOverhead || word == python.WarnProfileCut {
			texts = append(texts, WarningText(word))
		}
	}
	return texts
}

// WarningText returns a word of warning with its meaning.
func WarningText(word string) string {
	if meaning := WarningMeaning(word); meaning != "" {
		return word + ": " + meaning
	}
	return word
}

// detailFacts are the facts that say what a warning of a run is about.
var detailFacts = map[string]string{python.WarnUnseeded: python.FactUnseeded, python.WarnConfigIgnored: python.FactConfigIgnored, task.WarnMultiplexed: task.FactMultiplexed}

// WarningOf returns a word of warning of a run with its meaning, and with what it is about: the times of a first call and of the later
// ones, what has no seed, what is ignored, or which counters took turns.
func WarningOf(run *schema.Run, word string) string {
	text := WarningText(word)
	if detail := run.Env.Facts[detailFacts[word]]; detail != "" {
		return fmt.Sprintf("%s (%s)", text, detail)
	}
	latency := run.Metric(schema.PrimaryMetric)
	first, err := strconv.ParseFloat(run.Env.Facts[python.FactFirstCall], 64)
	if word != python.WarnFirstCall || err != nil || latency == nil || latency.Summary.P50 == nil {
		return text
	}
	return fmt.Sprintf("%s (%s, then %s)", text, schema.ForPeople(first, "ns"), schema.ForPeople(*latency.Summary.P50, latency.Unit))
}

// Notes are the explanations of each word in a table of points.
type Notes map[string][]string

// Add keeps a meaning of a word; one without a meaning, as of another version, needs no line, and neither does one that differs
// from another in its numbers alone, or in the process that failed.
func (n Notes) Add(word, meaning string) {
	if meaning != "" && n.Index(word, meaning) < 0 {
		n[word] = append(n[word], meaning)
	}
}

// Index returns where the meanings of a word have one that Add kept for this one; -1 if none.
func (n Notes) Index(word, meaning string) int {
	return slices.IndexFunc(n[word], func(other string) bool { return schema.Cause(other) == schema.Cause(meaning) })
}

// everyPoint begins the meaning of a word that every point has.
const everyPoint = "(all points) "

// EveryPoint adds a word that every point has.
func (n Notes) EveryPoint(word, meaning string) { n.Add(word, everyPoint+meaning) }

// maxReasons is how many lines the reasons of a word have.
const maxReasons = 3

// Lines explain each word once, with a line for each of its first reasons, and end with an empty line. Several words of warning share a
// line, and help explains them, except for those that doubt what was measured.
func (n Notes) Lines() []string {
	var rows, explained [][2]string // explained are the rows about words of warning
	var words []string
	for _, word := range slices.Sorted(maps.Keys(n)) {
		meaning := n[word][0]
		if len(n[word]) == 1 && strings.TrimPrefix(meaning, everyPoint) == WarningMeaning(word) && !AboutWork(word) {
			explained = append(explained, [2]string{word, meaning})
			if strings.HasPrefix(meaning, everyPoint) {
				word += " " + strings.TrimSpace(everyPoint)
			}
			words = append(words, word)
			continue
		}
		reasons := n[word]
		if others := len(reasons) - maxReasons + 1; others > 1 {
			reasons = append(reasons[:maxReasons-1:maxReasons-1], "and "+term.Count(others, "other reason"))
		}
		for _, reason := range reasons {
			rows = append(rows, [2]string{word, reason})
			word = ""
		}
	}
	if len(explained) > 1 {
		explained = [][2]string{{"warnings", strings.Join(words, ", ") + ": neurolens help WORD explains each"}}
	}
	if rows = append(rows, explained...); len(rows) == 0 {
		return nil
	}
	return append(term.Pairs(rows), "")
}
