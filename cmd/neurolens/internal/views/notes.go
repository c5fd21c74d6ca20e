package views

import (
	"fmt"
	"maps"
	"slices"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// Notes are the explanations of each word in a table of points.
type Notes map[string][]string

// inProcess is what says in which process a program failed: the first one may be of the warm-up, and all others not.
var inProcess = regexp.MustCompile(`^process \d+ of \w+: `)

// cause is what is the same of two meanings that need one line.
func cause(meaning string) string {
	return schema.Cause(inProcess.ReplaceAllString(meaning, ""))
}

// Add keeps a meaning of a word; one without a meaning, as of another version, needs no line, and neither does one that differs
// from another in its numbers alone, or in the process that failed.
func (n Notes) Add(word, meaning string) {
	known := func(other string) bool { return cause(other) == cause(meaning) }
	if meaning != "" && !slices.ContainsFunc(n[word], known) {
		n[word] = append(n[word], meaning)
	}
}

// Lines explain each word once, with the first reason where there are several, and end with an empty line.
func (n Notes) Lines() []string {
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
