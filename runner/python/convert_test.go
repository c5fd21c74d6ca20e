package python

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/runner/onnx"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
)

// TestConverter: which tool an interpreter has for which conversion, and what it is to install where it has none.
func TestConverter(t *testing.T) {
	for _, c := range []struct{ packages, from, to, tool, install, err string }{
		{"onnx onnxruntime onnxconverter_common", "fp32", "fp16", "onnxruntime 1, onnx 1", "", ""},
		{"onnx onnxconverter_common", "fp32", "fp16", "onnxconverter-common 1, onnx 1", "", ""},
		{"onnx onnxruntime", "fp32", "int8", "onnxruntime 1, onnx 1", "", ""},
		{"onnx onnxconverter_common", "fp32", "int8", "", "/p -m pip install onnx onnxruntime", ""},
		{"onnxruntime", "fp32", "fp16", "", "/p -m pip install onnx", ""},
		{"", "fp32", "fp16", "", "/p -m pip install onnx onnxruntime", ""},
		{"onnx onnxruntime", "fp16", "fp32", "", "", "no tool is known to convert fp16 to fp32"},
		{"onnx onnxruntime", "fp32", "bf16", "", "", "no tool is known to convert fp32 to bf16"},
	} {
		i := Interpreter{Path: "/p", Packages: map[string]string{}}
		for _, name := range strings.Fields(c.packages) {
			i.Packages[name] = "1"
		}
		tool, install, err := i.Converter(c.from, c.to)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if tool.String() != c.tool || install != c.install || text != c.err {
			t.Errorf("%q from %s to %s: %q, %q, %q", c.packages, c.from, c.to, tool, install, text)
		}
	}
}

// TestConvertersConvert: the tools make of a model of somebody else one that is in the other precision, and which runs. Nothing
// is left beside the model.
func TestConvertersConvert(t *testing.T) {
	python := interpreter(t, "onnxruntime", "onnx", "onnxconverter_common")
	for _, c := range []struct{ without, to, compute string }{
		{"", "fp16", "fp32"}, {"onnxruntime", "fp16", "fp32"}, {"", "int8", "int8"},
	} {
		dir := folder(t, map[string]string{"model.onnx": somebodys(t)})
		with := python
		with.Packages = map[string]string{}
		for name, version := range python.Packages {
			if name != c.without {
				with.Packages[name] = version
			}
		}
		tool, install, err := with.Converter("fp32", c.to)
		if err != nil || install != "" {
			t.Fatalf("%v, %s", err, install)
		}
		target := filepath.Join(t.TempDir(), "converted.onnx")
		check(t, runConverter(t, tool, filepath.Join(dir, "model.onnx"), target), schema.StatusOK, "", "", "")
		content, err := os.ReadFile(target)
		if err != nil {
			t.Fatal(err)
		}
		d, err := onnx.Describe(strings.NewReader(string(content)))
		if sum := sha256.Sum256(content); err != nil || d.Precision != c.to {
			t.Errorf("%s: %+v, %v; %s", tool, d, err, hex.EncodeToString(sum[:]))
		}
		if files, _ := os.ReadDir(dir); len(files) != 1 {
			t.Errorf("%s: beside the model: %v", tool, files)
		}
		o := runModel(t, filepath.Dir(target), Settings{Backend: "onnxrt", Model: "model.onnx", ModelFile: filepath.Base(target)}, sized("2", "3", c.to))
		check(t, o, schema.StatusOK, "", "", "")
		checkApplied(t, o, map[string]string{"precision": c.to, "compute": c.compute})
	}
}

// TestConverterSaysWhatIsWrong: its last line is the reason.
func TestConverterSaysWhatIsWrong(t *testing.T) {
	python := interpreter(t, "onnxruntime", "onnx")
	dir := folder(t, map[string]string{"model.onnx": "no model"})
	tool, _, err := python.Converter("fp32", "fp16")
	if err != nil {
		t.Fatal(err)
	}
	o := runConverter(t, tool, filepath.Join(dir, "model.onnx"), filepath.Join(dir, "converted.onnx"))
	if lines := strings.Split(strings.TrimSpace(o.StderrTail), "\n"); o.Status != schema.StatusError || !strings.HasPrefix(lines[len(lines)-1], "DecodeError: ") {
		t.Errorf("%s: %q", o.Status, o.StderrTail)
	}
}

// somebodys is a model that NeuroLens has not made, for the name of its producer.
func somebodys(t *testing.T) string {
	t.Helper()
	content, err := onnx.Generate("tiny_linear", "fp32")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Replace(string(content), "neurolens", "neurolons", 1)
}

func runConverter(t *testing.T, tool Converter, from, to string) task.Outcome {
	t.Helper()
	command, err := tool.Command(from, to)
	if err != nil {
		t.Fatal(err)
	}
	return runSpec(t, task.Spec{Executor: schema.ExecutorCommand, Command: command, Iterations: 1, Deadlines: patient})
}
