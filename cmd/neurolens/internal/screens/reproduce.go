package screens

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
	words := sweep.Repeat(run, against)
	if words == nil {
		return ""
	}
	words = slices.Concat([]string{"neurolens"}, words)
	if len(stores) == 1 {
		words = append(words, "--store", stores[0])
	}
	for i, word := range words {
		words[i] = term.ShellWord(word)
	}
	return strings.Join(words, " ") + " --repeats 1"
}
