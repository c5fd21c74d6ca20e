//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestPagerOnATerminal: a pager shows a long answer, as wide as the terminal; the exit status is that of the command when the pager
// ends early, when it is killed, which leaves the modes of the terminal as they were, when it is not there, and when Ctrl-C is pressed in it. Help of flags and --no-pager have none.
func TestPagerOnATerminal(t *testing.T) {
	_, err := exec.LookPath("script")
	programtest.Needs(t, "script", err)
	dir := t.TempDir()
	self := programtest.Binary(t)
	valuetest.OK(t, os.WriteFile(filepath.Join(dir, "shell"), []byte(`stty cols 60 rows 20
try() { echo "== $1"; shift; "$@"; echo "code $?"; }
unset LESS
export NEUROLENS_PAGER
NEUROLENS_PAGER='echo first; exec <&-; echo "LESS=$LESS"'; try left "$PROGRAM" help programs
"$PROGRAM" store init --store store 2>/dev/null
NEUROLENS_PAGER='head -n 1'; try ended "$PROGRAM" query "SELECT range AS n FROM range(100000)" --format jsonl --store store
NEUROLENS_PAGER='awk "length > n {n = length} END {print (n <= 60), (NR > 20)}"'; try wide "$PROGRAM" help warnings
NEUROLENS_PAGER='cat >/dev/null; kill -INT $PPID; kill -INT $PPID; echo over'; try interrupted "$PROGRAM" help programs
stty -g >before
NEUROLENS_PAGER='stty raw -echo </dev/tty; kill -9 $$'; try killed "$PROGRAM" help programs
stty -g | cmp - before && echo same
NEUROLENS_PAGER=no-such-pager; try missing "$PROGRAM" help exit-codes
NEUROLENS_PAGER='echo paged'; try asked "$PROGRAM" help exit-codes --no-pager
try usage "$PROGRAM" ls --help
try slip "$PROGRAM" help nosuch
`), 0o644))
	cmd := exec.Command("script", "-qefc", "sh shell", os.DevNull)
	cmd.Dir = dir
	cmd.Env = append(programtest.Environ(t), "PROGRAM="+self, "TERM=xterm", "LC_ALL=C.UTF-8")
	out, err := cmd.Output()
	valuetest.OK(t, err, out)
	got := map[string]string{}
	for _, part := range strings.Split(strings.ReplaceAll(string(out), "\r", ""), "== ")[1:] {
		name, text, _ := strings.Cut(part, "\n")
		got[name] = text
	}
	for name, want := range map[string]string{
		"left":        "first\nLESS=FRX\ncode 0\n",
		"ended":       "{\"n\": 0}\ncode 0\n",
		"wide":        "1 1\ncode 0\n",
		"interrupted": "over\ncode 0\n",
		"killed":      "code 0\nsame\n",
	} {
		valuetest.Equal(t, got[name], want, name, "the terminal shows")
	}
	for name, want := range map[string]string{"missing": "EXIT STATUS", "asked": "EXIT STATUS", "usage": "List stored runs", "slip": "neurolens: help"} {
		code := "code 0\n"
		if name == "slip" {
			code = "code 2\n"
		}
		if text := got[name]; !strings.HasPrefix(text, want) || !strings.HasSuffix(text, code) || strings.Contains(text, "paged") {
			t.Errorf("%s: the terminal shows %q, want %q", name, text, want)
		}
	}
}
