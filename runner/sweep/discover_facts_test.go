package sweep

import (
	"maps"
	"testing"
	"testing/fstest"
)

// TestFoundFacts: what discover says of a file is known of each of its points.
func TestFoundFacts(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	s := parse(t, "discover: {rule: kernels}\n", Overrides{Files: fstest.MapFS{
		"kernels/a/jx.py":      file("import jax\ndef run_benchmark(size=1): pass\n"),
		"kernels/a/bench.yaml": file("problem_size: {size: 2048}\n"),
		"kernels/plain.py":     file("def run_benchmark(): pass\n"),
	}})
	want := map[string]map[string]string{
		"kernels/a/jx.py":  {"discover.backend": "jax", "discover.imports": `["jax"]`, "discover.config": `{"problem_size":{"size":2048}}`},
		"kernels/plain.py": {"discover.backend": "cpu"},
	}
	if !maps.EqualFunc(s.Found, want, maps.Equal) {
		t.Errorf("the facts are %v, want %v", s.Found, want)
	}
	for _, p := range s.Points {
		if s.Found[p.File] == nil {
			t.Errorf("there are none of %s", p.File)
		}
	}
}
