package sweep

import (
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/runner/output"
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
		if want = "sweep.yaml:2: metrics.r.read: " + want; err == nil || err.Error() != want {
			t.Errorf("%v: want %s", err, want)
		}
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
	if got := p.Command[3]; got != "{run_dir}/o" {
		t.Errorf("command: %s", got)
	}
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
