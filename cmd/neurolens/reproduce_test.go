//go:build linux

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// reproduceCommandOf returns the command that show prints for a run.
func reproduceCommandOf(t *testing.T, dir, id string) string {
	t.Helper()
	show := programtest.Program(t, dir, "show", id, "--format", "table", "--store", "runs_store")
	show.MustRun(t)
	_, command, found := strings.Cut(show.Printed.String(), "\nreproduce\n  ")
	valuetest.DeepEqual(t, []any{found, strings.Count(command, "\n")}, []any{true, 1}, "show prints", show.Printed.String())
	return strings.TrimSpace(command)
}

// checkReproduced types the command of each run that there is, by default of every tenth: it makes one more run, of the same
// point and configuration.
func checkReproduced(t *testing.T, dir string) {
	t.Helper()
	programtest.Link(t, dir)
	newest := func(id string) string {
		return rows(t, dir, "SELECT point_id, side, purpose, env['runner.config_sha256'] FROM runs WHERE run_id > '"+id+"' ORDER BY run_id")
	}
	ids := strings.Fields(strings.NewReplacer("[", "", "]", "").Replace(rows(t, dir, "SELECT run_id FROM runs ORDER BY run_id")))
	last := ids[len(ids)-1]
	for i, id := range ids {
		if i%10 > 0 && !programtest.Long() {
			continue
		}
		command := reproduceCommandOf(t, dir, id)
		again := programtest.Program(t, dir)
		again.Path, again.Args = "/bin/sh", []string{"sh", "-c", command}
		again.Env = append(again.Env, "PATH="+dir+":"+os.Getenv("PATH"), "NEUROLENS_PYTHON=")
		again.MustRun(t)
		want := rows(t, dir, "SELECT point_id, side, purpose, env['runner.config_sha256'] FROM runs WHERE run_id = '"+id+"'")
		valuetest.Equal(t, newest(last), want, command, "makes")
		last = strings.Trim(rows(t, dir, "SELECT max(run_id) FROM runs"), "[]")
	}
}

// TestReproduceOfCommand: values that YAML or a shell would take for something else, several benchmarks, flags.
func TestReproduceOfCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	programtest.WriteFile(t, dir, "a sweep.yaml", `benchmark: [first, second, first, second, first, second, first, second, first, second]
command: ['true', "{benchmark}", "{weird}", "{dim}"]
zip: [benchmark, weird]
grid:
  weird: ["", "a b", "x,y", "007", "null", "it's", 'quote"d', [1, 2], "two\nlines", 1e3]
params: {dim: 64}
repeats: 1
warmup: 2
`)
	programtest.Program(t, dir, "bench", "a sweep.yaml", "--iterations", "3", "--warmup", "0", "--suite", "other").MustRun(t)
	valuetest.Equal(t, rows(t, dir, "SELECT count(*), count(DISTINCT point_id) FROM runs"), "[10 10]", "runs, points")
	checkReproduced(t, dir)
}

// TestReproduceOfPython: the interpreter and the settings of the command line are typed again, those alone.
func TestReproduceOfPython(t *testing.T) {
	programtest.NeedsLong(t)
	t.Parallel()
	python := programtest.PythonWith(t, "json", "json")
	dir := t.TempDir()
	programtest.WriteFile(t, dir, "sweep.yaml", "file: b.py\ngrid: {batch_size: [1, 2]}\nwarmup: 2\n")
	programtest.WriteFile(t, dir, "b.py", "def run_benchmark(batch_size):\n    return None\n")
	programtest.Program(t, dir, "bench", "sweep.yaml", "--python", python, "--seed", "7", "--timing", "perf_counter", "-P", "batch_size=2", "--cold-start").MustRun(t)
	want := "neurolens bench sweep.yaml -P benchmark=b.py -P batch_size=2 --python " + term.ShellWord(python) +
		" --cold-start --timing=perf_counter --seed=7 --store runs_store --repeats 1"
	valuetest.Equal(t, reproduceCommandOf(t, dir, strings.Trim(rows(t, dir, "SELECT run_id FROM runs"), "[]")), want)
	checkReproduced(t, dir)
}

// TestReproduceOfTypes: a number that is no integer, and text that looks like a number, reach a function again as they did.
func TestReproduceOfTypes(t *testing.T) {
	programtest.NeedsLong(t)
	t.Parallel()
	python := programtest.PythonWith(t, "json", "json")
	dir := t.TempDir()
	programtest.WriteFile(t, dir, "sweep.yaml", `file: b.py
zip: [value, type]
grid:
  value: [1, 2.0, "3.10", "64", [1.0, 2], true, "false"]
  type: [int, float, str, str, list, bool, str]
warmup: 0
iterations: 1
`)
	programtest.WriteFile(t, dir, "b.py", `def run_benchmark(value, type):
    assert value.__class__.__name__ == type, (value, type)
    assert type != "list" or isinstance(value[0], float)
`)
	programtest.Program(t, dir, "bench", "sweep.yaml", "--python", python).MustRun(t)
	valuetest.Equal(t, rows(t, dir, "SELECT count(*) FILTER (status = 'ok'), count(DISTINCT point_id) FROM runs"), "[7 7]", "runs, points")
	for value, again := range map[string]string{"3.10": `-P 'value="3.10"'`, "2": "-P value=2.0"} {
		id := strings.Trim(rows(t, dir, "SELECT run_id FROM runs WHERE params['value'] = '"+value+"'"), "[]")
		valuetest.Contains(t, reproduceCommandOf(t, dir, id), again)
	}
}

// TestReproduceOfModel: of several models one, with the profiler in a pass of it.
func TestReproduceOfModel(t *testing.T) {
	t.Parallel()
	python := programtest.PythonWith(t, "onnxruntime", "onnxruntime")
	dir := t.TempDir()
	programtest.WriteFile(t, dir, "sweep.yaml", "backend: onnxrt\nmodel: [./one.onnx, ./two.onnx]\nwarmup: 0\niterations: 2\n")
	for _, name := range []string{"one", "two"} {
		programtest.Program(t, dir, "model", "gen", "add", "--out", name+".onnx").MustRun(t)
	}
	programtest.Program(t, dir, "bench", "sweep.yaml", "--python", python, "--provider", "CPUExecutionProvider").MustRun(t)
	checkReproduced(t, dir)
	command := func(profiled string) string {
		return reproduceCommandOf(t, dir, strings.Trim(rows(t, dir, "SELECT max(run_id) FROM runs WHERE purpose = '"+profiled+"'"), "[]"))
	}
	programtest.Program(t, dir, "bench", "sweep.yaml", "--python", python, "--profile", "ort", "-P", "model=./one.onnx").MustRun(t)
	valuetest.Contains(t, command("profile"), " --profile ort ", "a pass of a profiler")
	if got := command("measure"); strings.Contains(got, " --profile") {
		t.Errorf("a measurement: %s", got)
	}
}

// TestReproduceOfSides: every answer names the side, and a run of one is compared with the same commit again. What has not
// been committed is said before anything runs.
func TestReproduceOfSides(t *testing.T) {
	dir, cache := t.TempDir(), t.TempDir()
	programtest.WriteFile(t, dir, "sweep.yaml", "suite: ab\ncommand: [sh, a.sh]\nrepeats: 1\nwarmup: 0\niterations: 2\n")
	programtest.WriteFile(t, dir, "a.sh", "exit 0\n")
	programtest.WriteFile(t, dir, ".gitignore", "runs_store/\nneurolens\n")
	programtest.Repository(t, dir)
	programtest.WriteFile(t, dir, "a.sh", "exit 0 # edited\n")
	t.Setenv("XDG_CACHE_HOME", cache)
	bench := programtest.Program(t, dir, "bench", "sweep.yaml", "--against", "HEAD", "--repeats", "1")
	bench.MustRun(t)
	commit := programtest.Git(t, dir, "rev-parse", "HEAD")
	valuetest.Contains(t, bench.Messages.String(), "\nbase "+commit[:7]+" · head "+commit[:7]+" + uncommitted changes\n", "it")
	ls := programtest.Program(t, dir, "ls", "--format", "table")
	ls.MustRun(t)
	if out := ls.Printed.String(); !strings.Contains(out, "  SIDE  ") || !strings.Contains(out, "  head  ") || !strings.Contains(out, "  base  ") {
		t.Errorf("ls prints\n%s", out)
	}
	for _, side := range []string{"base", "head"} {
		id := strings.Trim(rows(t, dir, "SELECT run_id FROM runs WHERE side = '"+side+"'"), "[]")
		show := programtest.Program(t, dir, "show", id, "--format", "table")
		show.MustRun(t)
		if out := show.Printed.String(); !strings.Contains(out, "ab · sh · "+side+" · ") || !strings.Contains(out, "\n  side        "+side+"\n") {
			t.Errorf("show prints\n%s", out)
		}
		if want := "neurolens bench sweep.yaml --targets sh --against " + commit + " --store runs_store --repeats 1"; reproduceCommandOf(t, dir, id) != want {
			t.Errorf("got  %s\nwant %s", reproduceCommandOf(t, dir, id), want)
		}
	}
}
