//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// charts are the commands that draw in a terminal.
var charts = []string{
	"plot forest session=last~1 session=last", "plot scatter session=last~1 session=last", "plot history", "plot ecdf", "plot runs", "plot heatmap session=last",
	"plot lines", "plot pareto --x latency --y accuracy", "compare session=last~1 session=last --plot", "history --plot", "show --plot",
}

// TestChartsOnATerminal: charts fit terminals of 40 columns and fewer, or say in one line that they do not; where the terminal has no
// UTF-8 they are ASCII, and without colour where it wants none. They leave its modes as they were.
func TestChartsOnATerminal(t *testing.T) {
	_, err := exec.LookPath("script")
	programtest.Needs(t, "script", err)
	dir := t.TempDir()
	var lines strings.Builder
	for session := range 2 {
		for point := range 4 {
			fmt.Fprintf(&lines, `{"benchmark": "tests/a_name_that_is_long", "session_id": "01M0000000000000000000000%c", "machine": "lab3", "started_at": "2026-02-0%dT00:00:00Z", "params": {"dim": %d, "mode": "%c"}, "samples": [{"metric": "latency", "unit": "ms", "values": [%d, 2, 3]}, {"metric": "accuracy", "unit": "ratio", "better": "higher", "values": [0.%d]}]}`+"\n",
				'A'+session, session+1, point/2+1, 'a'+point%2, point+1, point+1)
		}
	}
	valuetest.OK(t, os.WriteFile(filepath.Join(dir, "runs.jsonl"), []byte(lines.String()), 0o644))
	programtest.Output(t, dir, "ingest", "runs.jsonl")
	for _, c := range []struct {
		columns int
		environ string
		ascii   bool
		color   bool
		long    bool // left out of the usual tests
	}{
		{columns: 40, environ: "LC_ALL=C TERM=dumb", ascii: true},
		{columns: 10, environ: "LC_ALL=C.UTF-8", color: true},
		{columns: 40, environ: "LC_ALL=C.UTF-8 NO_COLOR=1", long: true},
		{columns: 30, environ: "LC_ALL= LC_CTYPE= LANG=C NO_COLOR=1", ascii: true, long: true},
		{columns: 80, environ: "LC_ALL=C.UTF-8", color: true, long: true},
	} {
		drawn := charts
		if !programtest.Long() {
			if drawn = []string{charts[0], charts[4]}; c.long {
				continue
			}
		}
		for _, command := range drawn {
			t.Run(fmt.Sprintf("%d %s %s", c.columns, c.environ, command), func(t *testing.T) {
				sent := typescript(t, dir, map[string]string{"shell": fmt.Sprintf(
					"stty cols %d rows 60; stty -g >before\nunset NO_COLOR; export %s\n\"$PROGRAM\" %s\ncode=$?; stty -g >after; cmp before after && printf '\\ncode %%d\\n' $code\n", c.columns, c.environ, command)})
				shown, found := strings.CutSuffix(strings.ReplaceAll(sent, "\r\n", "\n"), "\ncode 0\n")
				if !found {
					t.Fatalf("it does not end well:\n%s", sent)
				}
				if colored := strings.Contains(shown, "\x1b["); colored && !c.color {
					t.Errorf("there are colours: %q", shown)
				}
				if wide := strings.ContainsFunc(ansi.Strip(shown), func(r rune) bool { return r > '~' }); wide && c.ascii {
					t.Errorf("there is more than ASCII:\n%s", shown)
				}
				if alone := strings.HasPrefix(command, "plot"); alone || c.columns >= 40 { // a table breaks its lines below that
					checkFits(t, shown, c.columns, alone)
				}
			})
		}
	}
}

// checkFits checks that no line of a chart is wider than the terminal, which shows it as it was written.
func checkFits(t *testing.T, shown string, columns int, alone bool) {
	t.Helper()
	m := &programtest.Terminal{Columns: columns, Rows: 60}
	for line := range strings.Lines(shown) {
		_, _ = m.Write([]byte(line))
		if n := ansi.StringWidth(strings.TrimRight(line, "\n")); n > columns {
			t.Errorf("a line of %d columns: %s", n, line)
		}
	}
	valuetest.DeepEqual(t, m.Unknown, nil, "what the terminal does not know")
	if lines := strings.Count(strings.TrimSpace(shown), "\n") + 1; alone && columns < 30 && lines != 1 {
		t.Errorf("%d lines say that there is no room:\n%s", lines, shown)
	}
}
