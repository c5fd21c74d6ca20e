package sweep

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
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
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%v\nwant\n%v", got, want)
	}
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
	s, err := readFixture("000-neurolens.yaml")
	if err != nil {
		t.Fatal(err)
	}
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
		PointID: s.Points[0].PointID, Line: 3, Suite: "000-neurolens", Operators: true,
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
	files, err := os.ReadDir(fixtures)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"000-neurolens": 12, "aa": 30, "quickstart": 32, "command": 4, "control": 9, "operations": 40, "neurolens": 4}
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
		if got := parse(t, c.src, c.o).Points[0].Timeouts.Measure; got != c.want {
			t.Errorf("%q: %s, want %s", c.src, got, c.want)
		}
	}
}

func TestSuiteTimeout(t *testing.T) {
	for src, want := range map[string]time.Duration{
		"":                       4 * time.Hour,
		"timeout_multiplier: 2":  8 * time.Hour,
		"timeouts: {suite: 90s}": 90 * time.Second,
		"timeouts: {suite: 90s}\ntimeout_multiplier: 3\n": 270 * time.Second,
	} {
		if got := parse(t, tiny+src, Overrides{}).Timeout; got != want {
			t.Errorf("%q: %s, want %s", src, got, want)
		}
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
	got, err := OutlineOf("s.yaml", []byte(`
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
`))
	if err != nil {
		t.Fatal(err)
	}
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
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for _, broken := range []string{"", "grid: [", "- a", "\x00"} {
		if got, _ := OutlineOf("s.yaml", []byte(broken)); !reflect.DeepEqual(got, Outline{}) {
			t.Errorf("%q: got %+v, want nothing", broken, got)
		}
	}
}
