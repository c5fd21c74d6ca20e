package python

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// misdeed returns a benchmark that does something in iteration 16 of the measurement, after a warm-up of 5.
func misdeed(statements string) string {
	return `
import ctypes, os, sys, time; libc = ctypes.PyDLL(None)

class Bench:
    n = 0

    def benchmark_fn(self):
        self.n += 1
        if self.n == 21:
            self.act()

    def act(self):
        ` + strings.ReplaceAll(statements, "\n", "\n        ") + "\n"
}

// daemon starts a process that is forked twice, leads a session of its own and ignores SIGTERM.
const daemon = `
import signal
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(600)
    os._exit(0)
`

// hangInC sleeps in C for 10 minutes and holds the interpreter's lock: no Python runs meanwhile, nor a signal handler.
const hangInC = `
while True:
    libc.sleep(600)
`

// mute raises an exception that cannot be put into words.
const mute = `class E(RuntimeError):
    def __str__(self): raise KeyError("s")
    __notes__ = property(lambda self: 1 / 0)
raise E`

// TestEnds goes through the ways in which a benchmark ends.
func TestEnds(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		status  schema.Status
		stage   schema.Stage
		kind    string
		samples int
		want    string
	}{
		"ok":    {misdeed(`pass`), schema.StatusOK, "", "", 40, ""},
		"raise": {misdeed(`raise ValueError("a\nb")`), schema.StatusError, "measure", "raise", 15, "ValueError: a b (bench.py:13 in act)"},
		"raise below": {
			misdeed(`__import__("json").loads("{")`), schema.StatusError, "measure", "raise", 15, "column 2 (char 1) (bench.py:13 in act)",
		},
		"segfault":      {misdeed(`ctypes.string_at(8)`), schema.StatusCrashed, "measure", "signal", 15, "SIGSEGV"},
		"os._exit":      {misdeed(`os._exit(0)`), schema.StatusCrashed, "measure", "exit", 15, "without a result"},
		"sys.exit":      {misdeed(`sys.exit(0)`), schema.StatusError, "measure", "raise", 15, "SystemExit: 0 (bench.py:13 in act)"},
		"out of memory": {misdeed(`raise MemoryError("no room")`), schema.StatusOOM, "measure", "oom", 15, "MemoryError: no room"},
		"device out of memory": {
			misdeed(`raise RuntimeError("CUDA error: out of memory")`), schema.StatusOOM, "measure", "oom", 15, "out of memory",
		},
		"close 3-20":        {misdeed(`os.closerange(3, 21)`), schema.StatusOK, "", "", 40, ""},
		"close all":         {misdeed(`os.closerange(3, 65536)`), schema.StatusOK, "", "", 40, ""},
		"close all, raise":  {misdeed("os.closerange(3, 65536)\nraise ValueError('x')"), schema.StatusError, "measure", "raise", 15, "ValueError: x (bench.py:14"},
		"forked child back": {misdeed("if os.fork() == 0:\n    return\nos.wait()"), schema.StatusOK, "", "", 40, ""},
		"forked child out":  {misdeed("if os.fork() == 0:\n    sys.exit(3)\nassert os.wait()[1] == 3 << 8"), schema.StatusOK, "", "", 40, ""},
		"raise in import":   {"1 / 0\n", schema.StatusError, "setup", "setup", 0, "ZeroDivisionError: division by zero (bench.py:1)"},
		"raise in __init__": {misdeed(`pass`) + "    def __init__(self): [][1]\n", schema.StatusError, "setup", "setup", 0, "IndexError: list index out of range (bench.py:14 in __init__)"},
		"raise in setup":    {misdeed(`pass`) + "    def setup(self): raise OSError(2, 'gone')\n", schema.StatusError, "setup", "setup", 0, "gone (bench.py:14 in setup)"},
		"raise in warmup":   {misdeed(`pass`) + "    def benchmark_fn(self): raise KeyError('k')\n", schema.StatusError, "warmup", "raise", 0, "KeyError: 'k' (bench.py:14 in benchmark_fn)"},
		"raise in validate": {misdeed(`pass`) + "    def validate_result(self): raise KeyError('k')\n", schema.StatusError, "validate", "validate", 40, "KeyError: 'k' (bench.py:14"},
		"raise in teardown": {misdeed(`pass`) + "    def teardown(self): raise KeyError('k')\n", schema.StatusError, "teardown", "raise", 40, "KeyError: 'k' (bench.py:14"},
		"invalid":           {misdeed(`pass`) + "    def validate_result(self): return 'off by\\n one'\n", schema.StatusError, "validate", "validate", 40, "off by one"},
		"invalid, false":    {misdeed(`pass`) + "    def validate_result(self): return False\n", schema.StatusError, "validate", "validate", 40, "validate_result returned False"},
		"invalid, a pair":   {misdeed(`pass`) + "    def validate_result(self): return (False, 'max err 3')\n", schema.StatusError, "validate", "validate", 40, "validate_result returned (False, 'max err 3'): want True, False, None, or a text that says what is wrong"},
		"invalid, a number": {misdeed(`pass`) + "    def validate_result(self): return 1\n", schema.StatusError, "validate", "validate", 40, "validate_result returned 1: want"},
		"raise a mute one":  {misdeed(mute), schema.StatusError, "measure", "raise", 15, "E (bench.py:16 in act)"},
		"valid, true":       {misdeed(`pass`) + "    def validate_result(self): return True\n", schema.StatusOK, "", "", 40, ""},
		"raise, then in teardown": {
			misdeed(`raise ValueError("first")`) + "    def teardown(self): raise KeyError('second')\n",
			schema.StatusError, "measure", "raise", 15, "ValueError: first",
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := runSpec(t, benchmark(t, c.text, nil))
			check(t, o, c.status, c.stage, c.kind, c.want)
			valuetest.DeepEqual(t, samples(o), c.samples)
			if strings.HasPrefix(name, "raise") && !strings.Contains(o.Facts["runner.traceback"], "bench.py") {
				t.Errorf("traceback %q", o.Facts["runner.traceback"])
			}
			if strings.Contains(o.Facts["runner.traceback"], "neurolens_") {
				t.Errorf("traceback with frames of the worker: %s", o.Facts["runner.traceback"])
			}
			if name == "segfault" && !strings.Contains(o.Facts["runner.stack"], "line 13 in act") {
				t.Errorf("stack %q", o.Facts["runner.stack"])
			}
			valuetest.DeepEqual(t, name == "close all", slices.Contains(o.Warnings, "applied_unknown"), "warnings", o.Warnings)
		})
	}
}

// TestLostEvents: of a benchmark that closes the worker's descriptors in its setup, the stage and the times of all
// stages are known nevertheless.
func TestLostEvents(t *testing.T) {
	const lost = "    def setup(self): os.closerange(3, 65536)\n"
	for name, c := range map[string]struct {
		text    string
		status  schema.Status
		stage   schema.Stage
		kind    string
		samples int
	}{
		"ok":       {misdeed(`pass`), schema.StatusOK, "", "", 40},
		"raise":    {misdeed(`raise ValueError("x")`), schema.StatusError, schema.StageMeasure, "raise", 15},
		"segfault": {misdeed(`ctypes.string_at(8)`), schema.StatusCrashed, schema.StageMeasure, "signal", 15},
		"teardown": {misdeed(`pass`) + "    def teardown(self): raise KeyError('k')\n", schema.StatusError, schema.StageTeardown, "raise", 40},
	} {
		t.Run(name, func(t *testing.T) {
			o := runSpec(t, benchmark(t, c.text+lost, nil))
			check(t, o, c.status, c.stage, c.kind, "")
			valuetest.DeepEqual(t, samples(o), c.samples)
			s := o.Stages
			if s.Setup == nil || s.Warmup == nil || s.Measure == nil || (s.Teardown == nil) != (name == "segfault") {
				t.Fatalf("stages %+v", s)
			}
			var sum int64
			for _, ns := range metric(o, "latency").Ticks {
				sum += ns
			}
			// A crash is timed by the runner, which knows the worker's clock as well as a message was quick.
			if *s.Measure < sum && name != "segfault" {
				t.Errorf("measure took %d ns, its iterations %d ns", *s.Measure, sum)
			}
		})
	}
}

// TestForkedChild: a child of the benchmark that comes back from it writes no samples and reports nothing.
func TestForkedChild(t *testing.T) {
	text := misdeed("if os.fork() == 0:\n    return\nos.wait()") + `
    def setup(self): self.pid = os.getpid()
    def applied(self): return {"forked": self.pid != os.getpid()}
`
	o := runOK(t, benchmark(t, text, nil))
	if o.Applied["forked"] != "false" || samples(o) != 40 {
		t.Errorf("applied %v, %d samples", o.Applied, samples(o))
	}
}

func TestManyIterations(t *testing.T) {
	const n = 200_000
	spec := benchmark(t, misdeed("pass"), nil)
	spec.Iterations = n
	o := runOK(t, spec)
	valuetest.DeepEqual(t, samples(o), n)
	latency := metric(o, "latency")
	if latency.Clock != "perf_counter" || latency.Level != schema.LevelIteration {
		t.Errorf("clock %q, level %q", latency.Clock, latency.Level)
	}
	if o.Facts["timer.floor_ns"] == "" || o.Facts["python.version"] == "" || o.Facts["python.gc"] == "" {
		t.Errorf("facts %v", o.Facts)
	}
	valuetest.DeepEqual(t, len(metric(o, "peak_memory").Ticks), 1, "metrics", o.Metrics)
	t.Logf("%d iterations in %v", n, time.Duration(*o.Stages.Measure))
}

// TestHangIsKilled: a hang in C that holds the interpreter's lock leaves its stack, each time, before the kill.
func TestHangIsKilled(t *testing.T) {
	var delays []time.Duration
	for range map[bool]int{false: 5, true: 20}[os.Getenv("NEUROLENS_LONG") != ""] {
		spec := benchmark(t, misdeed(strings.TrimSpace(hangInC)), nil)
		spec.Deadlines.Measure = time.Second // for 15 iterations, on a busy machine too
		o := runSpec(t, spec)
		check(t, o, schema.StatusTimeout, schema.StageMeasure, "timeout", "timeouts.measure")
		valuetest.DeepEqual(t, samples(o), 15)
		if stack := o.Facts["runner.stack"]; !strings.Contains(stack, `bench.py", line 14 in act`) {
			t.Errorf("stack %q", stack)
		}
		delays = append(delays, time.Duration(valuetest.Must(strconv.ParseInt(o.Facts["runner.kill_delay_ns"], 10, 64))))
	}
	slices.Sort(delays)
	t.Logf("from the deadline until all was reaped: median %v, largest %v of %d", delays[len(delays)/2], delays[len(delays)-1], len(delays))
}

func TestHangInSetup(t *testing.T) {
	text := misdeed("pass") + "    def setup(self): time.sleep(600)\n"
	spec := benchmark(t, text, nil)
	spec.Deadlines.Setup = time.Second
	o := runSpec(t, spec)
	check(t, o, schema.StatusTimeout, schema.StageSetup, "timeout", "timeouts.setup")
	if !strings.Contains(o.Facts["runner.stack"], "line 14 in setup") {
		t.Errorf("stack %q", o.Facts["runner.stack"])
	}
}

func TestDaemonIsKilled(t *testing.T) {
	o := runOK(t, benchmark(t, misdeed(strings.TrimSpace(daemon)), nil))
	if !slices.Contains(o.Warnings, "left_running") {
		t.Errorf("warnings %v", o.Warnings)
	}
	spec := benchmark(t, misdeed(strings.TrimSpace(daemon)+"\ntime.sleep(600)"), nil)
	spec.Deadlines.Measure = 500 * time.Millisecond
	check(t, runSpec(t, spec), schema.StatusTimeout, schema.StageMeasure, "timeout", "")
}

func TestFlood(t *testing.T) {
	spec := benchmark(t, misdeed("while True:\n    print('x' * 100000)"), nil)
	spec.OutputLimit = 8 << 20
	o := runSpec(t, spec)
	check(t, o, schema.StatusOutputLimit, schema.StageMeasure, "output_limit", "")
	valuetest.DeepEqual(t, samples(o), 15)
}

// TestMultiprocessing: processes of the benchmark import its module by name, and run neither it nor the worker again.
func TestMultiprocessing(t *testing.T) {
	const text = `
import multiprocessing

def double(x):
    return 2 * x

class Bench:
    def __init__(self, method):
        self.context = multiprocessing.get_context(method)

    def benchmark_fn(self):
        with self.context.Pool(2) as pool:
            self.result = pool.map(double, [1, 2, 3])

    def validate_result(self):
        return None if self.result == [2, 4, 6] else repr(self.result)
`
	for _, method := range []string{"fork", "spawn", "forkserver"} {
		t.Run(method, func(t *testing.T) {
			spec := benchmark(t, text, map[string]string{"param.method": method})
			spec.Warmup, spec.Iterations = 1, 2
			o := runOK(t, spec)
			if samples(o) != 2 || len(o.Warnings) > 0 {
				t.Errorf("%d samples, warnings %v", samples(o), o.Warnings)
			}
		})
	}
}

// TestVerdictOfFrameworks: what a framework has for true and false is true and false; what has several values is neither.
func TestVerdictOfFrameworks(t *testing.T) {
	for _, c := range []struct {
		module, verdict string
		status          schema.Status
	}{
		{"numpy", "numpy.all([True, True])", schema.StatusOK},
		{"numpy", "numpy.all([True, False])", schema.StatusError},
		{"numpy", "numpy.array([True])", schema.StatusError},
		{"torch", "torch.ones(2).sum() < 3", schema.StatusOK},
		{"torch", "torch.ones(2).sum() > 3", schema.StatusError},
		{"torch", "torch.ones(2).sum()", schema.StatusError},
	} {
		t.Run(c.verdict, func(t *testing.T) {
			interpreter(t, c.module)
			o := runSpec(t, benchmark(t, "import "+c.module+"\nclass B:\n    def benchmark_fn(self): pass\n    def validate_result(self): return "+c.verdict+"\n", nil))
			if o.Status != c.status || o.Status != schema.StatusOK && !strings.HasPrefix(o.Error, "validate_result returned ") {
				t.Errorf("%s: %s: want %s", o.Status, o.Error, c.status)
			}
		})
	}
}
