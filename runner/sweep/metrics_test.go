package sweep

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/runner/output"
	"github.com/neurolens/neurolens/schema/valuetest"
)

func TestMetrics(t *testing.T) {
	s := parse(t, `
command: [prog, "{n}"]
grid: {n: [1, 2.0]}
metrics:
  accuracy: {regex: 'acc (\S+)', unit: "%", better: higher, take: last, optional: true}
  loss: {from: "out-{n}.json", jq: .loss}
  err: {from: stderr, regex: x}
`, Overrides{})
	first, second := s.Points[0].Metrics, s.Points[1].Metrics
	equal(t, first, []output.ExtractRule{
		{Name: "accuracy", From: "stdout", Regex: `acc (\S+)`, Unit: "%", Better: "higher", Take: "last", Optional: true},
		{Name: "loss", From: "out-1.json", JQ: ".loss"},
		{Name: "err", From: "stderr", Regex: "x"},
	})
	equal(t, second[1].From, "out-2.0.json")
	equal(t, s.Points[1].Settings()["metrics"], `{"accuracy":{"better":"higher","from":"stdout","optional":true,"regex":"acc (\\S+)","take":"last","unit":"%"},`+
		`"err":{"from":"stderr","regex":"x"},"loss":{"from":"out-2.0.json","jq":".loss"}}`)

	shared := parse(t, "command: [prog, '{n}']\ngrid: {n: [1, 2]}\nmetrics: {m: {regex: x}}\ncalibrate: true", Overrides{})
	if &shared.Points[0].Metrics[0] != &shared.Points[1].Metrics[0] {
		t.Error("points do not share metrics that are the same")
	}
	for _, p := range shared.Points {
		if p.Calibration && p.Metrics != nil {
			t.Errorf("a point of calibrate has metrics: %v", p.Metrics)
		}
	}
	equal(t, len(parse(t, "file: b.py\nmetrics: {m: {regex: x}}", Overrides{}).Points[0].Metrics), 1)
}

func TestErrorsOfMetrics(t *testing.T) {
	check := refuses(t, "command: [prog, '{n}']\ngrid: {n: [1]}\n")
	check("metrics: 5", "3: metrics: want a map, got 5")
	check("metrics: [a]", "3: metrics: want a map, got a list")
	check("metrics:", "3: metrics: want a map, got nothing")
	check("metrics: {}", "3: metrics: is empty")
	check("metrics: {m: x}", `3: metrics.m: want a map, got "x"`)
	check("metrics: {m: [x]}", "3: metrics.m: want a map, got a list")
	check("metrics:\n  m:", "4: metrics.m: want a map, got nothing")
	check("metrics: {m: {}}", "3: metrics.m: want regex, jq or read")
	check("metrics: {m: {unit: ms, better: lower}}", "3: metrics.m: want regex, jq or read; a metric that a Python function returns has its unit and direction there: {value: 1.5, unit: ms, better: lower}")
	check("metrics: {m: {regexp: x}}", "3: metrics.m: unknown key regexp: did you mean regex?")
	check("metrics: {m: {path: x}}", "3: metrics.m: unknown key path: want one of better from jq optional read regex take unit")
	check("metrics: {m: {regex: x}, m: {jq: .}}", "3: duplicate key m: line 3 sets it already")
	check("metrics: {'a b': {regex: x}}", "3: metrics.a b: a name must begin with a letter and may contain letters, digits and _ . : / -")
	check("metrics: {latency: {regex: x}}", "3: metrics.latency: latency is measured in every run: choose another name")
	check("metrics: {peak_memory: {regex: x}}", "3: metrics.peak_memory: peak_memory is measured in every run: choose another name")
	for _, key := range []string{"from", "regex", "jq", "unit"} {
		with := func(value string) string {
			text := "metrics:\n  m:\n    " + key + ": " + value
			if key == "from" || key == "unit" {
				text += "\n    regex: x"
			}
			return text
		}
		at := "5: metrics.m." + key + ": "
		check(with("5"), at+"want text, got 5: quote it")
		check(with("true"), at+"want text, got true: quote it")
		check(with("[a]"), at+"want text, got a list")
		check(with("{a: b}"), at+"want text, got a map")
		check(with(""), at+"want text, got nothing")
		check(with(`""`), at+"is empty")
	}
	check("metrics: {m: {regex: x, from: 'out-{k}'}}", "3: metrics.m.from: {k} is not an axis (write {{ and }} for literal braces)")
	check("metrics: {m: {regex: x, from: 'a}'}}", "3: metrics.m.from: unmatched } in \"a}\": write }} for a literal brace")
	check("metrics: {m: {regex: '(x'}}", "3: metrics.m.regex: error parsing regexp: missing closing ): `(x`")
	check("metrics: {m: {jq: '.a |'}}", "3: metrics.m.jq: unexpected EOF")
	check("metrics: {m: {jq: 'nope'}}", "3: metrics.m.jq: function not defined: nope/0")
	check("metrics:\n  m:\n    regex: x\n    jq: .", "6: metrics.m.jq: cannot be combined with regex (line 5): use one of them")
	check("metrics: {accuracy: {regex: x, unit: ms}}", "3: metrics.accuracy.unit: accuracy is in ratio, not in ms")
	check("metrics: {accuracy: {regex: x, better: lower}}", "3: metrics.accuracy.better: for accuracy, higher is better")
	check("metrics: {m: {regex: x, better: up}}", `3: metrics.m.better: want one of lower higher, got "up"`)
	check("metrics: {m: {regex: x, better: [lower]}}", "3: metrics.m.better: want one of lower higher, got a list")
	check("metrics: {m: {regex: x, take: 1}}", "3: metrics.m.take: want one of only first last all, got 1")
	check("metrics: {m: {regex: x, take: {a: b}}}", "3: metrics.m.take: want one of only first last all, got a map")
	check("metrics: {m: {regex: x, optional: 1}}", "3: metrics.m.optional: want true or false, got 1")
	check("metrics: {m: {regex: x, optional: }}", "3: metrics.m.optional: want true or false, got nothing")
	many := "metrics:"
	for i := range maxMetrics + 1 {
		many += "\n  m" + strings.Repeat("x", i) + ": {regex: x}"
	}
	check(many, "3: metrics: more than 100 metrics")
	refuses(t, tiny)("metrics: {m: {regex: x}}", "3: metrics: not supported with builtin: only with command, file, onnxrt, torch and tensorrt")
	refuses(t, "command: [prog]\ngrid: {n: [1]}\n")("metrics: {m: {regex: x, from: 'o-{n}'}}",
		"2: axis n: not used by the command: write {n} in command, wrapper, build, env or cwd")
}

func TestErrorsOfSkips(t *testing.T) {
	check := refuses(t, "command: [prog]\n")
	for value, want := range map[string]string{
		"0": "want a whole number from 1 to 255, got 0", "256": "want a whole number from 1 to 255, got 256", "7.5": "want a whole number, got 7.5",
		"x": `want a number, got "x"`, `"77"`: `want a number, got "77"`, "[77]": "want a number, got a list", "{a: 77}": "want a number, got a map",
		"": "want a number, got nothing", "true": "want a number, got true",
	} {
		check("skip_exit: "+value, "2: skip_exit: "+want)
	}
	for value, want := range map[string]string{
		"1": "1", "maybe": `"maybe"`, "[true]": "a list", "{a: true}": "a map", "": "nothing", `"true"`: `"true"`,
	} {
		check("optional: "+value, "2: optional: want true or false, got "+want)
	}
	refuses(t, "file: b.py\n")("skip_exit: 77", "2: skip_exit: not supported with file: only with command")
	refuses(t, tiny)("optional: true", "3: optional: not supported with builtin: only with command, file, onnxrt, torch and tensorrt")
	p := parse(t, "command: [prog]\nskip_exit: 77\noptional: true", Overrides{}).Points[0]
	if p.SkipExit != 77 || !p.Optional || p.Settings()["skip_exit"] != "77" || p.Settings()["optional"] != "" {
		t.Errorf("%+v", p)
	}
}

// TestRead: a point whose output has results has one process a run, and no warm-up unless it is asked for.
func TestRead(t *testing.T) {
	const text = "command: [prog]\nmetrics: {r: {from: out.json, read: fio}}\n"
	p := parse(t, text, Overrides{Formats: []string{"fio"}}).Points[0]
	equal(t, p.Metrics, []output.ExtractRule{{Name: "r", From: "out.json", Read: "fio"}})
	if p.Iterations != 1 || p.Warmup != 0 || p.WarmupOnce {
		t.Errorf("%d iterations, %d warm-up", p.Iterations, p.Warmup)
	}
	equal(t, parse(t, text+"warmup: 2\niterations: 1", Overrides{}).Points[0].Warmup, 2)

	check := refuses(t, "command: [prog]\n")
	check("metrics: {r: {read: 5}}", "2: metrics.r.read: want text, got 5: quote it")
	check("metrics: {r: {read: [fio]}}", "2: metrics.r.read: want text, got a list")
	check("metrics: {r: {read: {}}}", "2: metrics.r.read: want text, got a map")
	check("metrics: {r: {read: }}", "2: metrics.r.read: want text, got nothing")
	for key, value := range map[string]string{"regex": "x", "jq": ".", "unit": "ms", "better": "lower", "take": "all"} {
		check("metrics:\n  r:\n    read: fio\n    "+key+": "+value, "5: metrics.r."+key+": not supported with read: the results contain it")
	}
	check("metrics: {r: {read: fio}}\niterations: 3", "2: metrics.r.read: a run reads the results of one process: want iterations: 1, got 3; use repeats for more runs")
	refuses(t, "file: b.py\n")("metrics: {r: {read: fio}}", "2: metrics.r.read: not supported with file: only with command")
	for format, want := range map[string]string{
		"fioo": "unknown format fioo: did you mean fio?", "zzz": "unknown format zzz: neurolens ingest --list-formats lists all",
	} {
		_, err := Read("sweep.yaml", strings.NewReader("command: [prog]\nmetrics: {r: {read: "+format+"}}"), Overrides{Formats: []string{"fio", "nvbench"}})
		valuetest.ErrorText(t, err, "sweep.yaml:2: metrics.r.read: "+want)
	}
}

// TestArtifacts: patterns are filled in at each point; a directory of the run is left to the run.
func TestArtifacts(t *testing.T) {
	s := parse(t, `
command: [x, "{k}", --out, "{run_dir}/o"]
env: {OUT: "{run_dir}"}
build: [make]
grid: {k: [1, 2]}
artifacts: {files: ["out/{k}.json", "{run_dir}/t*", stdout], limit: 1MiB}
`, Overrides{})
	p := s.Points[1]
	if want := []string{"out/2.json", "{run_dir}/t*", "stdout"}; !slices.Equal(p.Artifacts.Files, want) || p.Artifacts.Limit != 1<<20 {
		t.Errorf("%+v, want %v", p.Artifacts, want)
	}
	valuetest.DeepEqual(t, p.Command[3], "{run_dir}/o", "command")
	if p.Env["OUT"] != "{run_dir}" || p.BuildEnv != nil {
		t.Errorf("env %v, of the build %v", p.Env, p.BuildEnv)
	}
	if s := parse(t, "command: [x]\nartifacts: []", Overrides{}); s.Points[0].Artifacts == nil || len(s.Points[0].Artifacts.Files) > 0 {
		t.Errorf("[] is %+v", s.Points[0].Artifacts)
	}
	if s := parse(t, "command: [x]", Overrides{}); s.Points[0].Artifacts != nil {
		t.Errorf("nothing is %+v", s.Points[0].Artifacts)
	}
}

func TestErrorsOfArtifacts(t *testing.T) {
	check := refuses(t, "command: [x]\n")
	check("artifacts: 3", "2: artifacts: want text, got 3: quote it")
	check("artifacts: [a, 3]", "2: artifacts: want text, got 3: quote it")
	check("artifacts: [[a]]", "2: artifacts: want text, got a list")
	check(`artifacts: ""`, "2: artifacts: is empty")
	check("artifacts:", "2: artifacts: want text, got nothing")
	check("artifacts: ['a[']", `2: artifacts: "a[" is not a valid pattern: a [ is not closed, or it ends with a \`)
	check("artifacts: 'out/**/a'", "2: artifacts: ** is not supported: name a folder, which stands for all files in it, at any depth")
	check("artifacts: ['{k}']", "2: artifacts: {k} is not an axis (write {{ and }} for literal braces)")
	check("artifacts: {file: a}", "2: artifacts: unknown key file: did you mean files?")
	check("artifacts: {limit: 1MiB}", "2: artifacts: want files: patterns of files, stdout, stderr")
	check("artifacts: {files: a, limit: 1s}", `2: artifacts.limit: want a size such as 16MiB: "1s": want a value in B, not in s`)
	check("artifacts: {files: a, limit: 0}", "2: artifacts.limit: want a size of at least 1 B, got 0")
	check("cwd: '{run_dir}'", "2: cwd: {run_dir} is the directory of one run: use it only in command, env, artifacts, and in from of metrics and output")
	check("build: [make, '{run_dir}']", "2: build: a build runs before all runs, so it cannot use {run_dir}, the directory of one run")
	check("benchmark: '{run_dir}'", "2: benchmark: {run_dir} is not an axis (write {{ and }} for literal braces)")
}

// TestCommandCounts: a command has 10 runs of as many processes as fit in 300 ms, and one warm-up process for all of them.
func TestCommandCounts(t *testing.T) {
	t.Parallel()
	for text, c := range map[string]struct {
		overrides           Overrides
		repeats, iterations int
		budget              time.Duration
		warmup              int
		once                bool
	}{
		"command: [a]":                                    {repeats: 10, budget: 300 * time.Millisecond, warmup: 1, once: true},
		"command: [a]\niterations: 7":                     {repeats: 10, iterations: 7, budget: 300 * time.Millisecond, warmup: 1, once: true},
		"command: [a]\nrepeats: 3\nbudget: 2s":            {repeats: 3, budget: 2 * time.Second, warmup: 1, once: true},
		"command: [a]\nwarmup: 1":                         {repeats: 10, budget: 300 * time.Millisecond, warmup: 1},
		"command: [a]\nwarmup: 0":                         {repeats: 10, budget: 300 * time.Millisecond},
		"command: [a]\ncold_start: true":                  {repeats: 10, budget: 300 * time.Millisecond},
		"command: [a]\nrel_error: 1%":                     {repeats: 10, budget: 300 * time.Millisecond, warmup: 1, once: true},
		"command: [a]\nsuite: flags":                      {Overrides{Given: map[string]string{"repeats": "2", "warmup": "2"}}, 2, 0, 300 * time.Millisecond, 2, false},
		"command: [a]\nsuite: against":                    {Overrides{Against: true}, 6, 0, 300 * time.Millisecond, 1, true},
		"backend: builtin\nmodel: builtin:tiny_linear":    {repeats: 1, budget: 10 * time.Second, warmup: 10},
		"file: bench.py\nsuite: against":                  {Overrides{Against: true}, 6, 0, 10 * time.Second, 10, false},
		"command: [a]\ngrid: {repeats: 4}\nbudget: 300ms": {repeats: 4, budget: 300 * time.Millisecond, warmup: 1, once: true},
	} {
		s := parse(t, text, c.overrides)
		p := s.Points[0]
		if s.Repeats != c.repeats || p.Iterations != c.iterations || p.Budget != c.budget || p.Warmup != c.warmup || p.WarmupOnce != c.once {
			t.Errorf("%q: %d repeats, %d iterations, budget %s, warm-up %d (once %v): want %+v",
				text, s.Repeats, p.Iterations, p.Budget, p.Warmup, p.WarmupOnce, c)
		}
	}
	if s := parse(t, "command: [a]\nrel_error: 1%", Overrides{}); s.MaxRepeats != 20 {
		t.Errorf("at most %d repeats, want 20", s.MaxRepeats)
	}
}

const echo = "backend: onnxrt\nmodel: m.onnx\n"

// TestInputs: each spelling of what an input holds, with the axes in it.
func TestInputs(t *testing.T) {
	s := parse(t, echo+`
inputs:
  steps: "{steps}"
  flag: true
  ids: "{data}/ids.npy"
  one: {file: all.npz, name: "x{steps}"}
  range: {high: "{steps}"}
  between: {low: -0.5, high: 1e2}
  normal: {mean: 1.0, std: 2}
  word: {value: yes}
  gone: absent
  sized: {shape: [1, "{steps}"]}
grid: {steps: [50], data: [d], M: [3]}
`, Overrides{})
	p := s.Points[0]
	equal(t, p.Inputs, map[string]Input{
		"steps": {Value: "50"}, "flag": {Value: "true"}, "ids": {File: "d/ids.npy"}, "one": {File: "all.npz", Name: "x50"},
		"range": {High: "50"}, "between": {Low: "-0.5", High: "100"}, "normal": {Mean: "1", Std: "2"}, "word": {Value: "yes"},
		"gone": {Value: "absent"}, "sized": {Shape: []string{"1", "50"}},
	})
	equal(t, p.Used, []string{"steps", "data"})
	equal(t, parse(t, echo+"inputs: {a: {low: 1, high: 3}}", Overrides{}).Points[0].Settings()["inputs"], `{"a":{"high":"3","low":"1"}}`)

	large := `{"a":{"value":"18446744073709551615"},"b":{"high":"18446744073709551616","low":"18446744073709551615"},"c":{"value":"18446744073709551615"}}`
	equal(t, parse(t, echo+"inputs: {a: 18446744073709551615, b: {low: 18446744073709551615, high: 18446744073709551616}, c: {value: 18446744073709551615}}",
		Overrides{}).Points[0].Settings()["inputs"], large)

	// What a layer says of an input takes the place of another way to say it.
	s = parse(t, echo+"inputs: {a: {high: 3, shape: [2]}, b: 1}", Overrides{Set: []string{"inputs.a.low=1", "inputs.b={std: 2}"}})
	equal(t, s.Points[0].Inputs, map[string]Input{"a": {Low: "1", High: "3", Shape: []string{"2"}}, "b": {Std: "2"}})
	s = parse(t, echo+"inputs: {a: {high: 3, shape: [2]}}", Overrides{Set: []string{"inputs.a={value: 1}"}})
	equal(t, s.Points[0].Inputs, map[string]Input{"a": {Value: "1", Shape: []string{"2"}}})
}

// TestSession: options of the session, with the axes in them.
func TestSession(t *testing.T) {
	s := parse(t, echo+`
session:
  graph_optimization_level: "{opt}"
  inter_op_num_threads: 2
  enable_mem_pattern: false
  free_dimension_overrides: {N: "{n}"}
  config_entries: {session.intra_op.allow_spinning: 0}
  custom_ops_library: [a.so, "{opt}.so"]
grid: {opt: [basic], n: [4]}
`, Overrides{})
	equal(t, s.Points[0].Session, &Session{
		Options: map[string]string{"graph_optimization_level": "basic", "inter_op_num_threads": "2", "enable_mem_pattern": "false"},
		Sizes:   map[string]string{"N": "4"}, Entries: map[string]string{"session.intra_op.allow_spinning": "0"},
		Libraries: []string{"a.so", "basic.so"},
	})
	equal(t, s.Points[0].Used, []string{"opt", "n"})
	torch := parse(t, "model: m.pt\nsession: {execution_mode: parallel}\ngrid: {backend: [torch, onnxrt]}", Overrides{})
	equal(t, torch.Points[0].Session, (*Session)(nil))
	equal(t, torch.Points[1].Session.Options["execution_mode"], "parallel")
}

// TestInputsAndSessionRefused: what is wrong is found on reading, with its line.
func TestInputsAndSessionRefused(t *testing.T) {
	check := refuses(t, echo+"grid: {k: [x], execution_mode: [parallel]}\n")
	check("inputs: 3", "4: inputs: want a map, got 3")
	check("inputs: {}", "4: inputs: is empty")
	check("inputs: {a: }", `4: inputs.a: is empty: write "" for an empty text`)
	check("inputs: {a: normal}", `4: inputs.a: want a number, true, false, a .npy or .npz file, or a map, got "normal": a text is {value: TEXT}`)
	check(`inputs: {a: "{k}"}`, `4: inputs.a: want a number, true, false, a .npy or .npz file, or a map, got "x": a text is {value: TEXT}`)
	check(`inputs: {a: "{j}"}`, "4: inputs.a: {j} is not an axis (write {{ and }} for literal braces)")
	check("inputs: {a: {}}", "4: inputs.a: says nothing: want file high low mean name shape std value")
	check("inputs: {a: {hihg: 3}}", "4: inputs.a: unknown key hihg: did you mean high?")
	check("inputs: {a: {low: 3}}", "4: inputs.a: low needs a high")
	check("inputs: {a: {name: x}}", "4: inputs.a: name needs a file")
	check("inputs: {a: {high: 3, std: 1}}", "4: inputs.a: high and std cannot be combined: use one of them")
	check("inputs: {a: {low: 3, high: 3}}", "4: inputs.a.low: 3 is not below high, which is 3")
	check("inputs: {a: {low: 9007199254740993, high: 9007199254740992}}", "4: inputs.a.low: 9007199254740993 is not below high, which is 9007199254740992")
	check("inputs: {a: {low: 18446744073709551615, high: 18446744073709551614}}", "4: inputs.a.low: 18446744073709551615 is not below high, which is 18446744073709551614")
	check("inputs: {a: 123456789012345678901}", "4: inputs.a: 123456789012345678901 does not fit in 64 bits: quote it to keep it as text")
	check("inputs: {a: {high: x}}", `4: inputs.a.high: want a number, got "x"`)
	check("inputs: {a: {std: -1}}", "4: inputs.a.std: want a number of at least 0, got -1")
	check("inputs: {a: {file: a.txt}}", `4: inputs.a.file: want a .npy or .npz file, got "a.txt"`)
	check("inputs: {a: {shape: 3}}", "4: inputs.a.shape: want a list of sizes, got 3")
	check("inputs: {a: {shape: [-1]}}", `4: inputs.a.shape: want a list of whole numbers of at least 0, got "-1"`)
	check("inputs: {a: {file: a.npy, name: '{run_dir}'}}", "4: inputs.a.name: {run_dir} is the directory of one run: use it only in command, env, artifacts, and in from of metrics and output")
	check("session: 3", "4: session: want a map, got 3")
	check("session: {graph_optimization: basic}", "4: session: unknown key graph_optimization: did you mean graph_optimization_level?")
	check("session: {graph_optimization_level: most}", `4: session.graph_optimization_level: want one of disable_all basic extended layout all, got "most"`)
	check("session: {enable_mem_reuse: 1}", `4: session.enable_mem_reuse: want true or false, got "1"`)
	check(`session: {enable_mem_reuse: "{k}"}`, `4: session.enable_mem_reuse: want true or false, got "x"`)
	check("session: {inter_op_num_threads: -1}", `4: session.inter_op_num_threads: want a whole number from 0 to 1048576, got "-1"`)
	check("session: {intra_op_num_threads: 1}", "4: session.intra_op_num_threads: is the key threads: use that")
	check("session: {free_dimension_overrides: {N: x}}", `4: session.free_dimension_overrides.N: want a whole number of at least 1, got "x"`)
	check("session: {config_entries: 3}", "4: session.config_entries: want a map, got 3")
	check("session: {execution_mode: parallel}", "4: session.execution_mode: there is an axis execution_mode too: write {execution_mode} here, or remove this key")
	check = refuses(t, "file: b.py\n")
	check("inputs: {a: 1}", "2: inputs: not supported with file: only with onnxrt, torch and tensorrt")
	check("session: {execution_mode: parallel}", "2: session: not supported with file: only with onnxrt")
}
