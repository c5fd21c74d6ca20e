//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// repository makes a directory a repository with its files committed.
func repository(t testing.TB, dir string) {
	t.Helper()
	_, err := exec.LookPath("git")
	needs(t, "git", err)
	git(t, dir, "init", "-q", "-b", "main")
	commit(t, dir)
}

func commit(t testing.TB, dir string) {
	t.Helper()
	git(t, dir, "add", "-A")
	git(t, dir, "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-q", "-m", "x")
}

func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

const spinSweep = `suite: spin
command: [sh, spin.sh]
warmup: 1
iterations: 5
`

const spinScript = "i=0; while [ $i -lt 5000 ]; do i=$((i+1)); done\n"

// TestAgainstItself: a clean tree against its own commit, side by side in one session. What is measured is the same,
// so each of 20 pairs is as likely to have a ratio above 1 as below: 4 to 16 of them have (all but one in 400 times).
func TestAgainstItself(t *testing.T) {
	dir, cache := t.TempDir(), t.TempDir()
	write(t, dir, "sweep.yaml", spinSweep)
	write(t, dir, "spin.sh", spinScript)
	write(t, dir, ".gitignore", "runs_store/\n")
	repository(t, dir)
	bench := program(t, dir, "bench", "sweep.yaml", "--against", "HEAD", "--repeats", "20")
	bench.Env = append(bench.Env, "XDG_CACHE_HOME="+cache)
	bench.run(t)
	if got := rows(t, dir, "SELECT side, count(*), bool_or(git_dirty), count(DISTINCT block_index) FROM runs WHERE status = 'ok' GROUP BY ALL ORDER BY ALL"); got != "[base 20 false 20] [head 20 false 20]" {
		t.Fatalf("sides, runs, dirty, blocks: %s", got)
	}
	pairs := `(SELECT max(p50) FILTER (side = 'head') / max(p50) FILTER (side = 'base') AS ratio FROM runs GROUP BY block_index)`
	t.Logf("ratios of medians %s", rows(t, dir, "SELECT list_sort(list(round(ratio, 4))) FROM "+pairs))
	if got := rows(t, dir, "SELECT count(*) FILTER (ratio > 1) BETWEEN 4 AND 16, count(*) FROM "+pairs); got != "[true 20]" {
		t.Errorf("4 to 16 of 20 pairs have a ratio above 1: %s", got)
	}
	if got := rows(t, dir, "SELECT count(*) FROM runs WHERE position_index = 0 AND side = 'base'"); got != "[10]" {
		t.Errorf("base went first %s times of 20", got)
	}
	checkNoSides(t, dir, cache)
}

// checkNoSides: the two sides are gone, from the disk and from the repository.
func checkNoSides(t *testing.T, dir, cache string) {
	t.Helper()
	if got := git(t, dir, "worktree", "list"); strings.Contains(got, "\n") {
		t.Errorf("worktrees are left: %s", got)
	}
	left, err := filepath.Glob(filepath.Join(cache, "neurolens", "worktrees", "*", "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestAgainstDirtyTree: what is not committed is the head, is measured, and is said to be dirty. A build runs on each
// side; what fails there is an error of that side alone.
func TestAgainstDirtyTree(t *testing.T) {
	dir, cache := t.TempDir(), t.TempDir()
	write(t, dir, "sweep.yaml", "suite: ab\nbenchmark: b\nbuild: [[sh, build.sh]]\ncommand: [./made]\nwarmup: 0\niterations: 2\nrepeats: 2\n")
	write(t, dir, "build.sh", "printf '#!/bin/sh\\nsleep 0.001\\n' >made\nchmod +x made\n")
	write(t, dir, ".gitignore", "runs_store/\nmade\n")
	repository(t, dir)
	write(t, dir, "build.sh", "echo cannot build this >&2\nexit 3\n")
	write(t, dir, "new.txt", "not yet added\n")
	bench := program(t, dir, "bench", "sweep.yaml", "--against", "main")
	bench.Env = append(bench.Env, "XDG_CACHE_HOME="+cache)
	if err := bench.Run(); err == nil || bench.ProcessState.ExitCode() != 4 {
		t.Fatalf("%v\n%s%s", err, bench.stdout.String(), bench.stderr.String())
	}
	got := rows(t, dir, "SELECT side, git_dirty, status, stage, error_kind, count(*), count(build_ns) FROM runs GROUP BY ALL ORDER BY ALL")
	want := "[base false ok <nil> <nil> 2 2] [head true error build build 2 2]"
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := rows(t, dir, "SELECT DISTINCT error FROM runs WHERE side = 'head'"); got != "[sweep.yaml:3: build sh build.sh: exit status 3: cannot build this]" {
		t.Error(got)
	}
	if _, err := os.Stat(filepath.Join(dir, "made")); err == nil {
		t.Error("the build ran in the working tree")
	}
	checkNoSides(t, dir, cache)
}

// TestAgainstNothingOfTheTree: two sides that would measure the same are refused before anything is launched.
func TestAgainstNothingOfTheTree(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "sweep.yaml", "command: ['true']\n")
	repository(t, dir)
	for _, c := range []struct{ args, want string }{
		{"--against main", "it uses nothing from the repository"},
		{"--against nowhere", "nowhere"},
	} {
		bench := program(t, dir, append([]string{"bench", "sweep.yaml"}, strings.Fields(c.args)...)...)
		bench.Env = append(bench.Env, "XDG_CACHE_HOME="+t.TempDir())
		_ = bench.Run()
		if got := bench.stderr.String(); bench.ProcessState.ExitCode() != 2 || !strings.Contains(got, c.want) || strings.Count(got, "\n") != 1 {
			t.Errorf("bench %s: exit %d\n%s", c.args, bench.ProcessState.ExitCode(), got)
		}
	}
}
