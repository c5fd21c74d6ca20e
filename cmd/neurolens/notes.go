package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// notes are the explanations of each word in a table of points.
type notes map[string][]string

// rowWords is how many warnings a row names; how many more there are it counts.
const rowWords = 2

// common are the warnings that every point has, where there are several: they say nothing about a point.
func common(points []query.SessionPoint) []string {
	if len(points) < 2 {
		return nil
	}
	words := slices.Clone(points[0].Warnings)
	for _, p := range points[1:] {
		words = slices.DeleteFunc(words, func(w string) bool { return !slices.Contains(p.Warnings, w) })
	}
	return words
}

// point gives the words of a point's row: how runs that are not ok ended, and the warnings, less those of every point.
// Each word is explained once below the table.
func (n notes) point(p *query.SessionPoint, everywhere []string) (words string, failed bool) {
	var all []string
	for _, status := range schema.Statuses {
		count := p.Statuses[string(status)]
		if count == 0 || status == schema.StatusOK {
			continue
		}
		failed = failed || status.Failed()
		word := string(status)
		if count < p.Runs {
			word = fmt.Sprintf("%d %s", count, status)
		}
		all = append(all, word)
	}
	for _, f := range p.Failures {
		if reason := term.FirstLine(f.Error); f.Status != reason {
			n.add(f.Status, reason)
		}
	}
	var own []string
	for _, word := range p.Warnings {
		meaning := warningMeaning(word)
		if meaning != "" && slices.Contains(everywhere, word) { // an unknown one would be nowhere
			n.add(word, "(all points) "+meaning)
			continue
		}
		n.add(word, meaning)
		own = append(own, word)
	}
	if more := len(own) - rowWords; more > 0 {
		own = append(own[:rowWords], fmt.Sprintf("+%d", more))
	}
	return strings.Join(append(all, own...), ", "), failed
}

// add keeps a meaning of a word; one without a meaning, as of another version, needs no line.
func (n notes) add(word, meaning string) {
	if meaning != "" && !slices.Contains(n[word], meaning) {
		n[word] = append(n[word], meaning)
	}
}

// lines explain each word once, with the first reason where there are several, and end with an empty line.
func (n notes) lines() []string {
	width := 0
	for word := range n {
		width = max(width, len(word))
	}
	var lines []string
	for _, word := range slices.Sorted(maps.Keys(n)) {
		meaning := n[word][0]
		if others := len(n[word]) - 1; others > 0 {
			meaning += fmt.Sprintf(" (and %s)", term.Count(others, "other reason"))
		}
		lines = append(lines, term.Pad(word, width, false)+term.Gap+meaning)
	}
	if len(lines) > 0 {
		lines = append(lines, "")
	}
	return lines
}

// computedIn begins the word of warning for work that was done in another number format than that of the model.
const computedIn = "computed_in_"

// warningMeanings explain the words of warning, each with what to do.
var warningMeanings = map[string]string{
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
	stat.WarnShort:           "an iteration takes less than 20 times what reading the clock takes; repeat the work within it",
	stat.WarnSlowStart:       "the first sample is more than twice the median; more warm-up",
	stat.WarnUnsteady:        "samples of a run never settle; more warm-up, more iterations",
	runner.WarnFileChanged:   "a file that it runs is not what it was when the session began, or changed while it ran; compare by the stored hashes",
	foreign.WarnNotFinite:    "a metric of the benchmark was not a finite number",
	foreign.WarnRounded:      "samples are whole numbers beyond 2^53: they are kept, and what sums them up is rounded to 16 digits",
	foreign.WarnMean:         "the file gives a mean, no samples and no median: the mean stands for the run",
}

// warningMeaning explains a word; empty where it is not known.
func warningMeaning(word string) string {
	if format, ok := strings.CutPrefix(word, computedIn); ok {
		return "the model's own format is another one than " + format + ", which it was computed in"
	}
	return warningMeanings[word]
}

// warningText is a word of warning with its meaning.
func warningText(word string) string {
	if meaning := warningMeaning(word); meaning != "" {
		return word + ": " + meaning
	}
	return word
}
