package discover

import (
	"slices"
	"strings"
	"testing"
)

// TestObjects: what bench measures in a file, whose text alone is read.
func TestObjects(t *testing.T) {
	const two = "import missing\ndef bench_b(n=1): pass\nasync def helper(): pass\n\nif True:\n    def bench_a(): pass\ndef bench_b(): pass\n"
	for name, c := range map[string]struct {
		source string
		want   []string
		err    string
	}{
		"functions":       {two, []string{"bench_b", "bench_a"}, ""},
		"and a class":     {two + "class One:\n    def benchmark_fn(self): pass\n    def bench_not(self): pass\n", nil, ""},
		"classes":         {"class A:\n    def benchmark_fn(self): pass\nclass B(A): pass\n", []string{"A", "B"}, ""},
		"the usual one":   {two + "def run_benchmark(): pass\n", nil, ""},
		"imported":        {"from a import *\n", nil, ""},
		"broken":          {"def f(:\n", nil, ""},
		"nested":          {"def f():\n    def bench_x(): pass\n", nil, "f.py has no bench_* function and no class with benchmark_fn; it has f: choose one with f.py:f"},
		"others":          {"def softmax(): pass\ndef _own(): pass\ndef relu(): pass\n", nil, "it has softmax, relu: choose one with f.py:softmax"},
		"many others":     {strings.Repeat("def a(): pass\n", 3) + "def b(): pass\ndef c(): pass\ndef d(): pass\ndef e(): pass\ndef g(): pass\ndef h(): pass\ndef i(): pass\ndef j(): pass\n", nil, "a, b, c, d, e, g, h, i and 1 more: choose one with f.py:a"},
		"nothing":         {"x = 1\n", nil, "it has no function either"},
		"only in a class": {"class A:\n    def bench_x(self): pass\n", nil, "it has no function either"},
	} {
		got, err := Objects(c.source, "f")
		switch {
		case c.err == "" && (err != nil || !slices.Equal(got, c.want)):
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%s: %q, %v; want an error with %q", name, got, err, c.err)
		}
	}
}
