package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
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

// TestFirstFlags: help of a command with more than twelve flags lists ten of them first, and each flag once.
func TestFirstFlags(t *testing.T) {
	t.Parallel()
	const many, first = 12, 10
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		var own []string
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && f.Name != "help" {
				own = append(own, f.Name)
			}
		})
		usage := cmd.UsageString()
		before, after, split := strings.Cut(usage, "\nMore flags:\n")
		if want := len(own) > many && cmd.HasParent(); split != want {
			t.Errorf("%s has %d flags, and a second list: %v, want %v", cmd.Name(), len(own), split, want)
		}
		for _, name := range own {
			if n := len(regexp.MustCompile(`(?m)^ {2,6}(-., )?--`+name+`[ \[]`).FindAllString(usage, -1)); n != 1 {
				t.Errorf("%s: help lists --%s %d times", cmd.Name(), name, n)
			}
		}
		_, flags, _ := strings.Cut(before, "\nFlags:\n")
		flags, _, _ = strings.Cut(flags, "\nGlobal Flags:\n")
		if n := len(regexp.MustCompile(`(?m)^ {2,6}(-., )?--`).FindAllString(strings.ReplaceAll(flags, "-h, --help", ""), -1)); split && n != first {
			t.Errorf("%s: the first list has %d flags:\n%s", cmd.Name(), n, flags)
		}
		if split && !strings.Contains(after, "--") {
			t.Errorf("%s: nothing is below the heading", cmd.Name())
		}
		for _, below := range cmd.Commands() {
			visit(below)
		}
	}
	visit(newRootCommand(&app{}))
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
