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
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestScreensOnATerminal: on terminals of 80 and 200 columns no line is longer than the terminal, and no two lines with a value are
// the same, although the names differ in their middles alone and do not fit.
func TestScreensOnATerminal(t *testing.T) {
	dir := t.TempDir()
	var lines strings.Builder
	long := strings.Repeat("and_a_long_name_", 6)
	for session := range 3 {
		for point := range 12 {
			fmt.Fprintf(&lines, `{"benchmark": "tests/%s_%c_%s", "session_id": "01M0000000000000000000000%c", "machine": "lab3", "started_at": "2026-02-0%dT00:00:00Z", "samples": [{"metric": "latency", "unit": "ms", "values": [2, 2, 2]}]}`+"\n",
				long, 'a'+point, long, 'A'+session, session+1)
		}
	}
	valuetest.OK(t, os.WriteFile(filepath.Join(dir, "runs.jsonl"), []byte(lines.String()), 0o644))
	programtest.Output(t, dir, "ingest", "runs.jsonl")
	for _, columns := range []int{80, 200} {
		for command, least := range map[string]int{"ls session=last": 12, "history": 12, "compare session=last~1 session=last --all": 12} {
			out := shownOn(t, dir, columns, command)
			rows := map[string]bool{}
			for line := range strings.Lines(out) {
				line = strings.TrimRight(line, "\n")
				if ansi.StringWidth(line) > columns && !strings.HasPrefix(line, "next") {
					t.Errorf("%s: a line is wider than %d:\n%s", command, columns, line)
				}
				if strings.Contains(line, "2.00 ms") {
					if rows[line] {
						t.Errorf("%s: two rows of a terminal %d wide look the same:\n%s", command, columns, out)
						break
					}
					rows[line] = true
				}
			}
			if len(rows) < least {
				t.Errorf("%s: %d rows at %d columns, want %d:\n%s", command, len(rows), columns, least, out)
			}
		}
	}
}

// TestGoldenScreens: what people see on terminals of 80 and 200 columns of the runs of a CI system, as the script ci_log shows it
// on a pipe.
func TestGoldenScreens(t *testing.T) {
	dir := t.TempDir()
	script := valuetest.Must(txtar.ParseFile(filepath.Join("testdata", "script", "ci_log.txtar")))
	for _, file := range script.Files {
		if file.Name == "runs.jsonl" {
			valuetest.OK(t, os.WriteFile(filepath.Join(dir, file.Name), file.Data, 0o644))
		}
	}
	programtest.Output(t, dir, "ingest", "runs.jsonl")
	for _, columns := range []int{80, 200} {
		for _, command := range []string{"ls --limit 4", "compare session=last~8 session=last", "history", "explain session=last~8 session=last"} {
			got := shownOn(t, dir, columns, command)
			word, _, _ := strings.Cut(command, " ")
			golden := filepath.Join("testdata", "screens", fmt.Sprintf("%s_%d.txt", word, columns))
			if *update {
				valuetest.OK(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want := valuetest.Must(os.ReadFile(golden))
			valuetest.Equal(t, got, string(want), command, columns, "columns", want)
		}
	}
}

// shownOn returns what a command of the program shows on a terminal of so many columns, without its colours.
func shownOn(t *testing.T, dir string, columns int, command string) string {
	t.Helper()
	return ansi.Strip(recordedOn(t, dir, columns, command))
}

// recordedMachine is the name of the machine on recorded screens, whichever it is.
const recordedMachine = "lab3"

// recordedOn returns what a command of the program writes to a terminal of so many columns, colours and all.
func recordedOn(t *testing.T, dir string, columns int, command string) string {
	t.Helper()
	_, err := exec.LookPath("script")
	programtest.Needs(t, "script", err)
	self := programtest.Binary(t)
	cmd := exec.Command("script", "-qefc", fmt.Sprintf(`stty cols %d rows 60; "$PROGRAM" %s`, columns, command), os.DevNull)
	cmd.Dir = dir
	cmd.Env = append(programtest.Environ(t), "PROGRAM="+self, "TERM=xterm", "LC_ALL=C.UTF-8", "TZ=UTC", "NEUROLENS_FORMAT=",
		"NEUROLENS_MACHINE="+recordedMachine)
	out, err := cmd.Output()
	valuetest.OK(t, err, command, out)
	return strings.ReplaceAll(string(out), "\r\n", "\n")
}
