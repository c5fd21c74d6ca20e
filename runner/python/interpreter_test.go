package python

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/runner/onnx"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// script makes an executable file of the shell.
func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "python3")
	valuetest.OK(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700))
	return path
}

func TestResolve(t *testing.T) {
	real := interpreter(t)
	shim := script(t, `exec "`+real.Path+`" "$@"`)
	chatty := script(t, `echo hello; exec "`+real.Path+`" "$@"`)
	holding := script(t, `sleep 60 & exec "`+real.Path+`" "$@"`)
	for name, path := range map[string]string{"itself": real.Path, "shim": shim, "chatty": chatty, "holding": holding} {
		i, err := Resolve(t.Context(), path, os.Environ())
		if err != nil || i.Path != real.Path || i.Version != real.Version || i.Implementation == "" {
			t.Errorf("%s: %+v, %v", name, i, err)
		}
	}
	for name, environ := range map[string][]string{
		"on PATH": {"PATH=/nonexistent:" + filepath.Dir(shim)},
		"in venv": {"PATH=/nonexistent", "VIRTUAL_ENV=" + environment(t, shim)},
		"conda":   {"PATH=/nonexistent", "CONDA_PREFIX=" + environment(t, shim)},
	} {
		valuetest.DeepEqual(t, valuetest.Must(Resolve(t.Context(), "", environ)).Path, real.Path, name)
	}
	valuetest.DeepEqual(t, valuetest.Must(Resolve(t.Context(), "python3", []string{"PATH=" + filepath.Dir(shim)})).Path, real.Path, "by name")
}

// TestModuleVersion: any distribution that an interpreter has answers to its name, and nothing is imported to find out.
func TestModuleVersion(t *testing.T) {
	real := interpreter(t)
	site := t.TempDir()
	info := filepath.Join(site, "some_kernels-1.2.3.dist-info")
	valuetest.OK(t, os.Mkdir(info, 0o700))
	for name, text := range map[string]string{
		filepath.Join(info, "METADATA"): "Metadata-Version: 2.1\nName: some-kernels\nVersion: 1.2.3\n",
		filepath.Join(info, "RECORD"):   "somekernels.py,,\n", filepath.Join(info, "top_level.txt"): "somekernels\n",
		filepath.Join(site, "somekernels.py"): "raise SystemExit('imported')\n",
	} {
		valuetest.OK(t, os.WriteFile(name, []byte(text), 0o600))
	}
	environ := append(os.Environ(), "PYTHONPATH="+site)
	want := map[string]string{"some-kernels": "1.2.3", "some_kernels": "1.2.3", "nonexistent_module": ""}
	if err := checkVersion(real.Version); err == nil && !strings.HasPrefix(real.Version, "3.8.") && !strings.HasPrefix(real.Version, "3.9.") {
		want["somekernels"] = "1.2.3"
	}
	for module, version := range want {
		valuetest.DeepEqual(t, ModuleVersion(t.Context(), real.Path, module, environ), version, module)
	}
	valuetest.DeepEqual(t, ModuleVersion(t.Context(), "/nonexistent/python", "some-kernels", environ), "", "without an interpreter")
}

// environment returns a folder laid out as a virtual environment.
func environment(t *testing.T, python string) string {
	t.Helper()
	dir := t.TempDir()
	valuetest.OK(t, os.Mkdir(filepath.Join(dir, "bin"), 0o700))
	valuetest.OK(t, os.Symlink(python, filepath.Join(dir, "bin", "python")))
	return dir
}

// TestResolveVirtualEnvironment: a virtual environment keeps its own path, which is what gives it its packages.
func TestResolveVirtualEnvironment(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command(interpreter(t).Path, "-m", "venv", "--without-pip", dir).CombinedOutput(); err != nil {
		valuetest.Have(t, "venv", fmt.Errorf("%w: %s", err, out))
	}
	i, err := Resolve(t.Context(), "", []string{"VIRTUAL_ENV=" + dir})
	if want := filepath.Join(dir, "bin", "python"); err != nil || i.Path != want {
		t.Errorf("%+v, %v, want path %s", i, err, want)
	}
}

func TestResolveRefuses(t *testing.T) {
	text := filepath.Join(t.TempDir(), "notes.txt")
	valuetest.OK(t, os.WriteFile(text, []byte("no program\n"), 0o600))
	said := func(json string) string { return script(t, "echo '"+json+"'") }
	for name, c := range map[string]struct{ path, want string }{
		"missing":        {"/nonexistent/python", "python /nonexistent/python: no such file"},
		"not on PATH":    {"python7", "python python7: not on PATH"},
		"directory":      {t.TempDir(), "is a directory"},
		"not executable": {text, "not executable"},
		"not Python":     {valuetest.Program(t, "true"), "is not Python: asked for its version, it printed"},
		"fails":          {valuetest.Program(t, "false"), "is it Python? It ended with exit status 1"},
		"prints it":      {valuetest.Program(t, "echo"), "is not Python: it repeats its input"},
		"opens it":       {script(t, `echo "$2: no such file" >&2; exit 2`), "is it Python? It ended with exit status 2"},
		"complains":      {script(t, "echo first >&2; echo cannot >&2; exit 3"), "exit status 3: cannot"},
		"no format":      {script(t, "") + "/x", "not a directory"},
		"another JSON":   {said(`{"a":1}`), "is not Python"},
		"too old":        {said(`{"path":"/p","version":"3.7.16","implementation":"cpython","packages":{}}`), "is Python 3.7.16: want 3.8 or later"},
		"Python 2":       {said(`{"path":"/p","version":"2.7.18","implementation":"cpython","packages":{}}`), "is Python 2.7.18: want 3.8 or later"},
		"odd version":    {said(`{"path":"/p","version":"new","implementation":"","packages":{}}`), `gives its version as "new"`},
	} {
		i, err := Resolve(t.Context(), c.path, []string{"PATH=/usr/bin:/bin"})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.ContainsAny(err.Error(), "\n;") {
			t.Errorf("%s: %+v, %v, want an error with %q", name, i, err, c.want)
		}
	}
	valuetest.ErrorText(t, valuetest.Error(Resolve(t.Context(), "", []string{"PATH="})), "…neither…", "no Python at all")
	if _, err := Resolve(t.Context(), "", []string{"VIRTUAL_ENV=/nonexistent"}); err == nil || !strings.Contains(err.Error(), "VIRTUAL_ENV /nonexistent: no such file") {
		t.Errorf("stale environment: %v", err)
	}
}

func TestResolveIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := Resolve(ctx, script(t, "sleep 600"), os.Environ()); err == nil || ctx.Err() == nil {
		t.Errorf("error %v", err)
	}
}

func FuzzUnderstand(f *testing.F) {
	f.Add([]byte(`{"path":"/usr/bin/python3","version":"3.11.2","implementation":"cpython","packages":{"numpy":"2.4.6"}}`))
	f.Add([]byte("hello\n{}\n"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, output []byte) {
		i, err := understand(output)
		if err == nil && (i.Path == "" || checkVersion(i.Version) != nil) {
			t.Errorf("%q gives %+v", output, i)
		}
	})
}

func TestSpec(t *testing.T) {
	i := Interpreter{Path: "/usr/bin/python3"}
	for backend, want := range map[string]schema.Executor{"onnxrt": "onnxrt", "torch": "torch", "tensorrt": "tensorrt"} {
		valuetest.DeepEqual(t, valuetest.Must(i.Spec(Settings{Backend: backend})).Executor, want, backend)
	}
	for _, s := range []Settings{{}, {Backend: "keras"}, {File: "a.py", Backend: "torch"}} {
		if spec, err := i.Spec(s); err == nil {
			t.Errorf("%+v: %+v", s, spec)
		}
	}
	spec, err := i.Spec(Settings{File: "a.py", Profile: "torch"})
	if err != nil || !spec.Profile || len(spec.Program.Files["worker.py"]) == 0 || len(spec.Program.Files["backends.py"]) == 0 {
		t.Errorf("%+v, %v", spec, err)
	}
}

// TestCanonicalText: what a benchmark reads back has the text that identity is made of.
func TestCanonicalText(t *testing.T) {
	numbers := []float64{0, 1, -1, 0.1, 16, 1e20, 1e21, 1.5e300, 1e-6, 1e-7, 2.5e-7, 123456.789, -0.00001, 1e16, math.MaxInt64, math.Pi, 5e-324}
	text := valuetest.Must(json.Marshal(numbers))
	source := valuetest.Must(sources.ReadFile("benchmark.py"))
	const program = `
import json, sys, types
sys.modules["neurolens_worker"] = types.SimpleNamespace(LABELS=(), Failure=Exception, Skipped=Exception, Unsupported=Exception)
exec(sys.argv[1])
print(json.dumps([text_of(float(x)) for x in json.loads(sys.argv[2])]))
`
	out := valuetest.Must(exec.Command(interpreter(t).Path, "-c", program, string(source), string(text)).Output())
	var got []string
	if err := json.Unmarshal(out, &got); err != nil || len(got) != len(numbers) {
		t.Fatalf("%s: %v", out, err)
	}
	for i, x := range numbers {
		valuetest.DeepEqual(t, got[i], schema.CanonicalFloat(x), x)
	}
}

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
		content := valuetest.Must(os.ReadFile(target))
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

// somebodys returns a model that NeuroLens has not made, for the name of its producer.
func somebodys(t *testing.T) string {
	t.Helper()
	content := valuetest.Must(onnx.Generate("tiny_linear", "fp32"))
	return strings.Replace(string(content), "neurolens", "neurolons", 1)
}

func runConverter(t *testing.T, tool Converter, from, to string) task.Outcome {
	t.Helper()
	command := valuetest.Must(tool.Command(from, to))
	return runSpec(t, task.Spec{Launch: task.Launch{Executor: schema.ExecutorCommand, Command: command, Iterations: 1}, Deadlines: patient})
}

// TestMissing: what a file needs is seen without running it, and nothing is called missing that may be there.
func TestMissing(t *testing.T) {
	t.Parallel()
	i := interpreter(t)
	const class = "class Bench:\n    def benchmark_fn(self): pass\n"
	files := map[string]string{
		"ok.py":        "import json, os.path\nfrom local import thing\nfrom . import more\n" + class,
		"local.py":     "raise RuntimeError('nobody runs this')\n",
		"module.py":    "import json\nimport nosuchmodule.part as n\n" + class,
		"try.py":       "try:\n    import nosuchmodule\nexcept ImportError:\n    nosuchmodule = None\n" + class,
		"path.py":      "import sys\nsys.path.append('lib')\nimport nosuchmodule\n" + class,
		"syntax.py":    "x = (\n",
		"none.py":      "x = 1\n",
		"star.py":      "from local import *\n",
		"made.py":      "globals()['Bench'] = type('Bench', (), {})\n",
		"if.py":        "if True:\n    class Bench: pass\nelse:\n    from x import y as Other\n",
		"functions.py": "def softmax():\n    def inner(): pass\ndef relu(): pass\ndef _own(): pass\n",
		"several.py":   "def bench_a(): pass\nif True:\n    def bench_b(): pass\n",
		"one.py":       "def bench_a(): pass\ndef other(): pass\n",
		"usual.py":     "def bench_a(): pass\ndef bench_b(): pass\ndef solve(): pass\n",
		"assigned.py":  "Bench, other = make()\nfor loop in (): pass\n",
		"function.py":  "def outer():\n    Bench = 1\n",
	}
	dir := folder(t, files)
	for _, c := range []struct{ file, object, want string }{
		{"ok.py", "Bench", ""},
		{"ok.py", "thing", ""},
		{"ok.py", "Nope", "ok.py has no Nope: it has Bench"},
		{"ok.py", "", ""},
		{"module.py", "", "module.py:2: imports nosuchmodule, which " + i.Path + " does not have: " + i.Path + " -m pip install nosuchmodule"},
		{"try.py", "Bench", ""},
		{"path.py", "Bench", ""},
		{"syntax.py", "", "syntax.py:1: '(' was never closed"},
		{"none.py", "", "none.py has no bench_* function and no class with benchmark_fn; it has no function either"},
		{"functions.py", "", "functions.py has no bench_* function and no class with benchmark_fn; it has softmax, relu: choose one with file: functions.py:softmax"},
		{"several.py", "", "several.py has the benchmarks bench_a, bench_b: choose one with file: several.py:bench_a"},
		{"one.py", "", ""},
		{"usual.py", "", ""},
		{"assigned.py", "", ""},
		{"star.py", "", ""},
		{"none.py", "Bench", "none.py has no Bench"},
		{"star.py", "Bench", ""},
		{"made.py", "Bench", ""},
		{"if.py", "Bench", ""},
		{"if.py", "Other", ""},
		{"assigned.py", "other", ""},
		{"assigned.py", "loop", ""},
		{"function.py", "Bench", "function.py has no Bench: it has outer"},
	} {
		texts := valuetest.Must(i.Missing(t.Context(), dir, os.Environ(), []Need{{File: c.file, Object: c.object}}))
		if texts[0] != c.want && !(c.file == "syntax.py" && strings.HasPrefix(texts[0], "syntax.py:")) {
			t.Errorf("%s:%s: got %q, want %q", c.file, c.object, texts[0], c.want)
		}
	}
	texts, err := i.Missing(t.Context(), "", append(os.Environ(), "PYTHONPATH="+dir),
		[]Need{{Module: "nosuchmodule", Package: "package"}, {Module: "local", Package: "x"}})
	if want := "nosuchmodule is not installed for " + i.Path + ": " + i.Path + " -m pip install package"; err != nil || texts[0] != want || texts[1] != "" {
		t.Errorf("%v, %q, want %q", err, texts, want)
	}
}
