package prepare

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/runner/onnx"
	"github.com/neurolens/neurolens/runner/sweep"
)

// TestInputFiles: the files of inputs and the libraries of a session are facts, and one that changes is seen like a changed
// model; one that is not there refuses the point.
func TestInputFiles(t *testing.T) {
	model, err := onnx.Generate("add", "fp32")
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, model, "{}")
	b.write("a.npy", []byte("one"), 0o600)
	b.write("ops.so", []byte("lib"), 0o600)
	s, err := sweep.Read("s.yaml", strings.NewReader(`
backend: onnxrt
model: model.onnx
python: ./python.sh
inputs: {a: "{f}.npy", b: 2}
session: {custom_ops_library: ops.so}
grid: {f: [a, c]}
`), sweep.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	targets := New(Options{Sweep: s, Sides: []Side{{}}})
	hashes := func() map[string]string {
		facts := maps.Clone(b.target(targets, &s.Points[0]).Facts)
		maps.DeleteFunc(facts, func(fact, _ string) bool { return !IsModelFile(fact) })
		return facts
	}
	want := map[string]string{"inputs.sha256.a.npy": hashOf([]byte("one")), "session.sha256.ops.so": hashOf([]byte("lib"))}
	if got := hashes(); !maps.Equal(got, want) {
		t.Errorf("facts %v, want %v", got, want)
	}
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
