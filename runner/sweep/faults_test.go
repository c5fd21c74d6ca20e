package sweep

import (
	"bytes"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// taking returns a working directory as in, in which functions take any parameter.
func taking(files ...string) fs.FS {
	tree := in(files...).(fstest.MapFS)
	for name, file := range tree {
		if strings.HasSuffix(name, ".py") {
			file.Data = bytes.Replace(file.Data, []byte("run_benchmark()"), []byte("run_benchmark(**axes)"), 1)
		}
	}
	return tree
}

// faults returns the points of a sweep, skipped ones included, with what is wrong with them.
func faults(s *Sweep) (all []string) {
	for _, p := range s.Planned() {
		text := fmt.Sprintf("%s %s %s %s", p.Benchmark, p.Variant, p.Backend, p.Precision)
		if text = strings.Join(strings.Fields(text), " "); p.Skip != nil {
			text += " skipped"
		}
		if p.Fault != "" {
			text += ": " + p.Fault
		}
		all = append(all, text)
	}
	return all
}

const kernelsSweep = "discover: {rule: kernels}\ngrid: {precision: [fp32, fp16]}\nbaseline: precision=fp32\nreference: {precision: fp32}\n"

// TestFaultsOfSettings: what is wrong with the settings beside a kernel makes its own points faulty, those of the sweep without the
// settings, and the other kernels are as they would be without it.
func TestFaultsOfSettings(t *testing.T) {
	for config, want := range map[string]string{
		"[a":                          "kernels/x/bench.yaml:1: YAML: did not find expected ',' or ']'",
		"a: 1\n---\nb: 2\n":           "kernels/x/bench.yaml:2: a second YAML document",
		"precisons: [fp32]":           "kernels/x/bench.yaml:1: unknown key precisons: did you mean precisions?",
		"seed: 1\norder: random":      "kernels/x/bench.yaml:2: order: applies to the whole sweep",
		"tolerances: 3":               "kernels/x/bench.yaml:1: tolerances: want a map, got 3",
		"warmup: x y":                 "kernels/x/bench.yaml:1: warmup: neither a number nor an expression",
		"iterations: 0 - 5":           "kernels/x/bench.yaml:1: iterations: 0 - 5 is -5: want a whole number from 1",
		"repeats: many":               `kernels/x/bench.yaml:1: repeats: want a number, got "many"`,
		"file: x.txt":                 `kernels/x/bench.yaml:1: file: want path.py`,
		"command: [a]":                "sweep.yaml:2: axis precision: not used by the command",
		"device: cuda":                "kernels/x/bench.yaml:1: device: not supported with file: only with torch and tensorrt",
		"grid: {n: {}}":               "kernels/x/bench.yaml:1: axis n: has no values",
		"exclude: [{precision: fp8}]": "kernels/x/bench.yaml:1: exclude: no point matches it",
		"function_name: [a]":          "kernels/x/bench.yaml:1: function_name: want the name of a function or class, got a list",
		"function_name: f":            "kernels/x/x.py: it has no f, which bench.yaml names",
		"grid: {n: [1, 4]}\nexclude: [{n: 4}]\nreference: {n: 4}": "sweep.yaml:3: reference: the point benchmark=x precision=",
		"repeats: 10000000":                                        "the settings of x: 2e+07 runs (points x repeats): want at most 100000",
		"skip_conditions: [{reason: so}]":                          "kernels/x/bench.yaml:1: skip_conditions: want backend, precision or check",
		"scale: {n: {base: 8, by: gpu.memory, steps: {0: 1}}}":     "kernels/x/bench.yaml:1: scale.n.by: ",
		"scale: {n: {base: 8, by: gpu.count, steps: {1000: 1}}}":   "kernels/x/bench.yaml:1: scale.n.steps: gpu.count is 0, ",
		"scale: {n: {base: 8, by: memory, steps: {0: 1e-9}}}":      "kernels/x/bench.yaml:1: scale.n.steps.0: the base 8 times this factor rounds down to 0",
		"scale: {precision: {base: 8, by: memory, steps: {0: 1}}}": "kernels/x/bench.yaml:1: scale.precision: ",
		"skip_if: {when: nonsense > 1}":                            "kernels/x/bench.yaml:1: skip_if.when: ",
		"":                                                         "",
		"# none yet\n":                                             "",
		"problem_size:\nprecisions:\n":                             "",
		"problem_size: {benchmark: 3}":                             "kernels/x/bench.yaml:1: problem_size: benchmark is the name of the benchmark",
		"seed: 1\nproblem_size: {seed: 2}":                         "", // the function takes one of its own
		"skip_conditions: [{precision: fp33}]":                     "",
		"problem_size: {n: [1, 2]}\nprecisions: [fp32]\ntolerances: {rmse: 0.1}": "",
	} {
		tree := taking("kernels/a.py", "kernels/x/x.py", "kernels/x/bench.yaml="+config, "kernels/b.py")
		s, err := readText("sweep.yaml", []byte(kernelsSweep), Overrides{Files: tree, Facts: here(t, map[string]string{"gpu.count": "0"})})
		if err != nil {
			t.Errorf("%s: %v", config, err)
			continue
		}
		if want == "" {
			if got := faults(s); slices.ContainsFunc(got, func(line string) bool { return strings.Contains(line, ": ") }) {
				t.Errorf("%s:\n%s", config, strings.Join(got, "\n"))
			}
			continue
		}
		var rest []string
		for _, precision := range []string{"fp32", "fp16"} {
			at := slices.IndexFunc(faults(s), func(line string) bool { return strings.HasPrefix(line, "x cpu "+precision+": "+want) })
			if at < 0 {
				t.Errorf("%s: want x %s: %s\n%s", config, precision, want, strings.Join(faults(s), "\n"))
			}
		}
		for _, line := range faults(s) {
			if !strings.HasPrefix(line, "x ") {
				rest = append(rest, line)
			}
		}
		equal(t, rest, []string{"a cpu fp32", "a cpu fp16", "b cpu fp32", "b cpu fp16"})
		equal(t, len(s.Points), 6)
		checkSweep(t, s)
		for _, p := range s.Points {
			if p.Fault != "" && (p.Build != nil || p.Profile != nil || p.Reference != nil) {
				t.Errorf("%s: something of a faulty point is done: %+v", config, p)
			}
		}

		// The others do not depend on it.
		equal(t, faults(parse(t, kernelsSweep, Overrides{Files: tree, Targets: []string{"*:a", "*:b"}, Facts: here(t, nil)})), rest)
		// Alone it is no error of the sweep either.
		equal(t, len(parse(t, kernelsSweep, Overrides{Files: tree, Targets: []string{"x"}, Facts: here(t, nil)}).Points), 2)
	}
}

// TestFaultOfName: a file whose name is no text has faulty points, and a kernel with a similar name is another one.
func TestFaultOfName(t *testing.T) {
	for _, sweep := range []string{kernelsSweep, "seed: 1337\n" + kernelsSweep} {
		tree := taking("kernels/a.py", "kernels/k\xe9.py", "kernels/k\xe8.py", "kernels/k\u00e9.py")
		equal(t, faults(parse(t, sweep, Overrides{Files: tree})), []string{
			"a cpu fp32", "a cpu fp16",
			`k\xe8 cpu fp32: kernels/k\xe8.py: its name is not UTF-8: rename it`, `k\xe8 cpu fp16: kernels/k\xe8.py: its name is not UTF-8: rename it`,
			`k\xe9 cpu fp32: kernels/k\xe9.py: its name is not UTF-8: rename it`, `k\xe9 cpu fp16: kernels/k\xe9.py: its name is not UTF-8: rename it`,
			"k\u00e9 cpu fp32", "k\u00e9 cpu fp16",
		})
	}
}

// TestFaultOfOne: a mistake in the sweep itself is an error, also if a kernel replaces it.
func TestFaultOfOne(t *testing.T) {
	tree := taking("kernels/a.py", "kernels/x/x.py", "kernels/x/bench.yaml=warmup: 3\n")
	for src, want := range map[string]string{
		"discover: {rule: kernels}\nwarmup: x y\n":                     "sweep.yaml:2: warmup: neither a number",
		"discover: {rule: kernels}\nwarmpu: 3\n":                       "sweep.yaml:2: unknown key warmpu",
		"discover: {rule: kernels}\nbenchmarks: {x: {warmup: x y}}\n":  "sweep.yaml:2: ",
		"discover: {rule: kernels}\nbenchmarks: {x: {device: cuda}}\n": "sweep.yaml:2: device: not supported with file",
	} {
		valuetest.ErrorText(t, valuetest.Error(readText("sweep.yaml", []byte(src), Overrides{Files: tree})), want+"…", src)
	}
}

// TestUnclearConditions: a condition in Python whose meaning is not known makes the points faulty that it may concern, unless another
// condition skips them.
func TestUnclearConditions(t *testing.T) {
	check := func(conditions string, want ...string) {
		t.Helper()
		tree := taking("kernels/x.py", "kernels/bench.yaml=precisions: [fp32, fp16]\nskip_conditions: "+conditions)
		s := parse(t, "discover: {rule: kernels}\n", Overrides{Files: tree, Facts: here(t, map[string]string{"gpu.count": "0", "os": "linux", "arch": "amd64", "cpu.count": "8"})})
		got := faults(s)
		for i := range want {
			if i < len(got) && strings.HasSuffix(want[i], ": ") {
				got[i], _, _ = strings.Cut(got[i], "kernels/bench.yaml:2: skip_conditions.check: \"jax.devices()")
			}
		}
		equal(t, got, want)
	}
	check(`[{check: "jax.devices()"}]`, "x cpu fp32: ", "x cpu fp16: ")
	check(`[{precision: fp16, check: "jax.devices()"}]`, "x cpu fp32", "x cpu fp16: ")
	check(`[{backend: cuda, check: "jax.devices()"}]`, "x cpu fp32", "x cpu fp16")
	check(`[{check: "jax.devices()"}, {precision: fp16}]`, "x cpu fp32: ", "x cpu fp16 skipped")
	for python, skips := range map[string]bool{
		"torch.cuda.is_available()":                                       false,
		"not torch.cuda.is_available()":                                   true,
		"torch.cuda.device_count() < 2":                                   true,
		"torch.backends.mps.is_available()":                               false,
		"not torch.backends.mps.is_available()":                           true,
		"sys.platform == 'linux'":                                         true,
		"sys.platform != \"linux\"":                                       false,
		"sys.platform.startswith('linux')":                                true,
		"sys.platform == 'win32'":                                         false,
		"platform.system() == 'Darwin'":                                   false,
		"platform.system() != 'Darwin'":                                   true,
		"platform.machine() == 'x86_64'":                                  true,
		"os.cpu_count() < 16":                                             true,
		"not (sys.platform == 'linux' and torch.cuda.is_available())":     true,
		"not sys.platform == 'linux' or torch.cuda.is_available()":        false,
		"not torch.cuda.is_available() and platform.system() == 'Darwin'": false,
		"True":  true,
		"False": false,
	} {
		want := []string{"x cpu fp32", "x cpu fp16"}
		if skips {
			want = []string{"x cpu fp32 skipped", "x cpu fp16 skipped"}
		}
		check(fmt.Sprintf("[{check: %q}]", python), want...)
	}
	for _, python := range []string{
		"", "torch.cuda.is_available", "torch.cuda.is_available() == False", "os.environ.get('X')", "sys.platform == 'linux2'", "notTrue", "Truest",
		"torch.cuda.device_count() > n", "__import__('os').system('true')", strings.Repeat("not ", 300) + "True", "platform.machine() == 'arm64'",
	} {
		if got, known := ofPython(python); known {
			t.Errorf("%q means %q", python, got)
		}
	}
}

// TestFaultyFiles: a file without a benchmark is a fault without a launch; of one that is not valid Python the interpreter says what is wrong.
func TestFaultyFiles(t *testing.T) {
	tree := fstest.MapFS{}
	for name, text := range map[string]string{
		"ch1/baseline_a.py": "def f(:\n", "ch1/optimized_a.py": "def get_benchmark(): pass\n", "ch1/baseline_b.py": "x = 1\n", "ch1/optimized_b.py": "\xff",
	} {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	s := parse(t, "discover: {rule: pairs}\nbaseline: variant=baseline\n", Overrides{Files: tree})
	equal(t, faults(s), []string{
		"ch1/a baseline", "ch1/a optimized",
		"ch1/b baseline: ch1/baseline_b.py: it has no get_benchmark, no run_benchmark, and no class with benchmark_fn", "ch1/b optimized",
	})
	equal(t, discovered(s)[0], "ch1:ch1/a:baseline  ch1/baseline_a.py:")
	equal(t, len(s.blocks), 2)
}

// TestOnlySelected: what targets do not select cannot fail the sweep: its keys, its axes, the axes of its command.
func TestOnlySelected(t *testing.T) {
	const src = `
benchmarks:
  good: {file: good.py}
  bad: {file: bad.py, KEY}
`
	for key, want := range map[string]string{
		"warmup: x y": "sweep.yaml:4: warmup: ", "grid: {n: []}": "sweep.yaml:4: axis n: ", "env: {A: '{nowhere}'}": "sweep.yaml:4: ",
		"scale: {n: {base: 8, by: gpu.memory, steps: {0: 1}}}": "sweep.yaml:4: scale.n.by", "iterations: 0 - 1": "sweep.yaml:4: iterations: ",
		"device: cuda": "sweep.yaml:4: device: not supported", "skip_if: {when: nonsense}": "sweep.yaml:4: ", "baseline_: 1": "sweep.yaml:4: ",
	} {
		text := []byte(strings.Replace(src, "KEY", key, 1))
		o := Overrides{Facts: here(t, nil)}
		valuetest.ErrorText(t, valuetest.Error(readText("sweep.yaml", text, o)), want+"…", key)
		if key == "baseline_: 1" { // the file is not a sweep
			continue
		}
		for _, target := range []string{"good", "sweep:good"} {
			o.Targets = []string{target}
			if s, err := readText("sweep.yaml", text, o); err != nil || len(s.Points) != 1 || s.Points[0].Benchmark != "good" {
				t.Errorf("%s: %v", key, err)
			}
		}
		o.Targets = []string{"sweep"}
		if _, err := readText("sweep.yaml", text, o); err == nil {
			t.Errorf("%s: no error of a benchmark that is selected", key)
		}
	}
}

// TestScaleOfSome: an axis of scale at the top goes to what takes it. What nothing takes is an error, and so is one of a command itself.
func TestScaleOfSome(t *testing.T) {
	const scale = "scale: {size: {base: 8, by: 1, steps: {0: 0.5}}}\n"
	tree := taking("ch1/baseline_a.py", "ch1/optimized_a.py", "ch2/baseline_b.cu", "ch2/optimized_b.cu")
	sizes := func(s *Sweep) (all []string) {
		for _, p := range s.Points {
			all = append(all, p.Benchmark+" "+p.Params["size"]+p.Fault)
		}
		return all
	}
	pairs := "discover: {rule: pairs}\n" + scale
	equal(t, sizes(parse(t, pairs, Overrides{Files: tree})), []string{"ch1/a 4", "ch1/a 4", "ch2/b ", "ch2/b "})
	equal(t, sizes(parse(t, pairs+"skip_if: {when: (size ?? 4) > 4}\n", Overrides{Files: tree, Targets: []string{"ch1"}})), []string{"ch1/a 4", "ch1/a 4"})
	equal(t, sizes(parse(t, pairs, Overrides{Files: tree, Params: map[string]string{"size": "2"}})), []string{"ch1/a 2", "ch1/a 2", "ch2/b ", "ch2/b "})
	named := "benchmarks:\n  a: {command: [a, '{size}']}\n  b: {command: [b]}\n" + scale
	equal(t, sizes(parse(t, named, Overrides{})), []string{"a 4", "b "})
	for src, o := range map[string]Overrides{
		pairs: {Files: tree, Targets: []string{"ch2"}}, named: {Targets: []string{"*:b"}},
		"benchmarks:\n  a: {command: [a, '{size}']}\n  b: {command: [b], " + strings.TrimSuffix(scale, "\n") + "}\n" + scale: {},
	} {
		valuetest.ErrorText(t, valuetest.Error(readText("sweep.yaml", []byte(src), o)), "…scale.size: not used by the command…", src)
	}
}

// TestUnusedByFound: an axis that a found command does not use is its fault, unless no file uses it.
func TestUnusedByFound(t *testing.T) {
	tree := taking("ch1/baseline_a.py", "ch1/optimized_a.py", "ch2/baseline_b.cu", "ch2/optimized_b.cu")
	const src = "discover: {rule: pairs}\ngrid: {n: [1, 2]}\nprofile: torch\nseed: 1\n"
	s := parse(t, src, Overrides{Files: tree})
	equal(t, len(s.Points), 8)
	for _, p := range s.Points {
		want := ""
		if p.Executor == "command" {
			want = ":2: axis n: not used by the command: write {n} in command, wrapper, build, env or cwd"
		}
		equal(t, strings.TrimPrefix(p.Fault, "sweep.yaml"), want)
	}
	if _, err := readText("sweep.yaml", []byte(src), Overrides{Files: tree, Targets: []string{"ch2"}}); err == nil {
		t.Error("no error of an axis that no command uses")
	}
	// Keys of a sweep need not mean something to what was found; those of the command line do.
	only := taking("ch2/baseline_b.cu", "ch2/optimized_b.cu")
	equal(t, len(parse(t, "discover: {rule: pairs}\nprofile: torch\nseed: 1\n", Overrides{Files: only}).Points), 2)
	if _, err := readText("sweep.yaml", []byte("discover: {rule: pairs}\n"), Overrides{Files: only, Given: map[string]string{"seed": "1"}}); err == nil {
		t.Error("no error of an option without effect")
	}
}

// TestRepeatsOfEach: default repeats belong to the benchmark, whatever stands beside it; points of a block have the same number.
func TestRepeatsOfEach(t *testing.T) {
	check := func(tree fs.FS, src string, o Overrides, want ...string) {
		t.Helper()
		o.Files = tree
		s := parse(t, src, o)
		var got []string
		for _, p := range s.Points {
			got = append(got, strings.Join(strings.Fields(fmt.Sprint(p.Benchmark, " ", p.Variant, " ", p.Repeats)), " "))
		}
		equal(t, got, want)
		checkSweep(t, s)
	}
	tree := taking("ch1/baseline_a.py", "ch1/optimized_a.py", "ch2/baseline_b.cu", "ch2/optimized_b.cu")
	const pairs = "discover: {rule: pairs}\n"
	check(tree, pairs, Overrides{}, "ch1/a baseline 1", "ch1/a optimized 1", "ch2/b baseline 1", "ch2/b optimized 1")
	check(tree, pairs+"repeats: 3\n", Overrides{}, "ch1/a baseline 3", "ch1/a optimized 3", "ch2/b baseline 3", "ch2/b optimized 3")
	check(tree, pairs, Overrides{Against: true}, "ch1/a baseline 6", "ch1/a optimized 6", "ch2/b baseline 6", "ch2/b optimized 6")
	check(tree, pairs+"benchmarks: {ch1/a: {repeats: 4}}\n", Overrides{}, "ch1/a baseline 4", "ch1/a optimized 4", "ch2/b baseline 1", "ch2/b optimized 1")
	check(tree, pairs+"benchmarks: {ch1/a: {repeats: 4}}\n", Overrides{Given: map[string]string{"repeats": "2"}},
		"ch1/a baseline 2", "ch1/a optimized 2", "ch2/b baseline 2", "ch2/b optimized 2")
	check(taking("kernels/a.py", "kernels/x/x.py", "kernels/x/bench.yaml=repeats: 7\n"), "discover: {rule: kernels}\n", Overrides{}, "a 1", "x 7")
	named := "benchmarks:\n  f: {file: f.py}\n  c: {command: [c]}\n  d: {command: [d], repeats: 2}\n"
	check(nil, named, Overrides{}, "f 1", "c 10", "d 2")
	check(nil, named+"order: sequential\n", Overrides{}, "f 1", "c 10", "d 2")
	check(nil, named+"order: random\ncalibrate: true\n", Overrides{}, "f 1", "c 10", "d 2", "calibration integer-v1 10", "calibration memory-v1 10", "calibration branch-v1 10")
	// A block has what one of its points sets, else the largest default.
	check(nil, "benchmark: b\nvariants:\n  f: {file: f.py}\n  c: {command: [c]}\n", Overrides{}, "b f 10", "b c 10")
	check(nil, "benchmark: b\nvariants:\n  f: {file: f.py, repeats: 3}\n  c: {command: [c]}\n", Overrides{}, "b f 3", "b c 3")
	check(nil, "benchmark: b\nvariants:\n  f: {file: f.py, repeats: 3}\n  c: {command: [c], repeats: 4}\n", Overrides{}, "b f 4", "b c 4")

	// Further rounds continue after the repeats of each block.
	s := parse(t, "rel_error: 1%\nbenchmarks:\n  f: {file: f.py}\n  c: {file: c.py, repeats: 3}\n", Overrides{})
	equal(t, []int{s.Repeats, s.MaxRepeats, s.FirstRound()}, []int{3, 20, 1})
	var got []string
	for repeat := s.FirstRound(); repeat < 5; repeat++ {
		for _, l := range s.Round(repeat, LaunchOptions{}, func(*Point) bool { return true }) {
			got = append(got, fmt.Sprint(l.Point.Benchmark, l.Repeat))
		}
	}
	equal(t, got, []string{"f1", "f2", "f3", "c3", "f4", "c4"})
}
