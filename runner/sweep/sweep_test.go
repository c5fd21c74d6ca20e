package sweep

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// parse reads a sweep that has to be good.
func parse(t *testing.T, src string, o Overrides) *Sweep {
	t.Helper()
	s, err := readText("sweep.yaml", []byte(src), o)
	if err != nil {
		t.Fatalf("%v, in\n%s", err, src)
	}
	checkSchema(t, src, o)
	return s
}

// checkSchema: what the reader takes, without help of the command line, the JSON Schema takes.
func checkSchema(t *testing.T, src string, o Overrides) {
	t.Helper()
	if len(o.Given)+len(o.Params) > 0 {
		return
	}
	if err := validate(src); err != nil {
		t.Errorf("the reader takes what the schema does not: %v\n%s", err, src)
	}
}

// parsedWords describes a point by the fields that are set, short enough for a golden list.
func parsedWords(p *Point) string {
	var words []string
	for _, w := range []string{p.Benchmark, p.Variant, p.Backend, p.Model, p.Precision} {
		if w != "" {
			words = append(words, w)
		}
	}
	for _, n := range []*int64{p.BatchSize, p.SeqLen} {
		if n != nil {
			words = append(words, fmt.Sprint(*n))
		}
	}
	var params []string
	for name, text := range p.Params {
		params = append(params, name+"="+text)
	}
	slices.Sort(params)
	return strings.Join(append(words, params...), " ")
}

func points(s *Sweep) []string {
	var all []string
	for i := range s.Points {
		all = append(all, parsedWords(&s.Points[i]))
	}
	return all
}

func equal(t *testing.T, got, want any) {
	t.Helper()
	valuetest.DeepEqual(t, got, want)
}

// tiny is the beginning of a sweep that needs nothing else.
const tiny = "backend: builtin\nmodel: builtin:x\n"

const fixtures = "../../fixtures/sweeps"

func readFixture(name string) (*Sweep, error) {
	file, err := os.Open(filepath.Join(fixtures, name))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return Read(file.Name(), file, Overrides{})
}

func TestGuideExample(t *testing.T) {
	s := valuetest.Must(readFixture("000-neurolens.yaml"))
	var want []string
	for _, bs := range []int{1, 2, 4} {
		for _, seq := range []int{64, 128} {
			for _, prec := range []string{"fp32", "fp16"} {
				want = append(want, fmt.Sprintf("add.onnx onnxrt add.onnx %s %d %d", prec, bs, seq))
			}
		}
	}
	equal(t, points(s), want)
	equal(t, s.Suite, "000-neurolens")
	equal(t, s.Repeats, 1)
	equal(t, s.Tags, map[string]string{"experiment": "smoke", "note": "initial sweep"})
	equal(t, s.Points[0], Point{
		PointID: s.Points[0].PointID, Suite: "000-neurolens", Operators: true,
		Benchmark: "add.onnx", Backend: "onnxrt", Model: "add.onnx", Precision: "fp32",
		BatchSize: new(int64(1)), SeqLen: new(int64(64)),
		Launch: task.Launch{Executor: schema.ExecutorONNXRT, Warmup: 10, Budget: 10 * time.Second}, ModelPath: "./tmp/add.onnx",
		Repeats:   1,
		ModelLine: 2, Worker: Worker{Timing: "auto", MinRunTime: 200 * time.Millisecond},
		Timeouts: Timeouts{10 * time.Minute, task.Deadlines{
			Setup: 30 * time.Second, Warmup: 15 * time.Second, Measure: 15 * time.Second,
			Validate: 15 * time.Second, Teardown: 10 * time.Second, Profile: 180 * time.Second,
		}},
		Origins: map[string]string{"model": layerSweep},
	})
}

// Every sweep of the repository can be read, and its points are what FORMAT.md calls points.
func TestFixtures(t *testing.T) {
	files := valuetest.Must(os.ReadDir(fixtures))
	want := map[string]int{"000-neurolens": 12, "aa": 30, "quickstart": 32, "command": 4, "control": 9, "operations": 40, "neurolens": 4, "telemetry": 2}
	for _, file := range files {
		s, err := readFixture(file.Name())
		if err != nil {
			t.Error(err)
			continue
		}
		name := strings.TrimSuffix(file.Name(), ".yaml")
		equal(t, fmt.Sprint(name, " ", len(s.Points)), fmt.Sprint(name, " ", want[name]))
		checkSweep(t, s)
	}
	if len(files) < len(want) {
		t.Errorf("%d sweeps, want %d", len(files), len(want))
	}
}

func TestExpansion(t *testing.T) {
	check := func(name, src string, want ...string) {
		t.Run(name, func(t *testing.T) {
			s := parse(t, src, Overrides{})
			equal(t, points(s), want)
			checkSweep(t, s)
		})
	}
	b := func(rest string) string { return "builtin:x builtin builtin:x" + rest }
	check("nothing but a model", tiny, b(""))
	check("the last axis moves fastest", tiny+"grid: {b: [1, 2], a: [x, y]}",
		b(" a=x b=1"), b(" a=y b=1"), b(" a=x b=2"), b(" a=y b=2"))
	check("aliases fill columns", tiny+"grid: {bs: 2, seq: [8], dtype: half}", b(" fp16 2 8"))
	check("lists at the top are outermost", `
benchmark: [GELU, Swish]
backend: builtin
variant: [a, b]
grid: {bs: [1, 2]}`,
		"GELU a builtin 1", "GELU a builtin 2", "GELU b builtin 1", "GELU b builtin 2",
		"Swish a builtin 1", "Swish a builtin 2", "Swish b builtin 1", "Swish b builtin 2")
	check("params come before the grid", tiny+"grid: {a: [1, 2]}\nparams: {z: 5}", b(" a=1 z=5"), b(" a=2 z=5"))
	check("zip", tiny+"grid: {h: [1, 2], bs: [1, 2], n: [3, 4]}\nzip: [h, n]",
		b(" 1 h=1 n=3"), b(" 2 h=1 n=3"), b(" 1 h=2 n=4"), b(" 2 h=2 n=4"))
	check("two zips", tiny+"grid: {a: [1, 2], b: [3, 4], c: [5, 6], d: [7, 8]}\nzip: [[a, d], [c, b]]",
		b(" a=1 b=3 c=5 d=7"), b(" a=1 b=4 c=6 d=7"), b(" a=2 b=3 c=5 d=8"), b(" a=2 b=4 c=6 d=8"))
	check("include takes all values of what it does not name", tiny+`
grid: {a: [1, 2], c: [x, y]}
include: [{a: 9}, {a: [3, 4], c: z}]`,
		b(" a=1 c=x"), b(" a=1 c=y"), b(" a=2 c=x"), b(" a=2 c=y"),
		b(" a=9 c=x"), b(" a=9 c=y"), b(" a=3 c=z"), b(" a=4 c=z"))
	check("include of axes that move together", tiny+`
grid: {a: [1, 2], c: [x, y]}
zip: [a, c]
include: [{a: [3, 4], c: [v, w]}]`,
		b(" a=1 c=x"), b(" a=2 c=y"), b(" a=3 c=v"), b(" a=4 c=w"))
	check("exclude has the last word", tiny+`
grid: {a: [1, 2], c: [x, y]}
include: [{a: 3}]
exclude: [{a: [2, 3], c: y}, {a: 1.0, c: x}]`,
		b(" a=1 c=y"), b(" a=2 c=x"), b(" a=3 c=x"))
	check("aliases and anchors", tiny+"params: {p: &v 7}\ngrid: {a: &l [1, 2], c: *l, d: *v}\nexclude: [{a: *l, c: 2}]",
		b(" a=1 c=1 d=7 p=7"), b(" a=2 c=1 d=7 p=7"))
	check("a model with a name", "backend: torch\nmodel: [a/net.pt, {name: other, path: b/net.pt}, builtin:tiny]",
		"net.pt torch net.pt", "other torch other", "builtin:tiny torch builtin:tiny")
	check("repeats and tags in grid", tiny+"grid: {a: 1, repeats: 2, tags: {k: v}}\nrepeats: 7", b(" a=1"))
}

func TestGridWins(t *testing.T) {
	s := parse(t, tiny+"tags: {a: 1}\ngrid: {repeats: 2, tags: {b: 2}}\nrepeats: 7", Overrides{})
	equal(t, s.Repeats, 2)
	equal(t, s.Tags, map[string]string{"b": "2"})
}

func TestCanonicalText(t *testing.T) {
	check := func(yaml, want string) {
		t.Helper()
		s := parse(t, tiny+"params: {p: "+yaml+"}", Overrides{})
		equal(t, s.Points[0].Params["p"], want)
	}
	check("1.0", "1")
	check("1e3", "1000")
	check("1e-7", "1e-7")
	check("1e21", "1e+21")
	check("123456789.5", "123456789.5")
	check("+5", "5")
	check("-0", "0")
	check(".5", "0.5")
	check("9223372036854775807", "9223372036854775807")
	check("True", "true")
	check("2026-11-01", "2026-11-01")
	check("yes", "yes")
	check("1:30", "1:30")
	check(`"007"`, "007")
	check(`'1_000'`, "1_000")
	check(`"1.0"`, "1.0")
	check(`"nan"`, "nan")
	check(`""`, "")
	check(`"{a}"`, "{a}")
	list := parse(t, tiny+`grid: {p: [[1.0, "<a>", {z: null, b: [true]}], {k: 0.5}]}`, Overrides{})
	equal(t, points(list), []string{
		`builtin:x builtin builtin:x p=[1,"<a>",{"b":[true],"z":null}]`, `builtin:x builtin builtin:x p={"k":0.5}`,
	})
}

func TestCommand(t *testing.T) {
	s := parse(t, `
wrapper: [numactl, "--cpunodebind={node}"]
command: ["./bin/{variant}", --bs, "{batch}", 4, '{{"a": {node}}}', ""]
variant: [a, b]
backend: cuda
model: {name: mlp}
env: {N: "{node}", FIXED: 1.0, E: ""}
cwd: /tmp/{node}
grid: {batch_size: 8, node: [0, 1]}
exclude: [{variant: b, node: 1}]
`, Overrides{})
	equal(t, points(s), []string{"a a cuda mlp 8 node=0", "a a cuda mlp 8 node=1", "b b cuda mlp 8 node=0"})
	p := s.Points[1]
	equal(t, p.Executor, schema.ExecutorCommand)
	equal(t, p.Command, []string{"numactl", "--cpunodebind=1", "./bin/a", "--bs", "8", "4", `{"a": 1}`, ""})
	equal(t, p.Env, map[string]string{"N": "1", "FIXED": "1.0", "E": ""})
	equal(t, p.Dir, "/tmp/1")
	equal(t, p.Warmup, 1)
	equal(t, p.Timeouts.Measure, 10*time.Minute)
	equal(t, p.Timeouts.Warmup, 10*time.Minute)

	file := parse(t, "command: [run, '{model}']\nmodel: [d/a.onnx, {name: b, path: d/a.onnx}, {name: c}]", Overrides{})
	for i, want := range []string{"d/a.onnx", "d/a.onnx", "c"} {
		equal(t, file.Points[i].Command, []string{"run", want})
	}
	equal(t, parse(t, "command: /bin/true", Overrides{}).Points[0].Command, []string{"/bin/true"})
}

func TestSettings(t *testing.T) {
	s := parse(t, tiny+`
suite: s
warmup: 0
iterations: 7
budget: 1m30s
timeout: 2s
timeouts: {setup: 4s, teardown: 500ms}
timeout_multiplier: 1.5
`, Overrides{})
	p := s.Points[0]
	equal(t, []int{p.Warmup, p.Iterations}, []int{0, 7})
	equal(t, p.Budget, 90*time.Second)
	equal(t, p.Timeouts, Timeouts{15 * time.Minute, task.Deadlines{
		Setup: 6 * time.Second, Warmup: 22500 * time.Millisecond, Measure: 3 * time.Second,
		Validate: 22500 * time.Millisecond, Teardown: 750 * time.Millisecond, Profile: 270 * time.Second,
	}})
	equal(t, s.Suite, "s")
}

// TestMeasureOutlastsBudget: a deadline that nobody gave does not cut a budget, which is to end the run well.
func TestMeasureOutlastsBudget(t *testing.T) {
	for _, c := range []struct {
		src  string
		o    Overrides
		want time.Duration
	}{
		{tiny, Overrides{}, 15 * time.Second},
		{tiny + "budget: 1s", Overrides{}, 15 * time.Second},
		{tiny + "budget: 20s", Overrides{}, 25 * time.Second},
		{tiny, Overrides{Given: map[string]string{"budget": "1m"}}, 65 * time.Second},
		{tiny + "timeout_multiplier: 2\nbudget: 1m", Overrides{}, 70 * time.Second},
		{tiny + "timeout_multiplier: 0.5", Overrides{}, 12500 * time.Millisecond},
		{tiny + "iterations: 5\nbudget: 20s", Overrides{}, 15 * time.Second},                // no budget applies
		{tiny + "iterations: 5\nbudget: 20s\ntimeout: 1s", Overrides{}, time.Second},        // no budget applies
		{tiny + "timeout: 2s", Overrides{}, 2 * time.Second},                                // the budget is not asked for
		{"command: [a]\nbudget: 20m", Overrides{}, 10 * time.Minute},                        // of one process
		{"command: [a]\nbudget: 1m\ntimeouts: {measure: 5s}", Overrides{}, 5 * time.Second}, // of one process
	} {
		valuetest.DeepEqual(t, parse(t, c.src, c.o).Points[0].Timeouts.Measure, c.want, c.src)
	}
}

func TestSuiteTimeout(t *testing.T) {
	for src, want := range map[string]time.Duration{
		"":                       4 * time.Hour,
		"timeout_multiplier: 2":  8 * time.Hour,
		"timeouts: {suite: 90s}": 90 * time.Second,
		"timeouts: {suite: 90s}\ntimeout_multiplier: 3\n": 270 * time.Second,
	} {
		valuetest.DeepEqual(t, parse(t, tiny+src, Overrides{}).Timeout, want, src)
	}
}

func TestOverrides(t *testing.T) {
	src := tiny + `
grid: {a: [1, 2], c: [x, y]}
exclude: [{a: 2, c: x}]
include: [{a: 3, c: x}, {c: z}]
baseline: a=1
iterations: 9
tags: {k: v, keep: this}
timeout_multiplier: 3
`
	s := parse(t, src, Overrides{
		Given: map[string]string{
			"suite": "other", "repeats": "2", "warmup": "0", "iterations": "5", "budget": "1s", "timeout_multiplier": "2",
		},
		Tags: map[string]string{"k": "w"}, Params: map[string]string{"a": `7, "07",`, "bs": "4", "z": "1.0"},
	})
	// The include that names a is gone, and so is the check of exclude: the command line replaces the axis.
	b := "builtin:x builtin builtin:x 4 "
	equal(t, points(s), []string{
		b + "a=7 c=x z=1", b + "a=7 c=y z=1", b + "a=07 c=x z=1", b + "a=07 c=y z=1", b + "a=7 c=z z=1", b + "a=07 c=z z=1",
	})
	p := s.Points[0]
	equal(t, []int{s.Repeats, p.Warmup, p.Iterations}, []int{2, 0, 5})
	equal(t, p.Budget, time.Second)
	equal(t, p.Timeouts.Measure, 30*time.Second)
	equal(t, s.Suite, "other")
	equal(t, s.Tags, map[string]string{"k": "w", "keep": "this"})

	s = parse(t, tiny, Overrides{Params: map[string]string{"model": "builtin:y", "variant": "v"}})
	equal(t, points(s), []string{"builtin:y v builtin builtin:y"})
}

// TestOnly: the points that are left keep their order and their blocks, with and without those of calibrate.
func TestOnly(t *testing.T) {
	const text = tiny + "calibrate: true\nbaseline: precision=fp32\ngrid: {batch_size: [1, 2], precision: [fp32, fp64]}\nrepeats: 1"
	s := parse(t, text, Overrides{})
	whole := fmt.Sprint(len(s.Points))
	name := func(p *Point) string {
		if p.Calibration {
			return "calibration"
		}
		return fmt.Sprint(*p.BatchSize, " ", p.Precision)
	}
	launches := func(s *Sweep) (all []string) {
		for _, l := range s.Launches(LaunchOptions{Sides: 2}) {
			all = append(all, fmt.Sprint(name(l.Point), " ", l.Side, " ", l.Block))
		}
		return all
	}
	equal(t, slices.Sorted(slices.Values(launches(s.Only(func(p *Point) bool { return !p.Control && *p.BatchSize == 2 })))),
		[]string{"2 fp32 0 0", "2 fp32 1 0", "2 fp64 0 0", "2 fp64 1 0"})
	calibration := s.Only(func(p *Point) bool { return p.Calibration })
	equal(t, []int{len(calibration.Points), len(launches(calibration))}, []int{3, 6})
	equal(t, len(s.Only(func(*Point) bool { return false }).Launches(LaunchOptions{})), 0)
	equal(t, fmt.Sprint(len(s.Points)), whole)
}

func TestOutlineOf(t *testing.T) {
	got := valuetest.Must(OutlineOf("s.yaml", []byte(`
suite: nightly
command: [sort, -n]
backend: [torch, onnxrt]
grid:
  batch_size: [1, 2]
  mode: {fast: [-O3], safe: null}
  version: ["3.10", 1e3]
  repeats: 5
params: {dim: 64}
include:
  - {batch_size: 8, dim: 64}
variants: {plain: , tuned: {warmup: 3}}
presets: {quick: {repeats: 1}, long: {repeats: 30}}
`)))
	want := Outline{
		Suite: "nightly", Presets: []string{"quick", "long"},
		Axes: []OutlinedAxis{
			{"backend", []string{"torch", "onnxrt"}},
			{"batch_size", []string{"1", "2", "8"}},
			{"mode", []string{"fast", "safe"}},
			{"version", []string{"3.10", "1e3"}},
			{"dim", []string{"64"}},
			{"variant", []string{"plain", "tuned"}},
		},
	}
	valuetest.DeepEqual(t, got, want)
	for _, broken := range []string{"", "grid: [", "- a", "\x00"} {
		if got, _ := OutlineOf("s.yaml", []byte(broken)); !reflect.DeepEqual(got, Outline{}) {
			t.Errorf("%q: got %+v, want nothing", broken, got)
		}
	}
}

// grids are sweeps of as many points; %s are the values of their axes. most is how many allocations a point may cost. Without
// any of the language a grid once took 35: three times as many are all that the whole language may.
var grids = map[string]struct {
	limit float64
	text  string
}{
	"plain": {15, "file: x.py\ngrid: {bs: [%s], seq_len: [%s], dim: [%s]}\n"},
	"skip_if": {25, "file: x.py\ngrid: {bs: [%s], seq_len: [%s], dim: [%s]}\n" +
		"skip_if: [{when: batch_size * seq_len * dim > 5e4, reason: large}, {when: 'benchmark contains \"tma\" and (gpu.count ?? 0) < 10'}]\n"},
	"language": {105, `suite: all
benchmarks: {add: , mul: {iterations: 7}}
variants:
  plain: {file: "plain.py:{benchmark}"}
  fused: {file: "fused.py:{benchmark}", warmup: 3, env: {TILE: "{dim}"}}
grid: {bs: [%s], seq_len: [%s], dim: [%s]}
params: {layout: row}
scale: {size: {base: 4096, by: 7, steps: {4: 0.5, 0: 0.1}}}
iterations: "max(10, 1e6 / dim)"
warmup: "dim < 10 ? 10 : 2"
skip_if: {when: batch_size * seq_len * dim > 5e4, reason: large}
work: {items: batch_size, bytes: 8 * batch_size * dim, flops: 2 * batch_size * dim ** 2}
metrics: {loss: {regex: "loss (.*)", optional: true}}
derived: {lost: {expr: loss / batch_size, unit: ratio}}
check: [loss < 3, (loss ?? 0) >= 0]
reference: {variant: plain}
thresholds: {latency: 5%%}
baseline: variant=plain
presets: {more: {warmup: 5}}
`},
}

// gridOf has so many values of each axis; in the sweep language, a fourth of the last, for there are four implementations.
func gridOf(name string, bs, seq, dim int) []byte {
	if name == "language" {
		dim /= 4
	}
	return fmt.Appendf(nil, grids[name].text, numbers(bs), numbers(seq), numbers(dim))
}

func numbers(n int) string {
	var words []string
	for i := range n {
		words = append(words, fmt.Sprint(i+1))
	}
	return strings.Join(words, ", ")
}

// BenchmarkPlan plans 100,000 points.
func BenchmarkPlan(b *testing.B) {
	for name := range grids {
		src := gridOf(name, 50, 50, 40)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				valuetest.DeepEqual(b, len(valuetest.Must(readText("sweep.yaml", src, Overrides{})).Planned()), 100_000)
			}
		})
	}
}

// TestPlanCost: what is written for a sweep costs its plan no more than is allowed, in allocations, which no load on the machine
// changes. BenchmarkPlan has the times.
func TestPlanCost(t *testing.T) {
	const points = 1200
	for name, grid := range grids {
		src := gridOf(name, 10, 10, 12)
		all := testing.AllocsPerRun(3, func() {
			valuetest.DeepEqual(t, len(valuetest.Must(readText("sweep.yaml", src, Overrides{})).Planned()), points)
		})
		if all/points > grid.limit {
			t.Errorf("%s: %.1f allocations a point, want at most %.0f", name, all/points, grid.limit)
		}
	}
}

// TestRepeat: the words that choose the point of a run, and those that it was made with. That they do is tried in the command.
func TestRepeat(t *testing.T) {
	t.Parallel()
	file := map[string]string{"sweep.file": "a sweep.yaml"}
	with := func(more ...string) map[string]string {
		facts := map[string]string{"sweep.file": "s.yaml"}
		for i := 0; i < len(more); i += 2 {
			facts[more[i]] = more[i+1]
		}
		return facts
	}
	for name, c := range map[string]struct {
		run  schema.Run
		want string
	}{
		"no file": {schema.Run{Benchmark: "b"}, ""},
		"a command": {
			schema.Run{Executor: schema.ExecutorCommand, Benchmark: "b", Variant: "label", Params: map[string]string{"z": "1", "n": "007", "e": ""}, Env: schema.Env{Facts: file}},
			`bench|a sweep.yaml|--targets|b|-P|e=""|-P|n="007"|-P|z=1`,
		},
		"one function of a file": {
			schema.Run{
				Executor: schema.ExecutorPython, Benchmark: "d/b.py:bench_f", Params: map[string]string{"n": "1"},
				Env: schema.Env{Facts: map[string]string{"runner.flags": `{"line":"[\"d/b.py\"]"}`}},
			},
			"bench|d/b.py|--targets|d/b.py:bench_f|-P|n=1",
		},
		"a function that was named": {
			schema.Run{
				Executor: schema.ExecutorPython, Benchmark: "b.py:bench_f", Env: schema.Env{Facts: map[string]string{"runner.flags": `{"line":"[\"b.py:bench_f\"]"}`}},
			},
			"bench|b.py:bench_f",
		},
		"a target that is a pattern": {schema.Run{Executor: schema.ExecutorCommand, Benchmark: "a*", Env: schema.Env{Facts: file}}, "bench|a sweep.yaml"},
		"axes of columns": {
			schema.Run{
				Executor: schema.ExecutorPython, Benchmark: "b.py:{f}", Backend: "no", BatchSize: new(int64(8)), SeqLen: new(int64(128)), Precision: "fp16",
				Params: map[string]string{"x": "2"}, Env: schema.Env{Facts: with("runner.axis.x", "2.0")},
			},
			`bench|s.yaml|-P|benchmark="b.py:{{f}}"|-P|backend="no"|-P|batch_size=8|-P|seq_len=128|-P|precision=fp16|-P|x=2.0`,
		},
		"a model by its path": {
			schema.Run{Executor: schema.ExecutorONNXRT, Model: "one.onnx", Env: schema.Env{Facts: with("runner.model", "./one.onnx", "runner.profile", "ort")}},
			`bench|s.yaml|-P|model="./one.onnx"|--profile|ort|--against|abc`,
		},
		"a model of another name": {schema.Run{Executor: schema.ExecutorONNXRT, Model: "mine", Env: schema.Env{Facts: with("runner.model", "./one.onnx")}}, "bench|s.yaml"},
		"a calibration": {
			schema.Run{Executor: schema.ExecutorBuiltin, Benchmark: "calibration", Variant: "fma", Env: schema.Env{Facts: with("runner.control", "true")}},
			"bench|s.yaml|--targets|calibration",
		},
		"options": {
			schema.Run{Executor: schema.ExecutorPython, Env: schema.Env{Facts: with("runner.flags", `{"python":"p","cold-start":"true","iterations":"4","seed":"7"}`, "runner.cold_start", "true", "python.executable", "q")}},
			"bench|s.yaml|--python|p|--iterations=4|--cold-start",
		},
		"a variant with keys of its own, and layers": {
			schema.Run{
				Executor: schema.ExecutorCommand, Benchmark: "b", Variant: "v",
				Env: schema.Env{Facts: with("runner.axis.variant", "v", "runner.flags", `{"preset":"quick","set":"[\"warmup=0\",\"env.A=b,c\"]"}`)},
			},
			"bench|s.yaml|--targets|b|-P|variant=v|--preset|quick|--set|warmup=0|--set|env.A=b,c",
		},
		"a shell and an input, of keys": {
			schema.Run{
				Executor: schema.ExecutorCommand, Params: map[string]string{"shell": "sh", "stdin": "a", "n": "1"},
				Env: schema.Env{Facts: with("runner.shell", "sh", "runner.stdin", "a", "runner.flags", `{"shell":"true"}`)},
			},
			"bench|s.yaml|-P|n=1|--shell",
		},
		"a shell of an axis": {
			schema.Run{
				Executor: schema.ExecutorCommand, Params: map[string]string{"shell": "sh", "stdin": "a"},
				Env: schema.Env{Facts: with("runner.shell", "sh", "runner.axis.shell", "sh")},
			},
			"bench|s.yaml|-P|shell=sh|-P|stdin=a",
		},
		"hooks that are called true": {
			schema.Run{
				Executor: schema.ExecutorCommand,
				Env: schema.Env{Facts: with("runner.prepare", "x", "runner.cleanup", "x", "runner.ignore_exit", "true",
					"runner.flags", `{"prepare":"true","cleanup":"true","ignore-exit":"true","no-skip-after-oom":"true"}`)},
			},
			"bench|s.yaml|--no-skip-after-oom|--prepare=true|--cleanup=true|--ignore-exit",
		},
		"the interpreter":              {schema.Run{Executor: schema.ExecutorPython, Env: schema.Env{Facts: with("python.executable", "/v/bin/python")}}, "bench|s.yaml|--python|/v/bin/python"},
		"one that a parameter chooses": {schema.Run{Executor: schema.ExecutorCommand, Params: map[string]string{"py": "v/bin/python"}, Env: schema.Env{Facts: with("python.executable", "/v/bin/python")}}, `bench|s.yaml|-P|py=v/bin/python`},
	} {
		against := ""
		if strings.Contains(c.want, "--against") {
			against = "abc"
		}
		line, program := Repeat(&c.run, against)
		if program != nil {
			line = append(append(line, "--"), program...)
		}
		valuetest.DeepEqual(t, strings.Join(line, "|"), c.want, name)
	}
}

// TestChoosesPython: an axis that names the interpreter needs no option.
func TestChoosesPython(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{"./venv/bin/python": true, "python": true, "thon": false, "": false, ".": false, "64": false} {
		valuetest.DeepEqual(t, choosesPython(map[string]string{"which": value}, "/a/venv/bin/python"), want, value)
	}
}

// TestRepeated: what is stored of the layers of a command line is what is typed again, and the variant of a sweep is known
// for one of several.
func TestRepeated(t *testing.T) {
	given := Overrides{Presets: []string{"a", "b"}, Set: []string{"warmup=0"}, Given: map[string]string{"python": "p", "seed": "1"}}.Repeated()
	equal(t, given, map[string]string{"python": "p", "preset": "a,b", "set": `["warmup=0"]`})
	p := parse(t, operations, Overrides{}).Points[0]
	equal(t, []string{p.Written["variant"], p.Written["benchmark"]}, []string{p.Variant, p.Benchmark})
	equal(t, parse(t, "command: [a]\nvariant: b\n", Overrides{}).Points[0].Written["variant"], "")
}

// TestShellOfAxis: a parameter that is an axis and a key is said to be an axis; one of a key alone is not.
func TestShellOfAxis(t *testing.T) {
	p := parse(t, "command: a {shell}\nshell: '{shell}'\nstdin: b\ngrid: {shell: [sh, bash]}\n", Overrides{}).Points[0]
	equal(t, []string{p.Written["shell"], p.Written["stdin"]}, []string{"sh", ""})
}

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
	valuetest.ErrorText(t, valuetest.Error(readText("sweep.yaml", []byte(src), Overrides{})), "…the points take more than 128 MiB…")
}

func TestBombs(t *testing.T) {
	check := func(src, want string) {
		t.Helper()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := readText("sweep.yaml", []byte(src), Overrides{})
		runtime.ReadMemStats(&after)
		valuetest.ErrorText(t, err, want)
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
	valuetest.DeepEqual(t, len(s.Launches(LaunchOptions{})), maxLaunches)
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
