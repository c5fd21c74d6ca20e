package discover

import (
	"strings"
	"testing"
	"testing/fstest"
)

// TestParametersOf: the parameters of the measured function are found where the text of the file makes them certain, and not where only
// Python can tell.
func TestParametersOf(t *testing.T) {
	for text, want := range map[string]string{
		"def run_benchmark(problem_size=1024, iterations=1): pass\n":                                      "run_benchmark: problem_size iterations",
		"def run_benchmark(): pass\n":                                                                     "run_benchmark: ",
		"def run_benchmark(a, /, b: int = f(c, d=1), *rest, e=lambda x, y: 1, g={'h': 2}): pass\n":        "run_benchmark: b e g",
		"def run_benchmark(a, *, b): pass\n":                                                              "run_benchmark: a b",
		"def run_benchmark[T](a: T) -> T: pass\n":                                                         "run_benchmark: a",
		"async def run_benchmark(a): pass\n":                                                              "run_benchmark: a",
		"if x:\n    def run_benchmark(a): pass\n":                                                         "run_benchmark: a",
		"class C:\n    def run_benchmark(self, z): pass\ndef run_benchmark(a): pass\n":                    "run_benchmark: a",
		"def k_kernel(a): pass\ndef bench_x(b): pass\n":                                                   "k_kernel: a",
		"def bench_x(b): pass\ndef helper(c): pass\n":                                                     "bench_x: b",
		"@property\ndef other(): pass\ndef run_benchmark(a): pass\n":                                      "run_benchmark: a",
		"def run_benchmark(a, **more): pass\n":                                                            "",
		"def run_benchmark(a, ** more): pass\n":                                                           "",
		"@jit\ndef run_benchmark(a): pass\n":                                                              "",
		"@jit(\n  x)\n\n# c\n@other\nasync def run_benchmark(a): pass\n":                                  "",
		"def run_benchmark(a): pass\nrun_benchmark = jit(run_benchmark)\n":                                "",
		"if x:\n    def run_benchmark(a): pass\nelse:\n    def run_benchmark(b): pass\n":                  "",
		"from other import run_benchmark\n":                                                               "",
		"from other import *\ndef run_benchmark(a): pass\n":                                               "",
		"run_benchmark = make()\n":                                                                        "",
		"class B:\n    def benchmark_fn(self): pass\ndef bench_x(a): pass\n":                              "B: ",
		"class B(Base): pass\ndef bench_x(a): pass\n":                                                     "",
		"class B:\n    def benchmark_fn(self): pass\n    def __init__(self, a, *, b=1): pass\n":           "B: a b",
		"class B(Base):\n    def benchmark_fn(self): pass\n    def __init__(self): super().__init__()\n":  "B: ",
		"class A(ABC):\n    def __init__(self, a): pass\nclass B(A):\n    def benchmark_fn(self): pass\n": "B: a",
		"class B(Base):\n    def benchmark_fn(self): pass\n":                                              "",
		"class B(A, C):\n    def benchmark_fn(self): pass\nclass A: pass\nclass C: pass\n":                "",
		"@dataclass\nclass B:\n    n: int = 1\n    def benchmark_fn(self): pass\n":                        "",
		"class B(metaclass=M):\n    def benchmark_fn(self): pass\n":                                       "",
		"class B:\n    def __new__(cls, a): pass\n    def benchmark_fn(self): pass\n":                     "",
		"class B:\n    def __init__(self, **more): pass\n    def benchmark_fn(self): pass\n":              "",
		"class B:\n    __init__ = other\n    def benchmark_fn(self): pass\n":                              "",
		"class B:\n    if x:\n        def __init__(self, a): pass\n    else:\n        def __init__(self, b): pass\n    def benchmark_fn(self): pass\n": "",
		"class B:\n    def benchmark_fn(self): pass\nclass B(B): pass\n":                                                                               "",
		"class B(B):\n    def benchmark_fn(self): pass\n":                                                                                              "",
		"class A(B): pass\nclass B(A):\n    def benchmark_fn(self): pass\n":                                                                            "",

		"def get_benchmark(a): pass\n":                 "get_benchmark: a",
		"def bench_x(a): pass\ndef bench_y(b): pass\n": "",
		"def f(:\n": "",
		"x = 1\n":   "",
	} {
		got := ""
		if p := ParametersOf(fstest.MapFS{"d/k.py": {Data: []byte(text)}}, "d/k.py", ""); p != nil {
			got = p.Object + ": " + strings.Join(p.Names, " ")
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	tree := fstest.MapFS{"k.py": {Data: []byte("def f(a): pass\nclass C(D): pass\n")}}
	if p := ParametersOf(tree, "k.py", "f"); p == nil || p.Names[0] != "a" {
		t.Errorf("f by its name: %v", p)
	}
	for _, missing := range [][2]string{{"k.py", "C"}, {"k.py", "g"}, {"none.py", "f"}, {".", "f"}} {
		if p := ParametersOf(tree, missing[0], missing[1]); p != nil {
			t.Errorf("%v: %v", missing, p)
		}
	}
}
