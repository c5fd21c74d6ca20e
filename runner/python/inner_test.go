package python

import (
	"math"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// calibration finds how many calls a sample has, with a clock that only the calls and its own readings move, and other work
// of 1 ms in every third sample.
const calibration = `
import sys, types
sys.modules["neurolens_worker"] = types.SimpleNamespace(Unsupported=Exception)
now = readings = 0
def clock():
    global now, readings
    readings += 1
    now += 100 + (1000000 if readings % 6 == 0 else 0)
    return now
def work(name=None):
    global now
    now += int(sys.argv[2])
inner = types.ModuleType("inner")
exec(compile(sys.argv[1], "inner.py", "exec"), inner.__dict__)
inner.perf_counter_ns = clock
tried = inner.Inner(work, {"name": 1})
tried.calibrate()
print(tried.count)
`

// TestCalibrate: a sample takes at least 100 us, of which reading the clock is a thousandth, by the least of the numbers
// that timeit tries. What interrupts a sample does not make it enough.
func TestCalibrate(t *testing.T) {
	source := valuetest.Must(sources.ReadFile("inner.py"))
	for _, c := range []struct{ call, count int }{
		{50, 2000}, {49, 5000}, {1, 100_000}, {998, 200}, {10_000, 10}, {60_000, 2}, {100_000, 1}, {5_000_000, 1},
	} {
		out := valuetest.Must(exec.Command(interpreter(t).Path, "-c", calibration, string(source), strconv.Itoa(c.call)).Output())
		valuetest.DeepEqual(t, strings.TrimSpace(string(out)), strconv.Itoa(c.count), "a call", c.call, out, c.count)
	}
}

// shortWork counts its calls.
const shortWork = `
calls = []
class Short:
    def benchmark_fn(self): calls.append(1)
    def applied(self): return {"calls": len(calls)}
`

// TestInnerLoop: samples are means of the iterations that the run says, to a fraction of a nanosecond, and warm-up iterations
// are what they are without.
func TestInnerLoop(t *testing.T) {
	for name, settings := range map[string]Settings{
		"asked":      {File: "bench.py", Worker: sweep.Worker{IterationsPerSample: 300}},
		"calibrated": {File: "bench.py", Level: schema.LevelMean},
		"framework":  {File: "bench.py", Level: schema.LevelMean},
	} {
		spec, text := specOfAny(t, settings, nil), shortWork
		if name == "framework" { // that uses no device, so there is nothing to wait for
			text = "import torch\n" + text
		}
		spec.Dir = folder(t, map[string]string{"bench.py": text, "torch.py": strings.Replace(fakeTorch, "initialised = True", "initialised = False", 1)})
		o := runOK(t, spec)
		m := metric(o, schema.PrimaryMetric)
		if m.Level != schema.LevelMean || len(m.IterationsPerSample) != 1 || len(m.Ticks) != spec.Iterations {
			t.Fatalf("%s: %d samples of level %s with %v iterations", name, len(m.Ticks), m.Level, m.IterationsPerSample)
		}
		count := m.IterationsPerSample[0]
		calls, _ := strconv.ParseInt(o.Applied["calls"], 10, 64)
		minimum := int64(spec.Iterations)*count + int64(spec.Warmup)
		if name == "asked" && (count != 300 || calls != minimum) || calls < minimum {
			t.Errorf("%s: %d iterations in a sample, %d calls, want %d or more", name, count, calls, minimum)
		}
		if m.Tick != 1/float64(count) || len(m.WarmupTicks) != spec.Warmup {
			t.Errorf("%s: tick %v, %d warm-up iterations", name, m.Tick, len(m.WarmupTicks))
		}
		for i, ns := range m.WarmupTicks {
			valuetest.DeepEqual(t, ns%count, 0, name, i, ns, count)
		}
		for i, v := range m.Values() {
			if math.Abs(v*float64(count)-float64(m.Ticks[i])) > 1e-3 {
				t.Errorf("%s: sample %d is %v ns, of %d ns in %d iterations", name, i, v, m.Ticks[i], count)
			}
		}
	}
}

// TestSingleIterations: what has to be measured one by one is, even where earlier runs had inner loops.
func TestSingleIterations(t *testing.T) {
	for name, c := range map[string]struct {
		text     string
		settings Settings
		warmup   int
	}{
		"asked":       {shortWork, Settings{Worker: sweep.Worker{IterationsPerSample: 1}}, 5},
		"as before":   {shortWork, Settings{Level: schema.LevelIteration}, 5},
		"no warm-up":  {shortWork, Settings{Level: schema.LevelMean}, 0},
		"own number":  {shortWork + "    def get_config(self): return {'iterations': 40}\n", Settings{Level: schema.LevelMean}, 5},
		"its own one": {shortWork + "    def get_config(self): return {'iterations_per_sample': 1}\n", Settings{Level: schema.LevelMean}, 5},
		"metrics":     {"def run_benchmark(): return {'metrics': {'loss': 1}}\n", Settings{Level: schema.LevelMean}, 5},
		"many":        {shortWork, Settings{Level: schema.LevelMean}, -1},
		"framework":   {"import jax\n" + shortWork, Settings{Level: schema.LevelMean}, 5},
		"device":      {"import torch\n" + shortWork, Settings{Level: schema.LevelMean, Worker: sweep.Worker{Timing: "perf_counter"}}, 5},
		"long":        {"import time\ndef run_benchmark(): time.sleep(.0001)\n", Settings{}, 5},
	} {
		c.settings.File = "bench.py"
		spec := specOfAny(t, c.settings, nil)
		if spec.Warmup = c.warmup; c.warmup < 0 {
			spec.Warmup, spec.Iterations = 5, 10_001
		}
		spec.Dir = folder(t, map[string]string{"bench.py": c.text, "torch.py": fakeTorch, "jax.py": fakeArrays})
		o := runOK(t, spec)
		if m := metric(o, schema.PrimaryMetric); m.Level != schema.LevelIteration || m.IterationsPerSample != nil || m.Tick != 1 {
			t.Errorf("%s: level %s, %v iterations in a sample, tick %v", name, m.Level, m.IterationsPerSample, m.Tick)
		}
	}
}

// TestInnerLoopRefused: a number that was asked for is had, or the point is not supported.
func TestInnerLoopRefused(t *testing.T) {
	for name, c := range map[string]struct{ text, timing, want string }{
		"device":  {"import torch\ndef run_benchmark(): pass\n", "perf_counter", "requested, but the device must be synchronized"},
		"events":  {"import torch\ndef run_benchmark(): pass\n", "", "requested, but timing cuda_event chooses"},
		"metrics": {"def run_benchmark(): return {'ttft_times_ms': [1]}\n", "", "requested, but each iteration returns its own metrics"},
		"arrays":  {"import jax\ndef run_benchmark(): return jax.Array()\n", "", "requested, but the return value of each iteration"},
	} {
		spec := specOfAny(t, Settings{File: "bench.py", Worker: sweep.Worker{Timing: c.timing, IterationsPerSample: 10}}, nil)
		spec.Dir = folder(t, map[string]string{"bench.py": c.text, "torch.py": fakeTorch, "jax.py": fakeArrays})
		o := runSpec(t, spec)
		if o.Status != schema.StatusUnsupported || !strings.Contains(o.Error, c.want) {
			t.Errorf("%s: %s: %s", name, o.Status, o.Error)
		}
	}
}

// TestInnerLoopArguments: parameters of the point reach the function as they do without an inner loop.
func TestInnerLoopArguments(t *testing.T) {
	const text = `
def run_benchmark(size, name="b", **more):
    assert (size, name, more) == (3, "x", {"class": "y"} if more else {}), (size, name, more)
`
	for _, config := range []map[string]string{
		{"param.size": "3", "param.name": "x"}, {"param.size": "3", "param.name": "x", "param.class": "y"},
	} {
		spec := specOfAny(t, Settings{File: "bench.py", Worker: sweep.Worker{IterationsPerSample: 2}}, config)
		spec.Dir = folder(t, map[string]string{"bench.py": text})
		runOK(t, spec)
	}
}

// TestInnerLoopRaises: what raises only after many calls does so in the warm-up, with the line of the benchmark.
func TestInnerLoopRaises(t *testing.T) {
	spec := specOfAny(t, Settings{File: "bench.py", Level: schema.LevelMean}, nil)
	spec.Dir = folder(t, map[string]string{"bench.py": "left = [1] * 50\ndef run_benchmark(): left.pop()\n"})
	check(t, runSpec(t, spec), schema.StatusError, schema.StageWarmup, "raise", "pop from empty list (bench.py:2 in run_benchmark)")
}
