package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// repeatableFlags are the flags of a command line that say how its runs are made, as JSON, to be stored with them. The
// interpreter may come from the environment. Empty where there are none.
func repeatableFlags(cmd *cobra.Command, python string) string {
	given := map[string]string{}
	if python != "" {
		given["python"] = python
	}
	for _, name := range sweep.RepeatedOptions() {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed {
			given[name] = f.Value.String()
		}
	}
	if len(given) == 0 {
		return ""
	}
	return output.Text(given)
}

// againCommand runs the point of a run again; empty where it is not known how. against is the commit that its session
// compared with.
func (a *app) againCommand(run *schema.Run, against string) string {
	words := sweep.Repeat(run, against)
	if words == nil {
		return ""
	}
	words = slices.Concat([]string{"neurolens"}, words)
	if len(a.stores) == 1 {
		words = append(words, "--store", a.stores[0])
	}
	for i, word := range words {
		words[i] = term.ShellWord(word)
	}
	return strings.Join(words, " ") + " --repeats 1"
}
