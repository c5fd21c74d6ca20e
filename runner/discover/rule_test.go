package discover

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestOwnRule: a rule of a user is data: globs, an expression for names, one for variants.
func TestOwnRule(t *testing.T) {
	rule := Rule{
		Files:     []string{"**/bench_*.py", "shell/[ab]_?.sh"},
		Except:    []string{"old/**"},
		Benchmark: `bench_([a-z]+)|shell/._(.)\.sh$`,
		Variant:   `_(fast|slow)?\.py$|shell/(.)_`,
	}
	const text1 = "=def run_benchmark(): pass\n"
	f := valuetest.Must(find(tree(
		"perf/bench_sort_fast.py"+text1, "perf/bench_sort_slow.py"+text1, "perf/deep/bench_add_.py=import torch\ndef benchmark(): pass\n",
		"shell/a_x.sh", "shell/b_x.sh", "shell/c_x.sh", "shell/a_xy.sh", "old/2019/bench_sort_fast.py"+text1, "bench_9_fast.py"+text1, "bench_a.py"+text1,
		"one/bench_twice_fast.py"+text1, "two/bench_twice_fast.py"+text1,
	), rule, "./"))
	want(t, text(f), `
deep "add" "" "torch" perf/deep/bench_add_.py:benchmark torch
one "one/twice" "fast" "" one/bench_twice_fast.py:run_benchmark
perf "sort" "fast" "" perf/bench_sort_fast.py:run_benchmark
perf "sort" "slow" "" perf/bench_sort_slow.py:run_benchmark
two "two/twice" "fast" "" two/bench_twice_fast.py:run_benchmark
shell "x" "a" "" shell/a_x.sh
shell "x" "b" "" shell/b_x.sh
near bench_9_fast.py: the expression for names does not match it: bench_([a-z]+)|shell/._(.)\.sh$
near bench_a.py: the expression for variants does not match it: _(fast|slow)?\.py$|shell/(.)_
left old/2019/bench_sort_fast.py: the rule leaves out old/**
left shell/a_xy.sh: its path does not match **/bench_*.py shell/[ab]_?.sh
left shell/c_x.sh: its path does not match **/bench_*.py shell/[ab]_?.sh
`)
}

// TestNamesOfResults: files whose results would have one name are told apart by their folders, else left.
func TestNamesOfResults(t *testing.T) {
	rule := Rule{Files: []string{"**"}, Benchmark: `([^/]+)\.`}
	f := valuetest.Must(find(tree("a/x.sh", "b/x.sh", "c/y.sh", "c/y.pl", "d/z.cu", "d/z.sh"), rule, "."))
	want(t, text(f), `
a "a/x" "" "" a/x.sh
b "b/x" "" "" b/x.sh
d "z" "" "cuda" d/z.cu
d "z" "" "" d/z.sh
near c/y.pl: its results would have the same name as those of c/y.sh: c/y
near c/y.sh: its results would have the same name as those of c/y.pl: c/y
`)
}

// TestRefusedRules: what cannot find anything is refused, with the word and the value that are wrong.
func TestRefusedRules(t *testing.T) {
	good := Rule{Files: []string{"*.py"}, Benchmark: `(.+)\.py`}
	for want, change := range map[string]func(*Rule){
		"files: want globs such as bench/**/*.py, got none":                          func(r *Rule) { r.Files = nil },
		`files: "[a" is not a glob of paths below a folder: syntax error in pattern`: func(r *Rule) { r.Files = []string{"[a"} },
		`except: "a//b" is not a glob of paths below a folder: a name is empty`:      func(r *Rule) { r.Except = []string{"a//b"} },
		"name: want a regular expression for the benchmark's name, got none":         func(r *Rule) { r.Benchmark = "" },
		"name: error parsing regexp: missing closing ): `(`":                         func(r *Rule) { r.Benchmark = "(" },
		"variant: error parsing regexp: missing closing ]: `[`":                      func(r *Rule) { r.Variant = "[" },
		`baseline: "base" is a variant, but there is no expression for variants`:     func(r *Rule) { r.Baseline = "base" },
	} {
		rule := good
		change(&rule)
		valuetest.ErrorText(t, valuetest.Error(find(tree(), rule, ".")), "…: "+want)
	}
	if _, err := find(tree(), good, "no/where"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
	for _, in := range []string{"../x", "/x", "a.py"} {
		valuetest.ErrorText(t, valuetest.Error(find(tree("a.py"), good, in)), "searching "+in+": …", in)
	}
}

// TestAll: several rules in their folders. A file is of the first rule that takes it, and is left where all leave it.
func TestAll(t *testing.T) {
	const kernel = "=def run_benchmark(): pass\n"
	files := tree(
		"ch1/baseline_x.py"+kernel, "ch1/optimized_x.py"+kernel, "kernels/softmax.py"+kernel, "kernels/readme.txt",
		"src/kernels/softmax.py"+kernel, "src/kernels/bench.yaml=a: 1", "conftest.py=def pytest_benchmark_update_json(): pass\n",
	)
	f := valuetest.Must(All(files, Rules(), nil))
	valuetest.DeepEqual(t, len(f.Tools), 1, "tools", f.Tools)
	want(t, text(f), `
ch1 "ch1/x" "baseline" "" ch1/baseline_x.py:run_benchmark
ch1 "ch1/x" "optimized" "" ch1/optimized_x.py:run_benchmark
kernels "kernels/softmax" "" "cpu" kernels/softmax.py:run_benchmark
kernels "src/kernels/softmax" "" "cpu" src/kernels/softmax.py:run_benchmark src/kernels/bench.yaml
left conftest.py: pairs: its path does not match ch*/baseline_*.py ch*/baseline_*.cu ch*/optimized_*.py ch*/optimized_*.cu
left kernels/readme.txt: pairs: its path does not match ch*/baseline_*.py ch*/baseline_*.cu ch*/optimized_*.py ch*/optimized_*.cu; kernels: its path does not match **/*.py
`)
	if _, err := All(files, Rules(), []string{"kernels", "gone"}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that was named and is not there: %v", err)
	}
	f = valuetest.Must(All(files, Rules(), []string{".", "kernels"}))
	valuetest.DeepEqual(t, len(f.Benchmarks), 3, text(f))
}

// TestOrder: numbers in paths count by their value.
func TestOrder(t *testing.T) {
	sorted := []string{"a", "ch1", "ch02", "ch2", "ch2/x", "ch2a", "ch10", "ch10/2", "ch10/10", "ch99999999999999999999998", "ch99999999999999999999999", "d"}
	for i, a := range sorted {
		for k, b := range sorted {
			if got := comparePaths(a, b); (got < 0) != (i < k) || (got == 0) != (i == k) {
				t.Errorf("%s and %s: %d", a, b, got)
			}
		}
	}
}
