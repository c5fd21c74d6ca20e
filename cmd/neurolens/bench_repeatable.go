package main

import (
	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
	"github.com/neurolens/neurolens/runner/shellwords"
	"github.com/neurolens/neurolens/runner/sweep"
)

// repeatableFlags are the flags of a command line that say how its runs are made, as JSON, to be stored with them. The
// interpreter may come from the environment. With them is what stood in place of a sweep file. Empty where there are none.
func repeatableFlags(cmd *cobra.Command, o sweep.Overrides, texts []string) string {
	given := o.Repeated()
	if len(texts) > 0 {
		given["line"] = output.Text(texts)
	}
	for _, name := range sweep.RepeatedOptions() {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed {
			given[name] = shellwords.ToUTF8(f.Value.String())
		}
	}
	if len(given) == 0 {
		return ""
	}
	return output.Text(given)
}
