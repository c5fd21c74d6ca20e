package discover

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// tree returns a file system of these files. A file is PATH or PATH=TEXT.
func tree(files ...string) fstest.MapFS {
	t := fstest.MapFS{}
	for _, file := range files {
		name, text, _ := strings.Cut(file, "=")
		t[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return t
}

// text returns what was found, a line each.
func text(f *Found) string {
	var lines []string
	for _, b := range f.Benchmarks {
		for _, v := range b.Variants {
			file := v.File
			if v.Object != "" {
				file += ":" + v.Object
			}
			line := fmt.Sprintf("%s %q %q %q %s %s %s", b.Suite, b.Name, v.Name, v.Backend, file, strings.Join(v.Imports, " "), b.Config)
			if v.Problem != "" {
				line += " ! " + v.Problem
			}
			lines = append(lines, strings.Join(strings.Fields(line), " "))
		}
	}
	for _, l := range f.Left {
		word := "left "
		if l.Near {
			word = "near "
		}
		lines = append(lines, word+l.File+": "+l.Reason)
	}
	return strings.Join(lines, "\n")
}

func found(t *testing.T, rule, in string, files ...string) string {
	t.Helper()
	r, known := RuleNamed(rule)
	if !known {
		t.Fatalf("there is no rule %s", rule)
	}
	return text(valuetest.Must(find(tree(files...), r, in)))
}

func want(t *testing.T, got, want string) {
	t.Helper()
	if want = strings.TrimSpace(want); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestPairs: the longest name of a baseline owns a file, a file has one owner, and what has no partner is left.
func TestPairs(t *testing.T) {
	want(t, found(t, "pairs", ".",
		"ch2/baseline_moe.cu", "ch2/optimized_moe_dense.cu",
		"ch10/baseline_add.cu", "ch10/optimized_add.cu",
		"ch2/baseline_moe_dense.cu", "ch2/optimized_moe_dense_fast.cu", "ch2/optimized_moe_sparse.cu", "ch2/optimized_moe.cu",
		"ch2/optimized_moes.cu", "ch2/baseline_alone.cu", "ch2/optimized_alone.py",
		"chapter/baseline_x.cu", "ch2/deep/baseline_x.cu", "README.md", ".git/baseline_x.cu",
	), `
ch2 "ch2/moe" "baseline" "cuda" ch2/baseline_moe.cu
ch2 "ch2/moe" "optimized" "cuda" ch2/optimized_moe.cu
ch2 "ch2/moe" "sparse" "cuda" ch2/optimized_moe_sparse.cu
ch2 "ch2/moe_dense" "baseline" "cuda" ch2/baseline_moe_dense.cu
ch2 "ch2/moe_dense" "optimized" "cuda" ch2/optimized_moe_dense.cu
ch2 "ch2/moe_dense" "fast" "cuda" ch2/optimized_moe_dense_fast.cu
ch10 "ch10/add" "baseline" "cuda" ch10/baseline_add.cu
ch10 "ch10/add" "optimized" "cuda" ch10/optimized_add.cu
left .git/: folders with this name are not searched
left README.md: its path does not match ch*/baseline_*.py ch*/baseline_*.cu ch*/optimized_*.py ch*/optimized_*.cu
near ch2/baseline_alone.cu: there is no other variant of ch2/alone to compare it with
left ch2/deep/baseline_x.cu: its path does not match ch*/baseline_*.py ch*/baseline_*.cu ch*/optimized_*.py ch*/optimized_*.cu
near ch2/optimized_alone.py: no .py file of the variant baseline is named ch2/alone, or has the beginning of that name before a _
near ch2/optimized_moes.cu: no .cu file of the variant baseline is named ch2/moes, or has the beginning of that name before a _
near chapter/baseline_x.cu: the expression for names does not match it: ^(ch[0-9]+)/(?:baseline|optimized)_(.+)\.(?:py|cu)$
`)
}

// TestTechniquesCalledAsVariants: such a technique is called after its file, so that no two variants have one name.
func TestTechniquesCalledAsVariants(t *testing.T) {
	want(t, found(t, "pairs", "code", "code/ch1/baseline_x.cu", "code/ch1/optimized_x.cu", "code/ch1/optimized_x_baseline.cu", "code/ch1/optimized_x_optimized.cu"), `
ch1 "ch1/x" "baseline" "cuda" code/ch1/baseline_x.cu
ch1 "ch1/x" "optimized" "cuda" code/ch1/optimized_x.cu
ch1 "ch1/x" "optimized_x_baseline" "cuda" code/ch1/optimized_x_baseline.cu
ch1 "ch1/x" "optimized_x_optimized" "cuda" code/ch1/optimized_x_optimized.cu
`)
}

// find searches one folder by one rule.
func find(tree fs.FS, rule Rule, in string) (*Found, error) {
	s, err := open(tree, rule, in)
	if err != nil {
		return nil, err
	}
	modules := imports{}
	for file, what := range s.looked {
		modules.add(file, what.modules)
	}
	return s.finish(modules), nil
}

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
		"others":          {"def softmax(): pass\ndef _own(): pass\ndef relu(): pass\n", nil, "it has softmax, relu: choose one with f.py:softmax; f.py:softmax,relu measures several"},
		"many others":     {strings.Repeat("def a(): pass\n", 3) + "def b(): pass\ndef c(): pass\ndef d(): pass\ndef e(): pass\ndef g(): pass\ndef h(): pass\ndef i(): pass\ndef j(): pass\n", nil, "a, b, c, d, e, g, h, i and 1 more: choose one with f.py:a; f.py:a,b measures several"},
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
