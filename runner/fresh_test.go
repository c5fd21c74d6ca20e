package runner

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestFileChangedInSession: every run has the hash of the file that it began with, and says when that is not what the
// session began with.
func TestFileChangedInSession(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "b.sh")
	write := func(path, text string) string {
		t.Helper()
		// replaced, as editors do: a file that is being run cannot be written
		valuetest.OK(t, os.WriteFile(path+".new", []byte(text), 0o700))
		valuetest.OK(t, os.Rename(path+".new", path))
		return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
	}
	first := write(path, "#!/bin/sh\ntrue\n")
	other := filepath.Join(dir, "other.sh")
	write(other, "#!/bin/sh\ntrue\n")
	s := parse(t, "command: [\""+dir+"/{f}.sh\"]\ngrid: {f: [b, other]}\nrepeats: 4\nwarmup: 0\niterations: 1\n")
	var second string
	var runs []schema.Run
	_, err := Run(t.Context(), s, Options{Locks: t.TempDir(), Observe: func(e Event) {
		switch l := e.Launch; {
		case e.Progress == nil:
		case l.Point.Params["f"] == "b" && l.Repeat == 1:
			second = write(path, "#!/bin/sh\ntrue 2\n")
		case l.Point.Params["f"] == "other" && l.Repeat == 2:
			write(other, "#!/bin/sh\ntrue 3\n")
		}
	}}, func(r schema.Run) error { runs = append(runs, r); return nil })
	if err != nil || len(runs) != 8 {
		t.Fatalf("%v, %d runs", err, len(runs))
	}
	for _, r := range runs {
		f, repeat := r.Params["f"], *r.RepeatIndex
		changed := f == "b" && repeat >= 1 || repeat >= 2
		hash := first
		if f == "b" && repeat >= 2 {
			hash = second
		}
		got := r.Env.Facts["command.sha256"]
		if r.Status != schema.StatusOK || (got == hash) != (f == "b" || repeat < 3) || slices.Contains(r.Warnings, WarnFileChanged) != changed {
			t.Errorf("%s, repeat %d: %s (%s), hash %s; warnings %v, want one of the file: %v", f, repeat, r.Status, r.Error, got, r.Warnings, changed)
		}
	}
}

// TestPlaceInTheSweep: what is wrong with the model, the file, or what is asked of them names the line of the sweep, and
// what a benchmark raises names its own.
func TestPlaceInTheSweep(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"bad.onnx": "this is no model\n",
		"b.py":     "def run_benchmark(size): pass\ndef other(): pass\n",
		"raises.py": "class B:\n    def __init__(self, size): pass\n    def setup(self): raise ValueError('no')\n" +
			"    def benchmark_fn(self): pass\n",
		"syntax.py": "def f(:\n",
	} {
		valuetest.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	for _, c := range []struct{ module, text, want string }{
		{"onnxruntime", "suite: x\nbackend: onnxrt\nmodel: bad.onnx\n", "s.yaml:3: model bad.onnx: Protobuf"},
		{"onnxruntime", "suite: x\nbackend: onnxrt\n\nmodel: builtin:add\ngrid: {heads: 3}\n", "s.yaml:4: onnxrt has no parameter heads"},
		{"onnxruntime", "backend: onnxrt\nmodel: builtin:add\ngrid: {precision: fp8}\n", "s.yaml:2: "},
		{"json", "suite: x\nfile: b.py:Nope\ngrid: {size: 1}\n", "s.yaml:2: b.py has no Nope"},
		{"json", "file: b.py\ngrid: {dim: 1}\n", "s.yaml:1: run_benchmark takes no parameter dim"},
		{"json", "file: raises.py\ngrid: {size: 1}\n", "ValueError: no (raises.py:3 in setup)"},
		{"json", "file: syntax.py\ngrid: {size: 1}\n", "s.yaml:1: syntax.py:1: "},
	} {
		path := valuetest.Python(t, c.module, c.module)
		s := valuetest.Must(sweep.Read("s.yaml", strings.NewReader(c.text+"cwd: "+dir+"\nrepeats: 1\n"), sweep.Overrides{Given: map[string]string{"python": path}}))
		_, err := Run(t.Context(), s, Options{Locks: t.TempDir()}, func(r schema.Run) error {
			if r.Status == schema.StatusOK || !strings.HasPrefix(r.Error, c.want) {
				t.Errorf("%s: %q, want it to begin with %q", r.Status, r.Error, c.want)
			}
			return nil
		})
		if _, before := errors.AsType[*InputError](err); before && strings.HasPrefix(err.Error(), c.want) {
			continue // nothing was launched
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
