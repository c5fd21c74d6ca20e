package views

import (
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// ReproduceCommand is the command that measures the point of a run once more; empty if that is unknown. against is the commit that
// its session compared with.
func ReproduceCommand(run *schema.Run, against string, stores []string) string {
	line, program := sweep.Repeat(run, against)
	if line == nil {
		return ""
	}
	words := slices.Concat([]string{"neurolens"}, line)
	if len(stores) == 1 {
		words = append(words, "--store", stores[0])
	}
	words = append(words, "--repeats", "1")
	if program != nil {
		words = append(append(words, "--"), program...)
	}
	for i, word := range words {
		words[i] = term.ShellWord(word)
	}
	return strings.Join(words, " ")
}
