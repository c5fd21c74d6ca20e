package main

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/help"
	"github.com/neurolens/neurolens/schema/valuetest"
)

func TestHelpFits(t *testing.T) {
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		if cmd.Name() == "completion" { // whose text is cobra's
			return
		}
		var b bytes.Buffer
		cmd.SetOut(&b)
		valuetest.OK(t, cmd.Help())
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > helpWidth {
				t.Errorf("%s: %d columns: %s", cmd.CommandPath(), n, line)
			}
		}
		for _, c := range cmd.Commands() {
			visit(c)
		}
	}
	visit(newRootCommand(&app{}))
}

// TestEveryFlagCompletes: somebody has thought of what follows each flag that takes a value; nothing is an answer too.
func TestEveryFlagCompletes(t *testing.T) {
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		cmd.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
			if _, known := cmd.GetFlagCompletionFunc(f.Name); !known && f.Value.Type() != "bool" && !f.Hidden { // hidden: another spelling
				t.Errorf("%s: nobody says what a shell offers after --%s: see values in internal/help", cmd.CommandPath(), f.Name)
			}
		})
		for _, c := range cmd.Commands() {
			visit(c)
		}
	}
	root := newRootCommand(&app{})
	valuetest.OK(t, help.PrepareCompletion(root, nil))
	visit(root)
}
