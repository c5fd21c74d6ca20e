package python

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// timedRegion runs the loop of timing.py with a clock that only the parts of an iteration move, and prints its rows. The parts take
// powers of ten, so each digit of a row says how often a part is in it.
const timedRegion = `
import sys, types
sys.modules["neurolens_worker"] = types.SimpleNamespace(
    MAX_VALUES=16384, WORD_STOP=8, Failure=Exception, Unsupported=Exception, one_line=str)
timing = types.ModuleType("timing")
exec(compile(sys.argv[1], "timing.py", "exec"), timing.__dict__)
now = 0
def spend(ns):
    global now
    now += ns
    return True
class Result:
    def __del__(self): spend(10)
def call():
    spend(1)
    return Result()
def prepare():
    spend(100000)
    return call
timing.perf_counter_ns = lambda: now
words = [0] * 9
part = types.SimpleNamespace(
    call=call, wait=(lambda result: spend(100)) if "wait" in sys.argv[2:] else None,
    prepare=prepare if "prepare" in sys.argv[2:] else None, look=lambda result: spend(10000))
timing.perf_counter_loop(part, words, 0, 3, timing.FOREVER)
print(*words[:3])
`

// TestTimedRegion: between the readings of the clock are the call, the wait for a device if there is one, and the release of the
// result, which timeit has there too. Looking at the result and preparing an iteration are not.
func TestTimedRegion(t *testing.T) {
	source := valuetest.Must(sources.ReadFile("timing.py"))
	for words, want := range map[string]string{"": "11 11 11", "wait": "111 111 111", "prepare": "11 11 11", "wait prepare": "111 111 111"} {
		out := valuetest.Must(exec.Command(interpreter(t).Path, append([]string{"-c", timedRegion, string(source)}, strings.Fields(words)...)...).Output())
		valuetest.DeepEqual(t, strings.TrimSpace(string(out)), want, words)
	}
}

// results are functions by what they return: work of more than 1 us, whose result is made by it or is odd in another way.
const results = `
import array, collections, dataclasses, enum, io, types, weakref
@dataclasses.dataclass
class Data:
    x: object
@dataclasses.dataclass(slots=True)
class Slots:
    x: object
@dataclasses.dataclass
class Unset:
    x: object = dataclasses.field(init=False)
class Items(dict):
    def items(self): raise KeyError("items")
    __iter__ = keys = values = __getitem__ = __contains__ = get = __len__ = items
class Entries(list):
    def __iter__(self): raise ValueError("entries")
    __getitem__ = __len__ = __iter__
class Attributes:
    def __getattribute__(self, name): raise RuntimeError("attribute " + name)
class Comparing:
    def __eq__(self, other): raise TypeError("compared")
    __hash__ = lambda self: hash("metrics")
class Meta(type):
    def __getattribute__(cls, name):
        if name in ("__await__", "__next__", "block_until_ready"): raise RuntimeError(name)
        return type.__getattribute__(cls, name)
class Strange(metaclass=Meta): pass
Named = collections.namedtuple("Named", "a b")
class Colour(enum.Enum): RED = 1
def chain(depth, make):
    value = make(None)
    for _ in range(depth): value = make(value)
    return value
def cycle():
    d = {}
    d["me"] = d
    return sum(range(200)) and d
def bench_none(): [i for i in range(1000)]; return None
def bench_int(): return sum(range(300))
def bench_text(): return "x" * 100000
def bench_bytes(): return bytearray(100000)
def bench_dict(): return {i: i for i in range(1000)}
def bench_large_dict(): return {i: i for i in range(20000)}
def bench_list(): return [i for i in range(1000)]
def bench_large_list(): return list(range(100000))
def bench_tuple(): return tuple((i, i * i) for i in range(1000))
def bench_set(): return {i for i in range(1000)}
def bench_frozen(): return frozenset(range(1000))
def bench_nested(): return {i: {j: [j] for j in range(10)} for i in range(50)}
def bench_deep(): return chain(2000, lambda v: {"v": v})
def bench_deep_list(): return chain(2000, lambda v: [v])
def bench_cycle(): return cycle()
def bench_own_list():
    l = list(range(300)); l.append(l); return l
def bench_data(): return Data(list(range(1000)))
def bench_slots(): return Slots(list(range(1000)))
def bench_unset(): return (sum(range(300)), Unset())
def bench_items(): return Items((i, i) for i in range(300))
def bench_entries(): return Entries(range(1000))
def bench_attributes(): sum(range(300)); return Attributes()
def bench_comparing(): return {Comparing(): sum(range(300))}
def bench_strange(): return [Strange(), sum(range(300))]
def bench_default(): return collections.defaultdict(list, ((i, []) for i in range(300)))
def bench_ordered(): return collections.OrderedDict((i, i) for i in range(300))
def bench_named(): return Named(list(range(1000)), None)
def bench_deque(): return collections.deque(range(1000))
def bench_array(): return array.array("q", range(1000))
def bench_view(): return memoryview(bytearray(100000))
def known(n): return n
def bench_function(): return known if sum(range(300)) else None
def bench_enum(): sum(range(300)); return Colour.RED
def bench_file(): return io.BytesIO(b"x" * 100000)
def bench_class(): return type("New", (), {})
def bench_keys(): return {i: i for i in range(1000)}.keys()
def bench_exception(): return [ValueError(str(i)) for i in range(100)]
def bench_namespace(): return types.SimpleNamespace(x=list(range(1000)))
`

// inProcess begins programs that use the parts of the worker on the objects of one file, without a process for each. Their arguments are
// the folder of the parts and the path of the file.
const inProcess = `
import os, sys, types
folder, path = sys.argv[1:3]
class Worker:
    config, budget, iterations, own_iterations, file, stage = {}, 1, 100, False, path, "warmup"
    def __init__(self): self.settings, self.warnings = {"file": path}, []
    def part(self, name):
        title = "neurolens_" + name
        if title not in sys.modules:
            sys.modules[title] = types.ModuleType(title)
            with open(os.path.join(folder, name + ".py")) as file:
                exec(compile(file.read(), name, "exec"), sys.modules[title].__dict__)
        return sys.modules[title]
    def warning(self, word): self.warnings.append(word)
    def fact(self, key, value): pass
    def send_latency(self, count): pass
Worker().part("worker")
module = types.ModuleType("bench")
exec(compile(open(path).read(), path, "exec"), module.__dict__)
def started(name):
    worker = Worker()
    worker.subject = worker.part("benchmark").Benchmark(getattr(module, name), name, worker, module)
    return worker.part("timing").PerfCounter(worker)
`

// runInProcess runs such a program on a file with this text and returns what it printed.
func runInProcess(t testing.TB, i Interpreter, program, text string, args ...string) string {
	t.Helper()
	files := valuetest.Must(workerFiles())
	all := map[string]string{"bench.py": text}
	for name, text := range files {
		all[name] = string(text)
	}
	dir := folder(t, all)
	cmd := exec.Command(i.Path, append([]string{"-c", program, dir, filepath.Join(dir, "bench.py")}, args...)...)
	var stderr strings.Builder // where an interpreter that ends may complain about pools of processes that were left open
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, stderr.String())
	}
	return string(out)
}

// iterating runs a few iterations of each object, and prints its name with what came of it.
const iterating = inProcess + `
import array
for name in sys.argv[3:] or [name for name in vars(module) if name.startswith("bench_")]:
    try:
        timing = started(name)
        subject = timing.worker.subject
        subject.get_config()
        subject.setup()
        timing.warm_up(array.array("q", bytes(8 * 512)), 1, 4)
        subject.applied()
        if subject.validate_result: subject.validate_result()
        subject.teardown()
        print(name, *timing.worker.warnings or ["ok"])
    except sys.modules["neurolens_worker"].Failure as failure:
        print(name, failure.kind, failure.message)
`

// TestResults: what a benchmark returns never ends it, whatever it is.
func TestResults(t *testing.T) {
	out := runInProcess(t, interpreter(t), iterating, results)
	if n := strings.Count(out, " ok\n"); n < 37 || n != strings.Count(out, "\n") {
		t.Errorf("%d functions are ok: %s", n, out)
	}
	spec := specIn(t, Settings{File: "bench.py", Object: "bench_cycle"}, map[string]string{"bench.py": results})
	o := runOK(t, spec)
	valuetest.DeepEqual(t, samples(o), spec.Iterations)
}

const unrun = `
import asyncio, concurrent.futures, functools, itertools, multiprocessing.pool, re, subprocess, sys, threading, time
pool = concurrent.futures.ThreadPoolExecutor()
def deco(f):
    @functools.wraps(f)
    def w(*a, **k): return f(*a, **k)
    return w
@deco
async def decorated(): await asyncio.sleep(1)
@deco
def decorated_generator(): yield 1
@deco
async def decorated_asynchronous_generator(): yield 1
def returned_coroutine(): return asyncio.sleep(1)
def expression(): return (x for x in range(3))
def mapped(): return map(str, range(3))
def zipped(): return zip(range(3), range(3))
def chained(): return itertools.chain(range(3), range(3))
def found(): return re.finditer("x", "xx")
def submitted(): return pool.submit(time.sleep, 0.001)
def all_submitted(): return [pool.submit(time.sleep, 0.001) for _ in range(3)]
def several(): return {"a": (1, [asyncio.sleep(1)])}
def asynchronous(): return multiprocessing.pool.ThreadPool(1).apply_async(time.sleep, (0.001,))
def thread():
    t = threading.Thread(target=time.sleep, args=(2,), daemon=True)
    t.start()
    return t
def process(): return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(2)"])
class Frame: pass
Frame.__module__, Frame.__name__ = "polars.lazyframe.frame", "LazyFrame"
def frame(): return Frame()
class Late:
    """The first iteration tells."""
    def __dask_graph__(self): return {}
def graph(): return Late()
class Method:
    @deco
    async def benchmark_fn(self): pass
class Setup:
    async def setup(self): pass
    def benchmark_fn(self): pass
class Fixture:
    def setup(self): yield
    def benchmark_fn(self): pass
class Teardown:
    def benchmark_fn(self): pass
    async def teardown(self): pass
class Validate:
    def benchmark_fn(self): pass
    async def validate_result(self): return True
class Config:
    async def get_config(self): pass
    def benchmark_fn(self): pass
class Applied:
    async def applied(self): pass
    def benchmark_fn(self): pass
class Prepare:
    async def reset(self): pass
    def benchmark_fn(self): pass
class Iterator:
    def __iter__(self): return self
    def __next__(self): raise StopIteration
def own_iterator(): return Iterator()
def pair(): return (Iterator(), (x for x in ()))
def ended():
    p = subprocess.Popen(["true"])
    p.wait()
    return p
def joined():
    t = threading.Thread(target=int)
    t.start(); t.join()
    return t
def view(): return iter([1, 2])
def closure():
    def work(): pass
    return work
def known(): return closure
def opened(): return open("/dev/null")
`

// formOfResult counts how often the arrays of a result are sought, beside waits without a result.
const formOfResult = inProcess + `
returned = Worker().part("returned")
sought, walk = [], returned.walk
returned.walk = lambda *a: sought.append(1) or walk(*a)
class Array:
    waited = 0
    def block_until_ready(self): Array.waited += 1
arrays = returned.Arrays()
for result in [{"a": [Array(), 1]}, None, {"a": [Array(), 1]}, None, {"a": [Array(), 1]}, {"b": Array()}]: arrays(result)
print(len(sought), Array.waited)
`

// TestArraysAreFoundOnce: where the arrays of JAX are in a result is sought once for results of one form, also if each iteration is
// prepared, which waits without a result.
func TestArraysAreFoundOnce(t *testing.T) {
	valuetest.DeepEqual(t, runInProcess(t, interpreter(t), formOfResult, ""), "2 4\n", "sought and waited")
}

// TestWorkThatDidNotRun: a benchmark or a hook that only creates its work is an error that names it, and has no samples.
func TestWorkThatDidNotRun(t *testing.T) {
	var objects, wants []string
	for object, want := range map[string]string{
		"decorated":                        "decorated returned a coroutine, which nothing has awaited",
		"decorated_generator":              "decorated_generator returned a generator, which nothing has consumed",
		"decorated_asynchronous_generator": "returned an asynchronous iterator",
		"returned_coroutine":               "returned a coroutine",
		"expression":                       "returned a generator",
		"mapped":                           "returned a map",
		"zipped":                           "returned a zip",
		"chained":                          "returned a chain",
		"found":                            "returned a callable_iterator",
		"submitted":                        "returned a Future, whose work may still be running",
		"all_submitted":                    "returned a Future",
		"several":                          "returned a coroutine",
		"asynchronous":                     "returned an ApplyResult",
		"thread":                           "returned a Thread that is still running",
		"process":                          "returned a Popen that is still running",
		"frame":                            "returned a LazyFrame",
		"graph":                            "returned a Late",
		"Method":                           "Method.benchmark_fn returned a coroutine",
		"Setup":                            "Setup.setup returned a coroutine",
		"Fixture":                          "Fixture.setup returned a generator",
		"Teardown":                         "Teardown.teardown returned a coroutine",
		"Validate":                         "Validate.validate_result returned a coroutine",
		"Config":                           "Config.get_config returned a coroutine",
		"Applied":                          "Applied.applied returned a coroutine",
	} {
		objects, wants = append(objects, object), append(wants, want)
	}
	out := runInProcess(t, interpreter(t), iterating, unrun, objects...)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != len(objects) {
		t.Fatalf("%d lines for %d objects: %s", len(lines), len(objects), out)
	}
	for i, line := range lines {
		if !strings.HasPrefix(line, objects[i]+" setup ") || !strings.Contains(line, wants[i]) {
			t.Errorf("%s; want an error of kind setup with %q", line, wants[i])
		}
	}
	didNotRun(t, "decorated", "decorated returned a coroutine", 5)
	didNotRun(t, "decorated", "decorated returned a coroutine", 0)
	didNotRun(t, "Prepare", "Prepare.reset returned a coroutine", 5)
	const others = "own_iterator lazy_result\npair lazy_result\nended ok\njoined ok\nview ok\nopened ok\nclosure lazy_result\nknown ok\n"
	if out := runInProcess(t, interpreter(t), iterating, unrun, "own_iterator", "pair", "ended", "joined", "view", "opened", "closure", "known"); out != others {
		t.Errorf("%s; want %s", out, others)
	}
}

// didNotRun checks that a benchmark ends with an error, and with no samples of work that did not run.
func didNotRun(t *testing.T, object, want string, warmup int) {
	t.Helper()
	settings := Settings{File: "bench.py", Object: object}
	if object == "Prepare" {
		settings.Prepare = "reset"
	}
	spec := specOf(t, settings, nil)
	spec.Warmup, spec.Dir = warmup, folder(t, map[string]string{"bench.py": unrun})
	o := runSpec(t, spec)
	if o.Status != schema.StatusError || o.ErrorKind != "setup" || !strings.Contains(o.Error, want) {
		t.Errorf("%s, %s: %s; want an error with %q", o.Status, o.ErrorKind, o.Error, want)
	}
	if samples(o) > 0 {
		t.Errorf("%s: %d samples of work that did not run", object, samples(o))
	}
	if strings.Contains(o.StderrTail, "never awaited") {
		t.Errorf("%s: standard error: %s", object, o.StderrTail)
	}
}

// TestFirstCall: where the first call alone does the work, the run says so, with its time. A call that is always slow, or a first one
// of less than 1 ms, is no news.
func TestFirstCall(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		level schema.Level
		warns bool
	}{
		"cached":         {"import functools, time\n@functools.lru_cache(None)\ndef run_benchmark(): time.sleep(.02)\n", schema.LevelMean, true},
		"cached, single": {"import functools, time\n@functools.lru_cache(None)\ndef run_benchmark(): time.sleep(.02)\n", schema.LevelIteration, true},
		"always slow":    {"import time\ndef run_benchmark(): time.sleep(.01)\n", schema.LevelIteration, false},
		"quick":          {"def run_benchmark(): pass\n", schema.LevelMean, false},
	} {
		spec := specOfAny(t, Settings{File: "bench.py", Object: "run_benchmark", Level: c.level}, nil)
		spec.Dir = folder(t, map[string]string{"bench.py": c.text})
		o := runOK(t, spec)
		ns, _ := strconv.Atoi(o.Facts["runner.first_call_ns"])
		if warned := slices.Contains(o.Warnings, "first_call"); warned != c.warns || c.warns && ns < 20_000_000 {
			t.Errorf("%s: warnings %v, first call %d ns", name, o.Warnings, ns)
		}
	}
}

// TestPrepare: each iteration gets what was prepared for it, and runs once for each preparation.
func TestPrepare(t *testing.T) {
	const text = `
import random
made = sorted_before = 0
def shuffled(n):
    global made
    made += 1
    data = list(range(n)); random.shuffle(data)
    return {"data": data}
def lacking(m): pass
def listing(): return [1]
def changing(n): return {"n": 30, "data": []}
def bench_sort(data, reverse=False):
    global sorted_before
    sorted_before += data == sorted(data)
    data.sort(reverse=reverse)
    return data
def validate_result(result, n):
    return len(result) == n == 50 and sorted_before == 0 and made == 1 + 5 + 40
class Queue:
    def __init__(self, n): self.filled = self.calls = 0
    def fill(self): self.items = [1]; self.filled += 1
    def benchmark_fn(self): self.items.pop(); self.calls += 1
    def applied(self): return {"filled": self.filled, "calls": self.calls}
`
	for object, hook := range map[string]string{"bench_sort": "shuffled", "Queue": "fill"} {
		spec := specOfAny(t, Settings{File: "bench.py", Object: object, Level: schema.LevelMean, Worker: sweep.Worker{Prepare: hook}}, map[string]string{"param.n": "50"})
		spec.Dir = folder(t, map[string]string{"bench.py": text})
		o := runOK(t, spec)
		if m := metric(o, schema.PrimaryMetric); m.Level != schema.LevelIteration || len(m.Ticks) != 40 {
			t.Errorf("%s: %d samples of level %s", object, len(m.Ticks), m.Level)
		}
		if object == "Queue" && (o.Applied["calls"] != "45" || o.Applied["filled"] != "45") {
			t.Errorf("applied %v, want 45 calls, each prepared", o.Applied)
		}
	}
	for hook, c := range map[string]struct {
		stage schema.Stage
		want  string
	}{
		"nothing":  {schema.StageSetup, "prepare: bench.py has no function nothing"},
		"made":     {schema.StageSetup, "prepare: bench.py has no function made"},
		"lacking":  {schema.StageSetup, "lacking needs m, which the point does not have"},
		"listing":  {schema.StageWarmup, "listing returned a list: want a dict of arguments, or nothing"},
		"changing": {schema.StageWarmup, "changing returned the argument n, which is an axis of the point"},
	} {
		var axes map[string]string
		if hook == "changing" {
			axes = map[string]string{"param.n": "50"}
		}
		spec := specOf(t, Settings{File: "bench.py", Object: "bench_sort", Worker: sweep.Worker{Prepare: hook}}, axes)
		spec.Dir = folder(t, map[string]string{"bench.py": text})
		check(t, runSpec(t, spec), schema.StatusError, c.stage, "setup", c.want)
	}
	for timing, want := range map[string]string{"torch_timer": "timing torch_timer", "triton": "timing triton"} {
		spec := specOf(t, Settings{File: "bench.py", Object: "bench_sort", Worker: sweep.Worker{Timing: timing, Prepare: "shuffled"}}, map[string]string{"param.n": "50"})
		spec.Dir = folder(t, map[string]string{"bench.py": text, "torch.py": fakeTorch, "triton/__init__.py": ""})
		check(t, runSpec(t, spec), schema.StatusUnsupported, schema.StageSetup, "not_applied", "prepare was requested, but "+want)
	}
}

// TestRelativeImports: a file of a package is its module where it imports relative to itself, whether or not the package imports it;
// else its package is not imported at all.
func TestRelativeImports(t *testing.T) {
	const relative = "from .h import helper\nfrom .sub.deep import x\nimport h\ndef run_benchmark(): return helper() + x\n"
	for file, c := range map[string]struct{ initial, text, want string }{
		"outer/pk/b.py": {"", relative, ""},
		"pk/b.py":       {"from .b import run_benchmark\n", relative, ""},
		"plain/b.py":    {"raise ImportError('not imported')", "import h\ndef run_benchmark(): return h.helper()\n", ""},
		"wrong/pk/b.py": {"raise ImportError('broken')", relative, "ImportError: broken"},
	} {
		dir, _, _ := strings.Cut(file, "/b.py")
		spec := specIn(t, Settings{File: file}, map[string]string{
			"outer/__init__.py": "", dir + "/__init__.py": c.initial, dir + "/h.py": "def helper(): return 1\n",
			dir + "/sub/__init__.py": "", dir + "/sub/deep.py": "from ..h import helper\nx = helper()\n", dir + "/b.py": c.text,
		})
		if o := runSpec(t, spec); c.want == "" {
			check(t, o, schema.StatusOK, "", "", "")
		} else {
			check(t, o, schema.StatusError, schema.StageSetup, "import", c.want)
		}
	}
}

// TestPeakOfReturned: the result of an iteration is gone when the next one begins.
func TestPeakOfReturned(t *testing.T) {
	peak := func(text string) int64 {
		spec := specOf(t, Settings{File: "bench.py"}, nil)
		spec.Warmup, spec.Iterations, spec.Dir = 1, 3, folder(t, map[string]string{"bench.py": text})
		o := runOK(t, spec)
		return metric(o, "peak_memory").Ticks[0]
	}
	returned, dropped := peak("def run_benchmark(): return bytearray(100_000_000)\n"), peak("def run_benchmark(): bytearray(100_000_000)\n")
	if returned > dropped+25_000_000 {
		t.Errorf("peak %d B where the result is returned, %d B where it is not", returned, dropped)
	}
}
