package python

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/runner/counter"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// axes are parameters of every kind.
var axes = map[string]string{
	"benchmark": "b", "model": "m", "backend": "cpu", "variant": "v", "precision": "fp16", "batch_size": "4",
	"param.hidden": "64", "param.rate": "0.5", "param.fast": "true", "param.name": "abc", "param.dims": "[1,2.5]",
	"param.opts": `{"a":1}`, "param.quoted": "null",
}

const checkAxes = `
        assert (batch_size, hidden, precision) == (4, 64, "fp16") and type(hidden) is int
        assert (rate, fast, name, dims, opts, quoted) == (0.5, True, "abc", [1, 2.5], {"a": 1}, "null")
`

func TestAxes(t *testing.T) {
	const names = "precision, batch_size, hidden, rate, fast, name, dims, opts, quoted"
	for name, c := range map[string]struct {
		text   string
		status schema.Status
		kind   string
		want   string
	}{
		"class": {`
class Bench:
    def __init__(self, ` + names + `, model, other=3):
        assert model == "m"` + checkAxes + `
        self.batch_size, self.hidden, self.precision = batch_size, hidden, "torch.float16"
        self.dims = (1, 2.5)
    def benchmark_fn(self): pass
`, schema.StatusOK, "", ""},
		"function": {`
def run_benchmark(` + names + `, *, variant="none"):
        assert variant == "v"` + checkAxes, schema.StatusOK, "", ""},
		"function of anything": {`
def run_benchmark(**problem_size):
        assert len(problem_size) == 9 and problem_size["hidden"] == 64, problem_size
`, schema.StatusOK, "", ""},
		"parameter that is not taken": {`
class Bench:
    def __init__(self, batch_size, seq_len=1): pass
    def benchmark_fn(self): pass
`, schema.StatusUnsupported, "not_applied", "it takes batch_size, seq_len"},
		"no parameters": {`
def run_benchmark(): pass
`, schema.StatusUnsupported, "not_applied", "it takes none"},
		"parameter that is needed": {`
def run_benchmark(size, **rest): pass
`, schema.StatusError, "setup", "run_benchmark needs size, which the point does not have; to set it, add an axis: -P size=..."},
		"parameter that no axis can be": {`
def run_benchmark(size, /, **rest): pass
`, schema.StatusError, "setup", "run_benchmark needs size, which the point does not have"},
	} {
		t.Run(name, func(t *testing.T) {
			o := runSpec(t, benchmark(t, c.text, axes))
			stage := schema.StageSetup
			if c.status == schema.StatusOK {
				stage = ""
			}
			check(t, o, c.status, stage, c.kind, c.want)
		})
	}
}

// TestAxesOfObjects: what is there already takes no parameters; what a function makes takes those of the function.
func TestAxesOfObjects(t *testing.T) {
	const text = `
class Bench:
    def __call__(self, **parameters): pass
    def benchmark_fn(self): pass
def get_benchmark(**parameters):
    assert len(parameters) == 9
    return Bench()
bench = Bench()
number = 3
`
	for object, c := range map[string]struct {
		status schema.Status
		want   string
	}{
		"get_benchmark": {schema.StatusOK, ""},
		"bench":         {schema.StatusUnsupported, "bench takes no parameter batch_size: it takes none"},
		"number":        {schema.StatusError, "number in bench.py is neither a class nor a function"},
	} {
		spec := specOf(t, Settings{File: "bench.py", Object: object}, axes)
		spec.Dir = folder(t, map[string]string{"bench.py": text})
		if o := runSpec(t, spec); o.Status != c.status || !strings.Contains(o.Error, c.want) {
			t.Errorf("%s: %s: %q, want %s: %q", object, o.Status, o.Error, c.status, c.want)
		}
	}
}

// TestChangedAxis: a benchmark that works on something else than was asked says so by its attributes or by applied.
func TestChangedAxis(t *testing.T) {
	const text = `
class Bench:
    def __init__(self, batch_size, size, rate, flag, precision):
        self.batch_size, self.size, self.rate, self.precision = min(batch_size, 8), size, rate * 1.0, "float16"
        self.flag = bool(flag)
    def benchmark_fn(self): pass
    def applied(self): return {"size": self.size // 2, "device": "cpu", "ok": True, "small": 1e-7, "none": None}
`
	o := runSpec(t, benchmark(t, text, map[string]string{
		"batch_size": "16", "param.size": "10", "param.rate": "2", "param.flag": "1", "precision": "fp16",
	}))
	check(t, o, schema.StatusOK, "", "", "") // the runner compares
	for key, want := range map[string]string{
		"batch_size": "8", "param.size": "5", "device": "cpu", "ok": "true", "small": "1e-7", "none": "None",
		"param.rate": "", "param.flag": "", "precision": "", "timing": "perf_counter",
	} {
		valuetest.DeepEqual(t, o.Applied[key], want, "applied", key)
	}
}

func TestFindsTheBenchmark(t *testing.T) {
	// each benchmark fails validation, or raises, with its own name
	class := func(name string) string {
		return "class " + name + ":\n    def benchmark_fn(self): pass\n    def validate_result(self): return 'this is " + name + "'\n"
	}
	function := func(name string) string { return "def " + name + "(): raise ValueError('this is " + name + "')\n" }
	abstract := "import abc\nclass Base(abc.ABC):\n    @abc.abstractmethod\n    def benchmark_fn(self): pass\n"
	for name, c := range map[string]struct{ text, object, want string }{
		"only class":        {class("A") + function("helper"), "", "this is A"},
		"named class":       {class("A") + class("B"), "B", "this is B"},
		"named function":    {class("A") + function("f"), "f", "this is f"},
		"run_benchmark":     {class("A") + function("run_benchmark"), "", "this is run_benchmark"},
		"several classes":   {class("A") + class("B"), "", "bench.py has the benchmarks A, B: choose one with file: bench.py:A"},
		"abstract base":     {abstract + class("A"), "", "this is A"},
		"imported class":    {"from other import Other\n" + class("A"), "", "this is A"},
		"factory":           {class("A") + class("B") + "def get_benchmark(): return B()\n", "", "this is B"},
		"named factory":     {class("A") + "def get_benchmark(): return A()\n", "get_benchmark", "this is A"},
		"instance":          {class("A") + "bench = A()\n", "bench", "this is A"},
		"kernel":            {function("bench_kernel"), "", "this is bench_kernel"},
		"solve":             {function("solve"), "", "this is solve"},
		"nothing":           {function("f"), "", "bench.py has no bench_* function and no class with benchmark_fn; it has f: choose one with file: bench.py:f"},
		"by its name":       {function("bench_it") + function("f"), "", "this is bench_it"},
		"several by name":   {function("bench_it") + function("bench_b"), "", "bench.py has the benchmarks bench_it, bench_b: choose one with file: bench.py:bench_it"},
		"name of nothing":   {class("A"), "C", "bench.py has no C"},
		"no benchmark_fn":   {"class A: pass\n", "A", "A has no benchmark_fn"},
		"empty":             {"", "", "bench.py has no bench_* function and no class with benchmark_fn; it has no function either"},
		"asynchronous":      {"async def run_benchmark(): pass\n", "", "run_benchmark is asynchronous or a generator"},
		"generator":         {"class A:\n    def benchmark_fn(self): yield\n", "", "A.benchmark_fn is asynchronous or a generator"},
		"made by its setup": {"class A:\n    def benchmark_fn(self): pass\n    def setup(self): self.benchmark_fn = self.other\n    def other(self): raise ValueError('this is other')\n", "", "this is other"},
	} {
		t.Run(name, func(t *testing.T) {
			spec := specIn(t, Settings{File: "bench.py", Object: c.object}, map[string]string{"bench.py": c.text, "other.py": class("Other")})
			if o := runSpec(t, spec); o.Status != schema.StatusError || !strings.Contains(o.Error, c.want) {
				t.Errorf("%s: %q, want an error with %q", o.Status, o.Error, c.want)
			}
		})
	}
}

func TestBadFiles(t *testing.T) {
	for name, c := range map[string]struct{ text, file, kind, want string }{
		"missing":         {"", "gone.py", "import", "benchmark file gone.py: no such file"},
		"directory":       {"", ".", "import", "benchmark file .: not a file"},
		"syntax":          {"x = 1\ndef f(:\n", "bench.py", "syntax", "bench.py:2: invalid syntax"},
		"indentation":     {"def f():\nx\n", "bench.py", "syntax", "bench.py:2: expected an indented block"},
		"encoding":        {"# coding: nonsense\n", "bench.py", "", "nonsense"},
		"no such module":  {"import no_such_module\n", "bench.py", "import", "ModuleNotFoundError: No module named 'no_such_module' (bench.py:1)"},
		"broken sibling":  {"import broken\n", "bench.py", "syntax", "broken.py:1: invalid syntax"},
		"loops for ever?": {"import sys\nsys.setrecursionlimit(100)\ndef f(): f()\nf()\n", "bench.py", "setup", "RecursionError"},
	} {
		t.Run(name, func(t *testing.T) {
			spec := specIn(t, Settings{File: c.file}, map[string]string{"bench.py": c.text, "broken.py": "def :\n"})
			o := runSpec(t, spec)
			kind := c.kind
			if kind == "" {
				kind = o.ErrorKind
			}
			check(t, o, schema.StatusError, schema.StageSetup, kind, c.want)
		})
	}
}

// TestUsedAxes: an axis that chose the interpreter, or the file, need not be a parameter too; one that is gets it.
func TestUsedAxes(t *testing.T) {
	config := map[string]string{"param.venv": "new", "param.n": "3"}
	for text, want := range map[string]string{
		"def run_benchmark(n): assert n == 3\n":                        "",
		"def run_benchmark(n, venv): assert (n, venv) == (3, 'new')\n": "",
		"def run_benchmark(): pass\n":                                  "run_benchmark takes no parameter n: it takes none",
	} {
		spec := specOf(t, Settings{File: "bench.py", Used: []string{"venv"}}, config)
		spec.Dir = folder(t, map[string]string{"bench.py": text})
		o := runSpec(t, spec)
		if want != "" {
			check(t, o, schema.StatusUnsupported, schema.StageSetup, "not_applied", want)
			continue
		}
		check(t, o, schema.StatusOK, "", "", "")
	}
}

// TestImports: a benchmark imports what lies beside it and in the working directory, under the name of its file, and
// what lies there does not get in the way of the worker.
func TestImports(t *testing.T) {
	const text = `
import os, sys, beside, below
assert __name__ == "bench" and sys.modules["bench"].__file__ == os.path.abspath("sub/bench.py") and sys.argv == [os.path.abspath("sub/bench.py")]
def run_benchmark(): pass
`
	spec := specIn(t, Settings{File: "sub/bench.py"}, map[string]string{
		"sub/bench.py": text, "sub/beside.py": "", "below.py": "", "json.py": "1 / 0", "enum.py": "1 / 0", "mmap.py": "1 / 0",
	})
	runOK(t, spec)
}

func TestGetConfig(t *testing.T) {
	bench := func(config string) string {
		return "import enum, types\nclass Mode(enum.Enum):\n    CUSTOM = 'custom'\nclass Bench:\n    def benchmark_fn(self): pass\n" +
			"    def get_config(self): return " + config + "\n"
	}
	for name, c := range map[string]struct {
		config           string
		fixed            []string
		cold             bool
		warmup, measured int
		want             string
	}{
		"none":       {"None", nil, false, 5, 40, ""},
		"map":        {"{'iterations': 7, 'warmup': 2}", nil, false, 2, 7, ""},
		"more":       {"{'iterations': 300000, 'warmup': 200}", nil, false, 200, 300000, ""},
		"object":     {"types.SimpleNamespace(iterations=7, warmup=0, seed=None, mode=Mode.CUSTOM)", nil, false, 0, 7, ""},
		"fixed":      {"{'iterations': 7, 'warmup': 2}", []string{"iterations"}, false, 2, 40, ""},
		"cold":       {"{'iterations': 7, 'warmup': 2}", nil, true, 5, 7, ""}, // the caller gave 5
		"no number":  {"{'iterations': '7'}", nil, false, 0, 0, "get_config: iterations '7': want a whole number from 1"},
		"negative":   {"{'warmup': -1}", nil, false, 0, 0, "get_config: warmup -1: want a whole number from 0"},
		"too many":   {"{'iterations': 1 << 40}", nil, false, 0, 0, "want at most 67108864 together"},
		"bad timing": {"{'timing': 'sundial'}", nil, false, 0, 0, "get_config: timing 'sundial': want one of auto, "},
		"bad time":   {"{'min_run_time_ms': 'long'}", nil, false, 0, 0, "get_config: min_run_time_ms 'long'"},
	} {
		t.Run(name, func(t *testing.T) {
			spec := specIn(t, Settings{File: "bench.py", Fixed: c.fixed, Worker: sweep.Worker{ColdStart: c.cold}}, map[string]string{"bench.py": bench(c.config)})
			o := runSpec(t, spec)
			if c.want != "" {
				check(t, o, schema.StatusError, schema.StageSetup, "setup", c.want)
				return
			}
			check(t, o, schema.StatusOK, "", "", "")
			if m := metric(o, "latency"); len(m.WarmupTicks) != c.warmup || len(m.Ticks) != c.measured {
				t.Errorf("warm-up %d, measured %d, want %d and %d", len(m.WarmupTicks), len(m.Ticks), c.warmup, c.measured)
			}
			own := map[string]string{}
			if c.warmup != spec.Warmup {
				own["warmup"] = strconv.Itoa(c.warmup)
			}
			if c.measured != spec.Iterations {
				own["iterations"] = strconv.Itoa(c.measured)
			}
			for _, key := range []string{"warmup", "iterations"} {
				valuetest.DeepEqual(t, o.Applied[key], own[key], "applied", key)
			}
		})
	}
}

// TestOwnIterationsAreExact: a budget does not cut the number that a benchmark names.
func TestOwnIterationsAreExact(t *testing.T) {
	spec := benchmark(t, "class B:\n    def benchmark_fn(self): pass\n    def get_config(self): return {'iterations': 500}\n", nil)
	spec.Iterations, spec.Budget = 0, 1
	o := runSpec(t, spec)
	if n := samples(o); n != 500 || o.Applied["iterations"] != "500" {
		t.Errorf("%d samples, applied %v, want 500", n, o.Applied)
	}
}

func TestReturnedMetrics(t *testing.T) {
	bench := func(returned string) task.Spec {
		spec := benchmark(t, "def run_benchmark(): return "+returned+"\n", nil)
		spec.Warmup, spec.Iterations = 1, 3
		return spec
	}
	o := runSpec(t, bench(`{"ttft_times_ms": [1.5, 2], "tpot_times_ms": (0.25,), "other": 1,
        "metrics": {"loss": 0.5, "speed": {"value": 3, "unit": "1/s", "better": "higher"}, "wild": float("inf"), "compute": {"value": 1.5, "unit": "Gflop/s"}, "waited": {"value": 2, "unit": "ms", "better": "lower"}}}`))
	check(t, o, schema.StatusOK, "", "", "")
	ttft, tpot, loss, speed := metric(o, "ttft"), metric(o, "tpot"), metric(o, "loss"), metric(o, "speed")
	if len(ttft.Ticks) != 6 || ttft.Ticks[0] != 1_500_000 || len(ttft.WarmupTicks) != 2 || ttft.Level != schema.LevelRequest {
		t.Errorf("ttft %+v", ttft)
	}
	if len(tpot.Ticks) != 3 || tpot.Ticks[0] != 250_000 || tpot.Level != schema.LevelToken || tpot.Unit != "ns" {
		t.Errorf("tpot %+v", tpot)
	}
	if len(loss.Reals) != 3 || loss.Reals[0] != 0.5 || len(speed.Reals) != 3 || speed.Unit != "1/s" || speed.Better != schema.BetterHigher {
		t.Errorf("loss %+v, speed %+v", loss, speed)
	}
	for name, want := range map[string]schema.Metric{
		"compute": {Unit: "flop/s", Better: schema.BetterHigher, Reals: []float64{1.5e9}}, // known, so its direction is, too
		"waited":  {Unit: "ns", Better: schema.BetterLower, Reals: []float64{2e6}},
	} {
		if m := metric(o, name); m.Unit != want.Unit || m.Better != want.Better || len(m.Reals) != 3 || m.Reals[0] != want.Reals[0] {
			t.Errorf("%s %+v, want %+v", name, m, want)
		}
	}
	valuetest.DeepEqual(t, o.Facts["runner.not_finite.wild"], "3", "facts", o.Facts)
	if len(o.Warnings) != 1 || o.Warnings[0] != "not_finite" {
		t.Errorf("warnings %v", o.Warnings)
	}
	o = runOK(t, bench(`{"tpot_times_ms": [0.001] * 100_000}`))
	valuetest.DeepEqual(t, len(metric(o, "tpot").Ticks), 300_000)
	for returned, want := range map[string]string{
		`{"ttft_times_ms": ["fast"]}`:     "benchmark_fn returned ttft_times_ms ['fast']",
		`{"metrics": [1, 2]}`:             "benchmark_fn returned metrics [1, 2]: want a dict",
		`{"metrics": {"loss": "low"}}`:    "benchmark_fn returned the metric loss 'low': want a number",
		`{"metrics": {"latency": 1}}`:     "the metric latency, which NeuroLens measures itself",
		`{"ttft_times_ms": float("nan")}`: "benchmark_fn returned ttft_times_ms nan",
	} {
		check(t, runSpec(t, bench(returned)), schema.StatusError, schema.StageWarmup, "raise", want)
	}
	const turns = `{"metrics": {"step": {"value": 1, "unit": "s" if globals().setdefault("n", []).append(1) or len(globals()["n"]) % 2 else "ms"}}}`
	check(t, runSpec(t, bench(turns)), schema.StatusError, schema.StageMeasure, "raise", "benchmark_fn returned the metric step in ms, and before in s: want one unit")
}

// TestKeysOfGetConfig: what a benchmark asks for in its get_config it gets, or a warning and a fact say that it does not. The measurement is
// the same, so it is no error.
func TestKeysOfGetConfig(t *testing.T) {
	const object = `
class Config:
    def __init__(self, **given):
        self.iterations, self.setup_timeout_seconds, self.enable_profiling, self.odd = 3, 30, True, "default"
        self.__dict__.update(given)
`
	for config, want := range map[string]string{
		"{'enable_memory_tracking': True, 'enable_nsys': False, 'percentiles': [50, 99.0], 'execution_mode': 'subprocess', 'device': 'cuda'}": "",
		"{'nsys_timeout_seconds': 120}":                          "nsys_timeout_seconds: set it in the sweep: profile: [{tool: nsys, timeout: 120s}]",
		"{'suite_timeout_seconds': 120}":                         "suite_timeout_seconds: set it in the sweep: timeouts: {suite: 4h}",
		"{'percentiles': [50, 99.9]}":                            "percentiles: 25 50 75 90 95 99 are stored; compute others from the samples with neurolens query",
		"{'percentiles': 50}":                                    "percentiles: 25 50 75 90 95 99 are stored; compute others from the samples with neurolens query",
		"{'enable_profiling': True}":                             "",
		"{'enable_nsys': True}":                                  "enable_nsys: profilers run in an extra pass: set profile: [nsys] in the sweep",
		"{'use_subprocess': False}":                              "use_subprocess: every run is a separate process",
		"{'regression_threshold_pct': 5.0, 'enable_nvtx': True}": "regression_threshold_pct: set thresholds in the sweep: thresholds: {latency: 5%}; enable_nvtx: NVTX ranges are not made",
		"{5: 5}": "5: not a setting of a benchmark: want deterministic, iterations, iterations_per_sample, min_run_time_ms, mode, reproducible, seed, timing, warmup",
		"{'iteration': 5}": "iteration: not a setting of a benchmark: want deterministic, iterations, iterations_per_sample, min_run_time_ms, mode, " +
			"reproducible, seed, timing, warmup",
		"Config()":                          "",
		"Config(warmup=0)":                  "",
		"Config(setup_timeout_seconds=500)": "setup_timeout_seconds: 500s is capped at the 120s of the sweep: raise timeouts.setup there",
		"{'measurement_timeout_seconds': 90, 'profiling_timeout_seconds': 9999}": "measurement_timeout_seconds: 90s is capped at the 60s of the sweep: raise timeouts.measure there",
		"{'timeout_multiplier': 2}": "timeout_multiplier: 2 is capped at 1: use timeout_multiplier in the sweep",
		"{'timeout_seconds': 60}":   "",
	} {
		text := object + "class B:\n    def benchmark_fn(self): pass\n    def get_config(self): return " + config + "\n"
		spec := specIn(t, Settings{File: "bench.py", Passes: []string{"torch"}}, map[string]string{"bench.py": text})
		o := runOK(t, spec)
		if o.Facts["runner.config_ignored"] != want || slices.Contains(o.Warnings, WarnConfigIgnored) != (want != "") {
			t.Errorf("%s: %q, warnings %v", config, o.Facts["runner.config_ignored"], o.Warnings)
		}
		valuetest.DeepEqual(t, o.Facts["runner.own_timeouts"], "", config)
	}
	for config, want := range map[string]string{
		"{'setup_timeout_seconds': 'long'}": "get_config: setup_timeout_seconds 'long': want seconds",
		"{'timeout_multiplier': 0}":         "get_config: timeout_multiplier 0: want a factor",
	} {
		text := "class B:\n    def benchmark_fn(self): pass\n    def get_config(self): return " + config + "\n"
		check(t, runSpec(t, benchmark(t, text, nil)), schema.StatusError, schema.StageSetup, "setup", want)
	}
}

// TestOwnDeadlines: a deadline in get_config that is shorter than that of the sweep ends the run, with its stage, the deadline and the time
// as numbers. The command line can keep it from that.
func TestOwnDeadlines(t *testing.T) {
	bench := func(config, where string, fixed ...string) task.Outcome {
		t.Helper()
		spec := specIn(t, Settings{File: "bench.py", Fixed: fixed}, map[string]string{"bench.py": "import time\nclass B:\n    calls = 0\n    def setup(self): pass\n    def benchmark_fn(self): self.calls += 1\n" +
			"    def get_config(self): return " + config + "\n    " + where + "\n"})
		spec.Warmup, spec.Iterations = 1, 2
		return runSpec(t, spec)
	}
	const hang = ": time.sleep(1000)"
	for _, c := range []struct {
		config, where string
		stage         schema.Stage
		limit         string
		own           string
	}{
		{"{'setup_timeout_seconds': 0.7}", "def setup(self)" + hang, "setup", "700000000", "setup=0.7s"},
		{"{'warmup_timeout_seconds': 0.2}", "def benchmark_fn(self)" + hang, "warmup", "200000000", "warmup=0.2s"},
		{"{'measurement_timeout_seconds': 0.2}", "def benchmark_fn(self):\n        self.calls += 1\n        self.calls == 2 and time.sleep(1000)", "measure", "200000000", "measure=0.2s"},
		{"{'timeout_multiplier': 1e-2, 'setup_timeout_seconds': 50}", "def validate_result(self)" + hang, "validate", "600000000", "setup=50s warmup=0.6s measure=0.6s validate=0.6s teardown=0.6s"},
	} {
		o := bench(c.config, c.where)
		check(t, o, schema.StatusTimeout, c.stage, "timeout", string(c.stage)+" took more than "+c.limit[:1]+"00ms, the deadline in its get_config")
		elapsed, _ := strconv.ParseInt(o.Facts["runner.timeout_elapsed_ns"], 10, 64)
		limit, _ := strconv.ParseInt(c.limit, 10, 64)
		if o.Facts["runner.timeout_limit_ns"] != c.limit || elapsed < limit || o.Facts["runner.own_timeouts"] != c.own {
			t.Errorf("%s: facts %v, want the limit %s", c.config, o.Facts, c.limit)
		}
	}
	check(t, bench("{'warmup_timeout_seconds': 0.05}", "def benchmark_fn(self): time.sleep(0.1)", "timeouts"), schema.StatusOK, "", "", "")
}

// TestOwnDeadlineEndsABudget: where a benchmark has a deadline for measuring below the budget, the budget ends before it.
func TestOwnDeadlineEndsABudget(t *testing.T) {
	for _, c := range []struct{ deadline, budget string }{{"2", "1.6s"}, {"20", "16s"}} {
		spec := benchmark(t, "import time\nclass B:\n    def benchmark_fn(self): time.sleep(0.01)\n    def get_config(self): return {'measurement_timeout_seconds': "+c.deadline+"}\n", nil)
		spec.Iterations, spec.Budget = 0, 50*time.Second
		spec.Enough = func([]int64) bool { return false }
		o := runSpec(t, spec)
		if o.Status == schema.StatusTimeout && c.deadline == "2" {
			continue // a busy machine takes longer than the rest of the deadline to say that the budget is over
		}
		check(t, o, schema.StatusOK, "", "", "")
		if o.Applied["budget"] != c.budget || samples(o) == 0 {
			t.Errorf("applied %v, %d samples", o.Applied, samples(o))
		}
		return
	}
}

// TestSpellings: a benchmark gets an axis that has several names by the one that the user wrote and with the value that the user wrote,
// if it takes that; else by the name of the axis with the stored value; else by another name of it.
func TestSpellings(t *testing.T) {
	config := map[string]string{"batch_size": "4", "seq_len": "64", "precision": "fp32", "param.n": "3"}
	typed := Settings{
		File: "bench.py", Texts: map[string]string{"precision": "float32"},
		Spellings: map[string][]string{"batch_size": {"batch", "batch_size", "bs"}, "seq_len": {"seq", "seq_len", "sequence_length"}, "precision": {"dtype", "precision", "prec"}},
	}
	canonical := Settings{
		File: "bench.py", Texts: map[string]string{"precision": "float32"},
		Spellings: map[string][]string{"batch_size": {"batch_size", "batch", "bs"}, "seq_len": {"seq_len", "seq", "sequence_length"}, "precision": {"precision", "dtype", "prec"}},
	}
	hooked := typed
	hooked.Prepare = "fill"
	for name, c := range map[string]struct {
		settings Settings
		text     string
		want     string
	}{
		"as typed":                       {typed, `def run_benchmark(n, batch=1, seq=128, dtype="x"): assert (n, batch, seq, dtype) == (3, 4, 64, "float32")`, ""},
		"of the axes":                    {typed, `def run_benchmark(n, batch_size, seq_len, precision): assert (n, batch_size, seq_len, precision) == (3, 4, 64, "fp32")`, ""},
		"others":                         {typed, `def run_benchmark(n, bs, sequence_length, prec): assert (n, bs, sequence_length, prec) == (3, 4, 64, "float32")`, ""},
		"two of them":                    {typed, `def run_benchmark(n, batch, seq, dtype, bs=7, precision="own"): assert (batch, bs, dtype, precision) == (4, 7, "float32", "own")`, ""},
		"any":                            {typed, `def run_benchmark(**any): assert any == {"n": 3, "batch": 4, "seq": 64, "dtype": "float32"}`, ""},
		"typed as the axes":              {canonical, `def run_benchmark(n, batch_size, seq, precision): assert (batch_size, seq, precision) == (4, 64, "float32")`, ""},
		"typed as the axes, other names": {canonical, `def run_benchmark(n, batch, seq, dtype): assert (batch, seq, dtype) == (4, 64, "float32")`, ""},
		"a class":                        {typed, "class B:\n    def __init__(self, n, batch, seq, dtype):\n        assert (n, batch, seq, dtype) == (3, 4, 64, 'float32')\n        self.dtype, self.batch, self.bs, self.precision = dtype, batch, 9, 9\n    def benchmark_fn(self): pass\n", ""},
		"a hook":                         {hooked, "def fill(batch, dtype):\n    assert (batch, dtype) == (4, 'float32')\n    return {'x': batch}\ndef run_benchmark(n, seq, x): assert (n, seq, x) == (3, 64, 4)\n", ""},
		"a check":                        {typed, "def run_benchmark(n, batch, seq, dtype): return batch\ndef validate_result(result, bs, dtype, seq_len, n): return (result, bs, dtype, seq_len, n) == (4, 4, 'float32', 64, 3)\n", ""},
		"none":                           {typed, "def run_benchmark(n, seq, dtype): pass\n", "run_benchmark takes no parameter batch: it takes n, seq, dtype"},
	} {
		t.Run(name, func(t *testing.T) {
			spec := specOf(t, c.settings, config)
			spec.Dir = folder(t, map[string]string{"bench.py": c.text + "\n"})
			o := runSpec(t, spec)
			if c.want != "" {
				check(t, o, schema.StatusUnsupported, "setup", "not_applied", c.want)
				return
			}
			check(t, o, schema.StatusOK, "", "", "")
			for _, key := range []string{"batch_size", "precision", "seq_len"} {
				if text, found := o.Applied[key]; found {
					t.Errorf("applied %s %s, which is what was asked for", key, text)
				}
			}
		})
	}
	spec := specOf(t, typed, config)
	spec.Dir = folder(t, map[string]string{"bench.py": "class B:\n    def __init__(self, n, batch, seq, dtype): self.batch, self.dtype = 2, 'float16'\n    def benchmark_fn(self): pass\n    def applied(self): return {'seq': 32}\n"})
	if o := runSpec(t, spec); o.Applied["batch_size"] != "2" || o.Applied["precision"] != "fp16" || o.Applied["seq_len"] != "32" {
		t.Errorf("applied %v", o.Applied)
	}
}

// TestCounters counts the page faults of 40 MiB in the measure stage, per iteration.
func TestCounters(t *testing.T) {
	counters := counter.Open([]string{counter.PageFaults}, 0)
	counter.Close(counters)
	if why := counters[0].Missing; why != "" {
		valuetest.Have(t, "counters", errors.New("page faults: "+why))
	}
	spec := benchmark(t, `
import mmap

def run_benchmark():
    memory = mmap.mmap(-1, 40 << 20, mmap.MAP_PRIVATE)
    if hasattr(mmap, "MADV_NOHUGEPAGE"):
        try:
            memory.madvise(mmap.MADV_NOHUGEPAGE)
        except OSError:
            pass
    for at in range(0, 40 << 20, mmap.PAGESIZE):
        memory[at] = 1
`, nil)
	spec.Iterations, spec.Warmup, spec.Counters = 3, 1, counter.Names()
	o := runOK(t, spec)
	for _, m := range o.Metrics {
		if m.Name == counter.PageFaults {
			want := float64(40 << 20 / os.Getpagesize())
			valuetest.DeepEqual(t, m.IterationsPerSample, []int64{3})
			valuetest.Near(t, m.Values()[0], want, want/100)
			return
		}
	}
	t.Errorf("no page faults: %v, %v", o.Metrics, o.Missing)
}
