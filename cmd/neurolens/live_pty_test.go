//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestLiveOnATerminal runs sweeps on a terminal and ends them in every way while the view is shown. Whatever it is,
// nothing was set that would have to be undone, the shell's next output begins a line, and the modes of the terminal
// are what they were.
func TestLiveOnATerminal(t *testing.T) {
	_, err := exec.LookPath("script")
	programtest.Needs(t, "script", err)
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
			m := &programtest.Terminal{Columns: 80, Rows: 30}
			for line := range strings.SplitSeq(onTerminal(t, c.end), "\n") {
				_, _ = m.Write([]byte(strings.TrimSuffix(line, "\r") + "\n"))
			}
			lines := strings.Split(strings.TrimSpace(m.String()), "\n")
			valuetest.Equal(t, lines[len(lines)-1], c.want, "the last line")
			valuetest.Equal(t, strings.Contains(m.String(), "  now   seconds=600"), c.view, "the view is left")
			if !strings.HasPrefix(m.String(), "live · sleep · 2 points × 1 repeat = 2 runs") || len(m.Unknown) > 0 {
				t.Errorf("the terminal was told %q and shows\n%s", m.Unknown, m)
			}
		})
	}
}

// TestLiveResized: the view fits a terminal that becomes narrower and wider while it is shown, stands there once, and leaves nothing.
func TestLiveResized(t *testing.T) {
	_, err := exec.LookPath("script")
	programtest.Needs(t, "script", err)
	const mark = "\x1b[39;1m" // it changes nothing here, and says where in what was sent the size changes
	resize := func(columns int) string {
		return fmt.Sprintf("printf '\\033[39;1m'; at=$(wc -c <typescript); stty cols %d\nuntil tail -c +$at typescript | grep -q 'now   se'; do sleep 0.05; done\n", columns)
	}
	parts := strings.Split(onTerminal(t, resize(40)+resize(12)+resize(100)+"kill -INT $pid"), mark)
	valuetest.Equal(t, len(parts), 4, "the terminal had")
	m := &programtest.Terminal{Columns: 80, Rows: 30}
	for i, columns := range []int{80, 40, 12, 100} {
		if columns < m.Columns {
			m.Narrow(columns)
		}
		m.Columns = columns
		for line := range strings.SplitSeq(parts[i], "\r\n") {
			_, _ = m.Write([]byte(line + "\n"))
		}
		want := 1
		if columns == 100 {
			want = 0
		}
		valuetest.Equal(t, strings.Count(m.String(), "  now   se"), want, columns, "columns the view is there", m)
	}
	if !strings.HasSuffix(strings.TrimSpace(m.String()), "code 130") || len(m.Unknown) > 0 {
		t.Errorf("the terminal was told %q and shows\n%s", m.Unknown, m)
	}
}

// TestLiveStopped: Ctrl-Z stops the runner, and the modes of the terminal are what they were. The run that is under way goes on to its
// end, and is whole when the runner goes on too. The view is then below what the shell wrote, which stays.
func TestLiveStopped(t *testing.T) {
	_, err := exec.LookPath("script")
	programtest.Needs(t, "script", err)
	dir := t.TempDir()
	sent := typescript(t, dir, map[string]string{
		"sweep.yaml": "suite: live\nbenchmark: counted\ncommand: [sh, worker]\nrepeats: 2\nwarmup: 0\niterations: 8\n",
		"worker":     "echo >>count; until test -e stopped && { test $(wc -l <count) -le 8 || test -e back; }; do sleep 0.02; done\n",
		"shell": `set -m; stty cols 80 rows 30; stty -g >before
(until grep -qs "  now   " typescript; do sleep 0.05; done; kill -TSTP -$(cat pid)) &
sh -c 'echo $$ >pid; exec "$PROGRAM" bench sweep.yaml >out'
echo "stopped $?"; stty -g >during; touch stopped
until test "$(wc -l <count)" -ge 8; do sleep 0.05; done
echo measured; at=$(wc -c <typescript)
(until tail -c +$at typescript | grep -q "1/2"; do sleep 0.05; done; touch back) &
fg %2 >/dev/null
echo "code $?"; stty -g >after
cmp before during && cmp before after && echo same
`,
	})
	m := &programtest.Terminal{Columns: 80, Rows: 30}
	for line := range strings.SplitSeq(sent, "\r\n") {
		_, _ = m.Write([]byte(line + "\n"))
	}
	shown := m.String()
	for _, want := range []string{"\nstopped 148\n", "\nmeasured\n", "\ncode 0\n", "\nsame\n"} {
		valuetest.Contains(t, shown, want, "the terminal does not show")
	}
	if n := strings.Count(shown, "\n  now   counted"); n != 1 || len(m.Unknown) > 0 { // as it was when it was stopped
		t.Errorf("the terminal was told %q and shows\n%s", m.Unknown, shown)
	}
	valuetest.Equal(t, rows(t, dir, "SELECT status AS a, n_samples AS b FROM runs"), "[ok 8] [ok 8]", "the runs")
}

// onTerminal returns what a terminal is sent by a sweep of two runs, the second of which is ended, and then the shell.
func onTerminal(t *testing.T, end string) string {
	t.Helper()
	return typescript(t, t.TempDir(), map[string]string{
		"sweep.yaml": "suite: live\nbenchmark: sleep\ncommand: [sleep, \"{seconds}\"]\ngrid: {seconds: [0.01, 600]}\nrepeats: 1\nwarmup: 0\niterations: 1\n",
		"shell": `stty cols 80 rows 30; stty -g >before
"$PROGRAM" bench sweep.yaml >out & pid=$!
while ! grep -qs "1/2" typescript || ! grep -qs "now   seconds=600" typescript; do sleep 0.05; done
` + end + `
wait $pid; code=$?
stty -g >after
cmp before after && echo "code $code"
`,
	})
}

// typescript returns what a terminal is sent while it runs the file "shell" in a directory with these files.
func typescript(t *testing.T, dir string, files map[string]string) string {
	t.Helper()
	self := programtest.Binary(t)
	for name, text := range files {
		valuetest.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	cmd := exec.Command("script", "-qefc", "sh shell", "typescript")
	cmd.Dir = dir
	cmd.Env = append(programtest.Environ(t), "PROGRAM="+self, "TERM=xterm", "LC_ALL=C.UTF-8", "NO_COLOR=1", "NEUROLENS_MACHINE=lab3")
	var sent bytes.Buffer
	cmd.Stdout = &sent
	valuetest.OK(t, cmd.Start())
	stuck := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer stuck.Stop()
	valuetest.OK(t, cmd.Wait(), sent.String())
	return sent.String()
}
