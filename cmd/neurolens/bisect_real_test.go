//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/runner/bisect"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// planted is a repository of commits c0 to cN, of which some do not build and one makes the program do more work.
type planted struct {
	dir    string
	first  int
	broken []int
}

// plant makes the repository. The work of the program is counted: 115 turns of a loop in place of 100.
func plant(t *testing.T, commits int, random *rand.Rand) planted {
	t.Helper()
	for _, tool := range []string{"git", "cc"} {
		_, err := exec.LookPath(tool)
		programtest.Needs(t, tool, err)
	}
	p := planted{dir: t.TempDir(), first: 1 + random.IntN(commits)}
	for len(p.broken) < 3 {
		i := 1 + random.IntN(commits-1)
		if (i < p.first-1 || i > p.first) && !slices.Contains(p.broken, i) {
			p.broken = append(p.broken, i)
		}
	}
	programtest.Git(t, p.dir, "init", "-q", "-b", "main", "--template=")
	programtest.WriteFile(t, p.dir, ".gitignore", "runs_store/\nmade\n")
	programtest.WriteFile(t, p.dir, "sweep.yaml", "suite: planted\nbuild: [[cc, -O1, -o, made, work.c]]\ncommand: [./made]\nwarmup: 0\niterations: 1\n")
	for i := range commits + 1 {
		turns, broken := 100, ""
		if i >= p.first {
			turns = 115
		}
		if slices.Contains(p.broken, i) {
			broken = "#error is not built\n"
		}
		programtest.WriteFile(t, p.dir, "work.c", fmt.Sprintf("%s/* %d */\nint main(void) { volatile unsigned x = 0; for (unsigned i = 0; i < %du * 1500000u; i++) x += i; return 0; }\n", broken, i, turns))
		programtest.Commit(t, p.dir)
		programtest.Git(t, p.dir, "tag", fmt.Sprint("c", i))
	}
	return p
}

// plainBisect is git bisect run with one comparison a step: the user time of so many runs of the commit, in the middle,
// against half-way between those of the ends, which were measured first. It gives the tag of the commit that git names.
func plainBisect(t *testing.T, p planted, commits, runs int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "clone")
	programtest.Git(t, p.dir, "clone", "-q", ".", dir)
	measure := func(commit string) (float64, bool) {
		if commit != "" {
			programtest.Git(t, dir, "checkout", "-q", commit)
		}
		build := exec.Command("cc", "-O1", "-o", "made", "work.c")
		build.Dir = dir
		if build.Run() != nil {
			return 0, false
		}
		times := make([]float64, runs)
		for i := range times {
			run := exec.Command("./made")
			run.Dir = dir
			valuetest.OK(t, run.Run())
			times[i] = float64(run.ProcessState.UserTime())
		}
		return median(times), true
	}
	good, _ := measure("c0")
	bad, _ := measure(fmt.Sprint("c", commits))
	says := programtest.Git(t, dir, "bisect", "start", fmt.Sprint("c", commits), "c0")
	for !strings.Contains(says, "is the first bad commit") && !strings.Contains(says, "any of") {
		word := "skip"
		switch value, built := measure(""); {
		case built && value < (good+bad)/2:
			word = "good"
		case built:
			word = "bad"
		}
		cmd := exec.Command("git", "bisect", word) // its exit status is 2 where skipped commits are left
		cmd.Dir = dir
		out, _ := cmd.CombinedOutput()
		says = string(out)
	}
	id, _, _ := strings.Cut(says, " is the first bad commit")
	if strings.ContainsAny(id, " \n") {
		return "any of several"
	}
	return programtest.Git(t, dir, "describe", "--tags", id)
}

// TestBisectReal: the program on a real repository, and how long it takes beside a plain git bisect run. It decides by the
// CPU time that the kernel counts, of which a busy machine takes less away than of the latency. What it finds depends on the
// noise of the machine, and now and then it is a neighbour of the commit. So it is run by hand: NEUROLENS_LONG=all, -count 5.
func TestBisectReal(t *testing.T) {
	if os.Getenv("NEUROLENS_LONG") != "all" {
		t.Skip("left out: NEUROLENS_LONG is not all")
	}
	const commits = 64
	seed := uint64(time.Now().UnixNano())
	p := plant(t, commits, rand.New(rand.NewPCG(seed, 1)))
	load, _ := os.ReadFile("/proc/loadavg")
	t.Logf("first changed c%d, broken %v, load %s", p.first, p.broken, strings.TrimSpace(string(load)))
	begin := time.Now()
	b := programtest.Program(t, p.dir, "bisect", "c0", "main", "sweep.yaml", "--metric", "cpu_user", "--json")
	b.Env = append(b.Env, "XDG_CACHE_HOME="+t.TempDir())
	_ = b.Run()
	took := time.Since(begin)
	var rows []struct {
		Result string `json:"result"`
		Commit string `json:"git_commit"`
		Blocks int    `json:"blocks_all"`
		Steps  int    `json:"steps"`
	}
	if err := json.Unmarshal([]byte(b.Printed.String()), &rows); err != nil || len(rows) == 0 {
		t.Fatalf("%v\n%s%s", err, b.Printed.String(), b.Messages.String())
	}
	t.Logf("%s", b.Messages.String())
	found := programtest.Git(t, p.dir, "describe", "--tags", rows[0].Commit)
	t.Logf("bisect: %s %s in %s, %d steps, %d blocks", rows[0].Result, found, took.Round(time.Second), rows[0].Steps, rows[0].Blocks)
	if want := fmt.Sprint("c", p.first); rows[0].Result != string(bisect.First) || found != want {
		t.Errorf("%s %s, want %s", rows[0].Result, found, want)
	}
	for _, runs := range []int{1, 5, 10} {
		begin := time.Now()
		got := plainBisect(t, p, commits, runs)
		t.Logf("git bisect run, %d runs a step: %s in %s: right %v", runs, got, time.Since(begin).Round(time.Second), got == fmt.Sprint("c", p.first))
	}
}
