package sweep

import (
	"strings"
	"testing"
	"testing/fstest"
)

// kernelFiles is a tree with kernels of several kinds.
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

// said are the points of a sweep in one line each: what runs, then what does not.
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
			if got := said(s); got != c.want {
				t.Errorf("points\n%s\nwant\n%s", got, c.want)
			}
			if got := strings.Join(s.Notes, "\n"); got != c.notes {
				t.Errorf("notes\n%s\nwant\n%s", got, c.notes)
			}
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
		if err == nil || err.Error() != c.want {
			t.Errorf("%q %v: %v, want %s", c.src, c.params, err, c.want)
		}
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
