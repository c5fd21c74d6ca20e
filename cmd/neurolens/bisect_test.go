//go:build linux

package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// memory returns a repository in which c2 makes a program take more memory than in c0, which no other load of the machine
// changes, and c1 does not build. It gives the folder, where the working tree has changes that no commit has.
func memory(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	programtest.WriteFile(t, dir, "sweep.yaml", "suite: memory\nbuild: [[sh, -n, work.sh]]\ncommand: [sh, work.sh]\nwarmup: 0\niterations: 1\n")
	programtest.WriteFile(t, dir, ".gitignore", "runs_store/\n")
	programtest.WriteFile(t, dir, "work.sh", "exec dd if=/dev/zero of=/dev/null bs=80M count=1 status=none\n")
	programtest.Repository(t, dir)
	programtest.Git(t, dir, "tag", "c0")
	for tag, text := range []string{1: "if then\n", 2: "exec dd if=/dev/zero of=/dev/null bs=120M count=1 status=none\n"} {
		if text != "" {
			programtest.WriteFile(t, dir, "work.sh", text)
			programtest.Commit(t, dir)
			programtest.Git(t, dir, "tag", fmt.Sprint("c", tag))
		}
	}
	programtest.WriteFile(t, dir, "work.sh", "exit 1 # not committed\n")
	return dir
}

// TestBisect: interrupted after its first step, and typed again, which measures nothing twice; c1 cannot be told from c2.
// Neither the working tree nor HEAD is touched, and no working tree is left.
func TestBisect(t *testing.T) {
	programtest.NeedsLong(t)
	t.Parallel()
	dir, cache := memory(t), t.TempDir()
	before := programtest.Git(t, dir, "status", "--porcelain") + programtest.Git(t, dir, "rev-parse", "HEAD") + programtest.Git(t, dir, "for-each-ref")
	bisect := func(args ...string) *programtest.Process {
		p := programtest.Program(t, dir, append([]string{"bisect", "c0", "c2", "sweep.yaml", "--metric", "peak_memory"}, args...)...)
		p.Env = append(p.Env, "XDG_CACHE_HOME="+cache)
		return p
	}
	stopped := bisect()
	stopped.Stderr = nil
	stderr := valuetest.Must(stopped.StderrPipe())
	valuetest.OK(t, stopped.Start())
	var said strings.Builder
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if strings.HasPrefix(lines.Text(), "step 1 ") {
			_ = stopped.Process.Signal(syscall.SIGINT)
		}
	}
	_ = stopped.Wait()
	if code := stopped.ProcessState.ExitCode(); code != 130 || !strings.Contains(said.String(), "the same command continues\n") {
		t.Fatalf("exit %d\n%s%s", code, said.String(), stopped.Printed.String())
	}
	checkNoSides(t, dir, cache)

	again := bisect("--json")
	_ = again.Run()
	valuetest.Equal(t, again.ProcessState.ExitCode(), exitInconclusive, "exit")
	for _, want := range []string{
		": continues after 1 step\n", `step 2 of about `, `: skipped: sweep.yaml:2: build sh -n work.sh: exit status 2`,
	} {
		valuetest.Contains(t, again.Messages.String(), want)
	}
	for _, want := range []string{`"result": "candidate"`, programtest.Git(t, dir, "rev-parse", "c1"), programtest.Git(t, dir, "rev-parse", "c2")} {
		valuetest.Contains(t, again.Printed.String(), want)
	}
	bad := programtest.Git(t, dir, "rev-parse", "c2")
	if got := rows(t, dir, "SELECT count(DISTINCT session_id), count(*) FROM runs WHERE git_commit = '"+bad+"' AND status = 'ok'"); got != "[1 6]" {
		t.Errorf("sessions and runs of c2: %s", got)
	}
	all := rows(t, dir, "SELECT count(*) FROM runs")
	third := bisect("--format", "table")
	_ = third.Run()
	if got := rows(t, dir, "SELECT count(*) FROM runs"); got != all || !strings.Contains(third.Printed.String(), " %  BLOCKS  RESULT\n") || !strings.Contains(third.Printed.String(), "the first changed commit after "+views.ShortCommit(programtest.Git(t, dir, "rev-parse", "c0"))+" is one of 2\n") {
		t.Errorf("a search that is over: %s runs, then %s\n%s%s", all, got, third.Printed.String(), third.Messages.String())
	}
	checkNoSides(t, dir, cache)
	if after := programtest.Git(t, dir, "status", "--porcelain") + programtest.Git(t, dir, "rev-parse", "HEAD") + programtest.Git(t, dir, "for-each-ref"); after != before {
		t.Errorf("the repository was\n%s\nis\n%s", before, after)
	}
	logs, _ := filepath.Glob(filepath.Join(cache, "neurolens", "bisect", "*.log"))
	valuetest.Equal(t, len(logs), 1, "logs", logs)
	programtest.Git(t, dir, "checkout", "-q", "-f", "main")
	replay := exec.Command("git", "bisect", "replay", logs[0])
	replay.Dir = dir
	says, _ := replay.CombinedOutput() // it ends with 2 where it found candidates
	for _, tag := range []string{"c1", "c2"} {
		valuetest.Contains(t, string(says), "only 'skip'ped commits left", "git bisect replay", says)
		valuetest.Contains(t, string(says), programtest.Git(t, dir, "rev-parse", tag), "git bisect replay", says)
	}
}

// TestBisectLeavesHistory: what bisect measured at old commits neither hides the regression from history nor from its gate.
func TestBisectLeavesHistory(t *testing.T) {
	programtest.NeedsLong(t)
	t.Parallel()
	dir := t.TempDir()
	programtest.WriteFile(t, dir, "sweep.yaml", "command: [sh, work.sh]\nwarmup: 0\niterations: 1\nmetrics: {wait: {regex: 'wait ([0-9]+)', unit: ms, better: lower}}\nprimary: wait\n")
	programtest.WriteFile(t, dir, ".gitignore", "runs_store/\n")
	nights := func(wait int) {
		programtest.WriteFile(t, dir, "work.sh", fmt.Sprintf("echo wait $((%d + $$ %% 3))\n", wait))
		programtest.Commit(t, dir)
		for range 10 {
			programtest.Program(t, dir, "bench", "sweep.yaml", "--rerun", "all").MustRun(t)
		}
	}
	programtest.Repository(t, dir)
	nights(100)
	programtest.Git(t, dir, "tag", "good")
	for i := range 31 {
		programtest.WriteFile(t, dir, "notes", fmt.Sprint(i))
		programtest.Commit(t, dir)
	}
	nights(130)
	gate := func() string {
		p := programtest.Program(t, dir, "history", "--gate", "--format", "table")
		_ = p.Run()
		valuetest.Equal(t, p.ProcessState.ExitCode(), exitRegression, "exit", p.Printed.String())
		return p.Printed.String()
	}
	before, night := gate(), rows(t, dir, "SELECT max(session_id) FROM runs")
	p := programtest.Program(t, dir, "bisect", "good", "HEAD", "sweep.yaml")
	p.Env = append(p.Env, "XDG_CACHE_HOME="+t.TempDir())
	p.MustRun(t)
	n := rows(t, dir, "SELECT count(DISTINCT session_id) FROM runs WHERE side = 'head'")
	left := strings.Trim(n, "[]") + " sessions of bisect left out, which measured older commits\n"
	found := programtest.Git(t, dir, "rev-parse", "--short=7", "HEAD")
	after := strings.Replace(gate(), left, "", 1)
	valuetest.Contains(t, after, "("+found+", found by bisect)")
	valuetest.Contains(t, after, "\n      git show "+found+"\n")
	valuetest.Equal(t, strings.Contains(after, "neurolens bisect"), false, "the search is proposed again")
	valuetest.Equal(t, after[strings.Index(after, "\ngate:"):strings.Index(after, "\nnext")], before[strings.Index(before, "\ngate:"):strings.Index(before, "\nnext")], "gate before and after bisect")
	report := programtest.Program(t, dir, "report", "--json")
	report.MustRun(t)
	valuetest.Contains(t, report.Printed.String(), `"filter":"session=`+strings.Trim(night, `[]"`)+`"`)
}

// TestBisectOfNothing: a sweep that compares nothing ends before there is a log.
func TestBisectOfNothing(t *testing.T) {
	t.Parallel()
	dir := memory(t)
	programtest.WriteFile(t, dir, "missing.yaml", "command: [sh, nosuch.sh]\n")
	programtest.WriteFile(t, dir, "nothing.yaml", "command: [sleep, '0']\n")
	for name, want := range map[string]string{
		"missing.yaml": "missing.yaml: sh: nosuch.sh: no such file",
		"nothing.yaml": "nothing.yaml: it uses nothing from the repository",
	} {
		log := filepath.Join(t.TempDir(), "log")
		p := programtest.Program(t, dir, "bisect", "c0", "c2", name, "--log", log)
		p.Env = append(p.Env, "XDG_CACHE_HOME="+t.TempDir())
		_ = p.Run()
		if got := p.Messages.String(); p.ProcessState.ExitCode() != exitInput || !strings.Contains(got, want) || strings.Contains(got, log) {
			t.Errorf("%s: exit %d, want %q and no log\n%s", name, p.ProcessState.ExitCode(), want, got)
		}
		valuetest.Fails(t, valuetest.Error(os.Stat(log)), "", name, "an empty log is left")
	}
}

// TestBisectInput: what makes no sense is one line, and nothing is started.
func TestBisectInput(t *testing.T) {
	t.Parallel()
	dir := memory(t)
	programtest.Git(t, dir, "branch", "other", "c0")
	outside := t.TempDir()
	programtest.WriteFile(t, outside, "sweep.yaml", "command: ['true']\n")
	other := filepath.Join(t.TempDir(), "other.log")
	valuetest.OK(t, os.WriteFile(other, []byte("# neurolens bisect 1 of another\n"), 0o600))
	for _, c := range []struct{ dir, args, want string }{
		{dir, "c0 c2 app.py:parse", "open app.py:parse: no such file or directory; want a sweep file: neurolens bench app.py:parse --print-sweep > app.yaml writes one"},
		{dir, "c0 c2", "bisect: want GOOD, BAD and a sweep file, got 2 arguments"},
		{dir, "c2 c0 sweep.yaml", `"c2" is not an ancestor of "c0"`},
		{dir, "c0 other sweep.yaml", "they are the same commit"},
		{dir, "c0 nowhere sweep.yaml", `"nowhere": no such commit`},
		{dir, "c0 c2 nothing.yaml", "nothing.yaml"},
		{outside, "c0 c2 sweep.yaml", "not in a git repository"},
		{dir, "c0 c2 sweep.yaml --max-blocks 5", "--max-blocks: want at least 6, got 5"},
		{dir, "c0 c2 sweep.yaml --threshold 0.05", `--threshold "0.05": want a share (5%), or an amount with its unit`},
		{dir, "c0 c2 sweep.yaml --threshold many", `--threshold "many": want a share (5%) or an amount`},
		{dir, "c0 c2 sweep.yaml --log " + other, "the log belongs to another search"},
		{dir, "c0 c2 sweep.yaml --log /nowhere/x", "--log: "},
	} {
		p := programtest.Program(t, c.dir, append([]string{"bisect"}, strings.Fields(c.args)...)...)
		p.Env = append(p.Env, "XDG_CACHE_HOME="+t.TempDir())
		_ = p.Run()
		if got := p.Messages.String(); p.ProcessState.ExitCode() != exitInput || !strings.Contains(got, c.want) || strings.Count(got, "\n") != 1 || p.Printed.Len() > 0 {
			t.Errorf("bisect %s: exit %d, want %q\n%s%s", c.args, p.ProcessState.ExitCode(), c.want, got, p.Printed.String())
		}
		valuetest.Fails(t, valuetest.Error(os.Stat(filepath.Join(c.dir, "runs_store"))), "", "bisect", c.args, "made a store")
	}
}
