//go:build linux

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// prove runs steps of the proof for a GPU, and returns how each ended, what each said, and the folder of results.
func prove(t *testing.T, steps []string, environ ...string) (status, said map[string]string, results string) {
	t.Helper()
	python := programtest.PythonWith(t, "torch", "torch")
	bin := t.TempDir()
	results = t.TempDir()
	programtest.Link(t, bin)
	cmd := exec.Command(filepath.Join(programtest.Root(t), "benchmarks/gpu/prove"), append([]string{results}, steps...)...)
	cmd.Env = append(append(programtest.Environ(t), "PATH="+bin+":"+os.Getenv("PATH"), "NEUROLENS_PYTHON="+python, "PROVE_PATIENCE=10"), environ...)
	valuetest.Run(t, cmd)
	table := strings.Split(strings.TrimSpace(string(valuetest.Must(os.ReadFile(filepath.Join(results, "steps.tsv"))))), "\n")
	var ran []string
	status, said = map[string]string{}, map[string]string{}
	for _, line := range table[1:] {
		cells := strings.Split(line, "\t")
		ran, status[cells[0]] = append(ran, cells[0]), cells[1]
		said[cells[0]] = string(valuetest.Must(os.ReadFile(filepath.Join(results, cells[0]+".txt"))))
	}
	valuetest.DeepEqual(t, ran, steps, "steps")
	return status, said, results
}

// TestProve runs the proof for a GPU on a machine that may have none: each step ends, says why it cannot run, and leaves its results.
func TestProve(t *testing.T) {
	if _, err := os.Stat("/dev/nvidiactl"); err == nil {
		t.Skip("this machine has a GPU: what the steps say without one is not checked")
	}
	status, said, results := prove(t, []string{"facts", "calls", "energy", "energy-values", "join", "ncu", "endless", "reports", "store"})
	for step, want := range map[string]string{
		"calls": "no driver: ", "energy": "3 skipped: torch sees no CUDA device", "ncu": "unsupported", "endless": "1 skipped: torch sees no CUDA device", "store": "no problem",
	} {
		valuetest.Contains(t, said[step], want, step)
	}
	if status["calls"] != "1" || status["energy-values"] != "0" || status["join"] != "0" || status["store"] != "0" {
		t.Errorf("statuses %v", status)
	}
	if info, err := os.Stat(filepath.Join(results, "store.tar.gz")); err != nil || info.Size() == 0 {
		t.Errorf("the store of the results: %v", err)
	}
}

// TestProveRehearsed: with a driver that stands in, and work of the processor, the answers of the steps about energy and clocks have rows.
func TestProveRehearsed(t *testing.T) {
	valuetest.Program(t, "gcc")
	lib := t.TempDir()
	replay := filepath.Join(lib, "replay.txt")
	valuetest.OK(t, os.WriteFile(replay, []byte("clock_sm 1980\nthrottle 0\npower_instant 100000\nenergy 0 +5000\n"), 0o600)) // 5 J for each of 20 readings a second: 100 W
	valuetest.Run(t, exec.Command("gcc", "-shared", "-fPIC", "-DREPLAY="+strconv.Quote(replay), "-o", filepath.Join(lib, "libnvidia-ml.so.1"),
		filepath.Join(programtest.Root(t), "runner/probe/testdata/fakenvml.c")))
	status, said, _ := prove(t, []string{"energy", "energy-values", "join"}, "LD_LIBRARY_PATH="+lib, "PROVE_DEVICE=cpu")
	valuetest.DeepEqual(t, status, map[string]string{"energy": "0", "energy-values": "0", "join": "0"})
	for step, want := range map[string]string{"energy-values": "counter", "join": "1980"} {
		if valuetest.Contains(t, said[step], want, step); !strings.Contains(said[step], "3 rows") {
			t.Errorf("%s says\n%s", step, said[step])
		}
	}
}
