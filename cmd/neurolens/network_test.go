//go:build linux

package main

import (
	"crypto/sha256"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
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

// TestReadingWithoutNetwork: reading commands, where there is no network, which change not a file of the store.
func TestReadingWithoutNetwork(t *testing.T) {
	needsLong(t)
	t.Parallel()
	needs(t, "unshare", exec.Command("unshare", "-n", "true").Run())
	dir := t.TempDir()
	store := filepath.Join(dir, "store")
	fillStore(t, store, 3, 10)
	before := filesIn(t, store)
	for _, command := range reading(dir) {
		cmd := exec.Command("unshare", append(append([]string{"-n", os.Args[0]}, command...), "--store", store)...)
		cmd.Env = programEnviron(t)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %v\n%s", command, err, out)
		}
	}
	if after := filesIn(t, store); !maps.Equal(before, after) {
		t.Errorf("files of the store\n%v were\n%v", after, before)
	}
}

// filesIn are the hashes of the files in a directory.
func filesIn(t *testing.T, dir string) map[string][32]byte {
	t.Helper()
	files := map[string][32]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		files[path] = sha256.Sum256(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
