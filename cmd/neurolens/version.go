package main

import (
	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
)

func newVersionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of NeuroLens and of its components",
		Args:  noArguments,
		RunE: a.printing(func(_ *cobra.Command, _ []string, format string) error {
			t := views.Version(version)
			return a.print(format, t, func() term.View { return term.PairsView(t) })
		}),
	}
}
