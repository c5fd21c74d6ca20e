package sweep

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// kernelFiles returns a tree with kernels of several kinds.
func kernelFiles(more map[string]string) fstest.MapFS {
	tree := fstest.MapFS{}
	for name, text := range map[string]string{
		"kernels/doc/doc.py":     "def run_benchmark(problem_size=1024, iterations=1): pass\n",
		"kernels/doc/bench.yaml": "problem_size: {size: 2048}\nprecisions: [fp32, fp16]\nbackends: [cpu, cuda]\n",
		"b.py":                   "def run_benchmark(n=1, dtype='fp32'): pass\n",
		"class.py":               "class B:\n    def __init__(self): pass\n    def benchmark_fn(self): pass\n",
		"any.py":                 "def run_benchmark(**any): pass\n",
		"two.py":                 "def bench_a(n): pass\ndef bench_b(): pass\ndef fill(size): pass\n",
	} {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	for name, text := range more {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return tree
}

// said returns the points of a sweep in one line each: what runs, then what does not.
func said(s *Sweep) string {
	var lines []string
	for _, p := range s.Planned() {
		line := strings.TrimSpace(strings.TrimPrefix(p.Describe(), "benchmark=") + " " + p.Backend)
		if p.Skip != nil {
			line += " | " + p.Skip.Reason
			if !p.Skip.Unsupported {
				line += " (skipped)"
			}
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

const kernelSweep = `
discover: {rule: kernels}
grid: {precision: [fp32, fp16], backend: [cpu, cuda]}
baseline: precision=fp32
reference: {precision: fp32, backend: cpu}
check: [rmse <= 1e-3]
work: {items: 1}
skip_if: {when: backend == "cuda", reason: CUDA is not available}
`

// TestUntakenAxes: an axis that a function does not take is no axis of its benchmark. It is measured once without the axis, and is unsupported
// with the further values, without a launch.
func TestUntakenAxes(t *testing.T) {
	for name, c := range map[string]struct {
		src   string
		more  map[string]string
		want  string
		notes string
	}{
		"a kernel as documented": {
			kernelSweep, nil,
			"doc problem_size=2048 cpu\n" +
				"doc precision=fp32 problem_size=2048 cuda | CUDA is not available (skipped)\n" +
				"doc precision=fp16 problem_size=2048 cpu | run_benchmark takes no parameter precision: it takes problem_size, iterations\n" +
				"doc precision=fp16 problem_size=2048 cuda | CUDA is not available (skipped)",
			"doc takes no parameter precision: measured once without it",
		},
		"without its settings": {
			kernelSweep,
			map[string]string{"kernels/doc/bench.yaml": "warmup: 3\n"},
			"doc cpu\n" +
				"doc precision=fp32 cuda | CUDA is not available (skipped)\n" +
				"doc precision=fp16 cpu | run_benchmark takes no parameter precision: it takes problem_size, iterations\n" +
				"doc precision=fp16 cuda | CUDA is not available (skipped)",
			"doc takes no parameter precision: measured once without it",
		},
		"a size with members": {
			"discover: {rule: kernels}\n",
			map[string]string{"kernels/doc/bench.yaml": "problem_size: {grid_size: [64, 64], max_iterations: 50}\n"},
			`doc problem_size={"grid_size":[64,64],"max_iterations":50… cpu`, "",
		},
		"members as parameters": {"discover: {rule: kernels}\n", map[string]string{
			"kernels/doc/bench.yaml": "problem_size: {grid_size: [64, 64], max_iterations: 50}\n", "kernels/doc/doc.py": "def run_benchmark(problem_size, grid_size): pass\n",
		}, `doc grid_size=[64,64] cpu`, "doc takes no parameter max_iterations: measured once without it"},
		"a size that is a number": {"discover: {rule: kernels}\n", map[string]string{"kernels/doc/bench.yaml": "problem_size: 64\n"}, "doc problem_size=64 cpu", ""},
		"an axis of one benchmark": {
			"benchmarks: {a: {file: 'two.py:bench_a'}, b: {file: 'two.py:bench_b'}}\ngrid: {n: [1, 2]}\n", nil,
			"a n=1\na n=2\nb\nb n=2 | bench_b takes no parameter n: it takes none", "b takes no parameter n: measured once without it",
		},
		"two axes and one value": {
			"benchmarks: {a: {file: 'two.py:bench_a'}, b: {file: 'two.py:bench_b'}}\ngrid: {n: 1}\nparams: {m: 2}\n", nil,
			"a n=1\nb", "a and b take no parameter m: measured once without it\nb takes no parameter n: measured once without it",
		},
		"by scale": {
			"benchmarks: {a: {file: class.py}, b: {file: b.py}}\nscale: {n: {base: 8, by: '1', steps: {0: 1}}}\n", nil,
			"a\nb n=8", "a takes no parameter n: measured once without it",
		},
		"by another name":     {"benchmarks: {a: {file: b.py}, b: {file: class.py}}\ngrid: {precision: [fp32, fp16]}\n", nil, "a precision=fp32\na precision=fp16\nb\nb precision=fp16 | B takes no parameter precision: it takes none", "b takes no parameter precision: measured once without it"},
		"of a hook":           {"benchmarks: {a: {file: 'two.py:bench_a'}, b: {file: 'two.py:bench_b'}}\nprepare: fill\ngrid: {n: 1, size: [1, 2]}\n", nil, "a n=1 size=1\na n=1 size=2\nb size=1\nb size=2", "b takes no parameter n: measured once without it"},
		"in a text":           {"benchmarks: {a: {file: class.py}, b: {file: b.py}}\ngrid: {n: [1, 2]}\nenv: {N: '{n}'}\n", nil, "a n=1\na n=2\nb n=1\nb n=2", ""},
		"what takes any":      {"benchmarks: {a: {file: any.py}, b: {file: none.py}}\ngrid: {n: [1, 2]}\n", nil, "a n=1\na n=2\nb n=1\nb n=2", ""},
		"functions of a file": {"file: 'two.py:{fn}'\ngrid: {fn: [bench_a, bench_b], n: [1, 2]}\n", nil, "two.py:bench_a fn=bench_a n=1\ntwo.py:bench_a fn=bench_a n=2\ntwo.py:bench_b fn=bench_b\ntwo.py:bench_b fn=bench_b n=2 | bench_b takes no parameter n: it takes none", "two.py:bench_b takes no parameter n: measured once without it"},
		"excluded and included": {
			"benchmarks: {a: {file: b.py}, b: {file: class.py}}\ngrid: {n: [1, 2]}\nexclude: [{n: 1}]\ninclude: [{n: 9}]\n", nil,
			"a n=2\na n=9\nb\nb n=9 | B takes no parameter n: it takes none", "b takes no parameter n: measured once without it",
		},
		"counts and work of it": {
			"benchmarks: {a: {file: b.py}, b: {file: class.py}}\ngrid: {n: [1, 2]}\niterations: 10 * n\nwork: {items: n}\ncontrol: n=1\n", nil,
			"a n=1\na n=2\nb\nb n=2 | B takes no parameter n: it takes none", "b takes no parameter n: measured once without it",
		},
		"a reference that has it": {
			"benchmarks: {x: }\nvariants: {a: {file: b.py}, b: {file: class.py}}\ngrid: {n: [1, 2]}\nreference: {variant: a}\n", nil,
			"x variant=a n=1\nx variant=a n=2\nx variant=b\nx variant=b n=2 | B takes no parameter n: it takes none",
			"x b takes no parameter n: measured once without it\nx b has no reference, because the points of the reference have parameters that it does not take",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := parse(t, c.src, Overrides{Files: kernelFiles(c.more)})
			valuetest.DeepEqual(t, said(s), c.want)
			valuetest.DeepEqual(t, strings.Join(s.Notes, "\n"), c.notes)
			ids := map[string]bool{}
			for _, p := range s.Planned() {
				if ids[p.PointID] {
					t.Errorf("the point %s is there twice", p.Describe())
				}
				ids[p.PointID] = true
			}
		})
	}
	s := parse(t, kernelSweep, Overrides{Files: kernelFiles(nil)})
	if p := s.Points[0]; p.Reference == nil || p.Reference.Point.PointID != p.PointID || p.Written["precision"] != "" || p.Work == nil {
		t.Errorf("the measured point: %+v", p)
	}
}

// TestNamesOfOneParameter: the name of an axis counts as a setting only where it decides which parameter the function takes.
func TestNamesOfOneParameter(t *testing.T) {
	files := kernelFiles(map[string]string{
		"seq.py":  "def run_benchmark(seq_len): pass\n",
		"bs.py":   "def run_benchmark(bs): pass\n",
		"both.py": "def run_benchmark(batch_size, bs): pass\n",
	})
	for _, c := range []struct {
		file, axis string
		want       map[string]string
	}{
		{"seq.py", "seq: 8", map[string]string{}},
		{"b.py", "dtype: fp16", map[string]string{}},
		{"bs.py", "batch: 8", map[string]string{}},
		{"both.py", "bs: 8", map[string]string{"batch_size": "bs"}},
		{"both.py", "batch_size: 8", nil},
		{"any.py", "bs: 8", map[string]string{"batch_size": "bs"}},
	} {
		s := parse(t, fmt.Sprintf("file: %s\ngrid: {%s}\n", c.file, c.axis), Overrides{Files: files})
		valuetest.DeepEqual(t, s.Points[0].Called, c.want, c.file, c.axis)
	}
}

// TestUnknownParameter: a parameter that the only function does not take, or that the command line adds and none takes, is an error before
// anything runs.
func TestUnknownParameter(t *testing.T) {
	for _, c := range []struct {
		src    string
		params map[string]string
		want   string
	}{
		{"file: b.py\ngrid: {size: [1, 2]}\n", nil, "sweep.yaml:2: axis size: run_benchmark takes no parameter size: it takes n, dtype"},
		{"file: b.py\nparams: {nn: 1}\n", nil, "sweep.yaml:2: params.nn: run_benchmark takes no parameter nn: it takes n, dtype: did you mean n?"},
		{"file: class.py\n", map[string]string{"n": "1"}, "-P n: B takes no parameter n: it takes none"},
		{"file: b.py\n", map[string]string{"batch": "1,4"}, "-P batch: run_benchmark takes no parameter batch: it takes n, dtype"},
		{"benchmarks: {a: {file: b.py}, b: {file: class.py}}\n", map[string]string{"nn": "1"}, "-P nn: none of the benchmarks takes a parameter nn: did you mean n?"},
		{"discover: {rule: kernels}\n", map[string]string{"size": "1"}, "-P size: run_benchmark takes no parameter size: it takes problem_size, iterations"},
	} {
		_, err := Read("sweep.yaml", strings.NewReader(c.src), Overrides{Files: kernelFiles(nil), Params: c.params})
		valuetest.ErrorText(t, err, c.want, c.src, c.params)
	}
	for _, c := range []struct {
		src    string
		params map[string]string
	}{
		{"file: any.py\ngrid: {n: 1}\n", nil},
		{"file: none.py\ngrid: {n: 1}\n", nil},
		{kernelSweep, map[string]string{"precision": "fp32,fp16,fp8"}}, // which the sweep has
		{"benchmarks: {a: {file: b.py}, b: {file: class.py}}\n", map[string]string{"n": "1"}},
	} {
		if _, err := Read("sweep.yaml", strings.NewReader(c.src), Overrides{Files: kernelFiles(nil), Params: c.params}); err != nil {
			t.Errorf("%q %v: %v", c.src, c.params, err)
		}
	}
	if _, err := Read("sweep.yaml", strings.NewReader("file: b.py\ngrid: {size: 1}\n"), Overrides{}); err != nil {
		t.Errorf("without a working directory: %v", err)
	}
}

// kinds are sweeps of every kind of what runs, with two points each.
var kinds = map[string]string{
	"command": "command: [a, '{k}']\nwarmup: 3\nenv: {A: b}\ncwd: /x\nwrapper: [n]\ngrid: {k: [1, 2]}\n",
	"file":    "file: a.py:N\nbuild: make\npython: p\niterations: 7\ngrid: {k: [1, 2]}\n",
	"builtin": tiny + "warmup: 3\niterations: 7\norder: random\ngrid: {k: [1, 2]}\n",
	"onnxrt":  "backend: onnxrt\nmodel: a.onnx\nthreads: 3\nprofile: ort\nflush_l2: true\ngrid: {k: [1, 2]}\n",
	"torch":   "backend: torch\nmodel: a.pt\ndevice: cpu\ncold_start: true\nrel_error: 1%\ngrid: {k: [1, 2]}\n",
}

// TestCalibrate: calibrate adds the same three points, launched in the same way, to a sweep of any kind, in every repeat
// and on both sides, and changes no other point.
func TestCalibrate(t *testing.T) {
	var first []Point
	for name, src := range kinds {
		without := parse(t, src+"repeats: 2", Overrides{})
		with := parse(t, src+"repeats: 2\ncalibrate: true", Overrides{})
		n := len(without.Points)
		equal(t, with.Points[:n], without.Points)
		added := with.Points[n:]
		var names []string
		for i := range added {
			p := &added[i]
			names = append(names, fmt.Sprint(p.Benchmark, " ", p.Variant, " ", p.Executor, " ", p.Warmup, " ", p.Iterations, p.Control, p.Calibration))
		}
		equal(t, names, []string{
			"calibration integer-v1 builtin 10 100 true true",
			"calibration memory-v1 builtin 10 100 true true",
			"calibration branch-v1 builtin 10 100 true true",
		})
		if first == nil {
			first = added
		}
		equal(t, added, first)
		for _, o := range []LaunchOptions{{}, {Sides: 2}} {
			launched := map[string]int{}
			for _, l := range with.Launches(o) {
				if l.Point.Calibration {
					launched[fmt.Sprint(l.Repeat, l.Side, l.Point.Variant)]++
				}
			}
			valuetest.DeepEqual(t, len(launched), 2*3*o.sides(), name, o.sides(), launched)
		}
		checkSweep(t, with)
		equal(t, parse(t, src+"repeats: 2\ncalibrate: false", Overrides{}).Points, without.Points)
	}
}

// TestCalibrateIsFixed: what the command line says of launching does not reach the points of calibrate, and their
// identity is one that no later version may change.
func TestCalibrateIsFixed(t *testing.T) {
	s := parse(t, tiny+"calibrate: true", Overrides{
		Given:  map[string]string{"warmup": "3", "rel_error": "1%", "cold_start": "true", "timeout_multiplier": "2"},
		Tags:   map[string]string{"a": "b"},
		Params: map[string]string{"k": "1,2", "benchmark": "y"},
	})
	var ids []string
	for _, p := range s.Points {
		if p.Calibration {
			ids = append(ids, p.Variant+" "+p.PointID)
			equal(t, []any{p.Warmup, p.Iterations, p.RelError, p.ColdStart, p.Fixed == nil}, []any{10, 100, 0.0, false, true})
			equal(t, p.Timeouts.Setup, 2*defaultTimeouts(false).Setup)
		}
	}
	equal(t, ids, []string{
		"integer-v1 8671133410121cf37f6bbb741b54010b",
		"memory-v1 88057b4c4f38a7f7aaf40fbc0f386e81",
		"branch-v1 591dee0fd454150716de2adca71197e1",
	})
}

// TestCalibrateTargets: --targets chooses among the points of the file; those of calibrate stay, and can be asked for
// alone.
func TestCalibrateTargets(t *testing.T) {
	src := "benchmark: [GELU, Swish]\nbackend: builtin\ncalibrate: true"
	for targets, want := range map[string]string{
		"GELU":        "GELU calibration calibration calibration",
		"calibration": "calibration calibration calibration",
	} {
		s := parse(t, src, Overrides{Targets: []string{targets}})
		var names []string
		for _, p := range s.Points {
			names = append(names, p.Benchmark)
		}
		equal(t, strings.Join(names, " "), want)
		checkSweep(t, s)
	}
}

// kernelOrder writes launches as one letter each, the points of calibrate as i, m and b.
func kernelOrder(launches []Launch) string {
	var b strings.Builder
	for _, l := range launches {
		name := "."
		if l.Point.Calibration {
			name = l.Point.Variant[:1]
		}
		b.WriteString(name)
	}
	return b.String()
}

// TestCalibrateOrder: the points of calibrate lie evenly among the others, over the whole session also where each point
// has all its repeats at once, and take turns at coming first.
func TestCalibrateOrder(t *testing.T) {
	src := tiny + "repeats: 3\ngrid: {k: [1, 2, 3, 4, 5, 6]}\ncalibrate: true\norder: "
	check := func(order, want string) {
		t.Helper()
		equal(t, kernelOrder(parse(t, src+order, Overrides{}).Launches(LaunchOptions{})), want)
	}
	check("interleaved", ".i..m..b."+".m..b..i."+".b..i..m.")
	check("sequential", ".i..m..b."+".m..b..i."+".b..i..m.")
	one := parse(t, tiny+"repeats: 2\ncalibrate: true", Overrides{})
	equal(t, kernelOrder(one.Launches(LaunchOptions{})), "i.mb"+"m.bi")

	random := parse(t, src+"random", Overrides{})
	plain := parse(t, strings.Replace(src, "calibrate: true", "", 1)+"random", Overrides{})
	o := LaunchOptions{Seed: 4}
	var places string
	others := slices.DeleteFunc(random.Launches(o), func(l Launch) bool { return l.Point.Calibration })
	for _, l := range random.Launches(o) {
		places += map[bool]string{true: "c", false: "."}[l.Point.Calibration]
	}
	equal(t, places, strings.Repeat(".c..c..c.", 3))
	for i, l := range plain.Launches(o) { // the order of the others is what it is without
		equal(t, []string{others[i].Point.PointID, fmt.Sprint(others[i].Repeat)}, []string{l.Point.PointID, fmt.Sprint(l.Repeat)})
	}
	checkSweep(t, random)
}

// TestCalibrateSides: base and head of a kernel are neighbours in each repeat.
func TestCalibrateSides(t *testing.T) {
	for _, order := range []string{OrderInterleaved, orderSequential} {
		s := parse(t, tiny+"repeats: 4\ncalibrate: true\ngrid: {k: [1, 2, 3]}\norder: "+order, Overrides{})
		sides := map[string]string{}
		for pair := range slices.Chunk(s.Launches(LaunchOptions{Sides: 2}), 2) {
			if pair[0].Point.Calibration {
				equal(t, pair[0].Point == pair[1].Point && pair[0].Side != pair[1].Side, true)
				sides[pair[0].Point.Variant] += "."
			}
		}
		equal(t, sides, map[string]string{"integer-v1": "....", "memory-v1": "....", "branch-v1": "...."})
	}
}

// TestCalibrateRounds: a round of a precision has the points of calibrate, but is not made for them.
func TestCalibrateRounds(t *testing.T) {
	for _, order := range keyOf("order").Value.Words {
		s := parse(t, tiny+"repeats: 2\nrel_error: 1%\ncalibrate: true\ngrid: {k: [1, 2, 3]}\norder: "+order, Overrides{})
		o := LaunchOptions{Seed: 5}
		last := s.Launches(o)
		all := s.Round(2, o, nil)
		equal(t, []int{len(all), all[0].Block}, []int{6, last[len(last)-1].Block + 1})
		got := s.Round(2, o, func(p *Point) bool { return p.Params["k"] == "2" })
		want := slices.DeleteFunc(all, func(l Launch) bool { return !l.Point.Calibration && l.Point.Params["k"] != "2" })
		equal(t, got, want)
		equal(t, len(got), 4)
		equal(t, s.Round(2, o, func(p *Point) bool { return p.Calibration }), []Launch(nil))
	}
}

// controlled names the points of a sweep that are controls.
func controlled(s *Sweep) []string {
	names := []string{}
	for i, p := range s.Points {
		if p.Control {
			names = append(names, points(s)[i])
		}
	}
	return names
}

func TestControl(t *testing.T) {
	check := func(src string, o Overrides, want ...string) {
		t.Helper()
		s := parse(t, src, o)
		equal(t, controlled(s), append([]string{}, want...))
	}
	variants := "benchmark: [GELU, Swish]\nbackend: builtin\nvariant: [base, fast]\ngrid: {bs: [1, 2]}\n"
	check(variants, Overrides{})
	check(variants+"control: variant=base", Overrides{},
		"GELU base builtin 1", "GELU base builtin 2", "Swish base builtin 1", "Swish base builtin 2")
	check(variants+"control: [benchmark=GELU, batch_size=2]", Overrides{},
		"GELU base builtin 1", "GELU base builtin 2", "GELU fast builtin 1", "GELU fast builtin 2", "Swish base builtin 2", "Swish fast builtin 2")
	check(variants+"control: bs=2.0", Overrides{Targets: []string{"Swish"}}, "Swish base builtin 2", "Swish fast builtin 2")
	check(variants+"control: benchmark=GELU", Overrides{Targets: []string{"Swish"}})

	// Values as they are at the point: filled in, canonical, text or number as the axis has it.
	check(tiny+"benchmark: 'x{k}'\ngrid: {k: [1, 2]}\ncontrol: benchmark=x2", Overrides{}, "x2 builtin builtin:x k=2")
	check(tiny+"grid: {k: ['1.0', '1']}\ncontrol: k=1.0", Overrides{}, "builtin:x builtin builtin:x k=1.0")
	check(tiny+"grid: {k: [1e3, 1]}\ncontrol: k=1000", Overrides{}, "builtin:x builtin builtin:x k=1000")
	check(tiny+"grid: {dtype: [half, float32]}\ncontrol: dtype=fp32", Overrides{}, "builtin:x builtin builtin:x fp32")
	check("backend: torch\nmodel: [a/m.pt, {name: n, path: y}]\ncontrol: [model=n]", Overrides{}, "n torch n")
	// Every point has a benchmark, also where no key names it.
	check("command: [/bin/dd, '{k}']\ngrid: {k: [1]}\ncontrol: benchmark=dd", Overrides{}, "dd k=1")

	// The command line has the last word, as over baseline: what it has taken away is no mistake of the file.
	check(tiny+"grid: {k: [1, 2]}\ncontrol: k=1", Overrides{Params: map[string]string{"k": "2,3"}})
	check(tiny+"grid: {k: [1], j: [1]}\ninclude: [{k: 5, j: 2}]\ncontrol: k=5", Overrides{Params: map[string]string{"j": "3"}})
	// The points of calibrate are controls by themselves, and may be named.
	s := parse(t, tiny+"calibrate: true\ncontrol: benchmark=calibration", Overrides{})
	equal(t, len(controlled(s)), 3)
	equal(t, s.Points[0].Control, false)
	checkSweep(t, s)
}

func TestControlIsNoIdentity(t *testing.T) {
	src := tiny + "grid: {k: [1, 2]}\n"
	with, without := parse(t, src+"control: k=1", Overrides{}), parse(t, src, Overrides{})
	equal(t, with.Points[0].Control, true)
	with.Points[0].Control = false
	equal(t, with.Points, without.Points)
}

func TestErrorsOfControls(t *testing.T) {
	check := refuses(t, "backend: builtin\nbenchmark: [GELU, Swish]\nvariant: [baseline, fused]\ngrid: {k: [1, 2]}\n")
	check("calibrate: yes", `5: calibrate: want true or false, got "yes"`)
	check("calibrate: [true]", "5: calibrate: want true or false, got a list")
	check("calibrate: 1", "5: calibrate: want true or false, got 1")
	check("calibrat: true", "5: unknown key calibrat: did you mean calibrate?")
	check("controls: k=1", "5: unknown key controls: did you mean control?")
	check("control: variant=basline", "5: control: no point has variant=basline: did you mean baseline?")
	check("control: benchmark=gelu", "5: control: no point has benchmark=gelu: did you mean GELU?")
	check("control: varient=fused", "5: control: varient is not an axis of this sweep: did you mean variant?")
	check("control: x=1", "5: control: x is not an axis of this sweep")
	check("control: variant", `5: control: want axis=value, got "variant"`)
	check("control: {variant: fused}", "5: control: want text, got a map")
	check("control: []", "5: control: is empty")
	check("control:\n  - k=1\n  - k=3", "7: control: no point has k=3: want one of 1 2")
	check("control:\n  - k=1\n  - k=1.0", `7: control: "k=1.0" appears twice`)
	check("control: k=", `5: control: "" is not a value of axis k`)
	check("control: k=1_0", "5: control: 1_0 has _ between digits: quote it to keep it as text, or write the number without")
	check("control: k=2\nexclude: [{k: 2}]", "5: control: no point has k=2: want one of 1")
	check("control: benchmark=calibration", "5: control: no point has benchmark=calibration: calibrate: true adds such points")
	check("exclude: [{k: [1, 2]}]\ncalibrate: true", "5: exclude: no point is left")
	check("control: ["+strings.Repeat("k=1, ", 1001)+"]", "5: control: more than 1000 entries")

	check = refuses(t, "command: [dd]\n")
	check("control: benchmark=", `2: control: "" is not a value of axis benchmark`)
	check("control: benchmark=cp", "2: control: no point has benchmark=cp: want one of dd")
	check("benchmark: calibration\nvariant: branch-v1\nbackend: builtin\ncalibrate: true",
		"5: calibrate: the point benchmark=calibration variant=branch-v1 already exists, from line 1")

	// As many launches as are allowed, but for those of calibrate.
	check = refuses(t, "")
	check(tiny+"repeats: 33334\ncalibrate: true", "1: 133336 runs (points x repeats): want at most 100000")
}

// TestCalibrationIsNoAxis: names of axes that begin alike are axes.
func TestCalibrationIsNoAxis(t *testing.T) {
	s := parse(t, tiny+"grid: {control: [1, 2], calibrate: x}\ncontrol: control=2", Overrides{})
	equal(t, controlled(s), []string{"builtin:x builtin builtin:x calibrate=x control=2"})
	equal(t, s.Points[0].Executor, schema.ExecutorBuiltin)
}

// TestBracesAreFilled: the words of the top name axes, and what is stored has no braces.
func TestBracesAreFilled(t *testing.T) {
	t.Parallel()
	s := parse(t, `benchmark: "{chapter}/{example}"
backend: "{device}"
variant: ["{device}-a", "b"]
command: [run, "{benchmark}", "{variant}", "{chapter}", "{example}", "{device}"]
zip: [chapter, example]
grid: {chapter: [ch1, ch1, ch2], example: [sum, max, sum], device: [cpu, gpu]}
exclude: [{benchmark: ch2/sum, device: gpu}]
baseline: variant=b`, Overrides{})
	equal(t, len(s.Points), 10)
	equal(t, len(s.blocks), 5)
	p := s.Points[0]
	equal(t, []string{p.Benchmark, p.Backend, p.Variant}, []string{"ch1/sum", "cpu", "cpu-a"})
	equal(t, p.Command, []string{"run", "ch1/sum", "cpu-a", "ch1", "sum", "cpu"})

	s = parse(t, "backend: onnxrt\nmodel: \"m/{size}/net.{size}.onnx\"\ngrid: {size: [s, l]}", Overrides{})
	equal(t, []string{s.Points[1].Model, s.Points[1].ModelPath}, []string{"net.l.onnx", "m/l/net.l.onnx"})
	s = parse(t, "backend: builtin\nmodel: \"builtin:{op}\"\ngrid: {op: [add, mul]}", Overrides{})
	equal(t, []string{s.Points[1].Model, s.Points[1].ModelPath}, []string{"builtin:mul", ""})
	equal(t, parse(t, "command: a\nbenchmark: '{{x}}'", Overrides{}).Points[0].Benchmark, "{x}")
	equal(t, parse(t, "command: [a, '{p}']\ngrid: {p: ['{\"k\": {}}', '{{ x }}', '{other}']}", Overrides{}).Points[2].Params["p"], "{other}")
}

func TestBracesAreRefused(t *testing.T) {
	t.Parallel()
	check := refuses(t, "command: [a, '{dim}']\ngrid: {dim: [1, 2]}\n")
	check("benchmark: '{dimm}'", "3: benchmark: {dimm} is not an axis: did you mean {dim}? (write {{ and }} for literal braces)")
	check("benchmark: 'a{b'", `3: benchmark: unmatched { in "a{b": write {{ for a literal brace`)
	check("variant: '{seed}'", "3: variant: {seed} has no value: set seed")
	check("benchmark: '{variant}'\nvariant: '{dim}'", "3: benchmark: {variant} contains braces itself: write its text here instead")
	check("variant: '{variant}'", "3: variant: {variant} contains braces itself: write its text here instead")
	const unfilled = " is not filled in here: use it in benchmark, model, backend, variant, command, file, env or cwd"
	check("suite: 's{dim}'", "3: suite: {dim}"+unfilled)
	check("tags: {a: '{nope}'}", "3: tags.a: {nope}"+unfilled)
	check("share: ['data/{dim}']", "3: share: {dim}"+unfilled)
	check("env: {'{dim}': 1}", "3: env.{dim}: {dim}"+unfilled)
	check("benchmark: '{dim}'\nexclude: [{benchmark: '{dim}'}]", "4: exclude: axis benchmark: {dim}"+unfilled)
	check("params: {p: 'x{dim}'}", "3: params.p: {dim} is not filled in inside a value: use it in benchmark, model, backend, variant, command, file, env or cwd")
	refuses(t, "")("backend: onnxrt\nmodel: '{size}/net.onnx'\ngrid: {size: [s, l]}",
		"2: model: s/net.onnx and l/net.onnx are both called net.onnx: set model.name")
}
