//go:build linux

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestProve runs the proof for a GPU on a machine that may have none: each step ends, says why it cannot run, and leaves its results.
func TestProve(t *testing.T) {
	python := programtest.PythonWith(t, "torch", "torch")
	bin, results := t.TempDir(), t.TempDir()
	programtest.Link(t, bin)
	steps := []string{"facts", "calls", "energy", "energy-values", "join", "ncu", "endless", "reports", "store"}
	cmd := exec.Command(filepath.Join(programtest.Root(t), "benchmarks/gpu/prove"), append([]string{results}, steps...)...)
	cmd.Env = append(programtest.Environ(t), "PATH="+bin+":"+os.Getenv("PATH"), "NEUROLENS_PYTHON="+python)
	out := valuetest.Must(cmd.CombinedOutput())
	table := strings.Split(strings.TrimSpace(string(valuetest.Must(os.ReadFile(filepath.Join(results, "steps.tsv"))))), "\n")
	var ran []string
	status := map[string]string{}
	for _, line := range table[1:] {
		cells := strings.Split(line, "\t")
		ran, status[cells[0]] = append(ran, cells[0]), cells[1]
	}
	valuetest.DeepEqual(t, ran, steps, "steps")
	if _, err := os.Stat("/dev/nvidiactl"); err == nil {
		t.Skipf("this machine has a GPU: what the steps say without one is not checked\n%s", out)
	}
	for step, want := range map[string]string{
		"calls": "no driver: ", "energy": "3 skipped: torch sees no CUDA device", "ncu": "unsupported", "endless": "1 skipped: torch sees no CUDA device", "store": "no problem",
	} {
		text := string(valuetest.Must(os.ReadFile(filepath.Join(results, step+".txt"))))
		if !strings.Contains(text, want) {
			t.Errorf("%s says\n%swant %q", step, text, want)
		}
	}
	if status["calls"] != "1" || status["energy-values"] != "0" || status["join"] != "0" || status["store"] != "0" {
		t.Errorf("statuses %v", status)
	}
	if info, err := os.Stat(filepath.Join(results, "store.tar.gz")); err != nil || info.Size() == 0 {
		t.Errorf("the store of the results: %v", err)
	}
}
