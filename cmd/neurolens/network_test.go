//go:build linux

package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

const everyExecutor = `suite: everything
grid: {backend: [builtin, onnxrt, torch]}
model: builtin:tiny_linear
repeats: 1
warmup: 1
iterations: 5
timeout_multiplier: 10
`

// TestNoNetwork: a sweep of every executor, where there is no network, not even a loopback that is up.
func TestNoNetwork(t *testing.T) {
	programtest.Needs(t, "unshare", exec.Command("unshare", "-n", "true").Run())
	python := programtest.PythonWith(t, "torch", "torch")
	programtest.PythonWith(t, "onnxruntime", "onnxruntime")
	dir := t.TempDir()
	programtest.WriteFile(t, dir, "every.yaml", everyExecutor)
	programtest.WriteFile(t, dir, "file.py", "def run_benchmark(): pass\n")
	programtest.WriteFile(t, dir, "file.yaml", "file: file.py\niterations: 5\n")
	programtest.WriteFile(t, dir, "command.yaml", oneRunSweep)
	for _, sweep := range []string{"every.yaml", "file.yaml", "command.yaml"} {
		bench := programtest.Program(t, dir, "-n", programtest.Binary(t), "bench", sweep, "--python", python)
		unshare := valuetest.Must(exec.LookPath("unshare"))
		bench.Path = unshare
		bench.MustRun(t)
	}
	if got := rows(t, dir, "SELECT executor, status FROM runs ORDER BY 1"); got != "[builtin ok] [command ok] [onnxrt ok] [python ok] [torch ok]" {
		t.Errorf("runs %s", got)
	}
}

// TestReadingWithoutNetwork: reading commands, where there is no network, which change not a file of the store.
func TestReadingWithoutNetwork(t *testing.T) {
	programtest.NeedsLong(t)
	t.Parallel()
	programtest.Needs(t, "unshare", exec.Command("unshare", "-n", "true").Run())
	dir := t.TempDir()
	store := filepath.Join(dir, "store")
	programtest.FillStore(t, store, 3, 10)
	before := programtest.FilesIn(t, store)
	for _, command := range reading(dir) {
		cmd := exec.Command("unshare", append(append([]string{"-n", programtest.Binary(t)}, command...), "--store", store)...)
		cmd.Env = programtest.Environ(t)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %v\n%s", command, err, out)
		}
	}
	valuetest.DeepEqual(t, before, programtest.FilesIn(t, store), "files of the store")
}
