package measuring

import (
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// WithRepeats is a command line of bench with another number of repeats, to be typed again. args are its words, without the
// name of the program; what stands behind -- is a program's own. It is empty where the sweep came on standard input.
func WithRepeats(args []string, repeats int) string {
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
		case word == "--repeats", word == "-r":
			i++ // its value
		case strings.HasPrefix(word, "--repeats="), word == "--no-pager":
		default:
			words = append(words, term.ShellWord(word))
		}
	}
	words = append(words, "--repeats", strconv.Itoa(repeats))
	for _, word := range args[own:] {
		words = append(words, term.ShellWord(word))
	}
	return strings.Join(words, " ")
}
