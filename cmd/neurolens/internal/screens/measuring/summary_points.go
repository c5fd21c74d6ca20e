package measuring

import (
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/wording"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// pointWords are the words of a point's row: how runs that are not ok ended, and the warnings, less those of every point.
// Each word is explained once below the table.
func pointWords(n wording.Notes, p *query.SessionPoint, everywhere []string) (words string, failed bool) {
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
			n.Add(f.Status, reason)
		}
	}
	var own []string
	for _, word := range p.Warnings {
		meaning := wording.WarningMeaning(word)
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

// rowWords is how many warnings a row names; how many more there are it counts.
const rowWords = 2

// calibrationLines are a line for each kernel of calibrate and side, and an empty one. everywhere are the warnings of all
// other points.
func calibrationLines(points []query.SessionPoint, notes wording.Notes, everywhere []string) []string {
	var rows [][2]string
	for i := range points {
		p := &points[i]
		name := p.Benchmark + " " + p.Variant
		if p.Side != "" {
			name += " " + p.Side
		}
		text := output.Quantity(answer.Value(p.Median), p.Unit) + term.Gap + wording.RunsTimesSamples(p.OKRuns, p.SamplesMin, p.SamplesMax)
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
