package sweep

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/schema"
)

// operations is a sweep with benchmarks and variants that have keys of their own.
const operations = `suite: ops
benchmarks:
  GELU:
  Loss: {grid: {loss: [mse, ce]}, iterations: 7}
variants:
  PyTorch: {backend: torch, file: "ops/pytorch.py:{benchmark}"}
  CUDA: {backend: cuda, file: "ops/cuda.py:{benchmark}", build: [[make, cuda]], grid: {tile: [16, 32]}}
grid: {batch_size: [1, 2]}
iterations: 5
baseline: variant=PyTorch
presets:
  quick: {iterations: 1, grid: {batch_size: 1}, variants: {CUDA: {grid: {tile: 16}}}}
`

func TestBenchmarksAndVariants(t *testing.T) {
	s := parse(t, operations, Overrides{})
	var got []string
	for i := range s.Points {
		p := &s.Points[i]
		got = append(got, fmt.Sprintf("%s %s %s %s:%s bs=%d loss=%s tile=%s n=%d %s build=%d", p.Benchmark, p.Variant, p.Backend,
			p.File, p.Object, *p.BatchSize, p.Params["loss"], p.Params["tile"], p.Iterations, p.Origins["iterations"], len(p.Build)))
	}
	var want []string
	for _, benchmark := range []string{"GELU", "Loss"} {
		losses, n := []string{""}, "n=5 sweep"
		if benchmark == "Loss" {
			losses, n = []string{"mse", "ce"}, "n=7 benchmark"
		}
		point := func(variant, backend, file string, bs int, loss, tile string, builds int) {
			want = append(want, fmt.Sprintf("%s %s %s ops/%s.py:%s bs=%d loss=%s tile=%s %s build=%d", benchmark, variant, backend,
				file, benchmark, bs, loss, tile, n, builds))
		}
		for _, bs := range []int{1, 2} {
			for _, loss := range losses {
				point("PyTorch", "torch", "pytorch", bs, loss, "", 0)
			}
		}
		for _, bs := range []int{1, 2} {
			for _, loss := range losses {
				for _, tile := range []string{"16", "32"} {
					point("CUDA", "cuda", "cuda", bs, loss, tile, 1)
				}
			}
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	equal(t, got, want)
}

// TestBlocksOfVariants: the points of a block agree in what all variants have. An axis of one variant tells its members
// apart, and so does a backend of its own.
func TestBlocksOfVariants(t *testing.T) {
	s := parse(t, operations, Overrides{})
	var got []string
	for _, block := range s.blocks {
		var members []string
		for _, i := range block {
			p := &s.Points[i]
			members = append(members, p.Variant+p.Params["tile"])
		}
		p := &s.Points[block[0]]
		got = append(got, fmt.Sprintf("%s %d %s: %s", p.Benchmark, *p.BatchSize, p.Params["loss"], strings.Join(members, " ")))
	}
	equal(t, got, []string{
		"GELU 1 : PyTorch CUDA16 CUDA32", "GELU 2 : PyTorch CUDA16 CUDA32",
		"Loss 1 mse: PyTorch CUDA16 CUDA32", "Loss 1 ce: PyTorch CUDA16 CUDA32",
		"Loss 2 mse: PyTorch CUDA16 CUDA32", "Loss 2 ce: PyTorch CUDA16 CUDA32",
	})
}

// TestChosenSpreads: the command line and --targets choose benchmarks and variants, and an axis that some benchmarks have is
// replaced in those alone.
func TestChosenSpreads(t *testing.T) {
	count := func(o Overrides) int { return len(parse(t, operations, o).Points) }
	equal(t, count(Overrides{Params: map[string]string{"variant": "CUDA"}}), 12)
	equal(t, count(Overrides{Params: map[string]string{"variant": "PyTorch,CUDA", "benchmark": "GELU"}}), 6)
	equal(t, count(Overrides{Params: map[string]string{"loss": "mse"}}), 12)
	equal(t, count(Overrides{Targets: []string{"ops:GELU"}}), 6)
	_, err := readText("s.yaml", []byte(operations), Overrides{Params: map[string]string{"variant": "cuda"}})
	equal(t, fmt.Sprint(err), `-P variant: "cuda" is not one of the variants: did you mean CUDA?`)
}

func TestPresets(t *testing.T) {
	s := parse(t, operations, Overrides{Presets: []string{"quick"}})
	equal(t, len(s.Points), 6)
	for i := range s.Points {
		p := &s.Points[i]
		equal(t, []any{p.Iterations, p.Origins["iterations"], p.Fixed}, []any{1, "preset quick", []string{"iterations"}})
	}
	s = parse(t, operations, Overrides{Presets: []string{"quick"}, Set: []string{"iterations=3", "timeouts.measure=1m", "variants.CUDA.grid.tile=[8, 9, 10]"}})
	equal(t, len(s.Points), 3*(1+3))
	p := &s.Points[0]
	equal(t, []any{p.Iterations, p.Origins["iterations"], p.Timeouts.Measure.String()}, []any{3, layerFlag, "1m0s"})
}

// TestLayersReplace: what a layer says in another way takes the place of what is below it.
func TestLayersReplace(t *testing.T) {
	for below, above := range map[string]string{
		"rel_error: 1%\nmax_repeats: 9": "iterations: 4",
		"iterations: 4":                 "rel_error: 1%",
		"timeout: 5s":                   "timeouts: {measure: 20s}",
		"timeouts: {measure: 20s}":      "timeout: 5s",
		"params: {epochs: 5}":           "grid: {epochs: [1, 2]}",
		"grid: {bs: [1, 2]}":            "params: {batch_size: 8}",
		"grid: {repeats: 3, k: [1, 2]}": "repeats: 2",
		"grid: {k: {a: [], b: []}}":     "grid: {k: c}",
		"params: {k: 1}":                "params: {k: [1, 2]}",
		"env: {A: 1, B: 2}":             "env: {B: 3}",
		"thresholds: {latency: 5%}":     "thresholds: {latency: {abs: 1 ms}}",
		"backend: cuda":                 "grid: {backend: [cpu, mps]}",
	} {
		src := "file: b.py\n" + below + "\npresets: {p: {" + strings.ReplaceAll(above, "\n", ", ") + "}}\n"
		layered := parse(t, src, Overrides{Presets: []string{"p"}})
		src = "file: b.py\n" + above + "\n"
		if strings.HasPrefix(above, "env") {
			src = "file: b.py\nenv: {A: 1, B: 3}\n"
		}
		if strings.Contains(below, "repeats: 3") {
			src += "grid: {k: [1, 2]}\n"
		}
		plain := parse(t, src, Overrides{})
		for _, s := range []*Sweep{layered, plain} {
			s.SHA256 = ""
			for i := range s.Points {
				s.Points[i].Line, s.Points[i].FileLine, s.Points[i].Origins, s.Points[i].Fixed = 0, 0, nil, nil
			}
		}
		equal(t, layered, plain)
	}
}

// TestEntriesOfSome: entries of include and exclude may name what some benchmarks and variants have.
func TestEntriesOfSome(t *testing.T) {
	s := parse(t, operations+"exclude: [{loss: mse}, {variant: CUDA, batch_size: 2}]\n", Overrides{})
	equal(t, len(s.Points), (2+2)+(2+2))
	s = parse(t, operations+"include: [{variant: CUDA, batch_size: 64, tile: 16}]\n", Overrides{})
	equal(t, len(s.Points), 18+1+2)
	_, err := readText("s.yaml", []byte(operations+"exclude: [{loss: mse, tile: 64}]\n"), Overrides{})
	equal(t, fmt.Sprint(err), "s.yaml:13: exclude: no point matches it")
}

func TestErrorsOfLayers(t *testing.T) {
	check := refuses(t, tiny)
	check("variants: [a]", "3: variants: want a map, got a list")
	check("variants: {}", "3: variants: is empty")
	check("variants: {a: 1}", "3: variants.a: want a map, got 1")
	check("variants: {a: {fil: x}}", "3: variants.a: unknown key fil: did you mean file?")
	check("variants: {a: {order: random}}", "3: variants.a.order: applies to the whole sweep: move it to the top of the file or into a preset")
	check("variants: {a: {timeouts: {suite: 1h}}}", "3: variants.a.timeouts: applies to the whole sweep: move it to the top of the file or into a preset")
	check("variants: {a: {grid: {tags: {a: b}}}}", "3: variants.a.tags: applies to the whole sweep: move it to the top of the file or into a preset")
	check("variant: b\nvariants: {a: }", "3: variant: cannot be combined with variants (line 4): use one of them")
	check("variants: {a: , b: {iterations: x}}", `3: iterations: neither a number nor an expression: 1:1: unknown name x (variant b)`)
	check("iterations: x\nvariants: {a: , b: }", `3: iterations: neither a number nor an expression: 1:1: unknown name x`)
	check("variants: {a: , b: }\nbaseline: variant=c", "4: baseline: axis variant has no value c")
	check("presets: {p: 1}", "3: presets.p: want a map, got 1")
	check("presets: {p: {presets: {}}}", "3: presets.p: unknown key presets: "+
		remedy("presets", slices.DeleteFunc(keyNames(Keys()), func(n string) bool { return n == "presets" || n == "discover" })))
	check("presets: {p: {variants: {a: }}}", "3: presets.p.variants: the sweep has no variants")
	check("variants: {a: }\npresets: {p: {variants: {b: }}}", "4: presets.p.variants.b: is not one of the variants: want one of a")
	for option, want := range map[string]string{
		"iterations":      "--set iterations: want KEY=VALUE",
		"iterations=x":    `--set iterations: iterations: neither a number nor an expression: 1:1: unknown name x`,
		"iteration=1":     "--set iteration: unknown key iteration: did you mean iterations?",
		"timeouts.mes=1s": "--set timeouts.mes: timeouts: unknown key mes: want one of build setup warmup measure validate teardown profile suite",
		"grid.a=[1, 1]":   "--set grid.a: axis a: 1 appears twice",
	} {
		_, err := readText("s.yaml", []byte(tiny), Overrides{Set: []string{option}})
		equal(t, fmt.Sprint(err), want)
	}
	_, err := readText("s.yaml", []byte(operations), Overrides{Presets: []string{"fast"}})
	equal(t, fmt.Sprint(err), "--preset fast: there is no such preset in s.yaml: want one of quick")
}

// TestReplaced: what a layer says takes the place of what those below it say of the same thing in another way.
func TestReplaced(t *testing.T) {
	quick := Overrides{Presets: []string{"quick"}}
	s := parse(t, "command: [x]\niterations: 5\npresets: {quick: {budget: 1s}}\n", quick)
	if p := s.Points[0]; p.Iterations != 0 || p.Budget.Seconds() != 1 {
		t.Errorf("a budget over iterations: %d, %v", p.Iterations, p.Budget)
	}
	s = parse(t, "command: [x, '{size}']\nscale: {size: {base: 4096, by: 8, steps: {16: 1, 8: 0.5, 0: 0.1}}}\npresets: {quick: {scale: {size: {base: 100, by: 8, steps: {0: 1}}}}}\n", quick)
	if size := s.Points[0].Params["size"]; size != "100" {
		t.Errorf("an axis of scale over one: size %s", size)
	}
	s = parse(t, "command: [x, '{variant}']\nvariants: {a: , b: {backend: builtin, model: 'builtin:tiny_linear'}}\n", Overrides{})
	if a, b := s.Points[0], s.Points[1]; a.Executor != schema.ExecutorCommand || b.Executor != schema.ExecutorBuiltin || b.Command != nil {
		t.Errorf("a model over a command: %s, then %s of %v", a.Executor, b.Executor, b.Command)
	}
	s = parse(t, "command: [x, '{variant}']\nvariants: {a: , b: {backend: mine, model: m}}\n", Overrides{})
	if b := s.Points[1]; b.Executor != schema.ExecutorCommand || b.Backend != "mine" {
		t.Errorf("labels over a command: %s, %s", b.Executor, b.Backend)
	}
	const output = "command: [x, '{k}']\ngrid: {k: [1, 2]}\noutput: {from: stdout, read: text}\n"
	s = parse(t, output+"reference: {k: 1, rtol: 0.5}\npresets: {quick: {reference: {from: r.txt, read: text}}}\n", quick)
	if r := s.Points[1].Reference; r.Point != nil || r.File != "r.txt" || r.Tolerance.Relative != .5 {
		t.Errorf("a file over a point: %+v", r)
	}
	s = parse(t, output+"reference: {from: r.txt, read: text, atol: 2}\npresets: {quick: {reference: {k: 1}}}\n", quick)
	if r := s.Points[1].Reference; r.Point == nil || r.File != "" || r.Tolerance.Absolute != 2 {
		t.Errorf("a point over a file: %+v", r)
	}
	s = parse(t, output+"reference: {k: 1}\npresets: {quick: {reference: {rtol: 0.25}}}\n", quick)
	if r := s.Points[1].Reference; r.Point == nil || r.Tolerance.Relative != .25 {
		t.Errorf("a tolerance over a point: %+v", r)
	}
}

// TestNamesOfTwoThings: where a name could be two things, the sweep has to say which.
func TestNamesOfTwoThings(t *testing.T) {
	check := refuses(t, "command: [x, '{accuracy}', '{memory}']\ngrid: {accuracy: [0.9], memory: [1]}\n")
	check("check: accuracy >= 0.8", "3: check: 1:1: accuracy is the name of a metric and of something else: write metric.accuracy or param.accuracy")
	check("check: memory > 1", "3: check: 1:1: memory is the name of a parameter and of a fact: write param.memory or fact.memory")
	check("derived: {loss: {expr: '1', unit: s}}\nmetrics: {loss: {regex: x}}", "3: derived.loss: metrics defines a metric with this name: choose another name")
	refuses(t, "command: [x, '{run_dir}']\n")("grid: {run_dir: [1]}", "2: axis run_dir: the name run_dir is reserved for the directory of a run: choose another one")
	refuses(t, "command: [x]\nmetrics: {memory: {regex: x}}\n")("check: memory > 1", "3: check: 1:1: memory is the name of a metric and of something else: write metric.memory or fact.memory")
	parse(t, "command: [x]\nmetrics: {memory: {regex: x}}\ncheck: [metric.memory > 1, fact.memory > 1]\n", Overrides{Facts: here(t, nil)})
	parse(t, "command: [x, '{accuracy}']\ngrid: {accuracy: [0.9]}\ncheck: [metric.accuracy > param.accuracy]\n", Overrides{})
}

// under are defaults of a project, of this text.
func under(t *testing.T, text string) Defaults {
	t.Helper()
	keys, err := Load("neurolens.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return Defaults{Layer: LayerProject, Name: "neurolens.yaml", Lines: true, Keys: keys}
}

// ofVariable is the default that a variable is.
func ofVariable(key, text string) Defaults {
	return Defaults{Layer: LayerEnvironment, Name: "NEUROLENS_PYTHON", Keys: &yaml.Node{
		Kind: yaml.MappingNode, Tag: "!!map",
		Content: []*yaml.Node{Verbatim(key, 0), Verbatim(text, 0)},
	}}
}

// TestOutsideDefaults: what is said outside of a sweep holds where nothing in it or on the command line says something else.
func TestOutsideDefaults(t *testing.T) {
	project := under(t, "python: theirs\nwarmup: 3\nthresholds: {latency: 5%, energy: 7%}")
	s := parse(t, "file: x.py\nbenchmarks: {a: , b: {warmup: 4}}\nthresholds: {latency: 1%}", Overrides{Defaults: []Defaults{project}})
	a, b := s.Points[0], s.Points[1]
	equal(t, []any{a.Python, a.Warmup, b.Warmup, a.PythonLine}, []any{"theirs", 3, 4, 0})
	equal(t, a.Thresholds, map[string]string{"latency": "1%", "energy": "7%"})
	equal(t, []string{a.Origins["warmup"], b.Origins["warmup"]}, []string{"project", "benchmark"})

	o := Overrides{Defaults: []Defaults{project, ofVariable("python", "of{braces}")}}
	equal(t, parse(t, "file: x.py", o).Points[0].Python, "of{braces}")
	equal(t, parse(t, "file: x.py\npython: own", o).Points[0].Python, "own")
	o.Given = map[string]string{"python": "typed", "warmup": "9"}
	p := parse(t, "file: x.py\npython: own", o).Points[0]
	equal(t, []any{p.Python, p.Warmup, p.Origins["warmup"]}, []any{"typed", 9, "flag"})

	// It is not said of this sweep: what nothing in it takes is passed over.
	equal(t, parse(t, "command: [x]", Overrides{Defaults: []Defaults{under(t, "python: theirs\ntiming: triton")}}).Points[0].Python, "")

	equal(t, parse(t, "file: x.py\ncold_start: true", Overrides{Defaults: []Defaults{project}}).Points[0].Warmup, 0)

	for text, want := range map[string]string{
		"warmup: 3\nrepeats: many":           "neurolens.yaml:2: repeats: want",
		"thresholds:\n  latency: {abs: 3 B}": "neurolens.yaml:2: thresholds.latency.abs: latency is in ns, not in B",
	} {
		_, err := readText("sweep.yaml", []byte("file: x.py"), Overrides{Defaults: []Defaults{under(t, text)}})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

// TestOutsideDefaultsRefuseNothing: a sweep that can be read can be read in every project.
func TestOutsideDefaultsRefuseNothing(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(fixtures, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	all := Overrides{}
	for _, key := range DefaultKeys() {
		value := map[string]string{"order": "random", "timing": "perf_counter", "python": "theirs"}[key]
		if value == "" {
			value = "3"
		}
		all.Defaults = append(all.Defaults, under(t, key+": "+value))
	}
	read := 0
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := readText(path, text, Overrides{}); err != nil {
			continue // it is one of those that are to be refused
		}
		read++
		if _, err := readText(path, text, all); err != nil {
			t.Error(err)
		}
	}
	if read == 0 {
		t.Error("no sweep was read")
	}
	for _, text := range []string{
		"file: x.py\nrel_error: 1%", "file: x.py\ncold_start: true", "command: [x]\nmetrics: {m: {regex: a}}", "file: x.py\niterations: 3", tiny,
		"file: x.py\ntiming: torch_timer\nmin_run_time: 1s", "command: [x]\nbudget: 1s\ntimeouts: {measure: 10s}", "command: [x]\ncalibrate: true",
		"file: x.py\niterations: max(1, n)\ngrid: {n: [1, 2]}", "backend: onnxrt\nmodel: a.onnx\ncold_start: true",
		"file: x.py\niterations_per_sample: 4", "file: x.py\nrel_error: 1%\nmax_repeats: 9", "file: x.py\nwarmup: 0\ngrid: {repeats: 2, n: 1}", "command: a | b\nshell: true",
	} {
		if _, err := readText("sweep.yaml", []byte(text), Overrides{}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if _, err := readText("sweep.yaml", []byte(text), all); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
