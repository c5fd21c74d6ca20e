package progress

import (
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// Again is a command line of bench as it was typed. It is empty if the sweep came on standard input.
func Again(args []string) string { return again(args, 0) }

// WithRepeats is a command line of bench with another number of repeats, to be typed again. args are its words, without the
// name of the program; what stands behind -- is a program's own. It is empty where the sweep came on standard input.
func WithRepeats(args []string, repeats int) string { return again(args, repeats) }

// again is a command line of bench, with another number of repeats unless that is 0.
func again(args []string, repeats int) string {
	own := len(args)
	if dash := slices.Index(args, "--"); dash >= 0 {
		own = dash
	}
	if slices.Contains(args[:own], "-") {
		return ""
	}
	words := []string{"neurolens"}
	for i := 0; i < own; i++ {
		switch word := args[i]; {
		case repeats > 0 && (word == "--repeats" || word == "-r"):
			i++ // its value
		case repeats > 0 && strings.HasPrefix(word, "--repeats="), word == "--no-pager":
		default:
			words = append(words, term.ShellWord(word))
		}
	}
	if repeats > 0 {
		words = append(words, "--repeats", strconv.Itoa(repeats))
	}
	for _, word := range args[own:] {
		words = append(words, term.ShellWord(word))
	}
	return strings.Join(words, " ")
}
