package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestNextIsAccepted: each command that bench names at its end is accepted, whatever the options were, and whether the session
// ended or was interrupted. After an interrupt it is the same command.
func TestNextIsAccepted(t *testing.T) {
	programtest.NeedsLong(t)
	t.Parallel()
	for _, c := range []struct {
		args string
		same bool // the command that goes on is among them
	}{
		{"--against HEAD --until-conclusive", true},
		{"--against HEAD --until-conclusive --max-repeats 9 --wait", true},
		{"--against HEAD --repeats 3", true},
		{"-P n=1,2 --rel-error 1% --max-repeats 9", true},
		{"-P n=1,2 -r4 --metric latency", true},
		{"-P n=1,2 --set repeats=4 --tag a=b", true},
		{"-P n=1,2 --rerun all", false},
	} {
		t.Run(c.args, func(t *testing.T) {
			t.Parallel()
			dir, outside := t.TempDir(), t.TempDir()
			programtest.WriteFile(t, dir, "s.yaml", "command: [sh, run.sh, \"{n}\"]\ngrid: {n: [1]}\nbaseline: n=1\nrepeats: 3\nwarmup: 0\nbudget: 1ms\n")
			programtest.WriteFile(t, dir, "run.sh", "echo >>"+outside+"/runs; if [ -e "+outside+"/stop ] && [ $(wc -l <"+outside+"/runs) = 5 ]; then echo >"+outside+"/fifth; sleep 600; fi\n")
			programtest.WriteFile(t, dir, ".gitignore", "runs_store/\n")
			programtest.Repository(t, dir)
			environ := []string{"XDG_CACHE_HOME=" + t.TempDir()}
			args := append([]string{"bench", "s.yaml", "--format", "table"}, strings.Fields(c.args)...)

			done := programtest.Program(t, dir, args...)
			done.Env = append(done.Env, environ...)
			done.MustRun(t)
			next := accepted(t, done)
			if i := slices.IndexFunc(next, func(line string) bool { return strings.Contains(line, " bench ") }); i >= 0 && strings.Contains(c.args, "--until-conclusive") {
				t.Errorf("a finished session names %s", next[i])
			}

			programtest.WriteFile(t, outside, "stop", "")
			valuetest.OK(t, os.Remove(filepath.Join(outside, "runs")))
			stopped := programtest.Program(t, dir, args...)
			stopped.Env = append(stopped.Env, environ...)
			valuetest.OK(t, stopped.Start())
			for fifth := filepath.Join(outside, "fifth"); ; time.Sleep(10 * time.Millisecond) {
				if _, err := os.Stat(fifth); err == nil {
					break
				} else if !errors.Is(err, fs.ErrNotExist) {
					t.Fatal(err)
				}
			}
			valuetest.OK(t, stopped.Process.Signal(os.Interrupt))
			_ = stopped.Wait()
			next = accepted(t, stopped)
			if same := "neurolens " + strings.Join(args, " "); slices.Contains(next, same) != c.same {
				t.Errorf("%q are next, of which %s is one: want %v", next, same, c.same)
			}
		})
	}
}

// TestNextGivesTheTable: the command that bench names at its end is one line, and shows a verdict on what was measured: of programs and a
// template, of values of a parameter, and of functions of a file, which need more repeats first. Without names, compare and explain show
// what bench compared.
func TestNextGivesTheTable(t *testing.T) {
	t.Parallel()
	_, err := exec.LookPath("python3")
	programtest.Needs(t, "python3", err)
	for _, c := range []struct {
		args    []string
		planned bool // the session has a baseline
		table   string
	}{
		{[]string{"sh -c ': {n}'", "sleep 0.0{n}", "-P", "n=1,2"}, true, "\nVARIANT +n +BASE +HEAD +CHANGE .*VERDICT\nsleep "},
		{[]string{"sleep 0.0{n}", "-P", "n=1,2"}, false, "\nn +BASE +HEAD +CHANGE .*VERDICT\n2 "},
		{[]string{"sleep 0.0{n} {kind}", "-P", "n=1,2", "-P", "kind=0,0s"}, false, "\n(kind +n|n +kind) +BASE"},
		{[]string{"f.py"}, false, "\nBENCHMARK +BASE +HEAD +CHANGE .*VERDICT\nf.py:bench_b "},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			programtest.WriteFile(t, dir, "f.py", "def bench_a(): sum(range(1000))\ndef bench_b(): sum(range(9000))\n")
			args := append(append([]string{"bench"}, c.args...), "--format", "table", "--iterations", "3")
			if c.args[0] != "f.py" {
				args = append(args, "--repeats", "6")
			}
			p := programtest.Program(t, dir, args...)
			p.MustRun(t)
			next := accepted(t, p)
			if c.args[0] == "f.py" {
				if want := "neurolens bench f.py --format table --iterations 3 --repeats 6"; len(next) != 1 || next[0] != want {
					t.Fatalf("next is %q, want %s", next, want)
				}
				p = programtest.Program(t, dir, strings.Fields(next[0])[1:]...)
				p.MustRun(t)
				next = accepted(t, p)
			}
			if len(next) != 1 || !strings.HasPrefix(next[0], "neurolens compare session=") {
				t.Fatalf("next is %q", next)
			}
			shown := inShell(t, p, next[0])
			if ok, err := regexp.MatchString(c.table, shown); err != nil || !ok {
				t.Errorf("%s shows no %q\n%s", next[0], c.table, shown)
			}
			if c.planned {
				if again := inShell(t, p, "neurolens compare session=last"); table(again) != table(shown) {
					t.Errorf("compare session=last shows\n%s\nwant\n%s", again, shown)
				}
				inShell(t, p, "neurolens explain session=last")
				inShell(t, p, "neurolens plot forest session=last")
			}
			if _, next, ok := strings.Cut(shown, "\nnext  "); ok {
				inShell(t, p, strings.TrimSpace(next))
			}
		})
	}
}

// table returns the table of a comparison.
func table(shown string) string {
	_, below, _ := strings.Cut(shown, "BASE ")
	table, _, _ := strings.Cut(below, "\n\n")
	return table
}

// inShell runs a command line where a process ran, and returns its output.
func inShell(t *testing.T, p *programtest.Process, line string) string {
	t.Helper()
	if strings.Contains(line, " compare ") {
		line += " --format table"
	}
	shell := exec.Command("sh", "-c", `neurolens() { "`+p.Path+`" "$@"; }; `+line)
	shell.Dir, shell.Env = p.Dir, p.Env
	said, err := shell.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, said)
	}
	return string(said)
}

// accepted returns the commands that a process has named, of which each has to be accepted.
func accepted(t *testing.T, p *programtest.Process) (next []string) {
	t.Helper()
	_, list, found := strings.Cut(p.Printed.String(), "\nnext  ")
	if !found {
		t.Fatalf("nothing is next\n%s%s", p.Printed.String(), p.Messages.String())
	}
	for _, line := range strings.Split(strings.TrimSpace(list), "\n") {
		line = strings.TrimSpace(line)
		next = append(next, line)
		text := `neurolens() { "` + p.Path + `" "$@"; }; ` + line
		if strings.HasPrefix(line, "neurolens bench ") {
			text += " --dry-run"
		}
		shell := exec.Command("sh", "-c", text)
		shell.Dir, shell.Env = p.Dir, p.Env
		if said, err := shell.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", line, err, said)
		}
	}
	return next
}
