//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

const spinSweep = `suite: spin
command: [sh, spin.sh]
warmup: 1
iterations: 5
`

const spinScript = "i=0; while [ $i -lt 5000 ]; do i=$((i+1)); done\n"

// TestAgainstItself: a clean tree against its own commit, side by side in one session. What is measured is the same,
// so each of 20 pairs is as likely to have a ratio above 1 as below: that all or none of them has would be chance twice
// in a million times.
func TestAgainstItself(t *testing.T) {
	t.Parallel()
	programtest.NeedsLong(t)
	dir, cache := t.TempDir(), t.TempDir()
	programtest.WriteFile(t, dir, "sweep.yaml", spinSweep)
	programtest.WriteFile(t, dir, "spin.sh", spinScript)
	programtest.WriteFile(t, dir, ".gitignore", "runs_store/\n")
	programtest.Repository(t, dir)
	bench := programtest.Program(t, dir, "bench", "sweep.yaml", "--against", "HEAD", "--repeats", "20")
	bench.Env = append(bench.Env, "XDG_CACHE_HOME="+cache)
	bench.MustRun(t)
	if got := rows(t, dir, "SELECT side, count(*), bool_or(git_dirty), count(DISTINCT block_index) FROM runs WHERE status = 'ok' GROUP BY ALL ORDER BY ALL"); got != "[base 20 false 20] [head 20 false 20]" {
		t.Fatalf("sides, runs, dirty, blocks: %s", got)
	}
	pairs := `(SELECT max(p50) FILTER (side = 'head') / max(p50) FILTER (side = 'base') AS ratio FROM runs GROUP BY block_index)`
	t.Logf("ratios of medians %s", rows(t, dir, "SELECT list_sort(list(round(ratio, 4))) FROM "+pairs))
	if got := rows(t, dir, "SELECT count(*) FILTER (ratio > 1) BETWEEN 1 AND 19, count(*) FROM "+pairs); got != "[true 20]" {
		t.Errorf("1 to 19 of 20 pairs have a ratio above 1: %s", got)
	}
	if got := rows(t, dir, "SELECT count(*) BETWEEN 1 AND 19 FROM runs WHERE position_index = 0 AND side = 'base'"); got != "[true]" {
		t.Error("one side went first in all of 20 blocks, whose order is drawn")
	}
	checkNoSides(t, dir, cache)
}

// TestAgainstOwnSweep: both sides run the sweep file of the working tree. Where the base has another one, a line before the first run says so.
func TestAgainstOwnSweep(t *testing.T) {
	t.Parallel()
	dir, cache := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	programtest.WriteFile(t, dir, "sub/sweep.yaml", spinSweep)
	programtest.WriteFile(t, dir, "sub/spin.sh", spinScript)
	programtest.Repository(t, dir)
	said := func(file string) string {
		t.Helper()
		p := programtest.Program(t, filepath.Join(dir, "sub"), "bench", file, "--against", "HEAD", "--repeats", "1", "--dry-run", "--format", "table")
		p.Env = append(p.Env, "XDG_CACHE_HOME="+cache)
		p.MustRun(t)
		for line := range strings.Lines(p.Printed.String()) {
			if strings.Contains(line, "differs") {
				return strings.TrimSpace(line)
			}
		}
		return ""
	}
	valuetest.Equal(t, said("sweep.yaml"), "", "the same sweep")
	programtest.WriteFile(t, dir, "sub/sweep.yaml", spinSweep+"repeats: 2\n")
	want := "sweep.yaml differs from that of base: both sides run yours"
	valuetest.Equal(t, said("sweep.yaml"), want+", and no other file differs, so both run the same", "another sweep alone")
	programtest.WriteFile(t, dir, "sub/spin.sh", "exit 0\n")
	valuetest.Equal(t, said(filepath.Join(dir, "sub", "sweep.yaml")), want, "another sweep and another script")
	programtest.WriteFile(t, dir, "sub/new.yaml", spinSweep)
	valuetest.Equal(t, said("new.yaml"), "", "a sweep that the base lacks")
}

// checkNoSides: the two sides are gone, from the disk and from the repository.
func checkNoSides(t *testing.T, dir, cache string) {
	t.Helper()
	if got := programtest.Git(t, dir, "worktree", "list"); strings.Contains(got, "\n") {
		t.Errorf("worktrees are left: %s", got)
	}
	left, err := filepath.Glob(filepath.Join(cache, "neurolens", "worktrees", "*", "*"))
	valuetest.DeepEqual(t, []any{err, len(left)}, []any{nil, 0}, "left", left)
}

// TestAgainstDirtyTree: what is not committed is the head, is measured, and is said to be dirty. A build runs on each
// side; what fails there is an error of that side alone.
func TestAgainstDirtyTree(t *testing.T) {
	t.Parallel()
	dir, cache := t.TempDir(), t.TempDir()
	programtest.WriteFile(t, dir, "sweep.yaml", "suite: ab\nbenchmark: b\nbuild: [[sh, build.sh]]\ncommand: [./made]\nwarmup: 0\niterations: 2\nrepeats: 2\n")
	programtest.WriteFile(t, dir, "build.sh", "printf '#!/bin/sh\\nsleep 0.001\\n' >made\nchmod +x made\n")
	programtest.WriteFile(t, dir, ".gitignore", "runs_store/\nmade\n")
	programtest.Repository(t, dir)
	programtest.WriteFile(t, dir, "build.sh", "echo cannot build this >&2\nexit 3\n")
	programtest.WriteFile(t, dir, "new.txt", "not yet added\n")
	bench := programtest.Program(t, dir, "bench", "sweep.yaml", "--against", "main")
	bench.Env = append(bench.Env, "XDG_CACHE_HOME="+cache)
	if err := bench.Run(); err == nil || bench.ProcessState.ExitCode() != 4 {
		t.Fatalf("%v\n%s%s", err, bench.Printed.String(), bench.Messages.String())
	}
	got := rows(t, dir, "SELECT side, git_dirty, status, stage, error_kind, count(*), count(build_ns) FROM runs GROUP BY ALL ORDER BY ALL")
	want := "[base false ok <nil> <nil> 2 2] [head true error build build 2 2]"
	valuetest.Equal(t, got, want)
	if got := rows(t, dir, "SELECT DISTINCT error FROM runs WHERE side = 'head'"); got != "[sweep.yaml:3: build sh build.sh: exit status 3: cannot build this]" {
		t.Error(got)
	}
	valuetest.Fails(t, valuetest.Error(os.Stat(filepath.Join(dir, "made"))), "", "the build ran in the working tree")
	checkNoSides(t, dir, cache)
}

// TestKilledAgainst: the sides of a session that was killed are removed by the next one, also by one without sides,
// which where that cannot be done measures all the same.
func TestKilledAgainst(t *testing.T) {
	t.Parallel()
	dir, cache := t.TempDir(), t.TempDir()
	programtest.WriteFile(t, dir, "sweep.yaml", "command: [/bin/sh, wait.sh]\nwarmup: 0\niterations: 1\nrepeats: 1\n")
	programtest.WriteFile(t, dir, "wait.sh", "while [ -e wait ]; do sleep 0.05; done\n")
	programtest.WriteFile(t, dir, "wait", "")
	programtest.WriteFile(t, dir, ".gitignore", "runs_store/\n")
	programtest.Repository(t, dir)
	killed := programtest.Program(t, dir, "bench", "sweep.yaml", "--against", "HEAD")
	killed.Env = append(killed.Env, "XDG_CACHE_HOME="+cache)
	killed.Stderr = nil
	stderr := valuetest.Must(killed.StderrPipe())
	valuetest.OK(t, killed.Start())
	_, _ = stderr.Read(make([]byte, 1)) // both sides are there
	_ = killed.Process.Kill()
	_ = killed.Wait()
	valuetest.OK(t, os.Remove(filepath.Join(dir, "wait")))
	lock := filepath.Join(cache, "neurolens", "worktrees", ".lock")
	for _, removable := range []bool{false, true} {
		valuetest.OK(t, os.Remove(lock))
		if !removable {
			valuetest.OK(t, os.Mkdir(lock, 0o777))
		}
		next := programtest.Program(t, dir, "bench", "sweep.yaml", "--rerun", "all", "--wait")
		next.Env = append(next.Env, "XDG_CACHE_HOME="+cache)
		next.MustRun(t)
		left, _ := filepath.Glob(filepath.Join(cache, "neurolens", "worktrees", "*", "owner"))
		valuetest.Equal(t, (len(left) == 0), removable, "removable", left)
	}
}

// TestNotOnSide: what only one side has is measured there, and skipped on the other.
func TestNotOnSide(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const settings = "warmup: 0\niterations: 1\nrepeats: 1\n"
	programtest.WriteFile(t, dir, "program.yaml", "suite: program\nbenchmark: [old, new]\ncommand: ['./{benchmark}']\n"+settings)
	programtest.WriteFile(t, dir, "script.yaml", "suite: script\nbenchmark: [old, new]\ncommand: [sh, '{benchmark}']\n"+settings)
	programtest.WriteFile(t, dir, ".gitignore", "runs_store/\n")
	script(t, dir, "old")
	programtest.Repository(t, dir)
	valuetest.OK(t, os.Remove(filepath.Join(dir, "old")))
	script(t, dir, "new")
	for suite, name := range map[string]string{"program": "./", "script": ""} {
		bench := programtest.Program(t, dir, "bench", suite+".yaml", "--against", "HEAD")
		bench.Env = append(bench.Env, "XDG_CACHE_HOME="+t.TempDir())
		bench.MustRun(t)
		got := rows(t, dir, "SELECT benchmark, side, status, error_kind, error FROM runs WHERE suite = '"+suite+"' ORDER BY 1 DESC, 2")
		want := "[old base ok <nil> <nil>] [old head skipped not_on_side " + name + "old does not exist on side head] " +
			"[new base skipped not_on_side " + name + "new does not exist on side base] [new head ok <nil> <nil>]"
		valuetest.Equal(t, got, want, suite)
	}
}

// script writes a program that does nothing.
func script(t *testing.T, dir, name string) {
	t.Helper()
	valuetest.OK(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o755))
}

// TestProgramOfTheUsersTree: each side runs its own copy of a program that PATH finds in the working tree, if the sides have the program.
func TestProgramOfTheUsersTree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	programtest.WriteFile(t, dir, "sweep.yaml", "command: [tool, spin.sh]\nwarmup: 0\niterations: 1\nrepeats: 1\n")
	programtest.WriteFile(t, dir, "spin.sh", spinScript)
	programtest.WriteFile(t, dir, ".gitignore", "runs_store/\n")
	script(t, dir, "tool")
	programtest.Repository(t, dir)
	bench := programtest.Program(t, dir, "bench", "sweep.yaml", "--against", "HEAD")
	bench.Env = append(bench.Env, "XDG_CACHE_HOME="+t.TempDir(), "PATH="+dir+":"+os.Getenv("PATH"))
	_ = bench.Run()
	got := rows(t, dir, "SELECT side, status, ends_with(env['command.path'], '/'||side||'/tool') FROM runs ORDER BY 1")
	valuetest.Equal(t, got, "[base ok true] [head ok true]", bench.Messages.String())
}

// TestLeftNamesHowToContinue: after --max-time, bench prints that the same command continues, if it does.
func TestLeftNamesHowToContinue(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	programtest.WriteFile(t, dir, "spin.yaml", spinSweep)
	programtest.WriteFile(t, dir, "spin.sh", spinScript)
	programtest.WriteFile(t, dir, ".gitignore", "runs_store/\n")
	programtest.Repository(t, dir)
	for args, want := range map[string]string{
		"":               "5 runs are left; the same command continues\n",
		"--rerun failed": "5 runs are left; the same command continues\n",
		"--rerun all":    "5 runs are left; the same command without --rerun all continues\n",
		"--against HEAD": "10 runs are left; the same command starts over, because --against measures both sides in one session\n",
	} {
		bench := programtest.Program(t, dir, append([]string{"bench", "spin.yaml", "--repeats", "5", "--max-time", "1ns"}, strings.Fields(args)...)...)
		bench.Env = append(bench.Env, "XDG_CACHE_HOME="+t.TempDir())
		bench.MustRun(t)
		valuetest.Contains(t, bench.Messages.String(), want, "bench", args)
	}
}

// TestAgainstNothingOfTheTree: two sides that would measure the same are refused, at the first launch of the second one at the latest.
func TestAgainstNothingOfTheTree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	programtest.WriteFile(t, dir, "sweep.yaml", "command: ['true']\n")
	programtest.WriteFile(t, dir, "spin.sh", spinScript)
	script := filepath.Join(dir, "spin.sh")
	programtest.WriteFile(t, dir, "absolute.yaml", "command: [sh, '"+script+"']\n")
	programtest.Repository(t, dir)
	for _, c := range []struct{ args, want string }{
		{"sweep.yaml --against main", "it uses nothing from the repository"},
		{"sweep.yaml --against nowhere", "nowhere"},
		{"absolute.yaml --against main", script + " is an absolute path in the repository, so it is the same on both sides: make it relative"},
		{"sweep.yaml --against main --rerun failed", "--rerun failed: a session with --against starts from the beginning"},
	} {
		bench := programtest.Program(t, dir, append([]string{"bench"}, strings.Fields(c.args)...)...)
		bench.Env = append(bench.Env, "XDG_CACHE_HOME="+t.TempDir())
		_ = bench.Run()
		got := strings.TrimSpace(bench.Messages.String())
		if last := got[strings.LastIndexByte(got, '\n')+1:]; bench.ProcessState.ExitCode() != 2 || !strings.Contains(last, c.want) {
			t.Errorf("bench %s: exit %d\n%s", c.args, bench.ProcessState.ExitCode(), got)
		}
		// The side that is first, which is drawn, may have measured before the other one shows that both run the same.
		if text := bench.Printed.String(); strings.Contains(text, "runs:") || strings.Contains(text, "base") && strings.Contains(text, "head") {
			t.Errorf("bench %s: both sides were measured\n%s", c.args, text)
		}
	}
}

// TestAgainstForesees: after a session of two sides the next one says before its first run which change it is likely to see.
func TestAgainstForesees(t *testing.T) {
	programtest.NeedsLong(t)
	t.Parallel()
	dir := t.TempDir()
	programtest.WriteFile(t, dir, "sweep.yaml", "command: [sh, spin.sh]\nwarmup: 0\niterations: 1\nrepeats: 3\n")
	programtest.WriteFile(t, dir, "spin.sh", "true\n")
	programtest.WriteFile(t, dir, ".gitignore", "runs_store/\n")
	programtest.Repository(t, dir)
	for session, want := range []bool{false, true} {
		bench := programtest.Program(t, dir, "bench", "sweep.yaml", "--against", "HEAD")
		bench.Env = append(bench.Env, "XDG_CACHE_HOME="+t.TempDir())
		bench.MustRun(t)
		if said := strings.Contains(bench.Messages.String(), "\nwith 3 blocks, a change of "); said != want {
			t.Errorf("session %d: it is said: %v\n%s", session, said, bench.Messages.String())
		}
	}
}
