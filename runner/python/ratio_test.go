package python

import (
	"errors"
	"fmt"
	"math"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// loopRatio runs the loop of timing.py over the same benchmark with its rows in a mapped file and in memory, in turn,
// and prints the median ratio of their times.
const loopRatio = `
import array, mmap, os, sys, tempfile, time, types
sys.modules["neurolens_worker"] = types.SimpleNamespace(
    MAX_VALUES=16384, WORD_STOP=511, Failure=Exception, Unsupported=Exception, one_line=str)
timing = types.ModuleType("timing")
exec(compile(sys.argv[1], "timing.py", "exec"), timing.__dict__)
rows = 200000
words = 512 + rows
with tempfile.TemporaryFile() as file:
    file.write(bytes(8 * words))
    file.flush()
    mapped = memoryview(mmap.mmap(file.fileno(), 0)).cast("q")
memory = array.array("q", bytes(8 * words))
work = types.SimpleNamespace(call=lambda: None, wait=None, look=None, prepare=None)

def spent(words):
    start = time.perf_counter_ns()
    timing.perf_counter_loop(work, words, 512, 512 + rows, 1 << 62)
    return time.perf_counter_ns() - start

spent(mapped), spent(memory)
ratios = sorted(spent(mapped) / spent(memory) for _ in range(int(sys.argv[2])))
print(ratios[len(ratios) // 2])
`

// BenchmarkPythonLoopRatio: what it costs that samples survive the death of the process; at most 1.1.
func BenchmarkPythonLoopRatio(b *testing.B) {
	source := valuetest.Must(sources.ReadFile("timing.py"))
	python := interpreter(b).Path
	var ratios []float64
	for b.Loop() {
		out := valuetest.Must(exec.Command(python, "-c", loopRatio, string(source), "21").Output())
		ratios = append(ratios, valuetest.Must(strconv.ParseFloat(strings.TrimSpace(string(out)), 64)))
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "ratio")
}

// startRatio is the median time of a whole run of an empty benchmark that imports something, against that of an
// interpreter that imports the same. They take turns in going first, since the first one warms the page cache.
func startRatio(b *testing.B, statement string) {
	spec := benchmark(b, statement+"\ndef run_benchmark(): pass\n", nil)
	spec.Warmup, spec.Iterations = 0, 1
	python := interpreter(b).Path
	pool := valuetest.Must(thePool())
	kinds := []func() error{
		func() error {
			o, err := pool.Run(b.Context(), spec, nil)
			if err == nil && o.Status != schema.StatusOK {
				err = errors.New(o.Error)
			}
			return err
		},
		func() error { return exec.Command(python, "-c", statement).Run() },
	}
	var times [2][]time.Duration
	turn := 0
	for b.Loop() {
		for i := range kinds {
			kind := (turn + i) % len(kinds)
			start := time.Now()
			valuetest.OK(b, kinds[kind]())
			times[kind] = append(times[kind], time.Since(start))
		}
		turn++
	}
	slices.Sort(times[0])
	slices.Sort(times[1])
	point, bare := times[0][turn/2], times[1][turn/2]
	b.ReportMetric(float64(point)/float64(bare), "ratio")
	b.ReportMetric(float64(point-bare)/1e6, "extra-ms")
	b.ReportMetric(float64(bare)/1e6, "bare-ms")
}

// BenchmarkTorchStartRatio: what isolation costs where torch is imported; at most 1.3.
func BenchmarkTorchStartRatio(b *testing.B) {
	interpreter(b, "torch")
	startRatio(b, "import torch")
}

// BenchmarkStartRatio is the same for a benchmark that imports nothing.
func BenchmarkStartRatio(b *testing.B) { startRatio(b, "pass") }

// BenchmarkTimeitRatio: the median of a function of about 50 ns against what timeit says of it, by turns. Of both
// the best one counts, since other work makes either slower for seconds at a time, and timeit is asked for loops that are as long
// as samples, which are not interrupted as often as its own. Within 5 %.
func BenchmarkTimeitRatio(b *testing.B) {
	spec := specOfAny(b, Settings{File: "bench.py"}, nil)
	spec.Warmup, spec.Iterations = 10, 100
	spec.Dir = folder(b, map[string]string{"bench.py": "def run_benchmark(n=3): return n * n + n\n"})
	python := interpreter(b).Path
	pool := valuetest.Must(thePool())
	ours, theirs := math.Inf(1), math.Inf(1)
	for b.Loop() {
		o, err := pool.Run(b.Context(), spec, nil)
		if err != nil || o.Status != schema.StatusOK {
			b.Fatal(err, o.Error)
		}
		m := metric(o, schema.PrimaryMetric)
		if m.Level != schema.LevelMean {
			b.Fatalf("samples are of level %s", m.Level)
		}
		values := m.Values()
		slices.Sort(values)
		ours = min(ours, values[len(values)/2])
		timeit := exec.Command(python, "-m", "timeit", "-u", "nsec", "-n", "2000", "-r", "100", "-s", "from bench import run_benchmark", "run_benchmark()")
		timeit.Dir = spec.Dir
		out := valuetest.Must(timeit.Output())
		_, text, _ := strings.Cut(string(out), "best of 100: ") // 2000 loops, best of 100: 49.6 nsec per loop
		text, _, _ = strings.Cut(text, " ")
		ns, err := strconv.ParseFloat(text, 64)
		if err != nil {
			b.Fatalf("timeit says %q", out)
		}
		theirs = min(theirs, ns)
	}
	b.ReportMetric(ours/theirs, "ratio")
	b.ReportMetric(theirs, "timeit-ns")
}

// resultsRatio measures each function bench_* of a file with the loops of this package and with timeit, sample by sample by turns in
// one process, and prints the name, the ratio of the medians, and the time by timeit in ns.
const resultsRatio = inProcess + `
import array, gc, itertools, statistics, time, timeit
gc.disable()
for name in [name for name in vars(module) if name.startswith("bench_")]:
    timing = started(name)
    words = array.array("q", bytes(8 * 512))
    timing.warm_up(words, 1, 21)
    timing.calibrate(words, 1, 21)
    count = timing.inner.count if timing.inner else 1
    timer = timeit.Timer("call()", globals={"call": getattr(module, name)})
    ours, theirs = [], []
    for _ in range(int(sys.argv[3])):
        timing.measure(words, 1, 2, 0)
        ours.append(words[1] / count)
        theirs.append(timer.inner(itertools.repeat(None, count), time.perf_counter_ns) / count)
    print(name, statistics.median(ours) / statistics.median(theirs), statistics.median(theirs))
`

// BenchmarkResultsRatio compares what is measured of functions that return values of many kinds with timeit, with and without a
// framework in the process. Between 0.95 and 1.05 each, where timeit says more than 1 us.
func BenchmarkResultsRatio(b *testing.B) {
	for kind, text := range map[string]string{"plain": results, "torch": results + resultsOfTorch} {
		b.Run(kind, func(b *testing.B) {
			i := interpreter(b)
			if kind == "torch" {
				i = interpreter(b, "torch")
			}
			for b.Loop() {
				out := runInProcess(b, i, resultsRatio, text, "301")
				least, most := math.Inf(1), math.Inf(-1)
				for line := range strings.Lines(out) {
					var name string
					var ratio, ns float64
					if n, err := fmt.Sscan(line, &name, &ratio, &ns); n != 3 {
						b.Fatal(line, err)
					}
					b.Logf("%-20s %.3f  %.1f us", name, ratio, ns/1e3)
					if ns > 1000 {
						least, most = min(least, ratio), max(most, ratio)
					}
				}
				b.ReportMetric(least, "least-ratio")
				b.ReportMetric(most, "most-ratio")
			}
		})
	}
}

const resultsOfTorch = `
import torch
def bench_tensor(): return torch.ones(64, 64)
def bench_large_tensor(): return torch.ones(1000, 1000)
def bench_tensors(): return {"logits": torch.ones(64, 64), "tokens": list(range(20000))}
def bench_none_of_torch(): torch.ones(64, 64)
def bench_view_of_tensor(): return torch.ones(64, 64).T
`
