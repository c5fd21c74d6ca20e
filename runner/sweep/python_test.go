package sweep

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/runner/counter"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// net is the beginning of a sweep for onnxrt and torch.
const net = "backend: [onnxrt, torch]\nmodel: builtin:x\n"

func TestFile(t *testing.T) {
	check := func(file, path, object, benchmark string) {
		t.Helper()
		p := parse(t, "file: "+file, Overrides{}).Points[0]
		equal(t, []string{p.File, p.Object, p.Benchmark}, []string{path, object, benchmark})
		equal(t, p.Executor, schema.ExecutorPython)
	}
	check("./ops/moe.py", "./ops/moe.py", "", "moe.py")
	check("../moe.py:Routed", "../moe.py", "Routed", "moe.py:Routed")
	check("C:x/a.py", "C:x/a.py", "", "a.py")
	check("a:b.py:_f1", "a:b.py", "_f1", "a:b.py:_f1")
	check("a.py:Größe", "a.py", "Größe", "a.py:Größe")

	s := parse(t, `
suite: operations
benchmark: [GELU, Swish]
file: "ops/{variant}.py:{benchmark}"
variant: [torch, triton]
backend: cuda
model: {name: m, path: m.pt}
grid: {batch_size: 4, dim: [64, 128]}
warmup: 3
`, Overrides{})
	equal(t, len(s.Points), 8)
	p := s.Points[7]
	equal(t, parsedWords(&p), "Swish triton cuda m 4 dim=128")
	equal(t, []string{p.File, p.Object, p.ModelPath}, []string{"ops/triton.py", "Swish", "m.pt"})
	equal(t, []int{p.FileLine, p.ModelLine, p.PythonLine, p.BuildLine, p.Warmup}, []int{4, 7, 0, 0, 3})
	equal(t, p.Budget, 10*time.Second)
	equal(t, p.Timeouts.Measure, 15*time.Second)
	// Two classes of one file are two benchmarks.
	s = parse(t, "file: \"a.py:{k}\"\ngrid: {k: [A, B]}", Overrides{})
	equal(t, points(s), []string{"a.py:A k=A", "a.py:B k=B"})
}

// TestProfileTimeouts: a profiler may have a deadline of its own.
func TestProfileTimeouts(t *testing.T) {
	const text = "backend: onnxrt\nmodel: a.onnx\nprofile: [{tool: ort, timeout: 20s}]\ntimeout_multiplier: 2\n"
	p := parse(t, text, Overrides{}).Points[0]
	equal(t, p.Profile, []string{"ort"})
	equal(t, p.ProfileTimeouts, map[string]time.Duration{"ort": 40 * time.Second})
	equal(t, p.Timeouts.Profile, 6*time.Minute)
}

// TestNoProfile: an empty list of profilers switches those of the file off.
func TestNoProfile(t *testing.T) {
	t.Parallel()
	const text = "backend: onnxrt\nmodel: a.onnx\nprofile: ort\n"
	equal(t, len(parse(t, text, Overrides{}).Points[0].Profile), 1)
	equal(t, len(parse(t, text, Overrides{Given: map[string]string{"profile": ""}}).Points[0].Profile), 0)
	equal(t, parse(t, text, Overrides{Given: map[string]string{"profile": ""}}).Points[0].Operators, false)
}

// TestProfileOption: an option names profilers, whose deadlines and arguments stay those of the file, also in the sweep that is printed.
func TestProfileOption(t *testing.T) {
	t.Parallel()
	const text = "command: a\nprofile: [{tool: nsys, timeout: 4s, args: [--trace=osrt]}, perf, {tool: py-spy, timeout: 5s}]\n"
	given := Overrides{Given: map[string]string{"profile": "cachegrind,nsys,perf"}}
	check := func(p Point) {
		equal(t, p.Profile, []string{"cachegrind", "nsys", "perf"})
		equal(t, p.ProfileTimeouts, map[string]time.Duration{"nsys": 4 * time.Second})
		equal(t, p.ProfileArgs, map[string][]string{"nsys": {"--trace=osrt"}})
	}
	check(parse(t, text, given).Points[0])
	check(parse(t, string(valuetest.Must(Kept([]byte(text), given))), Overrides{}).Points[0])
	given.Set = []string{"profile=[{tool: nsys, timeout: 4s, args: [--trace=osrt]}]"}
	check(parse(t, "command: a\n", given).Points[0])
	check(parse(t, string(valuetest.Must(Kept([]byte("command: a\n"), given))), Overrides{}).Points[0])
}

// TestPassesOfCounts: a profiler that counts makes as many passes as there are repeats, up to five, the points by turns; any other makes one,
// and one that is not installed says so once.
func TestPassesOfCounts(t *testing.T) {
	t.Parallel()
	for repeats, passes := range map[int]int{1: 1, 3: 3, 9: 5} {
		s := parse(t, fmt.Sprintf("command: [a, \"{n}\"]\ngrid: {n: [1, 2]}\nprofile: [cachegrind, nsys]\nrepeats: %d\n", repeats), Overrides{})
		count := func(o LaunchOptions) map[string]int {
			n, blocks := map[string]int{}, map[int]bool{}
			for _, l := range s.Launches(o) {
				if l.Profile == "" {
					continue
				}
				if l.Side == 0 && blocks[l.Block] || l.Profile == "cachegrind" && l.Repeat != n["cachegrind"]/o.sides()/2 {
					t.Errorf("%d repeats: repeat %d in block %d", repeats, l.Repeat, l.Block)
				}
				blocks[l.Block] = true
				n[l.Profile]++
			}
			return n
		}
		equal(t, count(LaunchOptions{}), map[string]int{"cachegrind": 2 * passes, "nsys": 2})
		equal(t, count(LaunchOptions{Sides: 2}), map[string]int{"cachegrind": 4 * passes, "nsys": 4})
		equal(t, count(LaunchOptions{Absent: map[string]string{"nsys": "absent"}}), map[string]int{"cachegrind": 2 * passes, "nsys": 1})
		for _, l := range s.Launches(LaunchOptions{Absent: map[string]string{"cachegrind": "absent"}}) {
			equal(t, l.Profile == "cachegrind" && l.Repeat > 0, false)
		}
	}
}

func TestPythonSettings(t *testing.T) {
	s := parse(t, `
file: a.py
python: "/venvs/{venv}/bin/python"
timing: torch_timer
min_run_time: 1s
seed: 7
reproducible: true
cold_start: true
profile: torch
build: [[make, "{venv}"], [python3, setup.py, "--seed={seed}"]]
share: [data, ./models/big/]
grid: {venv: [a, b]}
`, Overrides{})
	p := s.Points[1]
	equal(t, p.Python, "/venvs/b/bin/python")
	equal(t, []any{p.Timing, p.MinRunTime, *p.Seed, p.Reproducible, p.ColdStart, p.FlushL2},
		[]any{"torch_timer", time.Second, int64(7), true, true, false})
	equal(t, []int{p.Warmup, p.Iterations}, []int{0, 1})
	equal(t, p.Fixed, []string{"iterations", "warmup"})
	equal(t, p.Profile, []string{"torch"})
	equal(t, p.Build, [][]string{{"make", "b"}, {"python3", "setup.py", "--seed=7"}})
	equal(t, s.Share, []string{"data", "models/big"})
	equal(t, p.Used, []string{"venv"})
	equal(t, []int{p.PythonLine, p.BuildLine}, []int{3, 10})

	p = parse(t, "file: a.py\nreproducible: true\ncold_start: true\nwarmup: 3", Overrides{}).Points[0]
	equal(t, []any{*p.Seed, p.Warmup, p.Timing, p.MinRunTime}, []any{int64(42), 3, "auto", 200 * time.Millisecond})
	equal(t, p.Fixed, []string{"iterations"})
	cold := "file: a.py\ncold_start: true\n"
	for text, over := range map[string]Overrides{
		cold + "iterations: 1": {}, cold + "budget: 5s": {}, "file: a.py\niterations: 5": {Given: map[string]string{"cold_start": "true"}},
		"file: a.py\niterations: n\ngrid: {n: [3]}": {Given: map[string]string{"cold_start": "true"}},
	} {
		p = parse(t, text, over).Points[0]
		equal(t, p.Iterations, 1)
		equal(t, p.Fixed, []string{"iterations", "warmup"})
	}
	for text, over := range map[string]Overrides{
		cold + "iterations: 5": {}, cold: {Given: map[string]string{"iterations": "5"}},
		"file: a.py\n": {Given: map[string]string{"iterations": "5", "cold_start": "true"}},
	} {
		valuetest.ErrorText(t, valuetest.Error(Read("s.yaml", strings.NewReader(text), over)), "…want 1 with cold_start…", text)
	}
	p = parse(t, "file: a.py\nseed: 7\nmin_run_time: 1s\nbuild: [make, all]\ncold_start: false", Overrides{}).Points[0]
	equal(t, []any{*p.Seed, p.Reproducible, p.MinRunTime}, []any{int64(7), false, time.Second})
	equal(t, p.Build, [][]string{{"make", "all"}})
	equal(t, parse(t, "file: a.py\nbuild: make", Overrides{}).Points[0].Build, [][]string{{"make"}})
}

// A setting reaches the points to whose executor it means something, and no other.
func TestWhoTakesWhat(t *testing.T) {
	s := parse(t, `
backend: [builtin, onnxrt, torch, tensorrt]
model: builtin:x
provider: "{ep}ExecutionProvider"
device: cuda:1
threads: 4
flush_l2: true
seed: 7
profile: [ort, torch]
build: [make]
params: {ep: CUDA}
`, Overrides{})
	var got []string
	for _, p := range s.Points {
		got = append(got, fmt.Sprint(p.Provider, " ", p.Device, " ", p.Threads, " ", p.FlushL2, " ", p.Seed != nil, " ",
			p.Timing, " ", p.Profile, " ", p.Build, " ", p.Used))
	}
	equal(t, got, []string{
		"  0 false false  [] [] []",
		"CUDAExecutionProvider  4 true true auto [ort] [[make]] [ep]",
		" cuda:1 4 true true auto [torch] [[make]] [ep]",
		" cuda:1 0 true true auto [] [[make]] [ep]",
	})
	if &s.Points[1].Build[0] != &s.Points[3].Build[0] {
		t.Error("each point has a copy of equal commands")
	}
}

func TestSettingsAsAxes(t *testing.T) {
	s := parse(t, net+"grid: {provider: [A, B], device: cpu, threads: [1, 8]}", Overrides{})
	var got []string
	for _, p := range s.Points {
		got = append(got, fmt.Sprint(p.Backend, p.Params, p.Provider, p.Device, p.Threads))
	}
	slices.Sort(got)
	equal(t, got[:5], []string{
		"onnxrtmap[device:cpu provider:A threads:1]A1", "onnxrtmap[device:cpu provider:A threads:8]A8",
		"onnxrtmap[device:cpu provider:B threads:1]B1", "onnxrtmap[device:cpu provider:B threads:8]B8",
		"torchmap[device:cpu provider:A threads:1]cpu1",
	})
	s = parse(t, net+"provider: \"{provider}ExecutionProvider\"\ngrid: {provider: CPU}", Overrides{})
	equal(t, []string{s.Points[0].Provider, s.Points[0].Params["provider"]}, []string{"CPUExecutionProvider", "CPU"})
	s = parse(t, net, Overrides{Params: map[string]string{"threads": "2"}})
	equal(t, s.Points[0].Threads, 2)
	// Of a command and of a file they are axes like any other.
	s = parse(t, "command: [a, \"{threads}\"]\ngrid: {threads: many}", Overrides{})
	equal(t, s.Points[0].Threads, 0)
	s = parse(t, "file: a.py\ngrid: {threads: many, device: x, seed: [1, 2]}", Overrides{})
	equal(t, []any{s.Points[0].Threads, s.Points[0].Device, s.Points[0].Seed}, []any{0, "", (*int64)(nil)})
}

func TestSeedInCommand(t *testing.T) {
	s := parse(t, `
command: [prog, "--seed={seed}"]
wrapper: [w, "{seed}"]
env: {S: "{seed}"}
cwd: /x/{seed}
seed: 7
build: [[make, "{k}", "{seed}"]]
grid: {k: [1, 2]}
`, Overrides{})
	p := s.Points[1]
	equal(t, p.Command, []string{"w", "7", "prog", "--seed=7"})
	equal(t, []string{p.Env["S"], p.Dir}, []string{"7", "/x/7"})
	equal(t, p.Build, [][]string{{"make", "2", "7"}})
	equal(t, *p.Seed, int64(7))
	equal(t, p.Timing, "")
	p = parse(t, "command: [a, \"{seed}\"]", Overrides{Given: map[string]string{"reproducible": "true"}}).Points[0]
	equal(t, p.Command, []string{"a", "42"})
	p = parse(t, "command: [a, \"{seed}\"]\ngrid: {seed: 9}", Overrides{}).Points[0]
	equal(t, p.Command, []string{"a", "9"})
	equal(t, p.Seed, (*int64)(nil))
	p = parse(t, "command: [a]\nbuild: [make]", Overrides{}).Points[0]
	equal(t, p.Build, [][]string{{"make"}})
	equal(t, p.Timeouts.Build, 10*time.Minute)
}

func TestPythonOverrides(t *testing.T) {
	src := net + "warmup: 5\nseed: 1\nprofile: [ort, torch]\ncold_start: false\npython: old\nprovider: A\ntiming: triton\n"
	p := parse(t, src, Overrides{Given: map[string]string{
		"python": "new{", "provider": "B", "device": "cpu", "timing": "perf_counter", "seed": "0", "reproducible": "true",
		"cold_start": "true", "profile": "ort", "iterations": "1",
	}}).Points[0]
	equal(t, []any{p.Python, p.Provider, p.Timing, *p.Seed, p.Reproducible, p.ColdStart, p.Warmup, p.PythonLine},
		[]any{"new{", "B", "perf_counter", int64(0), true, true, 0, 0})
	equal(t, p.Profile, []string{"ort"})
	equal(t, p.Fixed, []string{"iterations", "warmup", "seed", "timing"})
	p = parse(t, src, Overrides{Given: map[string]string{"device": "cuda", "cold_start": "true", "warmup": "2", "reproducible": "true"}}).Points[1]
	equal(t, []any{p.Device, p.Warmup, *p.Seed}, []any{"cuda", 2, int64(1)})
	equal(t, p.Fixed, []string{"iterations", "warmup"})
	p = parse(t, net, Overrides{Given: map[string]string{"reproducible": "true"}}).Points[0]
	equal(t, p.Fixed, []string{"seed"})
	// Another timing than the file was written for leaves its min_run_time unused.
	p = parse(t, net+"timing: torch_timer\nmin_run_time: 1s", Overrides{Given: map[string]string{"timing": "perf_counter"}}).Points[0]
	equal(t, p.Timing, "perf_counter")
	// --python may come from the environment, and what the file says may be left unused by another backend.
	parse(t, tiny, Overrides{Given: map[string]string{"python": "python3"}})
	parse(t, net+"provider: A", Overrides{Params: map[string]string{"backend": "builtin"}})
	equal(t, parse(t, tiny, Overrides{Given: map[string]string{"cold_start": "true"}}).Points[0].Warmup, 0)
}

func TestErrorsOfPython(t *testing.T) {
	check := refuses(t, "")
	for _, file := range []string{":Name", "bench", "bench.py:", "bench.py:1a", "bench.py:a.b", ".py", "d/.py:A", "a.sh:A"} {
		check("file: \""+file+"\"", fmt.Sprintf("1: file: want path.py or path.py:Name, got %q", file))
	}
	check("file: \"{k}:A\"\ngrid: {k: [a.py, b]}", `1: file: want path.py or path.py:Name, got "b:A"`)
	check("file: [a.py]", "1: file: want one value, got a list")
	check("file: a.py\ncommand: [a]", "1: file: cannot be combined with command (line 2): use one of them")
	check("file: a.py\nwrapper: [a]", "2: wrapper: goes before a command, but there is no command")
	check("file: a.py\nprovider: x", "2: provider: not supported with file: only with onnxrt")
	check("file: a.py\nprofile: [torch, ort]", "2: profile: ort not supported with file: only with onnxrt")
	check("command: [a]\ntiming: auto",
		"2: timing: not supported with command: only with file, onnxrt, torch and tensorrt")
	check("command: [a]\nseed: 1",
		"2: seed: not supported with command: only with file, onnxrt, torch, tensorrt and a command with {seed}")
	check("command: [a]\nreproducible: true",
		"2: reproducible: not supported with command: only with file, onnxrt, torch, tensorrt and a command with {seed}")
	check(tiny+"python: x", "3: python: not supported with builtin: only with file, onnxrt, torch and tensorrt")
	check(tiny+"build: [x]",
		"3: build: not supported with builtin: only with command, file, onnxrt, torch and tensorrt")
	check("backend: [builtin, tensorrt]\nmodel: builtin:x\nthreads: 1",
		"3: threads: not supported with builtin and tensorrt: only with onnxrt and torch")
	check(tiny+"flush_l2: true", "3: flush_l2: not supported with builtin: only with onnxrt, torch and tensorrt")
	check("command: [a, \"{seed}\"]", "1: command: {seed} has no value: set seed")
}

func TestErrorsOfPythonValues(t *testing.T) {
	check := refuses(t, net)
	check("threads: 0", `3: threads: want a whole number from 1 to 1048576, got "0"`)
	check("threads: many", `3: threads: want a whole number from 1 to 1048576, got "many"`)
	check("grid: {threads: [1, x]}", `3: axis threads: want a whole number from 1 to 1048576, got "x"`)
	check(`provider: ""`, "3: provider: is empty")
	check(`grid: {provider: ["", A]}`, "3: axis provider: is empty")
	check("provider: A\ngrid: {provider: [A, B]}",
		"3: provider: there is an axis provider too: write {provider} here, or remove this key")
	check("device: \"{dev}\"", "3: device: {dev} is not an axis (write {{ and }} for literal braces)")
	check("python: [a]", "3: python: want one value, got a list")
	check("timing: fast", `3: timing: want one of auto perf_counter cuda_event triton torch_timer, got "fast"`)
	check("timing: [auto]", "3: timing: want one of auto perf_counter cuda_event triton torch_timer, got a list")
	check("min_run_time: 1s", "3: min_run_time: not supported with timing auto: only with torch_timer")
	check("timing: triton\nmin_run_time: 1s", "4: min_run_time: not supported with timing triton: only with torch_timer")
	check("timing: torch_timer\nmin_run_time: 1", "4: min_run_time: want a time with its unit (500ms, 15s, 10m), got 1")
	check("seed: -1", "3: seed: want a whole number from 0 to 4294967295, got -1")
	check("seed: 4294967296", "3: seed: want a whole number from 0 to 4294967295, got 4294967296")
	check("seed: x", `3: seed: want a number, got "x"`)
	check("seed: 1\ngrid: {seed: [1, 2]}", "3: seed: there is an axis seed too: remove one of them")
	check("reproducible: 1", "3: reproducible: want true or false, got 1")
	check("cold_start: yes", `3: cold_start: want true or false, got "yes"`)
	check("flush_l2: [true]", "3: flush_l2: want true or false, got a list")
	check("profile: vtune", `3: profile: want one of ort torch nsys ncu perf py-spy cachegrind, got "vtune"`)
	check("profile: [{timeout: 1s}]", "3: profile: want a tool: one of ort torch nsys ncu perf py-spy cachegrind")
	check("profile: {tool: vtune}", `3: profile.tool: want one of ort torch nsys ncu perf py-spy cachegrind, got "vtune"`)
	check("telemetry: 10", "3: telemetry: want off or a map with hz, got 10")
	check("telemetry: on", `3: telemetry: want off or a map with hz, got "on"`)
	check("telemetry: {hz: 0}", "3: telemetry.hz: want a number above 0 and at most 1000, got 0")
	check("telemetry: {hz: 2000}", "3: telemetry.hz: want a number above 0 and at most 1000, got 2000")
	check("telemetry: {hz: fast}", `3: telemetry.hz: want a number above 0 and at most 1000, got "fast"`)
	check("telemetry: {energy: 1}", "3: telemetry.energy: want true or false, got 1")
	check("telemetry: {rate: 1}", "3: telemetry: unknown key rate: want one of energy hz")
	check("counters: loads", `3: counters: want one of default instructions cycles branch_misses cache_misses page_faults context_switches task_clock, got "loads"`)
	check("counters: [cycles, cycles]", "3: counters: cycles appears twice")
	check("counters: cycles\nmetrics: {cycles: {regex: a}}", "4: metrics: counters has a metric cycles: choose another name")
	check("counters: cycles\nderived: {cycles: {expr: latency, unit: s}}", "4: derived: counters has a metric cycles: choose another name")
	check("counters: []", "3: counters: is empty")
	check("counters: 1", "3: counters: want one of default instructions cycles branch_misses cache_misses page_faults context_switches task_clock, got 1")
	check("profile: {tool: ort, timeout: 5}", "3: profile.timeout: want a time with its unit (500ms, 15s, 10m), got 5")
	check("profile: {tool: ort, limit: 5s}", "3: profile: unknown key limit: want one of args timeout tool")
	check("profile: {tool: ort, args: [-x]}", "3: profile.args: ort takes no arguments: it runs within the benchmark's process")
	check("profile: {tool: nsys, args: -x}", "3: profile.args: want a list, got \"-x\"")
	check("profile: [ort, {tool: ort}]", "3: profile: ort appears twice")
	check("profile: [ort, ort]", "3: profile: ort appears twice")
	check("build: []", "3: build: is empty")
	check("build: [[]]", "3: build: is empty")
	check("build: [[a], b]", `3: build: want a list of words, or a list of such lists, got "b"`)
	check("build: [a, [b]]", "3: build: want one value, got a list")
	check(`build: [["", a]]`, "3: build: the name of the program is empty")
	check("build: {a: b}", `3: build: want text, got a map: quote it ("{axis}")`)
	check("share: [/data]", `3: share: want a path below the working directory, got "/data"`)
	check("share: [a/../..]", `3: share: want a path below the working directory, got "a/../.."`)
	check("share: [../data]", `3: share: want a path below the working directory, got "../data"`)
	check("share: [.]", `3: share: want a path below the working directory, got "."`)
	check("share: [data, data/]", `3: share: "data/" appears twice`)
	check("share: [7]", "3: share: want text, got 7: quote it")
	check("timeouts: {build: 4}", "3: timeouts.build: want a time with its unit (500ms, 15s, 10m), got 4")
	check("command: [a]\ngrid:\n  kind: [1, 2]\nbuild: [[make, \"{king}\"]]",
		"6: build: {king} is not an axis: did you mean {kind}? (write {{ and }} for literal braces)")
}

func TestErrorsOfPythonOptions(t *testing.T) {
	check := func(src string, o Overrides, want string) {
		t.Helper()
		valuetest.ErrorText(t, valuetest.Error(readText("sweep.yaml", []byte(src), o)), want)
	}
	check(tiny, Overrides{Given: map[string]string{"provider": "A"}}, "--provider: not supported with builtin: only with onnxrt")
	check(tiny, Overrides{Given: map[string]string{"device": "cpu"}}, "--device: not supported with builtin: only with torch and tensorrt")
	check(tiny, Overrides{Given: map[string]string{"profile": "torch"}}, "--profile: torch not supported with builtin: only with file and torch")
	check(tiny, Overrides{Given: map[string]string{"timing": "auto"}}, "--timing: not supported with builtin: only with file, onnxrt, torch and tensorrt")
	check(tiny, Overrides{Given: map[string]string{"reproducible": "true"}},
		"--reproducible: not supported with builtin: only with file, onnxrt, torch, tensorrt and a command with {seed}")
	check(net, Overrides{Given: map[string]string{"timing": "fast"}},
		`--timing: want one of auto perf_counter cuda_event triton torch_timer, got "fast"`)
	check(net, Overrides{Given: map[string]string{"profile": "ort,vtune"}}, `--profile: want one of ort torch nsys ncu perf py-spy cachegrind, got "vtune"`)
	check(net, Overrides{Given: map[string]string{"seed": "-1"}}, "--seed: want a whole number from 0 to 4294967295, got -1")
	check(net+"grid: {seed: 1}", Overrides{Given: map[string]string{"seed": "1"}}, "--seed: seed is an axis of this sweep: use -P seed=VALUE")
	check(net+"grid: {device: cpu}", Overrides{Given: map[string]string{"device": "cuda"}},
		"--device: device is an axis of this sweep: use -P device=VALUE")
	check(net, Overrides{Given: map[string]string{"python": "\xff"}}, `--python: want UTF-8, got "\xff"`)
	check(net, Overrides{Given: map[string]string{"order": "fast"}}, `--order: want one of interleaved random sequential, got "fast"`)
	// What the file says is left alone where the command line changes the backend; what it says itself is not.
	check(net, Overrides{Given: map[string]string{"provider": "A"}, Params: map[string]string{"backend": "builtin"}},
		"--provider: not supported with builtin: only with onnxrt")
}

// TestSpellings: a point knows the names of its axes and their values as they were written, in a file and on the command line. They do not
// change what the point is.
func TestSpellings(t *testing.T) {
	for name, c := range map[string]struct {
		grid      string
		params    map[string]string
		batch     string
		precision string
		text      string
	}{
		"names of axes": {"{batch_size: 4, precision: fp32}", nil, "batch_size batch bs", "precision dtype prec", ""},
		"as written":    {"{batch: 4, dtype: float32}", nil, "batch batch_size bs", "dtype precision prec", "float32"},
		"by options":    {"{bs: 1}", map[string]string{"batch": "4", "prec": "single"}, "batch batch_size bs", "prec precision dtype", "single"},
		"over another":  {"{batch: 1, dtype: half}", map[string]string{"batch_size": "4", "precision": "fp32"}, "batch_size batch bs", "precision dtype prec", ""},
	} {
		p := parse(t, "file: b.py\ngrid: "+c.grid+"\n", Overrides{Params: c.params}).Points[0]
		plain := parse(t, "file: b.py\ngrid: {batch_size: 4, precision: fp32}\n", Overrides{}).Points[0]
		if p.PointID != plain.PointID || p.Precision != "fp32" {
			t.Errorf("%s: another point: %s", name, p.Describe())
		}
		if got := p.Spellings(); strings.Join(got["batch_size"], " ") != c.batch || strings.Join(got["precision"], " ") != c.precision || got["seq_len"] != nil {
			t.Errorf("%s: %v", name, got)
		}
		valuetest.DeepEqual(t, p.WrittenTexts()["precision"], c.text, name)
	}
}

// TestCounters: counters have one order, whatever that of the list is, and default stands for all.
func TestCounters(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "counters: task_clock": "task_clock", "counters: [page_faults, instructions]": "instructions,page_faults",
		"counters: [default]": strings.Join(counter.Names(), ","), "counters: [cycles, default]": strings.Join(counter.Names(), ","),
	} {
		point := parse(t, "file: x.py\n"+text+"\n", Overrides{}).Points[0]
		equal(t, strings.Join(point.Counters, ","), want)
		equal(t, point.Settings()["counters"], want)
	}
	given := Overrides{Given: map[string]string{"counters": "cycles,instructions"}}
	equal(t, strings.Join(parse(t, "file: x.py\ncounters: default\n", given).Points[0].Counters, ","), "instructions,cycles")
}
