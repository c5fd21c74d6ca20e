package prepare

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/neurolens/neurolens/runner/onnx"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// bench is a folder with a model, a cache, and a Python that has what it is said to have.
type bench struct {
	*testing.T
	cache string
	calls [][]string // commands of converters
	// convert stands in for a converter: it is given the files that it is to read and to write.
	convert func(from, to string) task.Outcome
}

// newBench makes the file model.onnx, and a program that answers for a Python with these packages, as JSON.
func newBench(t *testing.T, model []byte, packages string) *bench {
	t.Helper()
	t.Chdir(t.TempDir())
	b := &bench{T: t, cache: t.TempDir()}
	t.Setenv("XDG_CACHE_HOME", b.cache)
	t.Setenv("HOME", b.cache) // where there is no such variable
	b.write("model.onnx", model, 0o600)
	b.python(packages)
	b.convert = func(_, to string) task.Outcome {
		b.write(to, foreign(t, "tiny_linear", "fp16"), 0o600)
		return ok()
	}
	return b
}

func (b *bench) python(packages string) {
	b.Helper()
	said := fmt.Sprintf(`{"path": "/opt/python", "version": "3.11.7", "implementation": "cpython", "packages": %s}`, packages)
	b.write("python.sh", []byte("#!/bin/sh\necho '"+said+"'\n"), 0o700)
}

func (b *bench) write(name string, content []byte, mode os.FileMode) {
	b.Helper()
	valuetest.OK(b, os.WriteFile(name, content, mode))
}

const everyTool = `{"onnx": "1.2", "onnxruntime": "3.4"}`

// foreign returns a model that is none of those that NeuroLens makes, for the name of its producer.
func foreign(t *testing.T, name, precision string) []byte {
	t.Helper()
	content := valuetest.Must(onnx.Generate(name, precision))
	return []byte(strings.Replace(string(content), "neurolens", "neurolons", 1))
}

func ok() task.Outcome { return task.Outcome{Status: schema.StatusOK} }

// session prepares the points of a grid of precisions, and converts for each of them, as a session does.
func (b *bench) session(precisions string) (*Targets, []*Target) {
	b.Helper()
	text := "backend: onnxrt\nmodel: model.onnx\npython: ./python.sh\ngrid: {batch_size: [1, 2], precision: [" + precisions + "]}\n"
	s := valuetest.Must(sweep.Read("s.yaml", strings.NewReader(text), sweep.Overrides{}))
	targets := New(Options{Sweep: s, Sides: []Side{{}}, Version: "9.9"})
	var all []*Target
	for i := range s.Points {
		all = append(all, b.target(targets, &s.Points[i]))
	}
	return targets, all
}

func (b *bench) target(targets *Targets, p *sweep.Point) *Target {
	b.Helper()
	sub := Subject{Point: p}
	t := targets.Fresh(b.Context(), sub)
	valuetest.OK(b, targets.Convert(b.Context(), Builder{Run: b.run, Observe: func(Subject, []string) {}}, sub, t))
	return t
}

func (b *bench) run(_ context.Context, spec task.Spec) (task.Outcome, error) {
	b.calls = append(b.calls, spec.Command)
	n := len(spec.Command)
	return b.convert(spec.Command[n-2], spec.Command[n-1]), nil
}

// applied returns what a run of a target says, with what its worker has said.
func applied(t *Target) map[string]string {
	o := task.Outcome{Status: schema.StatusOK, Applied: map[string]string{"precision": t.Point.Precision}}
	t.Check(&o)
	return o.Applied
}

// refused returns how a target is refused, in one line.
func refused(t *Target) string {
	if t.Refused == nil {
		return ""
	}
	return fmt.Sprintf("%s in %s, %s: %s", t.Refused.Status, t.Refused.Stage, t.Refused.ErrorKind, t.Refused.Error)
}

// TestGeneratedModelInEveryPrecision: a file that model gen made is made in the other precisions by it, without any tool. It
// stays the same model to a point and a store; what was run is in what was applied.
func TestGeneratedModelInEveryPrecision(t *testing.T) {
	source := valuetest.Must(onnx.Generate("tiny_linear", "fp32"))
	b := newBench(t, source, "{}")
	_, targets := b.session("fp64, fp32, tf32, fp16, bf16, int8")
	if len(targets) != 12 || len(b.calls) > 0 {
		t.Fatalf("%d targets, calls %q", len(targets), b.calls)
	}
	for _, target := range targets {
		precision := target.Point.Precision
		if target.Refused != nil || target.ModelSHA256 != hashOf(source) || target.Point.Model != "model.onnx" {
			t.Errorf("%s: %s; model %s %s", precision, refused(target), target.Point.Model, target.ModelSHA256)
		}
		want := map[string]string{"precision": precision}
		file, given := target.SpecOf(sweep.Launch{Point: target.Point}, "").Program.Files[modelFile]
		if precision != "fp32" && precision != "tf32" {
			content, err := onnx.Generate("tiny_linear", precision)
			if err != nil || string(file) != string(content) {
				t.Errorf("%s: another file is run; %v", precision, err)
			}
			want[appliedHash], want[appliedTool], want[appliedFrom] = hashOf(content), "neurolens model gen 9.9", "fp32"
		} else if given {
			t.Errorf("%s: a file stands in for one that is right", precision)
		}
		if got := applied(target); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: applied %v, want %v", precision, got, want)
		}
	}
	_, targets = b.session("fp8")
	if got, want := refused(targets[0]), "unsupported in setup, not_applied: s.yaml:2: precision fp8 was requested, but model.onnx is fp32; `neurolens model gen tiny_linear --precision` makes fp64 fp32 tf32 fp16 bf16 int8 alone"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestConvertedOnce: a model is converted once a session, and not at all where an earlier one has done it with the same tool;
// a file of the cache that is not what it was is made again.
func TestConvertedOnce(t *testing.T) {
	source := foreign(t, "tiny_linear", "fp32")
	b := newBench(t, source, everyTool)
	check := func(what string, calls int, targets []*Target) string {
		t.Helper()
		path := ""
		for _, target := range targets {
			if target.Refused != nil || target.ModelSHA256 != hashOf(source) {
				t.Fatalf("%s: %s", what, refused(target))
			}
			if target.Point.Precision == "fp32" {
				continue
			}
			path = target.settings.ModelFile
			want := map[string]string{
				"precision": "fp16", appliedHash: hashOf(foreign(t, "tiny_linear", "fp16")), appliedTool: "onnxruntime 3.4, onnx 1.2", appliedFrom: "fp32",
			}
			if got := applied(target); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: applied %v, want %v", what, got, want)
			}
			if !strings.Contains(string(target.SpecOf(sweep.Launch{Point: target.Point}, "").Program.Settings), `"model_file":"`+path+`"`) {
				t.Errorf("%s: the worker is not told of %s", what, path)
			}
		}
		valuetest.DeepEqual(t, len(b.calls), calls, what)
		return path
	}
	session, targets := b.session("fp32, fp16")
	path := check("first", 1, targets)
	valuetest.DeepEqual(t, filepath.Dir(path), filepath.Join(b.cache, "neurolens", "models"), "it lies at", path)
	if c := b.calls[0]; !slices.Equal(c[len(c)-4:len(c)-2], []string{"onnxruntime", "fp16"}) || c[len(c)-2] != absolute(t, "model.onnx") {
		t.Errorf("command %q", c[3:])
	}
	if left, _ := filepath.Glob("*.onnx"); len(left) != 1 {
		t.Errorf("beside the model: %q", left)
	}
	_, targets = b.session("fp16")
	check("second", 1, targets)
	b.write(path, []byte("damaged"), 0o600)
	_, targets = b.session("fp16")
	check("after damage", 2, targets)

	// Within a session too.
	b.write(path, []byte("damaged again"), 0o600)
	again := b.target(session, targets[0].Point)
	check("damaged meanwhile", 3, []*Target{again})
	valuetest.OK(t, os.Remove(path))
	check("removed meanwhile", 4, []*Target{b.target(session, targets[0].Point)})

	b.python(`{"onnx": "1.3", "onnxruntime": "3.4"}`)
	b.convert = func(_, to string) task.Outcome {
		b.write(to, append(foreign(t, "tiny_linear", "fp16"), 8, 8), 0o600)
		return ok()
	}
	if _, targets = b.session("fp16"); len(b.calls) != 5 || targets[0].settings.ModelFile == path {
		t.Errorf("another version of a tool: %d conversions, %s", len(b.calls), targets[0].settings.ModelFile)
	}
	if drafts, _ := filepath.Glob(filepath.Join(b.cache, "neurolens", "models", draftPrefix+"*")); len(drafts) > 0 {
		t.Errorf("left: %q", drafts)
	}
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path = valuetest.Must(filepath.Abs(path))
	return path
}

// TestBrokenConverter: a converter that fails, in whatever way, is called once and refuses the points that need it, with its
// status and its last words; the others are measured.
func TestBrokenConverter(t *testing.T) {
	code := int64(1)
	for name, c := range map[string]struct {
		convert func(b *bench, to string) task.Outcome
		want    string
	}{
		"exit": {func(*bench, string) task.Outcome {
			return task.Outcome{Status: schema.StatusError, ExitCode: &code, StderrTail: "WARNING: x\nValueError: no such operator\n"}
		}, "error in build, convert: s.yaml:2: converting model.onnx to fp16: build onnxruntime 3.4, onnx 1.2: exit status 1: ValueError: no such operator"},
		"timeout": {func(*bench, string) task.Outcome { return task.Outcome{Status: schema.StatusTimeout} }, "timeout in build, convert: s.yaml:2: converting model.onnx to fp16: build onnxruntime 3.4, onnx 1.2: took more than 10m0s; raise timeouts.build"},
		"crash": {func(*bench, string) task.Outcome {
			return task.Outcome{Status: schema.StatusCrashed, Error: "killed by SIGSEGV"}
		}, "crashed in build, convert: s.yaml:2: converting model.onnx to fp16: build onnxruntime 3.4, onnx 1.2: killed by SIGSEGV"},
		"unchanged": {func(b *bench, to string) task.Outcome {
			b.write(to, foreign(b.T, "tiny_linear", "fp32"), 0o600)
			return ok()
		}, "unsupported in setup, not_applied: s.yaml:2: converting model.onnx to fp16: onnxruntime 3.4, onnx 1.2 left it in fp32: use one file for each precision, such as with `bench --set 'model=model_{precision}.onnx'`"},
		"nothing": {func(*bench, string) task.Outcome { return ok() }, "error in build, convert: s.yaml:2: converting model.onnx to fp16: onnxruntime 3.4, onnx 1.2: keeping what it wrote: its precision is not known"},
		"gone": {func(b *bench, to string) task.Outcome {
			valuetest.OK(b, os.Remove(to))
			return ok()
		}, "error in build, convert: s.yaml:2: converting model.onnx to fp16: onnxruntime 3.4, onnx 1.2: keeping what it wrote: "},
	} {
		b := newBench(t, foreign(t, "tiny_linear", "fp32"), everyTool)
		b.convert = func(_, to string) task.Outcome { return c.convert(b, to) }
		_, targets := b.session("fp32, fp16")
		for _, target := range targets {
			want := c.want
			if target.Point.Precision == "fp32" {
				want = ""
			}
			if got := refused(target); !strings.HasPrefix(got, want) || want == "" && got != "" {
				t.Errorf("%s, %s: %s\nwant %s", name, target.Point.Precision, got, want)
			}
		}
		valuetest.DeepEqual(t, len(b.calls), 1, name)
		if drafts, _ := filepath.Glob(filepath.Join(b.cache, "neurolens", "models", draftPrefix+"*")); len(drafts) > 0 {
			t.Errorf("%s: left: %q", name, drafts)
		}
	}
}

// TestNothingConverts: where no tool is there, the reason has a command in it. Nothing is run.
func TestNothingConverts(t *testing.T) {
	own := ": use one file for each precision, such as with `bench --set 'model=model_{precision}.onnx'`"
	for _, c := range []struct{ packages, to, want string }{
		{`{"onnxruntime": "3.4"}`, "fp16", ": to convert it, run `/opt/python -m pip install onnx`"},
		{`{}`, "int8", ": to convert it, run `/opt/python -m pip install onnx onnxruntime`"},
		{`{"onnx": "1.2", "onnxconverter_common": "1"}`, "int8", ": to convert it, run `/opt/python -m pip install onnx onnxruntime`"},
		{everyTool, "bf16", ", and no tool is known to convert fp32 to bf16" + own},
	} {
		b := newBench(t, foreign(t, "tiny_linear", "fp32"), c.packages)
		_, targets := b.session(c.to)
		if got, want := refused(targets[1]), "unsupported in setup, not_applied: s.yaml:2: precision "+c.to+" was requested, but model.onnx is fp32"+c.want; got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
		if len(b.calls) > 0 {
			t.Errorf("called: %q", b.calls)
		}
	}
	b := newBench(t, foreign(t, "tiny_linear", "fp32"), `{"onnx": "1.2", "onnxconverter_common": "5.6"}`)
	if _, targets := b.session("fp16"); applied(targets[0])[appliedTool] != "onnxconverter-common 5.6, onnx 1.2" {
		t.Errorf("%s, applied %v", refused(targets[0]), applied(targets[0]))
	}
	b = newBench(t, external("w.bin"), everyTool)
	b.write("w.bin", make([]byte, 16), 0o600)
	if _, targets := b.session("fp16"); !strings.HasSuffix(refused(targets[0]), "model.onnx is fp32, and it cannot be converted because its weights are in other files"+own) || len(b.calls) > 0 {
		t.Errorf("%s, %q", refused(targets[0]), b.calls)
	}
	b = newBench(t, []byte("no model"), everyTool) // which the worker says
	if _, targets := b.session("fp16"); refused(targets[0]) != "" || len(b.calls) > 0 {
		t.Errorf("%s, %q", refused(targets[0]), b.calls)
	}
	b = newBench(t, foreign(t, "add", "fp16"), everyTool)
	if _, targets := b.session("fp16"); refused(targets[0]) != "" || len(b.calls) > 0 || applied(targets[0])[appliedTool] != "" {
		t.Errorf("%s, %q", refused(targets[0]), b.calls)
	}
}

// TestNoCache: without a place for it nothing is converted; what a killed session has left there long ago goes.
func TestNoCache(t *testing.T) {
	b := newBench(t, foreign(t, "tiny_linear", "fp32"), everyTool)
	b.write(filepath.Join(b.cache, "neurolens"), nil, 0o600)
	_, targets := b.session("fp16")
	if got := refused(targets[0]); !strings.HasPrefix(got, "error in build, convert: s.yaml:2: converting model.onnx to fp16: making a folder for it: ") || !strings.HasSuffix(got, "; XDG_CACHE_HOME sets another") {
		t.Error(got)
	}
	valuetest.OK(t, os.Remove(filepath.Join(b.cache, "neurolens")))
	m := valuetest.Must(openModels())
	old, oldErr := m.draft()
	young, youngErr := m.draft()
	valuetest.OK(t, errors.Join(oldErr, youngErr, os.Chtimes(old, time.Time{}, time.Now().Add(-2*forgotten))))
	if _, err := openModels(); err != nil || infoOf(old) != nil || infoOf(young) == nil {
		t.Errorf("%v; the old one is there: %v, the young one: %v", err, infoOf(old), infoOf(young))
	}
}

// external returns an ONNX file with a tensor of four fp32 numbers in each of these files.
func external(locations ...string) []byte {
	field := func(number byte, text string) string { return string([]byte{number<<3 | 2, byte(len(text))}) + text }
	var tensors string
	for _, location := range locations {
		entry := field(1, "location") + field(2, location)
		tensors += field(5, "\x08\x04\x10\x01"+field(13, entry)+"\x70\x01")
	}
	return []byte(field(7, tensors))
}

// TestExternalData: the hash of a model with external data is that of all its files, and it changes with each of them.
func TestExternalData(t *testing.T) {
	model := external("w.bin", "shards/2.bin", "./w.bin")
	b := newBench(t, model, "{}")
	valuetest.OK(t, os.Mkdir("shards", 0o700))
	write := func(first, second string) string {
		b.write("w.bin", []byte(first), 0o600)
		b.write("shards/2.bin", []byte(second), 0o600)
		lines := fmt.Sprintf("%s  -\n%s  shards/2.bin\n%s  w.bin\n", hashOf(model), hashOf([]byte(second)), hashOf([]byte(first)))
		return hashOf([]byte(lines))
	}
	want := write("one", "two")
	targets, all := b.session("fp32")
	if got := all[0]; got.Refused != nil || got.ModelSHA256 != want || got.Facts[factExternal] != "2" || got.Facts[factParameters] != "12" {
		t.Errorf("%s; %s, want %s; %v", refused(got), got.ModelSHA256, want, got.Facts)
	}
	want = write("one", "other") // in the session
	if got := b.target(targets, all[0].Point); !got.Changed || got.ModelSHA256 != want {
		t.Errorf("changed %v, %s, want %s", got.Changed, got.ModelSHA256, want)
	}
	b.write("model.onnx", foreign(t, "tiny_linear", "fp32"), 0o600)
	_, all = b.session("fp32")
	if got := all[0]; got.ModelSHA256 != hashOf(foreign(t, "tiny_linear", "fp32")) || got.Facts[factExternal] != "" {
		t.Errorf("without external data: %s, %v", got.ModelSHA256, got.Facts)
	}
}

// TestExternalDataInPlace: what a runtime cannot read or a model may not name is an error before a launch, and nothing is read that has
// no end. Links are those of the owner.
func TestExternalDataInPlace(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "w.bin")
	for name, c := range map[string]struct {
		location string
		make     func() error
		want     string
	}{
		"missing":   {"w.bin", func() error { return nil }, `its external data "w.bin": no such file or directory`},
		"above":     {"../w.bin", func() error { return nil }, `its external data "../w.bin": is outside the folder of the model`},
		"absolute":  {"/dev/zero", func() error { return nil }, `its external data "/dev/zero": is outside the folder of the model`},
		"pipe":      {"w.bin", func() error { return syscall.Mkfifo("w.bin", 0o600) }, "is not a regular file"},
		"folder":    {"w.bin", func() error { return os.Mkdir("w.bin", 0o700) }, "is not a regular file"},
		"device":    {"w.bin", func() error { return os.Symlink("/dev/zero", "w.bin") }, "is not a regular file"},
		"link":      {"w.bin", func() error { return os.Symlink(outside, "w.bin") }, ""},
		"dots":      {"sub/../w.bin", func() error { return os.WriteFile("w.bin", nil, 0o600) }, ""},
		"odd bytes": {"w\xff\n.bin", func() error { return nil }, `its external data "w\xff\n.bin": no such file or directory`},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, external(c.location), "{}")
			b.write(outside, []byte("numbers"), 0o600)
			valuetest.OK(t, c.make())
			_, all := b.session("fp32")
			if got := refused(all[0]); (got == "") != (c.want == "") || !strings.Contains(got, c.want) || strings.Contains(got, "\n") {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestDescribed: the facts of a model are those of the file that runs, which the worker is told.
func TestDescribed(t *testing.T) {
	b := newBench(t, foreign(t, "tiny_linear", "fp32"), everyTool)
	_, all := b.session("fp32, fp16")
	for _, got := range all {
		facts := maps.Collect(func(yield func(string, string) bool) {
			for key, value := range got.Facts {
				if strings.HasPrefix(key, "model.") && !yield(key, value) {
					return
				}
			}
		})
		precision := got.Point.Precision
		if want := map[string]string{"model.opset": "13", "model.parameters": "4160", "model.weights." + precision: "4160"}; !maps.Equal(facts, want) {
			t.Errorf("%s: %v, want %v", precision, facts, want)
		}
		if settings := string(got.SpecOf(sweep.Launch{Point: got.Point}, "").Program.Settings); !strings.Contains(settings, `"described":{"precision":"`+precision+`"}`) {
			t.Errorf("%s: the worker is told %s", precision, settings)
		}
	}
	text := "backend: onnxrt\nmodel: builtin:tiny_linear\npython: ./python.sh\ngrid: {precision: [int8]}\n"
	s := valuetest.Must(sweep.Read("s.yaml", strings.NewReader(text), sweep.Overrides{}))
	got := b.target(New(Options{Sweep: s, Sides: []Side{{}}}), &s.Points[0])
	if got.Facts["model.weights.int8"] != "4096" || got.Facts["model.parameters"] != "4160" {
		t.Errorf("%s; %v", refused(got), got.Facts)
	}
}

// TestInputFiles: the files of inputs and the libraries of a session are facts, and one that changes is seen like a changed
// model; one that is not there refuses the point.
func TestInputFiles(t *testing.T) {
	model := valuetest.Must(onnx.Generate("add", "fp32"))
	b := newBench(t, model, "{}")
	b.write("a.npy", []byte("one"), 0o600)
	b.write("ops.so", []byte("lib"), 0o600)
	s := valuetest.Must(sweep.Read("s.yaml", strings.NewReader(`
backend: onnxrt
model: model.onnx
python: ./python.sh
inputs: {a: "{f}.npy", b: 2}
session: {custom_ops_library: ops.so}
grid: {f: [a, c]}
`), sweep.Overrides{}))
	targets := New(Options{Sweep: s, Sides: []Side{{}}})
	hashes := func() map[string]string {
		facts := maps.Clone(b.target(targets, &s.Points[0]).Facts)
		maps.DeleteFunc(facts, func(fact, _ string) bool { return !IsModelFile(fact) })
		return facts
	}
	want := map[string]string{"inputs.sha256.a.npy": hashOf([]byte("one")), "session.sha256.ops.so": hashOf([]byte("lib"))}
	valuetest.DeepEqual(t, hashes(), want, "facts")
	if got, want := refused(b.target(targets, &s.Points[1])), "error in setup, model: s.yaml:3: inputs.a: c.npy: no such file or directory"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, file := range []string{"a.npy", "ops.so"} {
		targets = New(Options{Sweep: s, Sides: []Side{{}}})
		if before := b.target(targets, &s.Points[0]); before.Changed {
			t.Errorf("%s has not changed yet", file)
		}
		b.write(file, []byte("another"), 0o600)
		after := b.target(targets, &s.Points[0])
		if !after.Changed || !slices.Contains(slices.Collect(maps.Values(after.Facts)), hashOf([]byte("another"))) {
			t.Errorf("%s has changed: %v, facts %v", file, after.Changed, after.Facts)
		}
	}
}
