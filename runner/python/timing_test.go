package python

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// fakeTorch stands for torch on a machine with a GPU: a device that computes for 3 ms after each launch.
const fakeTorch = `
import time
__version__ = "9.9"
int8 = "int8"
busy = 0.0
flushed = []
initialised = True

def launch():
    global busy
    busy = max(busy, time.perf_counter()) + 0.003

def manual_seed(seed): pass
def empty(size, dtype, device):
    class Cache:
        def zero_(self): flushed.append(size)
    return Cache()

class Tensor:
    class device:
        type, index = "cuda", 0

class OutOfMemoryError(RuntimeError): pass

class Event:
    def __init__(self, enable_timing): assert enable_timing
    def record(self): self.at = max(busy, time.perf_counter())
    def synchronize(self): cuda.synchronize()
    def elapsed_time(self, end):
        assert time.perf_counter() >= end.at, "read before it was synchronised"
        return (end.at - self.at) * 1000

class cuda:
    Event = Event
    is_available = is_initialized = staticmethod(lambda: initialised)
    max_memory_allocated = staticmethod(lambda: 300)
    memory_allocated = staticmethod(lambda: 200)
    memory_reserved = staticmethod(lambda: 400)
    @staticmethod
    def synchronize(device=None):
        while time.perf_counter() < busy:
            pass
`

const launching = `
import torch
class Bench:
    def benchmark_fn(self): torch.launch()
    def applied(self): return {"flushed": len(torch.flushed)}
`

// fakeArrays stands for JAX: a type with block_until_ready.
const fakeArrays = `
import time
class Array:
    def block_until_ready(self): time.sleep(0.002)
`

// fakeCupy stands for CuPy, which waits for a device.
const fakeCupy = `
import time
class random:
    seed = staticmethod(lambda number: None)
class cuda:
    class Device:
        def synchronize(self): time.sleep(0.002)
is_available = lambda: True
`

func atLeast(t *testing.T, latency schema.Metric, minimum time.Duration) {
	t.Helper()
	for _, ns := range latency.Ticks {
		if ns < int64(minimum) {
			t.Fatalf("latency %v: want at least %v, what the device takes", time.Duration(ns), minimum)
		}
	}
}

// TestWaitsForTheDevice: not the launch is measured, with either clock.
func TestWaitsForTheDevice(t *testing.T) {
	for timing, clock := range map[string]string{"": "cuda_event", "cuda_event": "cuda_event", "perf_counter": "perf_counter"} {
		for _, flush := range []bool{false, true} {
			if flush && timing == "perf_counter" {
				continue
			}
			spec := specIn(t, Settings{File: "bench.py", Worker: sweep.Worker{Timing: timing, FlushL2: flush}}, map[string]string{"bench.py": launching, "torch.py": fakeTorch})
			spec.Warmup, spec.Iterations = 2, 10
			o := runOK(t, spec)
			latency := metric(o, "latency")
			if latency.Clock != clock || o.Applied["timing"] != clock || len(latency.Ticks) != 10 {
				t.Errorf("clock %q, applied %v", latency.Clock, o.Applied)
			}
			atLeast(t, latency, 2900*time.Microsecond)
			valuetest.DeepEqual(t, o.Applied["flushed"], map[bool]string{true: "12", false: "0"}[flush])
			if peak := metric(o, "device_memory_peak"); len(peak.Ticks) != 1 || peak.Ticks[0] != 300 || peak.Unit != "B" {
				t.Errorf("device_memory_peak %+v", peak)
			}
		}
	}
}

func TestDeviceOutOfMemory(t *testing.T) {
	spec := specIn(t, Settings{File: "bench.py"}, map[string]string{
		"torch.py": fakeTorch,
		"bench.py": "import torch\ndef run_benchmark(): raise torch.OutOfMemoryError('CUDA out of memory. Tried\\n 5 GiB')\n",
	})
	spec.Warmup = 0
	o := runSpec(t, spec)
	check(t, o, schema.StatusOOM, schema.StageMeasure, "oom", "OutOfMemoryError: CUDA out of memory. Tried 5 GiB (bench.py:2")
	if peak := metric(o, "device_memory_peak"); len(peak.Ticks) != 1 || peak.Ticks[0] != 300 {
		t.Errorf("device_memory_peak %+v", peak)
	}
}

const returning = `
import dataclasses, itertools, %s
@dataclasses.dataclass
class Data:
    x: object
@dataclasses.dataclass(slots=True)
class Slots:
    x: object
class Own(list):
    def __iter__(self): raise ValueError
    __getitem__ = __iter__
forms = ([jax.Array()] * (i %% 3) + [{"a": jax.Array()}] for i in itertools.count())
def run_benchmark(): return %s
`

// TestAwaitsWhatIsReturned: also inside containers, and before the clock is read.
func TestAwaitsWhatIsReturned(t *testing.T) {
	for name, returned := range map[string]string{
		"array": "jax.Array()", "list": "[1, (jax.Array(),)]", "map": "{'a': {'b': jax.Array()}}", "cupy": "None",
		"data class": "Data(jax.Array())", "slots": "Slots(jax.Array())", "own list": "Own([jax.Array()])", "another form each time": "next(forms)",
	} {
		t.Run(name, func(t *testing.T) {
			framework := "jax"
			if name == "cupy" {
				framework = "cupy"
			}
			spec := specIn(t, Settings{File: "bench.py"}, map[string]string{
				"jax.py": fakeArrays, "cupy.py": fakeCupy, "bench.py": fmt.Sprintf(returning, framework, returned),
			})
			spec.Warmup, spec.Iterations = 1, 5
			o := runOK(t, spec)
			atLeast(t, metric(o, "latency"), 2*time.Millisecond)
		})
	}
}

// TestTriton: the samples of do_bench, as many as were asked for.
func TestTriton(t *testing.T) {
	const doBench = `
def do_bench(fn, warmup, rep, return_mode):
    assert return_mode == "all"
    fn()
    return [0.25] * 30
`
	spec := specIn(t, Settings{File: "bench.py", Worker: sweep.Worker{Timing: "triton"}}, map[string]string{
		"bench.py": launching, "torch.py": fakeTorch, "triton/__init__.py": "", "triton/testing.py": doBench,
	})
	o := runOK(t, spec)
	latency := metric(o, "latency")
	if len(latency.Ticks) != 40 || latency.Ticks[39] != 250_000 || latency.Clock != "cuda_event" || o.Applied["flush_l2"] != "on" {
		t.Errorf("%+v, applied %v", latency, o.Applied)
	}
}

func TestTimingThatCannotBeHad(t *testing.T) {
	file := map[string]string{"bench.py": "def run_benchmark(): pass\n"}
	withTorch := maps.Clone(file)
	withTorch["torch.py"] = strings.Replace(fakeTorch, "initialised = True", "initialised = False", 1)
	for _, c := range []struct {
		files  map[string]string
		timing string
		flush  bool
		kind   string
		want   string
	}{
		{withTorch, "cuda_event", false, "not_applied", "timing cuda_event: torch 9.9 finds no CUDA device"},
		{withTorch, "auto", true, "not_applied", "flush_l2 was requested, but timing perf_counter cannot"},
		{map[string]string{"bench.py": file["bench.py"], "torch.py": "raise ImportError"}, "cuda_event", false, "not_installed", "timing cuda_event needs torch: "},
	} {
		spec := specIn(t, Settings{File: "bench.py", Worker: sweep.Worker{Timing: c.timing, FlushL2: c.flush}}, c.files)
		status := schema.StatusUnsupported
		if c.kind == "not_installed" {
			status = schema.StatusError
		}
		check(t, runSpec(t, spec), status, schema.StageSetup, c.kind, c.want)
	}
}

func TestTorchTimer(t *testing.T) {
	interpreter(t, "torch")
	spec := specIn(t, Settings{File: "bench.py", Worker: sweep.Worker{Timing: "torch_timer", MinRunTime: 200 * time.Millisecond}}, map[string]string{"bench.py": "x = list(range(3000))\ndef run_benchmark(): sum(x)\n"})
	spec.Iterations, spec.Budget = 0, 10*time.Second
	o := runOK(t, spec)
	latency := metric(o, "latency")
	if len(latency.Ticks) < 1 || len(latency.IterationsPerSample) != 1 || latency.IterationsPerSample[0] < 10 || o.Applied["timing"] != "torch_timer" {
		t.Errorf("%d samples of %v iterations, applied %v", len(latency.Ticks), latency.IterationsPerSample, o.Applied)
	}
	spec.Iterations, spec.Budget = 7, 0
	valuetest.DeepEqual(t, samples(runSpec(t, spec)), 7)
}

// TestTorchSeeds: what a real torch draws is the same again with the same seed.
func TestTorchSeeds(t *testing.T) {
	interpreter(t, "torch")
	const text = `
import torch
class Bench:
    def setup(self): self.x = torch.rand(1).item()
    def benchmark_fn(self): return torch.ones(2)
    def applied(self): return {"x": self.x, "deterministic": torch.are_deterministic_algorithms_enabled()}
`
	spec := specIn(t, Settings{File: "bench.py", Worker: sweep.Worker{Reproducible: true}}, map[string]string{"bench.py": text})
	first, second := runSpec(t, spec), runSpec(t, spec)
	check(t, first, schema.StatusOK, "", "", "")
	if x := first.Applied["x"]; x == "" || x != second.Applied["x"] || first.Applied["deterministic"] != "true" || first.Applied["seed"] != "42" {
		t.Errorf("%v, then %v", first.Applied, second.Applied)
	}
	if first.Facts["python.package.torch"] == "" {
		t.Errorf("facts %v", first.Facts)
	}
}

const drawing = `
import os, random
class Bench:
    x = random.random()
    def setup(self): self.y = random.random()
    def benchmark_fn(self): pass
    def applied(self): return {"x": self.x, "y": self.y, "hash": os.environ.get("PYTHONHASHSEED"), "blas": os.environ.get("CUBLAS_WORKSPACE_CONFIG")}
`

func TestSeeds(t *testing.T) {
	draw := func(settings Settings) map[string]string {
		settings.File = "bench.py"
		spec := specIn(t, settings, map[string]string{"bench.py": drawing})
		o := runOK(t, spec)
		return o.Applied
	}
	one, again, other := draw(Settings{Worker: sweep.Worker{Seed: new(int64(7))}}), draw(Settings{Worker: sweep.Worker{Seed: new(int64(7))}}), draw(Settings{Worker: sweep.Worker{Seed: new(int64(8))}})
	if !maps.Equal(one, again) || one["x"] == other["x"] || one["y"] == other["y"] || one["hash"] != "7" || one["seed"] != "7" {
		t.Errorf("seeds 7, 7 and 8: %v, %v, %v", one, again, other)
	}
	if r := draw(Settings{Worker: sweep.Worker{Reproducible: true, Seed: new(int64(42))}}); r["seed"] != "42" || r["hash"] != "42" || r["reproducible"] != "true" || r["blas"] == "None" {
		t.Errorf("reproducible: %v", r)
	}
	if a, b := draw(Settings{}), draw(Settings{}); a["x"] == b["x"] || a["seed"] != "" || a["hash"] != "None" {
		t.Errorf("without a seed: %v, %v", a, b)
	}
}

// TestSeedsBeforeInit: __init__ may draw the input. A framework has its seed by then, although only the file imports it.
func TestSeedsBeforeInit(t *testing.T) {
	for name, target := range map[string]string{"class": "bench.py:Bench", "factory": "bench.py:get_benchmark"} {
		t.Run(name, func(t *testing.T) {
			file, object, _ := strings.Cut(target, ":")
			spec := specIn(t, Settings{File: file, Object: object, Worker: sweep.Worker{Seed: new(int64(7))}}, map[string]string{
				"cupy.py": "class random:\n    state = None\n    @classmethod\n    def seed(cls, number): cls.state = number\n",
				"bench.py": `
import random
import cupy
random.random()
class Bench:
    def __init__(self): self.x, self.y = cupy.random.state, random.random()
    def benchmark_fn(self): pass
    def applied(self): return {"x": self.x, "y": self.y == random.Random(7).random()}
def get_benchmark(): return Bench()
`,
			})
			o := runOK(t, spec)
			if o.Applied["x"] != "7" || o.Applied["y"] != "true" {
				t.Errorf("__init__ has the seed %q, want 7; random is as seeded: %s", o.Applied["x"], o.Applied["y"])
			}
		})
	}
}

func TestColdStart(t *testing.T) {
	const text = `
import os
class Bench:
    folders = [os.environ[name] for name in ("CUDA_CACHE_PATH", "TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR")]
    def benchmark_fn(self): pass
    def validate_result(self): return all(os.listdir(f) == [] for f in self.folders) and len(set(self.folders)) == 3
`
	spec := specOf(t, Settings{File: "bench.py", Worker: sweep.Worker{ColdStart: true}}, nil)
	spec.Dir, spec.Warmup = folder(t, map[string]string{"bench.py": text}), 0
	runOK(t, spec)
	for _, timing := range []string{"torch_timer", "triton"} { // they run iterations before those that they measure
		spec := specIn(t, Settings{File: "bench.py", Worker: sweep.Worker{ColdStart: true, Timing: timing}}, map[string]string{"bench.py": text, "torch.py": fakeTorch, "triton/__init__.py": ""})
		check(t, runSpec(t, spec), schema.StatusUnsupported, schema.StageSetup, "not_applied", "cold_start was requested, but timing "+timing)
	}
}

// TestForeignModules: with a side under test, nothing may come from the other one.
func TestForeignModules(t *testing.T) {
	other := folder(t, map[string]string{"lib/helper.py": "", "lib/pkg/__init__.py": ""})
	for name, c := range map[string]struct {
		foreign string
		want    string
	}{
		"from there":     {other, "module helper was loaded from " + other},
		"a longer name":  {strings.TrimSuffix(other, "1"), ""},
		"somewhere else": {t.TempDir(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			spec := specIn(t, Settings{File: "bench.py", Foreign: []string{c.foreign}}, map[string]string{"bench.py": "import helper\ndef run_benchmark(): pass\n"})
			spec.Env = append(spec.Env, "PYTHONPATH="+other+"/lib")
			o := runSpec(t, spec)
			if c.want == "" {
				check(t, o, schema.StatusOK, "", "", "")
				return
			}
			check(t, o, schema.StatusUnsupported, schema.StageMeasure, "not_applied", c.want)
			if len(o.Metrics) > 0 {
				t.Errorf("metrics of another side's code: %+v", o.Metrics)
			}
		})
	}
}

// TestInstalledCopyIsForeign: what was installed from the tree of the sides would be the same code on both. An archive in the tree, a
// folder elsewhere and a shared folder are no code of a side.
func TestInstalledCopyIsForeign(t *testing.T) {
	tree := t.TempDir()
	for name, c := range map[string]struct{ origin, exempt, want string }{
		"the tree":           {`{"dir_info": {}, "url": "file://` + tree + `"}`, "", "module helper was loaded from "},
		"a folder in it":     {`{"dir_info": {}, "url": "file://` + tree + `/a%20b"}`, "", "installed from the repository"},
		"a shared folder":    {`{"dir_info": {}, "url": "file://` + tree + `/lib"}`, tree + "/lib", ""},
		"an archive in it":   {`{"archive_info": {}, "url": "file://` + tree + `/helper-1.0.whl"}`, "", ""},
		"somewhere else":     {`{"dir_info": {}, "url": "file://` + tree + `2"}`, "", ""},
		"a damaged record":   {`{"dir_info`, "", ""},
		"an index, as usual": {"", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{
				"helper.py": "", "helper-1.0.dist-info/METADATA": "Name: helper\nVersion: 1.0\n", "helper-1.0.dist-info/RECORD": "helper.py,,\n",
			}
			if c.origin != "" {
				files["helper-1.0.dist-info/direct_url.json"] = c.origin
			}
			settings := Settings{File: "bench.py", Foreign: []string{tree}}
			if c.exempt != "" {
				settings.Exempt = []string{c.exempt}
			}
			spec := specIn(t, settings, map[string]string{"bench.py": "import helper\ndef run_benchmark(): pass\n"})
			spec.Env = append(spec.Env, "PYTHONPATH="+folder(t, files))
			o := runSpec(t, spec)
			if c.want == "" {
				check(t, o, schema.StatusOK, "", "", "")
				return
			}
			check(t, o, schema.StatusUnsupported, schema.StageMeasure, "not_applied", c.want)
		})
	}
}

// TestOwnEnvironmentIsNotForeign: a virtual environment may stand in the tree that the sides were taken from.
func TestOwnEnvironmentIsNotForeign(t *testing.T) {
	tree := t.TempDir()
	if out, err := exec.Command(interpreter(t).Path, "-m", "venv", "--without-pip", tree+"/.venv").CombinedOutput(); err != nil {
		valuetest.Have(t, "venv", fmt.Errorf("%w: %s", err, out))
	}
	i := valuetest.Must(Resolve(t.Context(), tree+"/.venv/bin/python", os.Environ()))
	packages, err := filepath.Glob(tree + "/.venv/lib/python*/site-packages")
	if err != nil || len(packages) != 1 {
		t.Fatal(packages, err)
	}
	for name, c := range map[string]struct{ folder, want string }{"its package": {packages[0], ""}, "the tree": {tree, "module helper"}} {
		helper := filepath.Join(c.folder, "helper.py")
		valuetest.OK(t, os.WriteFile(helper, nil, 0o600))
		spec := valuetest.Must(i.Spec(Settings{File: "bench.py", Foreign: []string{tree}}))
		spec.Iterations, spec.Deadlines, spec.Env = 1, patient, append(spec.Env, "PYTHONPATH="+tree)
		spec.Dir = folder(t, map[string]string{"bench.py": "import helper\ndef run_benchmark(): pass\n"})
		if o := runSpec(t, spec); (o.Status == schema.StatusOK) != (c.want == "") || !strings.Contains(o.Error, c.want) {
			t.Errorf("%s: %s: %q", name, o.Status, o.Error)
		}
		valuetest.OK(t, os.Remove(helper))
	}
}

// TestEnough: the measurement ends well when the runner has seen enough.
func TestEnough(t *testing.T) {
	spec := benchmark(t, "import time\ndef run_benchmark(): time.sleep(0.001)\n", nil)
	spec.Iterations, spec.Budget = 0, time.Minute
	spec.Enough = func(latencies []int64) bool { return len(latencies) >= 20 }
	o := runOK(t, spec)
	if n := samples(o); n < 20 || n > 5000 {
		t.Errorf("%d samples, want a few more than 20", n)
	}
}

// TestOwnIterationsAreNotCut: what the benchmark itself says is not cut short when the runner has seen enough.
func TestOwnIterationsAreNotCut(t *testing.T) {
	const own = "    def get_config(self): return {'iterations': 60, 'min_run_time_ms': 1}\n"
	file := map[string]string{
		"bench.py": "import time\nclass Bench:\n    def benchmark_fn(self): time.sleep(0.005)\n" + own,
	}
	withTorch := map[string]string{"bench.py": launching + own, "torch.py": fakeTorch}
	for timing, files := range map[string]map[string]string{
		"perf_counter": file, "torch_timer": file, "cuda_event": withTorch,
	} {
		t.Run(timing, func(t *testing.T) {
			if timing == "torch_timer" {
				interpreter(t, "torch")
			}
			spec := specIn(t, Settings{File: "bench.py", Worker: sweep.Worker{Timing: timing}}, files)
			spec.Iterations, spec.Budget = 0, time.Minute
			spec.Enough = func([]int64) bool { return true }
			o := runOK(t, spec)
			valuetest.DeepEqual(t, samples(o), 60)
		})
	}
}

func TestBudget(t *testing.T) {
	spec := benchmark(t, "import time\ndef run_benchmark(): time.sleep(0.005)\n", nil)
	spec.Iterations, spec.Budget = 0, time.Nanosecond
	o := runOK(t, spec)
	valuetest.DeepEqual(t, samples(o), 1)
}

func TestUnknownTiming(t *testing.T) {
	spec := specIn(t, Settings{File: "bench.py", Worker: sweep.Worker{Timing: "sundial"}}, map[string]string{"bench.py": "def run_benchmark(): pass\n"})
	o := runSpec(t, spec)
	check(t, o, schema.StatusError, schema.StageSetup, "setup", "timing 'sundial': want auto, ")
	if slices.Contains(o.Warnings, "applied_unknown") {
		t.Errorf("warnings %v", o.Warnings)
	}
}
