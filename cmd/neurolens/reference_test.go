package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestReference: docs/reference.md has every command with its sentence, its usage and its flags. -update writes it.
func TestReference(t *testing.T) {
	t.Parallel()
	page := filepath.Join("..", "..", "docs", "reference.md")
	want := reference(newRootCommand(&app{}))
	if *update {
		writeText(t, page, want)
	}
	if got, err := os.ReadFile(page); err != nil || string(got) != want {
		t.Errorf("docs/reference.md is not that of the commands (-update writes it anew): %v", err)
	}
}

// reference returns the page of all commands and flags.
func reference(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("# Command reference\n\nEvery command and flag. `neurolens help COMMAND` has the same with examples. This page is written by a test from the commands themselves.\n\n" +
		"## Flags of every command\n\n")
	flagTable(&b, root.PersistentFlags())
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			if !c.IsAvailableCommand() && c.Name() != "help" || c.Parent().Name() == "completion" {
				continue
			}
			path := strings.TrimPrefix(c.CommandPath(), root.Name()+" ")
			flags := c.LocalNonPersistentFlags() // before the line of usage, which says whether there are some once they were asked for
			fmt.Fprintf(&b, "\n## %s\n\n%s.\n\n    %s\n", path, strings.TrimSuffix(c.Short, "."), c.UseLine())
			if flags.HasAvailableFlags() {
				b.WriteString("\n")
				flagTable(&b, flags)
			}
			visit(c)
		}
	}
	visit(root)
	return b.String()
}

// flagTable is a table of the flags that help shows.
func flagTable(b *strings.Builder, flags *pflag.FlagSet) {
	b.WriteString("| flag | does |\n|---|---|\n")
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "`--" + f.Name
		if f.Shorthand != "" {
			name = "`-" + f.Shorthand + "`, " + name
		}
		if value != "" {
			name += " " + value
		}
		fmt.Fprintf(b, "| %s` | %s |\n", strings.ReplaceAll(name, "|", `\|`), strings.ReplaceAll(usage, "|", `\|`))
	})
}
