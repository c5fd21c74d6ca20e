package term

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// TestRowsDiffer: texts that are too long are cut so that the rows can be told apart.
func TestRowsDiffer(t *testing.T) {
	t.Parallel()
	for _, c := range [][]string{
		{"org.example.bench.MapBenchmark.get", "org.example.bench.MapBenchmark.put", "org.example.bench.MapBenchmark.remove"},
		{"tests/test_speed.py::test_insert[small-one]", "tests/test_speed.py::test_insert[small-two]", "tests/test_delete.py::test_insert[small-two]"},
		{"chat tiny-7b-chat max_seqs=4 prompts=4 rate=inf", "chat tiny-7b-chat max_seqs=16 prompts=4 rate=inf", "chat tiny-7b-chat max_seqs=64 prompts=4 rate=inf", "–"},
		{"short", "other"},
	} {
		v := View{Columns: []Column{{Header: "POINT"}}}
		for _, text := range c {
			v.Rows = append(v.Rows, []Cell{{Text: text}})
		}
		got := v.cutColumn(0, 20)
		if distinct(got) < len(c) {
			t.Errorf("%q is cut to %q", c, got)
		}
		for _, text := range got {
			if ansi.StringWidth(text) > 20 {
				t.Errorf("%q is wider than 20", text)
			}
		}
	}
}

// TestLongCommand: a command with many spaces makes neither blank lines nor lines wider than the terminal.
func TestLongCommand(t *testing.T) {
	t.Parallel()
	command := "sh -c '" + strings.Repeat("x", 30) + "\n" + strings.Repeat(" ", 400) + "grep one" + strings.Repeat(" ", 90) + "grep two'"
	for _, line := range append(Wrapped(command, 80), Wrapped(Heading([]string{"lab3", command})[0], 80)...) {
		if strings.TrimSpace(line) == "" || ansi.StringWidth(line) > 80 {
			t.Errorf("a line of %d: %q", ansi.StringWidth(line), line)
		}
	}
}
