package onnx

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestRuntime: onnxruntime loads every model, at several sizes, and gives what numpy gives.
func TestRuntime(t *testing.T) {
	interpreter, dir := valuetest.Python(t, "onnxruntime", "onnxruntime, numpy"), t.TempDir()
	want := map[string]string{}
	for _, name := range Names() {
		for _, precision := range Precisions() {
			file := name + "." + precision + ".onnx"
			valuetest.OK(t, os.WriteFile(filepath.Join(dir, file), generate(t, name, precision), 0o600))
			want[file] = "ok"
			if precision == "bf16" {
				want[file] = "not implemented" // on a CPU
			}
		}
	}
	cmd := exec.Command(interpreter, filepath.Join("testdata", "check.py"), dir)
	cmd.Stderr = os.Stderr
	out := valuetest.Must(cmd.Output())
	for line := range strings.Lines(string(out)) {
		file, got, _ := strings.Cut(strings.TrimSpace(line), " ")
		valuetest.DeepEqual(t, got, want[file], file)
		delete(want, file)
	}
	if len(want) > 0 {
		t.Errorf("not tried: %v", want)
	}
}
