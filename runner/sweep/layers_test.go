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
	"github.com/neurolens/neurolens/schema/valuetest"
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
				s.Points[i].FileLine, s.Points[i].Origins, s.Points[i].Fixed = 0, nil, nil
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
	valuetest.DeepEqual(t, s.Points[0].Params["size"], "100")
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

// under returns defaults of a project, of this text.
func under(t *testing.T, text string) Defaults {
	t.Helper()
	keys := valuetest.Must(Load("neurolens.yaml", []byte(text)))
	return Defaults{Layer: LayerProject, Name: "neurolens.yaml", Lines: true, Keys: keys}
}

// ofVariable returns the default that a variable is.
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
		valuetest.ErrorText(t, err, want+"…", text)
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
		text := valuetest.Must(os.ReadFile(path))
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

// levels are the layers in the order in which they win over one another, and how a key is written in each.
var levels = []struct{ layer, form string }{
	{layerSweep, "%s: %s\n"},
	{layerBenchmark, "benchmarks: {b: {%s: %s}}\n"},
	{layerVariant, "variants: {v: {%s: %s}}\n"},
	{layerPreset + " p", "presets: {p: {%s: %s}}\n"},
	{layerFlag, "%s=%s"},
}

// values are for every key five values, one for each level, and what else a sweep has to have. A key of the whole sweep
// has three: it stands in no benchmark and no variant.
var levelValues = map[string][]string{
	"suite":                 {"a", "b", "c", "d", "e", "command: [x]"},
	"command":               {"[a]", "[b]", "[c]", "[d]", "[e]"},
	"wrapper":               {"[a]", "[b]", "[c]", "[d]", "[e]", "command: [x]"},
	"file":                  {"a.py", "b.py", "c.py", "d.py", "e.py"},
	"backend":               {"a", "b", "c", "d", "e", "file: x.py"},
	"model":                 {"a.pt", "b.pt", "c.pt", "d.pt", "e.pt", "backend: torch"},
	"benchmark":             {"a", "b", "c", "command: [x]"},
	"variant":               {"a", "b", "c", "command: [x]"},
	"build":                 {"[[a]]", "[[b]]", "[[c]]", "[[d]]", "[[e]]", "command: [x]"},
	"env":                   {"{A: 1}", "{A: 2}", "{A: 3}", "{A: 4}", "{A: 5}", "command: [x]"},
	"cwd":                   {"a", "b", "c", "d", "e", "command: [x]"},
	"share":                 {"a", "b", "c", "command: [x]"},
	"tags":                  {"{a: 1}", "{a: 2}", "{a: 3}", "command: [x]"},
	"optional":              {"true", "false", "true", "false", "true", "command: [x]"},
	"skip_exit":             {"1", "2", "3", "4", "5", "command: [x]"},
	"shell":                 {"sh", "bash", "true", "dash", "zsh", "command: a | b"},
	"setup":                 {"a", "[b]", "c d", "[d]", "e", "command: [x]"},
	"prepare":               {"a", "[b]", "c d", "[d]", "e", "command: [x]"},
	"cleanup":               {"a", "[b]", "c d", "[d]", "e", "command: [x]"},
	"stdin":                 {"a", "b", "c", "d", "e", "command: [x]"},
	"ignore_exit":           {"1", "[2]", "true", "[4, 5]", "5", "command: [x]"},
	"metrics":               {"{m: {regex: a}}", "{m: {jq: .b}}", "{m: {regex: c}}", "{m: {regex: d}}", "{m: {jq: .e}}", "command: [x]"},
	"grid":                  {"{k: [1, 2]}", "{k: 3}", "{k: [4, 5]}", "{k: 6}", "{k: [7, 8, 9]}", "file: x.py"},
	"params":                {"{k: 1}", "{k: 2}", "{k: 3}", "{k: 4}", "{k: 5}", "file: x.py"},
	"scale":                 {scaleOf(1), scaleOf(2), scaleOf(3), scaleOf(4), scaleOf(5), "file: x.py"},
	"zip":                   {"[a, b]", "[a, c]", "[b, c]", "[a, b, c]", "[[a, c]]", "grid: {a: [1, 2], b: [1, 2], c: [1, 2]}\nfile: x.py"},
	"include":               {"[{a: 5}]", "[{a: 6}]", "[{a: 7}]", "[{a: 8}]", "[{a: 9}]", "grid: {a: 1}\nfile: x.py"},
	"exclude":               {"[{a: 1}]", "[{a: 2}]", "[{a: 3}]", "[{a: 4}]", "[{a: 5}]", "grid: {a: [1, 2, 3, 4, 5]}\nfile: x.py"},
	"skip_if":               {"{when: k == 1}", "[{when: k == 2}]", "{when: k == 3}", "{when: k == 4}", "{when: k == 5}", "grid: {k: [1, 2, 3, 4, 5]}\nfile: x.py"},
	"baseline":              {"a=1", "b=1", "a=2", "grid: {a: [1, 2], b: [1, 2]}\nfile: x.py"},
	"control":               {"a=1", "b=1", "a=2", "grid: {a: [1, 2], b: [1, 2]}\nfile: x.py"},
	"calibrate":             {"true", "false", "true", "command: [x]"},
	"thresholds":            {"{latency: 1%}", "{latency: 2%}", "{latency: {abs: 3}}", "{latency: 4%}", "{latency: 5%}", "command: [x]"},
	"output":                {"{from: a}", "{from: b}", "{from: c}", "{from: d}", "{from: e}", "command: [x]"},
	"reference":             {"{from: a, rtol: 1}", "{from: b, rtol: 2}", "{from: c, rtol: 3}", "{from: d, rtol: 4}", "{from: e, rtol: 5}", "file: x.py"},
	"derived":               {"{a: {expr: latency, unit: s}}", "{a: {expr: 2 * latency, unit: s}}", "{a: {expr: '3', unit: J}}", "{a: {expr: '4', unit: J}}", "{a: {expr: '5', unit: J}}", "file: x.py"},
	"check":                 {"latency < 1", "latency < 2", "latency < 3", "latency < 4", "latency < 5", "file: x.py"},
	"allow_failed":          {"1", "2", "3%", "4", "0.5", "file: x.py"},
	"artifacts":             {"[a]", "[b]", "[c]", "[d]", "{files: [e], limit: 1MiB}", "file: x.py"},
	"primary":               {"a", "b", "c", "d", "e", "file: x.py"},
	"deterministic":         {"true", "false", "true", "false", "true", "file: x.py"},
	"profile":               {"torch", "[]", "torch", "[]", "torch", "file: x.py"},
	"telemetry":             {"{hz: 1}", "{hz: 2}", "{hz: 3}", "{hz: 4}", "{hz: 5}", "file: x.py"},
	"counters":              {"cycles", "[instructions]", "[task_clock, cycles]", "default", "page_faults", "file: x.py"},
	"work":                  {"{items: 1}", "{items: 2}", "{items: 3}", "{items: 4}", "{items: 5}", "file: x.py"},
	"warmup":                {"1", "2", "3", "4", "5", "file: x.py"},
	"iterations":            {"1", "2", "3", "4", "5", "file: x.py"},
	"budget":                {"1s", "2s", "3s", "4s", "5s", "file: x.py"},
	"timeout":               {"21s", "22s", "23s", "24s", "25s", "file: x.py"},
	"timeouts":              {"{setup: 1s}", "{setup: 2s}", "{setup: 3s}", "{setup: 4s}", "{setup: 5s}", "file: x.py"},
	"timeout_multiplier":    {"2", "3", "4", "file: x.py"},
	"repeats":               {"2", "3", "4", "5", "6", "file: x.py"},
	"rel_error":             {"1%", "2%", "3%", "file: x.py"},
	"max_repeats":           {"21", "22", "23", "rel_error: 1%\nfile: x.py"},
	"order":                 {"random", "sequential", "interleaved", "file: x.py"},
	"python":                {"a", "b", "c", "d", "e", "file: x.py"},
	"provider":              {"a", "b", "c", "d", "e", "backend: onnxrt\nmodel: a.onnx"},
	"device":                {"a", "b", "c", "d", "e", "backend: torch\nmodel: a.pt"},
	"threads":               {"1", "2", "3", "4", "5", "backend: torch\nmodel: a.pt"},
	"timing":                {"auto", "perf_counter", "cuda_event", "triton", "torch_timer", "file: x.py"},
	"iterations_per_sample": {"1", "2", "3", "4", "5", "file: x.py"},
	"min_run_time":          {"1s", "2s", "3s", "4s", "5s", "timing: torch_timer\nfile: x.py"},
	"seed":                  {"1", "2", "3", "4", "5", "file: x.py"},
	"reproducible":          {"true", "false", "true", "false", "true", "file: x.py"},
	"cold_start":            {"true", "false", "true", "false", "true", "file: x.py"},
	"inputs":                {"{a: 1}", "{a: {high: 2}}", "{a: 3}", "{a: {mean: 4}}", "{a: 5}", "backend: onnxrt\nmodel: a.onnx"},
	"session":               {"{inter_op_num_threads: 1}", "{inter_op_num_threads: 2}", "{inter_op_num_threads: 3}", "{inter_op_num_threads: 4}", "{inter_op_num_threads: 5}", "backend: onnxrt\nmodel: a.onnx"},
	"flush_l2":              {"true", "false", "true", "false", "true", "backend: torch\nmodel: a.pt"},
}

// scaleOf returns a scale that does not depend on the machine.
func scaleOf(base int) string { return fmt.Sprintf("{k: {base: %d, by: 1, steps: {0: 1}}}", base) }

// TestPrecedence: of a key that stands at every level up to one, the topmost level wins, and is said to be where it comes
// from. What holds for the whole sweep is of no benchmark and no variant.
func TestPrecedence(t *testing.T) {
	for _, k := range keys {
		values := levelValues[k.Name]
		at := []int{0, 1, 2, 3, 4}
		if k.Whole {
			at = []int{0, 3, 4}
		}
		if len(values) < len(at) {
			t.Errorf("%s: want a value for each level", k.Name)
			continue
		}
		rest := strings.Join(values[len(at):], "") + "\n"
		for top := range at {
			checkPrecedence(t, k, at[:top+1], values, rest)
		}
	}
}

func checkPrecedence(t *testing.T, k Key, at []int, values []string, rest string) {
	t.Helper()
	src, o := rest, Overrides{}
	plain := rest + fmt.Sprintf(levels[0].form, k.Name, values[len(at)-1])
	spread := k.Name != "benchmark" && k.Name != "variant"
	for i, level := range at {
		text := fmt.Sprintf(levels[level].form, k.Name, values[i])
		switch level {
		case 4:
			o.Set = []string{text}
		case 3:
			o.Presets = []string{"p"}
			fallthrough
		default:
			src += text
		}
	}
	for key, empty := range map[string]string{"benchmarks": "benchmarks: {b: }\n", "variants": "variants: {v: }\n"} {
		if spread && !strings.Contains(src, key) {
			src += empty
		}
		if spread {
			plain += empty
		}
	}
	got, want := parse(t, src, o), parse(t, plain, Overrides{})
	layer := levels[at[len(at)-1]].layer
	for i := range got.Points {
		if origin := got.Points[i].Origins[k.Name]; k.Stored && origin != layer {
			t.Errorf("%s at %s is said to be of %q", k.Name, layer, origin)
		}
	}
	var results []string
	for _, s := range []*Sweep{got, want} {
		s.SHA256 = ""
		for _, p := range s.Planned() {
			p.ModelLine, p.FileLine, p.CommandLine, p.BuildLine, p.PythonLine = 0, 0, 0, 0, 0
			p.Origins, p.Fixed = nil, nil
			results = append(results, resultsText(p))
			p.Derived, p.Checks = nil, nil
		}
	}
	equal(t, got, want)
	equal(t, results[:len(results)/2], results[len(results)/2:])
	if t.Failed() {
		t.Fatalf("%s at %s:\n%s%v", k.Name, layer, src, o.Set)
	}
}

// resultsText returns what is made of the metrics of a point.
func resultsText(p *Point) string {
	var words []string
	for _, r := range slices.Concat(p.Derived, p.Checks) {
		words = append(words, r.Name, r.Text, r.Unit, string(r.Better))
	}
	return strings.Join(words, " ")
}
