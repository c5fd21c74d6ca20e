package main

import (
	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
	"github.com/neurolens/neurolens/runner/sweep"
)

// repeatableFlags are the flags of a command line that say how its runs are made, as JSON, to be stored with them. The
// interpreter may come from the environment. Empty where there are none.
func repeatableFlags(cmd *cobra.Command, o sweep.Overrides) string {
	given := o.Repeated()
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
