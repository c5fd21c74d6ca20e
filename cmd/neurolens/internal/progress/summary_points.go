package progress

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// pointWords are the words of a point's row: how runs that are not ok ended, and the warnings, less those of every point.
// Each word is explained once below the table.
func pointWords(n views.Notes, p *query.SessionPoint, everywhere []string) (words string, failed bool) {
	ended := maps.Clone(p.Statuses)
	for _, f := range p.Failures {
		word := views.Ended(schema.Status(f.Status), schema.IsWrong(schema.Status(f.Status), schema.Stage(f.Stage), f.ErrorKind))
		if word != f.Status {
			ended[word] += f.Runs
			ended[f.Status] -= f.Runs
		}
		if reason := term.FirstLine(f.Error); word != reason {
			n.Add(word, reason)
		}
	}
	var all []string
	add := func(word string) {
		count := ended[word]
		if count > 0 && count < p.Runs {
			word = fmt.Sprintf("%d %s", count, word)
		}
		if count > 0 {
			all = append(all, word)
		}
	}
	for _, status := range schema.Statuses {
		if status != schema.StatusOK {
			failed = failed || status.Failed() && p.Statuses[string(status)] > 0
			add(string(status))
		}
	}
	add(views.WrongResult)
	var own []string
	for _, word := range wordsOf(p) {
		meaning := views.WarningMeaning(word)
		if meaning != "" && slices.Contains(everywhere, word) { // an unknown one would be nowhere
			n.Add(word, "(all points) "+meaning)
			continue
		}
		n.Add(word, meaning)
		own = append(own, word)
	}
	if more := len(own) - rowWords; more > 0 {
		own = append(own[:rowWords], fmt.Sprintf("+%d", more))
	}
	return strings.Join(append(all, own...), ", "), failed
}

// exitLine says how exit statuses are no failures, where runs have failed by them; empty elsewhere.
func exitLine(points []query.SessionPoint) string {
	for i := range points {
		for _, f := range points[i].Failures {
			if hint := views.IgnoreExit(f.ErrorKind, f.Error); hint != "" {
				return hint
			}
		}
	}
	return ""
}

// wordsOf are the warnings of a point, and what its samples are where they are no single measurements.
func wordsOf(p *query.SessionPoint) []string {
	if p.Level != schema.LevelMean {
		return p.Warnings
	}
	return append(slices.Clone(p.Warnings), views.Means)
}

// common are the warnings that every point has, where there are several: they say nothing about a point.
func common(points []query.SessionPoint) []string {
	if len(points) < 2 {
		return nil
	}
	words := slices.Clone(wordsOf(&points[0]))
	for i := range points[1:] {
		words = slices.DeleteFunc(words, func(w string) bool { return !slices.Contains(wordsOf(&points[1+i]), w) })
	}
	return words
}

// rowWords is how many warnings a row names; how many more there are it counts.
const rowWords = 2

// calibrationLines are a line for each kernel of calibrate and side, and an empty one. everywhere are the warnings of all
// other points.
func calibrationLines(points []query.SessionPoint, notes views.Notes, everywhere []string) []string {
	var rows [][2]string
	for i := range points {
		p := &points[i]
		name := p.Benchmark + " " + p.Variant
		if p.Side != "" {
			name += " " + p.Side
		}
		text := term.Quantity(answer.Value(p.Median), p.Unit) + term.Gap + views.RunsTimesSamples(p.ValuedRuns, p.OKRuns, p.SamplesMin, p.SamplesMax)
		if words, _ := pointWords(notes, p, everywhere); words != "" {
			text += term.Gap + words
		}
		rows = append(rows, [2]string{name, text})
	}
	if len(rows) == 0 {
		return nil
	}
	return append(term.Pairs(rows), "")
}
