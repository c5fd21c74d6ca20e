package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/neurolens/neurolens/query/answer"
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
		v := view{columns: []viewColumn{{header: "POINT"}}}
		for _, text := range c {
			v.rows = append(v.rows, []cell{{text: text}})
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
	for _, line := range append(wrapped(command, 80), wrapped(heading([]string{"lab3", command})[0], 80)...) {
		if strings.TrimSpace(line) == "" || ansi.StringWidth(line) > 80 {
			t.Errorf("a line of %d: %q", ansi.StringWidth(line), line)
		}
	}
}

// TestWideTable: a table of far more columns than there is room for shows the first, whole enough to be read, and counts the
// others; one that fits when its texts are cut shows all.
func TestWideTable(t *testing.T) {
	t.Parallel()
	table := answer.Table{Rows: [][]any{{}}}
	for i := range 84 {
		table.Columns = append(table.Columns, answer.Column{Name: fmt.Sprintf("column_%d", i), Type: answer.TypeText})
		table.Rows[0] = append(table.Rows[0], "value_of_a_column")
	}
	a := &app{width: 80}
	var out strings.Builder
	a.tableView(table).render(&out, 80, false)
	if want := "79 more columns left out"; !strings.Contains(out.String(), want) || !strings.Contains(out.String(), "value_of_a_") {
		t.Errorf("want %q in\n%s", want, out.String())
	}
	for line := range strings.Lines(out.String()) {
		if ansi.StringWidth(strings.TrimSuffix(line, "\n")) > 80 {
			t.Errorf("%q is wider than 80", line)
		}
	}
	few := answer.Table{Columns: table.Columns[:5], Rows: [][]any{table.Rows[0][:5]}}
	out.Reset()
	a.tableView(few).render(&out, 80, false)
	if strings.Contains(out.String(), "left out") || !strings.Contains(out.String(), "column_4") {
		t.Errorf("five columns fit:\n%s", out.String())
	}
}
