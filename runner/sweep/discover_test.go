package sweep

import (
	"fmt"
	"io/fs"
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// in returns a working directory of files, some with their text behind a =. Files of Python have a benchmark besides.
func in(files ...string) fs.FS {
	tree := fstest.MapFS{}
	for _, file := range files {
		name, text, _ := strings.Cut(file, "=")
		if strings.HasSuffix(name, ".py") {
			text += "\ndef run_benchmark(): pass\n"
		}
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return tree
}

// chapters is a tree of pairs, with a prefix of another name, a chapter that is sorted by its number, and sources of CUDA.
var chapters = in("ch2/baseline_copy.cu", "ch2/optimized_copy.cu", "ch10/baseline_moe_dense.py=import torch", "ch10/optimized_moe_dense.py=import torch",
	"ch10/optimized_moe_dense_sparse.py=import torch", "ch1/baseline_sum.py", "ch1/optimized_sum_fast.py", "ch1/alone.py")

// discovered returns the points of a sweep that discover finds, as targets call them, with what runs.
func discovered(s *Sweep) (all []string) {
	for _, p := range s.Points {
		runs := strings.Join(p.Command, " ")
		if p.File != "" {
			runs = p.File + ":" + p.Object
		}
		all = append(all, fmt.Sprintf("%s:%s:%s %s %s", p.Suite, p.Benchmark, p.Variant, p.Backend, runs))
	}
	return all
}

func TestDiscover(t *testing.T) {
	s := parse(t, "discover: {rule: pairs}\nbaseline: variant=baseline\n", Overrides{Files: chapters})
	equal(t, discovered(s), []string{
		"ch1:ch1/sum:baseline  ch1/baseline_sum.py:run_benchmark",
		"ch1:ch1/sum:fast  ch1/optimized_sum_fast.py:run_benchmark",
		"ch2:ch2/copy:baseline cuda ./ch2/baseline_copy",
		"ch2:ch2/copy:optimized cuda ./ch2/optimized_copy",
		"ch10:ch10/moe_dense:baseline torch ch10/baseline_moe_dense.py:run_benchmark",
		"ch10:ch10/moe_dense:optimized torch ch10/optimized_moe_dense.py:run_benchmark",
		"ch10:ch10/moe_dense:sparse torch ch10/optimized_moe_dense_sparse.py:run_benchmark",
	})
	equal(t, s.Suites(), []string{"ch1", "ch10", "ch2"})
	equal(t, s.Points[2].Build, [][]string{{"nvcc", "-O3", "-o", "ch2/baseline_copy", "ch2/baseline_copy.cu"}})
	equal(t, s.Points[2].Optional, true) // a machine without nvcc skips it
	equal(t, s.Points[0].Optional, false)
	equal(t, len(s.blocks), 3) // the variants of a benchmark are neighbours

	// A folder that is named stands before the files, and what the sweep says of backends stays.
	below := in("src/ch1/baseline_sum.py=import torch", "src/ch1/optimized_sum.py=import torch")
	s = parse(t, "discover: {rule: pairs, in: src}\nbackend: cpu\n", Overrides{Files: below})
	equal(t, discovered(s), []string{"ch1:ch1/sum:baseline cpu src/ch1/baseline_sum.py:run_benchmark", "ch1:ch1/sum:optimized cpu src/ch1/optimized_sum.py:run_benchmark"})

	// Braces in names are no axes.
	odd := in("ch1/baseline_a{x}.py", "ch1/optimized_a{x}.py", "ch2/baseline_{y}.cu", "ch2/optimized_{y}.cu")
	s = parse(t, "discover: {rule: pairs}\nbaseline: variant=baseline\n", Overrides{Files: odd})
	equal(t, discovered(s)[0], "ch1:ch1/a{x}:baseline  ch1/baseline_a{x}.py:run_benchmark")
	equal(t, s.Points[2].Build, [][]string{{"nvcc", "-O3", "-o", "ch2/baseline_{y}", "ch2/baseline_{y}.cu"}})

	// What builds and runs a file may be given.
	s = parse(t, "discover:\n  - rule: pairs\n    build: [[make, -C, '{dir}', '{stem}']]\n    command: ['{dir}/{stem}', --once]\n",
		Overrides{Files: chapters, Targets: []string{"ch2"}})
	equal(t, discovered(s)[0], "ch2:ch2/copy:baseline cuda ch2/baseline_copy --once")
	equal(t, s.Points[0].Build, [][]string{{"make", "-C", "ch2", "baseline_copy"}})
}

// TestDiscoverTargets: a benchmark that was found is called by its name, its files, or the first word where no other has it.
func TestDiscoverTargets(t *testing.T) {
	check := func(want int, targets ...string) {
		t.Helper()
		s := parse(t, "discover: {rule: pairs}\n", Overrides{Files: chapters, Targets: targets})
		equal(t, len(s.Points), want)
	}
	check(3, "ch10")
	check(3, "ch10:moe_dense")
	check(3, "ch10:moe")
	check(3, "ch10:baseline_moe_dense")
	check(3, "ch10:baseline_moe_dense.py")
	check(3, "ch10:moe_dense.py")
	check(3, "ch10:moe.py")
	check(7, "all")
	check(1, "ch10:moe_dense:sparse")
	check(5, "ch1", "ch10:*")
	if _, err := readText("s.yaml", []byte("discover: {rule: pairs}\n"), Overrides{Files: chapters, Targets: []string{"ch1", "all"}}); err == nil ||
		err.Error() != `--targets "all": it chooses every point: give it alone` {
		t.Errorf("all among others: %v", err)
	}
	both := in("ch1/baseline_moe.py", "ch1/optimized_moe.py", "ch1/baseline_moe_dense.py", "ch1/optimized_moe_dense.py")
	s := parse(t, "discover: {rule: pairs}\n", Overrides{Files: both, Targets: []string{"ch1:moe"}})
	equal(t, discovered(s)[0], "ch1:ch1/moe:baseline  ch1/baseline_moe.py:run_benchmark")
	equal(t, len(s.Points), 2)

	// Also where another entry finds more.
	more := in("a/ch1/baseline_moe.py", "a/ch1/optimized_moe.py", "a/ch1/baseline_moe_dense.py", "a/ch1/optimized_moe_dense.py", "b/ch2/baseline_x.py", "b/ch2/optimized_x.py")
	s = parse(t, "discover:\n  - {rule: pairs, in: a}\n  - {rule: pairs, in: b}\n", Overrides{Files: more, Targets: []string{"ch1:moe"}})
	equal(t, len(s.Points), 2)
}

// FuzzConfig: whatever stands beside a kernel is settings or a fault of its points, of one line. The kernel beside it does not change.
func FuzzConfig(f *testing.F) {
	for _, text := range []string{
		"problem_size: {n: [1, 2]}\nprecisions: fp32\ntolerances: {rmse: 1e-3}\n", "iterations: {warmup: 1, timed: 4}", "iterations: 5",
		"skip_conditions: [{backend: cuda, check: not torch.cuda.is_available()}]", "metadata: {a: 1}", "backends: {a: b}", "[a", "grid: {n: {}}",
		"skip_conditions: [{check: not (True or sys.platform == 'linux') and jax}]", "skip_conditions: [{check: 'True True'}]", "function_name: f", "repeats: 10000000",
		"grid: {precision: [fp32], n: 1..100000, m: 1..100000}", "command: [a, '{precision}']", "exclude: [{precision: fp32}]", "include: [{precision: fp64}]",
		"scale: {n: {base: 1, by: memory, steps: {0: 1}}}", "device: cuda", "file: other.py", "reference: {precision: fp64}", "telemetry: {hz: 1}", "warmup: precision",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		const sweep = "discover: {rule: kernels}\ngrid: {precision: [fp32, fp16]}\nbaseline: precision=fp32\n"
		s, err := readText("sweep.yaml", []byte(sweep), Overrides{Files: taking("kernels/a.py", "kernels/b/b.py", "kernels/b/bench.yaml="+text)})
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		own := 0
		for _, p := range s.Planned() {
			if strings.ContainsAny(p.Fault, "\n\x00") {
				t.Errorf("%q: %q", text, p.Fault)
			}
			if p.Benchmark == "a" && p.Fault == "" && p.Skip == nil {
				own++
			}
		}
		valuetest.DeepEqual(t, own, 2, text)
	})
}

// TestDiscoverLayers: names choose of what was found, and the file may say more of each.
func TestDiscoverLayers(t *testing.T) {
	src := "discover: {rule: pairs}\niterations: 5\nbenchmarks:\n  ch1/sum: {iterations: 7}\npresets:\n  quick: {benchmarks: {ch10/moe_dense: {iterations: 1}}}\n"
	iterations := func(s *Sweep) (all []int) {
		for _, p := range s.Points {
			all = append(all, p.Iterations)
		}
		return all
	}
	equal(t, iterations(parse(t, src, Overrides{Files: chapters})), []int{7, 7, 5, 5, 5, 5, 5})
	equal(t, iterations(parse(t, src, Overrides{Files: chapters, Presets: []string{"quick"}})), []int{7, 7, 5, 5, 1, 1, 1})
	s := parse(t, src, Overrides{Files: chapters, Params: map[string]string{"variant": "baseline"}})
	equal(t, len(s.Points), 3)
	s = parse(t, src, Overrides{Files: chapters, Params: map[string]string{"benchmark": "ch1/sum", "variant": "fast"}})
	equal(t, discovered(s), []string{"ch1:ch1/sum:fast  ch1/optimized_sum_fast.py:run_benchmark"})
	equal(t, s.Points[0].Written["variant"], "fast") // which -P takes again
}

// TestDiscoverConfig: the settings beside a kernel are its own, in the words of sweeps or in those of such files.
func TestDiscoverConfig(t *testing.T) {
	const kernel = "def run_benchmark(grid_size, precision): pass\n"
	const config = "problem_size:\n  grid_size: [64, 64]\nprecisions: [fp32, fp16]\nbackends: [cpu, cuda]\n" +
		"tolerances: {rmse: 1.0e-3}\niterations: {warmup: 1, timed: 4}\nseed: 7\nmetadata: {owner: us}\n" +
		"skip_conditions:\n  - {backend: cuda, reason: no CUDA, check: not torch.cuda.is_available()}\n"
	src := "discover: {rule: kernels, in: [kernels, nowhere]}\ngrid: {precision: fp64}\niterations: 30\nreference: {precision: fp32}\n"
	tree := in("kernels/cfd/poisson.py="+kernel, "kernels/cfd/bench.yaml="+config, "kernels/other/scan.py=def run_benchmark(): pass\n")
	s := parse(t, src, Overrides{Files: tree, Facts: here(t, map[string]string{"gpu.count": "0"})})
	equal(t, discovered(s), []string{
		"cfd:poisson: cpu kernels/cfd/poisson.py:run_benchmark", "cfd:poisson: cpu kernels/cfd/poisson.py:run_benchmark",
		"other:scan: cpu kernels/other/scan.py:run_benchmark",
	})
	p := s.Points[1]
	equal(t, []string{p.Precision, p.Params["grid_size"], fmt.Sprint(p.Warmup, p.Iterations, *p.Seed), p.Checks[0].Text}, []string{"fp16", "[64,64]", "1 4 7", "rmse <= 0.001"})
	equal(t, s.Points[2].Iterations, 30)
	equal(t, len(s.Skipped), 2)
	equal(t, s.Skipped[0].Skip.Reason, "no CUDA")
	s = parse(t, src, Overrides{Files: tree, Facts: here(t, map[string]string{"gpu.count": "1"}), Params: map[string]string{"precision": "fp32", "backend": "cuda"}})
	equal(t, len(s.Points), 2) // the command line wins over the file beside a kernel
}

func TestDiscoverErrors(t *testing.T) {
	check := func(tree fs.FS, src, want string) {
		t.Helper()
		valuetest.ErrorText(t, valuetest.Error(readText("sweep.yaml", []byte(src), Overrides{Files: tree})), want+"…", src)
	}
	check(chapters, "discover: pairs", "sweep.yaml:1: discover: want a map, got \"pairs\"")
	check(chapters, "discover: []", "sweep.yaml:1: discover: is empty")
	check(chapters, "discover: {in: .}", "sweep.yaml:1: discover: want a rule: one of pairs kernels, or one of your own")
	check(chapters, "discover: {rule: pears}", `sweep.yaml:1: discover.rule: want one of pairs kernels, got "pears"`)
	check(chapters, "discover: {rule: pairs, into: x}", "sweep.yaml:1: discover: unknown key into: want one of rule in build command")
	check(chapters, "discover: {rule: {files: '*.py'}}", "sweep.yaml:1: discover: rule of its own: name: want a regular expression for the benchmark's name, got none")
	check(chapters, "discover: {rule: pairs, in: nowhere}", "sweep.yaml:1: discover: no benchmark found in nowhere: neurolens discover -v shows why")
	check(chapters, "discover: {rule: pairs, in: ../x}", `sweep.yaml:1: discover: want folders below the working directory, got "../x"`)
	check(nil, "discover: {rule: pairs}", "sweep.yaml:1: discover: no benchmark found in .: neurolens discover -v shows why")
	check(chapters, "discover: {rule: pairs}\nfile: x.py", "sweep.yaml:2: file: cannot be combined with discover (line 1): use one of them")
	check(chapters, "discover: {rule: pairs}\nvariants: {a: }", "sweep.yaml:2: variants: cannot be combined with discover (line 1), which finds variants itself")
	check(chapters, "discover: {rule: pairs}\nbenchmarks: {ch1/som: }", "sweep.yaml:2: benchmarks.ch1/som: is not one of the benchmarks: did you mean ch1/sum?")
	check(chapters, "discover: {rule: pairs}\npresets: {quick: {discover: {rule: kernels}}}", "sweep.yaml:2: presets.quick: unknown key discover: want one of")
}

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
