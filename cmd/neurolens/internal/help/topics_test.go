package help

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/docs"
)

// TestEachPageIsATopic: README says that each page directly in docs is help NAME, but for its index; so are two pages beside the code.
func TestEachPageIsATopic(t *testing.T) {
	pages, err := docs.Pages.ReadDir(".")
	ok(t, err)
	names := []string{"columns", "stored"}
	for _, page := range pages {
		if name := strings.TrimSuffix(page.Name(), ".md"); name != "README" {
			names = append(names, name)
		}
	}
	for _, name := range names {
		if text, err := shown([]string{name}, 80); err != nil || len(text) < 500 {
			t.Errorf("help %s: %d bytes, %v", name, len(text), err)
		}
	}
}

// TestAlsoCalled: other words for a topic show its page, and no page has such a name.
func TestAlsoCalled(t *testing.T) {
	names := topicNames()
	for word, name := range alsoCalled {
		got, err := shown([]string{word}, 80)
		if want, failed := shown([]string{name}, 80); err != nil || failed != nil || got == "" || got != want {
			t.Errorf("help %s is not help %s: %v, %v", word, name, err, failed)
		}
		if slices.Contains(names, word) {
			t.Errorf("%s is the name of a page", word)
		}
	}
}

// TestTopicsFit: every topic has its page, and what is no code fits a terminal, narrow or wide.
func TestTopicsFit(t *testing.T) {
	for _, topic := range listedTopics(t) {
		page, err := topic.text()
		ok(t, err)
		for _, width := range []int{60, 80, 120} {
			text := rendered(page, width)
			for line := range strings.Lines(text) {
				line = strings.TrimSuffix(line, "\n")
				if !strings.HasPrefix(line, "    ") && term.Width(line) > width && strings.Contains(line, " ") {
					t.Errorf("%s at %d columns: %d: %s", topic.name, width, term.Width(line), line)
				}
			}
		}
	}
}

func TestRendered(t *testing.T) {
	got := rendered("# A title\n\nSee [a page](a.md) and `code`,\nthen more.\n\n<!-- not run: needs a GPU -->\n```sh\nneurolens ls `x`\n```\n\n| key | says |\n|---|---|\n| `a\\|b` | one |\n| c | two |\n\n* item\n\n1. one\n2. two\n   more\n", 40)
	want := "A TITLE\n\nSee a page and code, then more.\n\n    neurolens ls `x`\n\nkey  says\na|b  one\nc    two\n\n* item\n\n1. one\n2. two more\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	narrow := rendered("| key | says |\n|---|---|\n| a | one two three four |\n", 14)
	if want := "key\n    says\na\n    one two\n    three four\n"; narrow != want {
		t.Errorf("got\n%s\nwant\n%s", narrow, want)
	}
}

// help returns what the command prints, and its error.
func help(t *testing.T, args ...string) string {
	t.Helper()
	root := &cobra.Command{Use: "neurolens"}
	root.AddCommand(&cobra.Command{Use: "ls", Short: "List runs", Run: func(*cobra.Command, []string) {}})
	root.AddCommand(&cobra.Command{Use: "model", Short: "Models", Run: func(*cobra.Command, []string) {}})
	root.SetHelpCommand(Command(root, "1.2.3", 80))
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetArgs(append([]string{"help"}, args...))
	root.SilenceErrors, root.SilenceUsage = true, true
	err := root.Execute()
	return fmt.Sprint(out.String(), err)
}

func TestHelp(t *testing.T) {
	for word, want := range map[string]string{
		"exit-codes": "EXIT STATUS", "drift": "drift (warning)\n    the samples of a run rise or fall over time", "ls": "List runs", "": "Available Commands",
		"REGRESSED":        "regressed (verdicts of compare)\n    The head is worse, by the change that is shown.",
		"regressed":        "regressed (verdicts of history)\n    The level",
		"noise":            "noise (reasons of compare)\n    The interval is too wide",
		"quantised":        "\n\nquantised (reasons of compare)\n",
		"p99":              "p99 (column of runs, samples)\n    99th percentile (in the unit of the row)\n",
		"verdict":          "verdict (column of compare)\n",
		"duration_ns":      "duration_ns (column of ops)\n",
		"ttft":             "ttft (metric)\n    time to the first token (in ns); lower is better\n",
		"computed_in_int8": "computed_in_int8 (warning)\n",
		"model":            "Models",
	} {
		args := strings.Fields(word)
		if got := help(t, args...); !strings.Contains(got, want) {
			t.Errorf("help %s: got %s, want %s", word, got, want)
		}
	}
	for word, want := range map[string]string{"filtr": "did you mean filters", "drif": "did you mean drift", "regresed": "did you mean regressed", "nosuch": "neurolens help --help lists the topics"} {
		if got := help(t, word); !strings.Contains(got, want) {
			t.Errorf("help %s: got %s, want %s", word, got, want)
		}
	}
}

// TestTopics: every page of docs is a topic, in the order of the index, with a group and a sentence; a name in the singular is one, too.
func TestTopics(t *testing.T) {
	all := listedTopics(t)
	pages, err := docs.Pages.ReadDir(".")
	ok(t, err)
	for _, page := range pages {
		name := strings.TrimSuffix(page.Name(), ".md")
		if found, is := named(all, name); !is && name != "README" || is && (found.group == "" || found.about == "") {
			t.Errorf("%s is topic %+v", page.Name(), found)
		}
	}
	for asked, want := range map[string]string{"filter": "filters", "filters": "filters", "sweep": "sweeps", "columns": "columns"} {
		if got, _ := named(all, asked); got.name != want {
			t.Errorf("%s is %q, want %q", asked, got.name, want)
		}
	}
	if list := topicList(all, 60); !strings.Contains(list, "\nTopics, measure:\n  programs ") || len(all) < 30 {
		t.Errorf("%d topics:\n%s", len(all), list)
	}
}

func listedTopics(t *testing.T) []topic {
	t.Helper()
	all, err := topics()
	ok(t, err)
	return all
}

// ok ends a test at an error.
func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
