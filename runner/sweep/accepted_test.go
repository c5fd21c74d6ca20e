package sweep

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/runner/fact"
)

// later are the keys of the reference sweeps that no version reads yet, and their values.
var later = regexp.MustCompile(`(?m)^discover:\n(?:  .*\n)+|^telemetry: .*\n|^  - \{tool: n.*\n`)

// TestReferenceSweeps: the jobs of five harnesses can be written as sweeps. Two of them find their benchmarks by themselves,
// which is all that is refused of them.
func TestReferenceSweeps(t *testing.T) {
	samples := os.Getenv("NEUROLENS_SAMPLES")
	if samples == "" {
		t.Skip("NEUROLENS_SAMPLES names no folder: the reference sweeps lie beside it")
	}
	files, err := filepath.Glob(filepath.Join(samples, "..", "sweeps", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Skipf("there are no reference sweeps beside %s: %v", samples, err)
	}
	facts, err := fact.New(map[string]string{"gpu.count": "1", "gpu.compute_capability": "9", "gpu.memory": "80GiB", "os": "darwin"}, fact.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		plain := later.ReplaceAllString(string(text), "")
		if strings.Contains(string(text), "discover:") {
			if _, err := readText(file, text, Overrides{Facts: facts}); err == nil || !strings.Contains(err.Error(), "unknown key discover") {
				t.Errorf("%s: got %v", filepath.Base(file), err)
			}
			plain += "file: \"kernels/{benchmark}.py\"\nbenchmark: [tma_copy, add]\n"
			if strings.Contains(string(text), "variant=baseline") {
				plain += "variant: [baseline, fused]\n"
			}
		}
		for _, presets := range [][]string{nil, {"quick"}} {
			if presets != nil && !strings.Contains(plain, "presets:") {
				continue
			}
			s, err := readText(file, []byte(plain), Overrides{Facts: facts, Presets: presets})
			if err != nil {
				t.Errorf("%s %v: %v", filepath.Base(file), presets, err)
				continue
			}
			t.Logf("%s %v: %d points, %d skipped", filepath.Base(file), presets, len(s.Points), len(s.Skipped))
		}
	}
}
