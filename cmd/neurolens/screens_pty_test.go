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
)

// TestScreensOnATerminal: on terminals of 80 and 200 columns no line is longer than the terminal, and no two lines with a value are
// the same, although the names differ in their middles alone and do not fit.
func TestScreensOnATerminal(t *testing.T) {
	_, err := exec.LookPath("script")
	needs(t, "script", err)
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	long := strings.Repeat("and_a_long_name_", 6)
	for session := range 3 {
		for point := range 12 {
			fmt.Fprintf(&lines, `{"benchmark": "tests/%s_%c_%s", "session_id": "01M0000000000000000000000%c", "machine": "lab3", "started_at": "2026-02-0%dT00:00:00Z", "samples": [{"metric": "latency", "unit": "ms", "values": [2, 2, 2]}]}`+"\n",
				long, 'a'+point, long, 'A'+session, session+1)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "runs.jsonl"), []byte(lines.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	programIn(t, dir, "ingest", "runs.jsonl")
	for _, columns := range []int{80, 200} {
		for command, least := range map[string]int{"ls session=last": 12, "history": 12, "compare session=last~1 session=last --all": 12} {
			cmd := exec.Command("script", "-qefc", fmt.Sprintf(`stty cols %d rows 60; "$PROGRAM" %s`, columns, command), os.DevNull)
			cmd.Dir = dir
			cmd.Env = append(programEnviron(t), "PROGRAM="+self, "TERM=xterm", "TZ=UTC", "NEUROLENS_FORMAT=")
			out, err := cmd.Output()
			if err != nil {
				t.Errorf("%s: %v\n%s", command, err, out)
				continue
			}
			rows := map[string]bool{}
			for line := range strings.Lines(string(out)) {
				line = strings.TrimRight(ansi.Strip(line), "\r\n")
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
