package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/output"
)

func TestHelpFits(t *testing.T) {
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		if cmd.Name() == "completion" { // whose text is cobra's
			return
		}
		var b bytes.Buffer
		cmd.SetOut(&b)
		if err := cmd.Help(); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > helpWidth {
				t.Errorf("%s: %d columns: %s", cmd.CommandPath(), n, line)
			}
		}
		for _, c := range cmd.Commands() {
			visit(c)
		}
	}
	visit(rootCommand(t))
}

// TestREADMENames: the README names every command and every format of results; the help of --format does, too.
func TestREADMENames(t *testing.T) {
	readme, root := ofRepository(t, "README.md"), rootCommand(t)
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			name := regexp.QuoteMeta(strings.TrimPrefix(c.CommandPath(), "neurolens "))
			if c.Name() != "help" && !regexp.MustCompile("(neurolens |`)"+name+`\b`).MatchString(readme) {
				t.Errorf("the README does not name %s", c.CommandPath())
			}
			if c.Name() != "completion" {
				visit(c)
			}
		}
	}
	visit(root)
	if want := "`--format " + strings.Join(output.Formats, "|") + "`"; !strings.Contains(readme, want) {
		t.Errorf("the README does not say %s", want)
	}
	if usage := root.PersistentFlags().Lookup("format").Usage; !strings.Contains(usage, strings.Join(output.Formats, " ")) {
		t.Errorf("--format is explained by %q, and the formats are %v", usage, output.Formats)
	}
}

func rootCommand(t *testing.T) *cobra.Command {
	t.Helper()
	root, err := newRootCommand(&app{})
	if err != nil {
		t.Fatal(err)
	}
	return root
}
