package views

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
)

// programsFirst are differences with those of programs before all others: a point is the same whatever its command is, so that
// nothing else on a screen says that two are compared.
func programsFirst(all []query.FactDifference) []query.FactDifference {
	place := func(d query.FactDifference) int {
		if query.IsProgram(d) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b query.FactDifference) int { return place(a) - place(b) })
	return all
}

// programTexts are two commands as a shell reads them. Of long ones the words go that both begin with.
func programTexts(base, head string) (was, is string) {
	const long = 32 // columns of the terminal
	a, b := programWords(base), programWords(head)
	same := 0
	for same < min(len(a), len(b))-1 && a[same] == b[same] {
		same++
	}
	text := func(words []string) string {
		whole := strings.Join(words, " ")
		if term.Width(whole) > long && same > 0 {
			whole = "… " + strings.Join(words[same:], " ")
		}
		return term.Cut(whole, long)
	}
	return text(a), text(b)
}

// programWords are the words of a command that is kept as JSON; what is no list of words is one.
func programWords(kept string) []string {
	var words []string
	if json.Unmarshal([]byte(kept), &words) != nil {
		return []string{kept}
	}
	for i, word := range words {
		words[i] = term.ShellWord(word)
	}
	return words
}
