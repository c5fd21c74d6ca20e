package discover

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestKernels: every Python file below the folder that is no __x and no test_x, with the settings of its own folder; what cannot run has
// a problem. Of equal names each has its folder.
func TestKernels(t *testing.T) {
	want(t, found(t, "kernels", "src/kernels",
		"src/kernels/softmax.py=import numpy as np\ndef run_benchmark(size=1): pass\n",
		"src/kernels/cfd/poisson.py=import cupy\nfrom jax import numpy\ndef solve(): pass\n",
		"src/kernels/cfd/bench.yaml=problem_size: {n: 1}\n",
		"src/kernels/cfd/deep/scan.py=def scan_kernel(): pass\ndef run_benchmark(): pass\n",
		"src/kernels/net.py=try:\n    import torch.nn\nexcept ImportError: torch = None\nclass Net:\n    def benchmark_fn(self): pass\n",
		"src/kernels/lazy.py=def benchmark():\n    from jax import numpy\n",
		"src/kernels/__init__.py=def run_benchmark(): pass\n",
		"src/kernels/__x.py=def run_benchmark(): pass\n",
		"src/kernels/test_x.py=def run_benchmark(): pass\n",
		"src/kernels/helpers.py=def help(): pass\n",
		"src/kernels/broken.py=import torch\ndef run_benchmark(:\n    pass\n",
		"src/kernels/broken_text.py=x = 'unclosed\ndef run_benchmark(): pass\n",
		"src/kernels/old.py=def run_benchmark():\n    print 'no'\n",
		"src/kernels/other/softmax.py=def run_benchmark(): pass\n",
		"src/kernels/none/bench.yaml=a: 1\n",
		"src/kernels/other/sum.py=def solve(): pass\n",
		"src/kernels/add.cu=",
		"src/kernels/env/pyvenv.cfg=", "src/kernels/env/lib/kernel.py=def run_benchmark(): pass\n", "src/kernels/__pycache__/x.py=", "src/kernels/node_modules/x.py=",
		"other/kernel.py=def run_benchmark(): pass\n",
	), `
kernels "broken" "" "pytorch" src/kernels/broken.py torch ! not valid Python: line 2: a bracket is not closed: want a )
kernels "broken_text" "" "cpu" src/kernels/broken_text.py ! not valid Python: line 1: a string is not closed: want a ' before the end of the line
kernels "helpers" "" "cpu" src/kernels/helpers.py ! it has no helpers_kernel, no run_benchmark, no benchmark, no solve, and no class with benchmark_fn
kernels "lazy" "" "jax" src/kernels/lazy.py:benchmark jax
kernels "net" "" "pytorch" src/kernels/net.py:Net torch
kernels "old" "" "cpu" src/kernels/old.py ! not valid Python: line 2: two values without an operator between them: print a text
cfd "poisson" "" "cuda" src/kernels/cfd/poisson.py:solve cupy jax src/kernels/cfd/bench.yaml
deep "scan" "" "cpu" src/kernels/cfd/deep/scan.py:scan_kernel
other "src/kernels/other/softmax" "" "cpu" src/kernels/other/softmax.py:run_benchmark
kernels "src/kernels/softmax" "" "cpu" src/kernels/softmax.py:run_benchmark numpy
other "sum" "" "cpu" src/kernels/other/sum.py:solve
left src/kernels/__init__.py: the rule leaves out **/__*
left src/kernels/__pycache__/: folders with this name are not searched
left src/kernels/__x.py: the rule leaves out **/__*
left src/kernels/add.cu: its path does not match **/*.py
left src/kernels/env/: a virtual environment for Python
left src/kernels/node_modules/: folders with this name are not searched
left src/kernels/none/bench.yaml: its folder has no benchmark of the rule
left src/kernels/test_x.py: the rule leaves out **/test_*
`)
}

// TestEqualStems: a pair in Python and one in CUDA have one name, and their backends tell them apart, as those of imported
// results do. Which backend a pair in Python has is said by all of its files.
func TestEqualStems(t *testing.T) {
	const plain = "=def get_benchmark(): pass\n"
	want(t, found(t, "pairs", ".",
		"ch7/baseline_tma.py"+plain, "ch7/optimized_tma_copy.py=import torch\n"+strings.TrimPrefix(plain, "="),
		"ch7/baseline_tma.cu", "ch7/optimized_tma_copy.cu",
		"ch7/baseline_sum.py"+plain, "ch7/optimized_sum.py"+plain,
	), `
ch7 "ch7/sum" "baseline" "" ch7/baseline_sum.py:get_benchmark
ch7 "ch7/sum" "optimized" "" ch7/optimized_sum.py:get_benchmark
ch7 "ch7/tma" "baseline" "cuda" ch7/baseline_tma.cu
ch7 "ch7/tma" "copy" "cuda" ch7/optimized_tma_copy.cu
ch7 "ch7/tma" "baseline" "torch" ch7/baseline_tma.py:get_benchmark
ch7 "ch7/tma" "copy" "torch" ch7/optimized_tma_copy.py:get_benchmark torch
`)
}

// TestBrokenPairs: a pair is not lost with its baseline, nor with its only other variant.
func TestBrokenPairs(t *testing.T) {
	const good, bad = "=def get_benchmark(): pass\n", "=def get_benchmark(\n"
	want(t, found(t, "pairs", ".",
		"ch1/baseline_a.py"+bad, "ch1/optimized_a.py"+good,
		"ch1/baseline_b.py"+good, "ch1/optimized_b.py"+bad,
		"ch1/baseline_c.py"+good, "ch1/optimized_c_x.py"+bad, "ch1/optimized_c_y.py"+good,
	), `
ch1 "ch1/a" "baseline" "" ch1/baseline_a.py ! not valid Python: line 1: a bracket is not closed: want a )
ch1 "ch1/a" "optimized" "" ch1/optimized_a.py:get_benchmark
ch1 "ch1/b" "baseline" "" ch1/baseline_b.py:get_benchmark
ch1 "ch1/b" "optimized" "" ch1/optimized_b.py ! not valid Python: line 1: a bracket is not closed: want a )
ch1 "ch1/c" "baseline" "" ch1/baseline_c.py:get_benchmark
ch1 "ch1/c" "x" "" ch1/optimized_c_x.py ! not valid Python: line 1: a bracket is not closed: want a )
ch1 "ch1/c" "y" "" ch1/optimized_c_y.py:get_benchmark
`)
}

// TestLinks: a link to a file is that file, a loop of links ends, and what cannot be read has a problem.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		path := filepath.Join(dir, name)
		valuetest.OK(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), mode)))
	}
	link := func(to, name string) {
		valuetest.OK(t, os.Symlink(to, filepath.Join(dir, name)))
	}
	write("kernels/sum.py", "def solve(): pass\n", 0o644)
	write("elsewhere/add.py", "def solve(): pass\n", 0o644)
	link("..", "kernels/loop")
	link("itself.py", "kernels/itself.py")
	link("gone.py", "kernels/nothing.py")
	link("../elsewhere/add.py", "kernels/add.py")
	tree := valuetest.Must(Tree(dir))
	rule, _ := RuleNamed("kernels")
	f := valuetest.Must(find(tree, rule, "kernels"))
	want(t, text(f), `
kernels "add" "" "cpu" kernels/add.py:solve
kernels "itself" "" "cpu" kernels/itself.py ! cannot be read: too many levels of symbolic links
kernels "nothing" "" "cpu" kernels/nothing.py ! cannot be read: no such file or directory
kernels "sum" "" "cpu" kernels/sum.py:solve
left kernels/loop/: a symbolic link to a folder, which is not followed
`)
}

// denied is a file system that refuses to open files and folders of some names.
type denied struct {
	fstest.MapFS
	names  []string
	mu     sync.Mutex
	opened []string
}

func (d *denied) Open(name string) (fs.File, error) {
	d.mu.Lock()
	d.opened = append(d.opened, name)
	d.mu.Unlock()
	for _, part := range d.names {
		if strings.Contains(name, part) {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
		}
	}
	return d.MapFS.Open(name)
}

func (d *denied) ReadDir(name string) ([]fs.DirEntry, error) {
	if file, err := d.Open(name); err != nil {
		return nil, err
	} else if err := file.Close(); err != nil {
		return nil, err
	}
	return d.MapFS.ReadDir(name)
}

// TestDenied: a file that must not be read is a benchmark with a problem, and such a folder is left; of others nothing is lost.
func TestDenied(t *testing.T) {
	d := &denied{MapFS: tree("kernels/a.py=def solve(): pass\n", "kernels/secret.py=def solve(): pass\n", "kernels/hidden/b.py=def solve(): pass\n"), names: []string{"secret", "hidden"}}
	rule, _ := RuleNamed("kernels")
	f := valuetest.Must(find(d, rule, "kernels"))
	want(t, text(f), `
kernels "a" "" "cpu" kernels/a.py:solve
kernels "secret" "" "cpu" kernels/secret.py ! cannot be read: permission denied
near kernels/hidden/: cannot be read: permission denied
`)
	if _, err := find(&denied{MapFS: d.MapFS, names: []string{"kernels"}}, rule, "kernels"); err == nil {
		t.Error("a folder that cannot be read is no error")
	}
}

// TestOpensCandidatesAlone: of many files those alone are opened that the rule takes by their names.
func TestOpensCandidatesAlone(t *testing.T) {
	files := []string{"ch1/baseline_a.py=def get_benchmark(): pass\n", "ch1/optimized_a.py=def get_benchmark(): pass\n", "ch1/optimized_alone.py="}
	for _, name := range []string{"x.py", "ch1/util.py", "ch1/deep/baseline_a.py", "src/main.cpp", "data.bin"} {
		files = append(files, name+"=text")
	}
	d := &denied{MapFS: tree(files...)}
	rule, _ := RuleNamed("pairs")
	valuetest.Must(find(d, rule, "."))
	slices.Sort(d.opened)
	var opened []string
	for _, name := range d.opened {
		if strings.Contains(name, ".") && name != "." {
			opened = append(opened, name)
		}
	}
	valuetest.DeepEqual(t, strings.Join(opened, " "), "ch1/baseline_a.py ch1/optimized_a.py", "opened")
}
