package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestMetricsPage: the sweeps of docs/metrics.md run as they are and have the metrics that they name, and so does its
// program that tells its metrics itself.
func TestMetricsPage(t *testing.T) {
	needsLong(t)
	t.Parallel()
	page := ofRepository(t, "docs/metrics.md")
	dir := t.TempDir()
	blocks := func(language string) (texts []string) {
		for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(page, -1) {
			texts = append(texts, m[1])
		}
		return texts
	}
	sweeps, programs := blocks("yaml"), blocks("sh")
	sweeps = slices.DeleteFunc(sweeps, func(text string) bool { return strings.HasPrefix(text, "# methods.yaml") }) // TestDocsPages runs it
	if len(sweeps) != 3 || len(programs) != 1 {
		t.Fatalf("the page has %d sweeps and %d programs", len(sweeps), len(programs))
	}
	writeFile(t, dir, "program.sh", programs[0])
	sweeps = append(sweeps, "command: [sh, program.sh]\niterations: 3\nrepeats: 1\n")
	for i, text := range sweeps {
		name := fmt.Sprintf("s%d.yaml", i)
		writeFile(t, dir, name, text)
		programIn(t, dir, "bench", name, "--store", fmt.Sprint("store", i))
	}
	ask := func(store int, sql string) string {
		return programIn(t, dir, "query", "--store", fmt.Sprint("store", store), "--format", "csv", sql)
	}
	const one = "select metric, unit, level, values from samples where metric not in ('latency', 'cpu_user', 'cpu_system', 'peak_memory') order by all limit 2"
	for store, want := range []string{
		"accuracy,ratio,process,\"[0.9788,0.9788,0.9788]\"\naccuracy,ratio,process,\"[0.9788,0.9788,0.9788]\"\n",
		"epochs,,process,\"[2,2]\"\nepochs,,process,\"[2,2]\"\n",
		"B/op,B,iteration,[96]\nB/op,B,iteration,[96]\n",
		"accuracy,ratio,process,\"[0.9788,0.9788,0.9788]\"\n",
	} {
		if got := ask(store, one); got != "metric,unit,level,values\n"+want {
			t.Errorf("sweep %d has %s", store, got)
		}
	}
	if got := ask(1, "select distinct better, values from samples where metric = 'loss'"); got != "better,values\nlower,\"[0.25,0.25]\"\n" {
		t.Errorf("the loss is %s", got)
	}
}

func writeFile(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// programIn runs the program in a directory, which has to succeed, and gives what it prints.
func programIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, stderr, err := tryProgram(t, dir, args)
	if err != nil {
		t.Fatalf("%q: %v\n%s%s", args, err, out, stderr)
	}
	return out
}

// programEnds runs the program in a directory; of what it runs some may have failed.
func programEnds(t *testing.T, dir string, args ...string) {
	t.Helper()
	out, stderr, err := tryProgram(t, dir, args)
	if exit, is := errors.AsType[*exec.ExitError](err); err != nil && (!is || exit.ExitCode() != 4) {
		t.Fatalf("%q: %v\n%s%s", args, err, out, stderr)
	}
}

func tryProgram(t *testing.T, dir string, args []string) (stdout, stderr string, err error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Args[0], cmd.Dir, cmd.Env = "neurolens", dir, programEnviron(t)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	return string(out), said.String(), err
}
