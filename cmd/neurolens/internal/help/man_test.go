package help

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestManPage: a page of the manual has every text as it stands, whatever it means in Markdown or to man.
func TestManPage(t *testing.T) {
	root := &cobra.Command{Use: "neurolens"}
	cmd := &cobra.Command{
		Use: "ls [FILTER...] | -", Short: "List *runs*", Example: "  neurolens ls 'a*' \\* # <b>",
		Long: "A filter is a_b, 'p99<1.5ms', [x](y), `c`, 1. \\d.\n.hidden\n- no list\n\nWords:\n  one   *two*\n\nThe end.",
		Run:  func(*cobra.Command, []string) {},
	}
	cmd.Flags().IntP("limit", "n", 20, "at most `N` rows, 0|1 for <all>")
	cmd.Flags().Bool("all", false, "every *row*")
	cmd.Flags().String("old", "", "")
	ok(t, cmd.Flags().MarkHidden("old"))
	root.AddCommand(cmd)
	dir, all := t.TempDir(), listedTopics(t)
	n, err := writeManual(root, "1.2.3", dir)
	if err != nil || n != 2+len(all) {
		t.Fatalf("%d pages: %v", n, err)
	}
	got := fileIn(t, dir, "man1", "neurolens-ls.1")
	for _, want := range []string{
		".TH \"NEUROLENS-LS\" \"1\" \"\" \"neurolens 1.2.3\" \"NeuroLens\"\n",
		"neurolens\\-ls \\- List *runs*\n", "neurolens ls [FILTER...] | \\- [flags]\n",
		"A filter is a_b, \\(aqp99<1.5ms\\(aq, [x](y), \\(gac\\(ga, 1. \\\\d.\n", "\n\\&.hidden\n\\- no list\n", "\n  one   *two*\n", "\nThe end.\n",
		"\\fB\\-n\\fP, \\fB\\-\\-limit\\fP \\fIN\\fP\nat most N rows, 0|1 for <all> (default 20)\n", "\\fB\\-\\-all\\fP\nevery *row*\n",
		"\n  neurolens ls \\(aqa*\\(aq \\\\* # <b>\n", "\n\\fBneurolens\\fP(1)\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the page has no %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "old") {
		t.Errorf("the page has a hidden flag:\n%s", got)
	}
	if top := fileIn(t, dir, "man1", "neurolens.1"); !strings.Contains(top, "\\fBneurolens\\-ls\\fP(1)") || !strings.Contains(top, "\\fBneurolens\\-sql\\fP(7)") {
		t.Errorf("the first page does not name the others:\n%s", top)
	}
}

// TestManTopic: a table is a list, and a link its text.
func TestManTopic(t *testing.T) {
	page := topicPage(&cobra.Command{Use: "neurolens"}, topic{name: "a", about: "about a"},
		"# A\n\nSee [b](b.md), `c`.\n\n## Keys\n\n| key | says |\n|---|---|\n| `a\\|b` | *one* |\n| c | |\n\nAfter.\n\n```sh\n# | x |\n```\n")
	want := "# NAME\nneurolens-a \\- about a\n\n# DESCRIPTION\n\nSee b, `c`.\n\n# KEYS\n\n\n**a\\|b**\n: \\*one\\*\n\n\n**c**\n\nAfter.\n\n```\n# | x |\n```\n\n" +
		"# SEE ALSO\n**neurolens**(1), **neurolens\\-help**(1)\n"
	if page != want {
		t.Errorf("got\n%q, want\n%q", page, want)
	}
}

// TestHelpMan: the flag wants a folder alone.
func TestHelpMan(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "my man")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--man", dir}, "pages are in " + dir + ": man -M '" + dir + "' neurolens\n<nil>"},
		{[]string{"--man", ""}, "want a folder"},
		{[]string{"--man", dir, "ls"}, "want a folder and no argument"},
	} {
		if got := help(t, c.args...); !strings.Contains(got, c.want) {
			t.Errorf("help %v: %q, want %q", c.args, got, c.want)
		}
	}
	before := fileIn(t, dir, "man7", "neurolens-sql.7")
	if help(t, "--man", dir); fileIn(t, dir, "man7", "neurolens-sql.7") != before {
		t.Error("the second manual is another one")
	}
	if names, _ := filepath.Glob(filepath.Join(dir, "man7", "*")); len(names) != len(listedTopics(t)) || !slices.IsSorted(names) {
		t.Errorf("the manual has %v", names)
	}
}

func fileIn(t *testing.T, parts ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(parts...))
	ok(t, err)
	return string(text)
}
