package sweep

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/neurolens/neurolens/runner/expression"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// project is what the reference sweeps find their benchmarks in.
var project = in("ch1/baseline_tma_copy.py=import torch", "ch1/optimized_tma_copy.py=import torch", "ch2/baseline_add.py=import torch",
	"ch2/optimized_add_fused.py=import torch", "kernels/scan.py=def run_benchmark(precision): pass\n", "src/kernels/drift.py=def run_benchmark(precision): pass\n")

// referenceSweeps has how many points there are of each reference sweep to run and to skip, whole and with the preset quick.
var referenceSweeps = map[string]struct{ whole, quick string }{
	"000-neurolens.yaml":         {"12 and 0", ""},
	"001-benchmark-harness.yaml": {"2 and 2", "2 and 2"},
	"002-quasim.yaml":            {"8 and 0", "8 and 0"},
	"003-swift-mnist.yaml":       {"0 and 6", "0 and 6"}, // there is no data
	"004-operation-grid.yaml":    {"1620 and 60", "30 and 0"},
}

// TestReferenceSweeps: the jobs of five harnesses can be written as sweeps. What they do on projects is in the scripts
// sweep_*.txtar of cmd/neurolens.
func TestReferenceSweeps(t *testing.T) {
	samples := os.Getenv("NEUROLENS_SAMPLES")
	if samples == "" {
		t.Skip("NEUROLENS_SAMPLES names no folder: the reference sweeps lie beside it")
	}
	files, err := filepath.Glob(filepath.Join(samples, "..", "sweeps", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Skipf("there are no reference sweeps beside %s: %v", samples, err)
	}
	facts := valuetest.Must(expression.NewMachine(map[string]string{"gpu.count": "1", "gpu.compute_capability": "9", "gpu.memory": "80GiB", "os": "darwin"}, expression.FactSources{}))
	for _, file := range files {
		text := valuetest.Must(os.ReadFile(file))
		name := filepath.Base(file)
		want, ok := referenceSweeps[name]
		if !ok {
			t.Errorf("%s is new here", name)
			continue
		}
		check := func(want string, presets ...string) {
			s, err := readText(file, text, Overrides{Facts: facts, Presets: presets, Files: project})
			if err != nil {
				t.Errorf("%s %v: %v", name, presets, err)
			} else {
				valuetest.DeepEqual(t, fmt.Sprintf("%d and %d", len(s.Points), len(s.Skipped)), want, name, presets)
			}
		}
		if check(want.whole); want.quick != "" {
			check(want.quick, "quick")
		}
	}
}
