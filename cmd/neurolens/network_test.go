//go:build linux

package main

import (
	"os"
	"os/exec"
	"testing"
)

const everyExecutor = `suite: everything
grid: {backend: [builtin, onnxrt, torch]}
model: builtin:tiny_linear
repeats: 1
warmup: 1
iterations: 5
`

// TestNoNetwork: a sweep of every executor, where there is no network, not even a loopback that is up.
func TestNoNetwork(t *testing.T) {
	needs(t, "unshare", exec.Command("unshare", "-n", "true").Run())
	python := testPython(t, "torch")
	testPython(t, "onnxruntime")
	dir := t.TempDir()
	write(t, dir, "every.yaml", everyExecutor)
	write(t, dir, "file.py", "def run_benchmark(): pass\n")
	write(t, dir, "file.yaml", "file: file.py\niterations: 5\n")
	write(t, dir, "command.yaml", oneRunSweep)
	for _, sweep := range []string{"every.yaml", "file.yaml", "command.yaml"} {
		bench := program(t, dir, "-n", os.Args[0], "bench", sweep, "--python", python)
		unshare, err := exec.LookPath("unshare")
		if err != nil {
			t.Fatal(err)
		}
		bench.Path = unshare
		bench.run(t)
	}
	if got := rows(t, dir, "SELECT executor, status FROM runs ORDER BY 1"); got != "[builtin ok] [command ok] [onnxrt ok] [python ok] [torch ok]" {
		t.Errorf("runs %s", got)
	}
}
