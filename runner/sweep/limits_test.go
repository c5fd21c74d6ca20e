package sweep

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/neurolens/neurolens/schema"
)

// What would take for ever is refused by counting. That the counts stand in the message shows that nothing was made
// first; points and rows of these sizes would not fit in memory.
// TestFilledTexts: what is filled in at each point counts towards what all points may take.
func TestFilledTexts(t *testing.T) {
	t.Parallel()
	var values strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&values, "%d, ", i)
	}
	src := "command: [a, '{n}']\nrepeats: 1\nbenchmark: '" + strings.Repeat("x", 200_000) + "{n}'\ngrid: {n: [" + values.String() + "]}"
	if _, err := readText("sweep.yaml", []byte(src), Overrides{}); err == nil || !strings.Contains(err.Error(), "the points take more than 128 MiB") {
		t.Errorf("got %v", err)
	}
}

func TestBombs(t *testing.T) {
	check := func(src, want string) {
		t.Helper()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := readText("sweep.yaml", []byte(src), Overrides{})
		runtime.ReadMemStats(&after)
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		if n := after.Mallocs - before.Mallocs; n > 4*maxNodes {
			t.Errorf("%d allocations for %s", n, want)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 3*maxText {
			t.Errorf("%d bytes for %s", n, want)
		}
	}
	numbers := func(n int) string {
		var list strings.Builder
		for i := range n {
			fmt.Fprintf(&list, "%d,", i+1)
		}
		return "[" + list.String() + "]"
	}
	thousand := numbers(1000)
	check(tiny+"grid: {a: "+thousand+", b: "+thousand+", c: "+thousand+"}",
		"sweep.yaml:3: 1000000000 runs (points x repeats): want at most 100000")
	check(tiny+"grid: {a: "+thousand+"}\nrepeats: 101",
		"sweep.yaml:3: 101000 runs (points x repeats): want at most 100000")
	check(tiny+"grid: {a: "+thousand+", b: "+numbers(60)+"}\ninclude: [{a: 0}, {b: "+numbers(41)+"}]",
		"sweep.yaml:3: 101060 runs (points x repeats): want at most 100000")
	var grid strings.Builder
	for i := range maxAxes - 2 { // backend and model are two
		fmt.Fprintf(&grid, "  a%d: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n", i)
	}
	check(tiny+"grid:\n"+grid.String(), "sweep.yaml:3: 1e+62 runs (points x repeats): want at most 100000")
	check(tiny+"grid:\n"+grid.String()+"  more: 1",
		fmt.Sprintf("sweep.yaml:%d: axis more: more than 64 axes and parameters", 2+maxAxes))

	bomb := "a: &a [x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c <= 'i'; c++ {
		refs := strings.Repeat(fmt.Sprintf("*%c, ", c-1), 9)
		bomb += fmt.Sprintf("%c: &%c [%s]\n", c, c, refs)
	}
	check(bomb, "sweep.yaml:1: more than 300000 values after aliases are expanded")
	check("a: &x [*x]", "sweep.yaml:1: nested deeper than 64 levels, or an alias that contains itself")
	check("a: &x [*x, *x]", "sweep.yaml:1: nested deeper than 64 levels, or an alias that contains itself")
	check(strings.Repeat("[", 100)+strings.Repeat("]", 100),
		"sweep.yaml:1: nested deeper than 64 levels, or an alias that contains itself")
	check(strings.Repeat("#", maxFile+1), "sweep.yaml: larger than 16384 KiB")
	check("a: ["+strings.Repeat("1,", maxNodes)+"]", "sweep.yaml:1: more than 300000 values after aliases are expanded")
	check(tiny+"exclude: ["+strings.Repeat("{a: 1},", maxEntries+1)+"]", "sweep.yaml:3: exclude: more than 1000 entries")
	check("command: [a, '{k}', "+strings.Repeat("x,", 50_000)+"]\ngrid: {k: "+thousand+"}",
		"sweep.yaml:1: the points take more than 128 MiB of memory: use fewer points or shorter texts")
	long := "'" + strings.Repeat("x", 10_000) + "'"
	check("command: [a, '{n}']\nbenchmark: '"+strings.Repeat("{n}", 100_000)+"'\ngrid: {n: "+long+"}",
		"sweep.yaml:2: benchmark: the points take more than 128 MiB of memory: use fewer points or shorter texts")
	for _, src := range []string{ // a point would take gigabytes
		"command: [a, '" + strings.Repeat("{n}", 100_000) + "']\ngrid: {n: " + long + "}",
		"command: [a, " + strings.Repeat("'"+strings.Repeat("{n}", 1000)+"', ", 100) + "]\ngrid: {n: " + long + "}",
		"command: [a]\nenv: {A: '" + strings.Repeat("{n}", 100_000) + "'}\ngrid: {n: " + long + "}",
		"benchmark: '" + strings.Repeat("{n}", 1000) + "'\ncommand: [a, '{n}" + strings.Repeat("{benchmark}", 1000) + "']\ngrid: {n: " + long + "}",
		"command: [a, '" + strings.Repeat("{n}", 100_000) + "']\ngrid: {n: 1}\ninclude: [{n: " + long + "}]",
	} {
		check(src, "sweep.yaml:1: the points take more than 128 MiB of memory: use fewer points or shorter texts")
	}
}

// The largest sweep that is taken.
func TestLargest(t *testing.T) {
	var list strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&list, "%d,", i+1)
	}
	src := "command: [prog, '{a}', '{b}', x]\nrepeats: 10\ngrid:\n  b: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n  a: [" + list.String() + "]"
	s := parse(t, src, Overrides{})
	if n := len(s.Launches(LaunchOptions{})); n != maxLaunches {
		t.Errorf("%d launches, want %d", n, maxLaunches)
	}
}

func FuzzParse(f *testing.F) {
	for _, src := range []string{
		tiny,
		tiny + "grid: {bs: [1, 2], k: [x, 1.0, [1, {a: b}]]}\nzip: [bs, k]",
		tiny + "variant: [a, b]\ngrid: {k: &a [1, 2], j: *a}\ninclude: [{k: 3}]\nexclude: [{k: 1, j: 2}]\nrepeats: 3",
		"command: [a, '{k}', '{{}}']\nwrapper: [n, '{j}']\n" +
			"grid: {k: [1, 2], j: 3}\nenv: {A: '{k}'}\ncwd: /x/{j}\ntags: {a: 1}",
		tiny + "warmup: 1\niterations: 2\nbudget: 1s\ntimeout: 2s\ntimeouts: {setup: 1m}\ntimeout_multiplier: 1e-3",
		"backend: torch\nmodel: [a.pt, {name: x, path: y}]\nparams: {p: 007}\nbaseline: model=x",
		"file: \"{k}.py:N\"\ngrid: {k: [a, b], threads: 2}\nbuild: [[make, '{k}'], [x]]\nshare: [data]\nprofile: torch\nseed: 1",
		net + "provider: '{p}EP'\ndevice: cpu\nthreads: 3\npython: p\nparams: {p: C}\norder: random\nrel_error: 1%\nmax_repeats: 9",
		net + "timing: torch_timer\nmin_run_time: 1s\nreproducible: true\ncold_start: true\nflush_l2: false\nprofile: [ort, torch]",
		net + "grid: {provider: [A, B], device: [cpu, 'cuda:1'], threads: [1, 2]}\norder: sequential\nrepeats: 2",
		"command: [a, '{k}']\ngrid: {k: [1, x]}\ncalibrate: true\ncontrol: k=x\nrepeats: 2\norder: random",
		tiny + "variant: [a, b]\ncontrol: [variant=a, benchmark=calibration]\ncalibrate: true\nrel_error: 1%\norder: sequential",
		"command: [a, '{k}']\ngrid: {k: 1}\nskip_exit: 77\noptional: true\nmetrics: {m: {from: 'o-{k}', regex: 'x (.*)', unit: '%', take: last, optional: true}, n: {jq: .a}, r: {read: fio}}",
		"command: [a, '{seed}']\nseed: 7\nbuild: make\nrel_error: 0.01\norder: interleaved",
		"command: [a, '{k}', '{n}']\ngrid: {k: {x: [], y: [--y, 1]}, n: 2}\nparams: {s: [1, 2]}\npresets: {quick: {grid: {k: y}}}",
		operations, operations + "exclude: [{loss: mse}]\ninclude: [{variant: CUDA, batch_size: 9, tile: 3}]",
		"command: [a, '{k}']\ngrid: {k: [1, x, [2]], kv-h: 3}\nskip_if: [{when: 'k == 1 and gpu.count ?? 0 > 1', reason: r}, {when: param[\"kv-h\"] > 3}]",
		"command: [a, '{k}', '{j}']\nscale: {k: {base: 100, by: memory ?? 1, steps: {1GiB: 0.29, 0: 2}}, j: {base: 0.5, by: 3, steps: {2: 1}}}",
		"command: [a, '{k}']\ngrid: {k: [1, 2]}\nwork: {items: k, bytes: 8 * k ** 2, flops: batch_size}",
		"file: b.py\ngrid: {k: [1, 2]}\niterations: max(10, 100 / k)\nwarmup: k ** 2\nbudget: 0.1 * k\ntimeout: 3s",
		"a: &x [*x, *x]", "\x00", "grid: {a: !!binary aa}",
	} {
		f.Add([]byte(src), "k", "5,'6'")
	}
	f.Fuzz(func(t *testing.T, src []byte, axis, values string) {
		for _, o := range []Overrides{
			{},
			{Params: map[string]string{axis: values}},
			{Targets: []string{axis}, Given: map[string]string{"provider": values, "reproducible": "true"}, Against: true},
			{Presets: []string{"quick"}, Set: []string{axis + "=" + values}},
			{Given: map[string]string{"profile": axis, "timing": values, "cold_start": "true", "rel_error": "1%"}},
		} {
			s, err := readText("sweep.yaml", src, o)
			if err != nil {
				text, given := err.Error(), string(src)+axis+values
				if strings.Contains(text, "\n") || strings.Contains(text, "%!") && !strings.Contains(given, "%!") {
					t.Errorf("error %q is no line, or has a format gone wrong", text)
				}
				continue
			}
			checkSchema(t, string(src), o)
			if n := len(s.Points)*s.Repeats + len(s.Skipped); n == 0 || n > maxLaunches {
				t.Fatalf("%d launches", n)
			}
			if len(s.Points)*s.Repeats <= 1000 { // the rest would take its time for nothing new
				checkSweep(t, s)
			}
			for i := range s.Points {
				checkText(t, &s.Points[i])
			}
		}
	})
}

// checkText checks that a store takes what a point says and a kernel its arguments.
func checkText(t *testing.T, p *Point) {
	t.Helper()
	texts := append([]string{p.Benchmark, p.Variant, p.Backend, p.Model, p.ModelPath, p.Dir, p.File, p.Object}, p.Command...)
	texts = append(texts, slices.Concat(p.Build...)...)
	for name, text := range p.Params {
		texts = append(texts, name, text)
		if schema.IsAxisColumn(name) {
			t.Errorf("parameter %q has a column of its own", name)
		}
	}
	for name, text := range p.Env {
		texts = append(texts, name, text)
	}
	for _, text := range texts {
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			t.Errorf("text %q", text)
		}
	}
}
