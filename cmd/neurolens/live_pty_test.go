//go:build linux

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term/termtest"
)

// TestLiveOnATerminal runs sweeps on a terminal and ends them in every way while the view is shown. Whatever it is,
// nothing was set that would have to be undone, the shell's next output begins a line, and the modes of the terminal
// are what they were.
func TestLiveOnATerminal(t *testing.T) {
	_, err := exec.LookPath("script")
	needs(t, "script", err)
	for name, c := range map[string]struct {
		end  string // what is done once a run has finished
		want string // the end of what the terminal shows
		view bool   // the view is still there: nobody could remove it
	}{
		"interrupt": {end: "kill -INT $pid", want: "code 130"},
		"terminate": {end: "kill -TERM $pid", want: "code 143"},
		"kill":      {end: "kill -KILL $pid", want: "code 137", view: true},
	} {
		t.Run(name, func(t *testing.T) {
			m := &termtest.Terminal{Columns: 80, Rows: 30}
			for line := range strings.SplitSeq(onTerminal(t, c.end), "\n") {
				_, _ = m.Write([]byte(strings.TrimSuffix(line, "\r") + "\n"))
			}
			lines := strings.Split(strings.TrimSpace(m.String()), "\n")
			if last := lines[len(lines)-1]; last != c.want {
				t.Errorf("the last line is %q, want %q", last, c.want)
			}
			if shown := strings.Contains(m.String(), "  now   seconds=600"); shown != c.view {
				t.Errorf("the view is left: %v, want %v", shown, c.view)
			}
			if !strings.HasPrefix(m.String(), "live · sleep · 2 points × 1 repeat = 2 runs") || len(m.Unknown) > 0 {
				t.Errorf("the terminal was told %q and shows\n%s", m.Unknown, m)
			}
		})
	}
}

// onTerminal is what a terminal is sent by a sweep of two runs, the second of which is ended, and then the shell.
func onTerminal(t *testing.T, end string) string {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"sweep.yaml": "suite: live\nbenchmark: sleep\ncommand: [sleep, \"{seconds}\"]\ngrid: {seconds: [0.01, 600]}\nrepeats: 1\nwarmup: 0\niterations: 1\n",
		"shell": `stty cols 80 rows 30; stty -g >before
"$PROGRAM" bench sweep.yaml >out & pid=$!
while ! grep -qs "1/2" typescript || ! grep -qs "now   seconds=600" typescript; do sleep 0.05; done
` + end + `
wait $pid; code=$?
stty -g >after
cmp before after && echo "code $code"
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("script", "-qefc", "sh shell", "typescript")
	cmd.Dir = dir
	cmd.Env = append(programEnviron(t), "PROGRAM="+self, "TERM=xterm", "NO_COLOR=1", "NEUROLENS_MACHINE=lab3")
	var sent bytes.Buffer
	cmd.Stdout = &sent
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stuck := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer stuck.Stop()
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v after\n%q", err, sent.String())
	}
	return sent.String()
}
