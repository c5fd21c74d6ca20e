package discover

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/neurolens/neurolens/schema/valuetest"
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
		valuetest.DeepEqual(t, got, want, text)
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

// TestModules: a file without a benchmark that another file of the search imports, in whatever way, is a module and no benchmark. So is
// __init__.py. One that nobody imports is a benchmark with a problem.
func TestModules(t *testing.T) {
	const kernel = "\ndef run_benchmark(): pass\n"
	for text, file := range map[string]string{
		"from common import f":              "kernels/common.py",
		"import common":                     "kernels/common.py",
		"import common as c, os":            "kernels/lib/common.py",
		"from .common import f":             "kernels/common.py",
		"from . import other, common as c":  "kernels/common.py",
		"from .lib.common import f":         "kernels/lib/common.py",
		"from kernels.common import (f, g)": "kernels/common.py",
		"from kernels import common":        "kernels/common.py",
		"def f():\n    import lib.common":   "kernels/lib/common.py",
		"from common import f\nx = (":       "kernels/common.py", // of a broken file
	} {
		got := found(t, "kernels", "kernels", "kernels/a.py="+text+kernel, file+"=def f(): pass\n")
		if want := "left " + file + ": it has no common_kernel"; !strings.Contains(got, want) || !strings.HasSuffix(got, ": a module that kernels/a.py imports") {
			t.Errorf("%q: got\n%s", text, got)
		}
	}
	for text, file := range map[string]string{
		"from commons import f":    "kernels/common.py",
		"from .common import f":    "kernels/lib/common.py",
		"from lib.common import":   "kernels/common.py",
		"from ..common import f":   "kernels/lib/common.py",
		"# from common import f":   "kernels/common.py",
		"x = 'import common'":      "kernels/common.py",
		"from common.sub import f": "kernels/common.py",
	} {
		got := found(t, "kernels", "kernels", "kernels/a.py="+text+kernel, file+"=def f(): pass\n")
		if !strings.Contains(got, "! it has no common_kernel") {
			t.Errorf("%q: got\n%s", text, got)
		}
	}
	// A kernel that another one imports has a benchmark, and files of pairs are named one by one.
	want(t, found(t, "kernels", "kernels", "kernels/a.py=from b import x"+kernel, "kernels/b.py=x = 1"+kernel), `
kernels "a" "" "cpu" kernels/a.py:run_benchmark b
kernels "b" "" "cpu" kernels/b.py:run_benchmark
`)
	want(t, found(t, "pairs", ".", "ch1/baseline_a.py=x = 1\n", "ch1/optimized_a.py=from baseline_a import x"+kernel), `
ch1 "ch1/a" "baseline" "" ch1/baseline_a.py ! it has no get_benchmark, no run_benchmark, and no class with benchmark_fn
ch1 "ch1/a" "optimized" "" ch1/optimized_a.py:run_benchmark baseline_a
`)
	// A rule of one's own, and imports from another folder of the search.
	own := Rule{Name: "own", Files: []string{"**/*.py"}, Benchmark: `([^/]+)\.py$`}
	f := valuetest.Must(All(tree("a/x.py=from b.tools import y"+kernel, "b/tools.py=y = 1\n", "b/__init__.py=", "b/lost.py="), []Rule{own}, []string{"a", "b"}))
	const none = "it has no run_benchmark, no get_benchmark, no "
	want(t, text(f), `
b "lost" "" "" b/lost.py ! `+none+`lost_kernel, no benchmark, no solve, and no class with benchmark_fn
a "x" "" "" a/x.py:run_benchmark b
left b/__init__.py: `+none+`__init___kernel, no benchmark, no solve, and no class with benchmark_fn
left b/tools.py: `+none+`tools_kernel, no benchmark, no solve, and no class with benchmark_fn: a module that a/x.py imports
`)
}

// TestNamedObject: function_name of the settings of a folder is what runs of its files, in place of the usual names.
func TestNamedObject(t *testing.T) {
	want(t, found(t, "kernels", "kernels",
		"kernels/a/ka.py=def my_entry(): pass\ndef run_benchmark(): pass\n", "kernels/a/bench.yaml=function_name: my_entry\n",
		"kernels/b/kb.py=def run_benchmark(): pass\n", "kernels/b/bench.yaml=function_name: my_entri\n",
		"kernels/c/kc.py=from base import *\n", "kernels/c/bench.yaml=function_name: my_entry\n",
		"kernels/d/kd.py=def run_benchmark(): pass\n", "kernels/d/bench.yaml=function_name: [\n",
	), `
a "ka" "" "cpu" kernels/a/ka.py:my_entry kernels/a/bench.yaml
b "kb" "" "cpu" kernels/b/kb.py:my_entri kernels/b/bench.yaml ! it has no my_entri, which bench.yaml names
c "kc" "" "cpu" kernels/c/kc.py:my_entry base kernels/c/bench.yaml
d "kd" "" "cpu" kernels/d/kd.py:run_benchmark kernels/d/bench.yaml
`)
}
