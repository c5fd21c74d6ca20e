package sweep

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// levels are the layers in the order in which they win over one another, and how a key is written in each.
var levels = []struct{ layer, form string }{
	{layerSweep, "%s: %s\n"},
	{layerBenchmark, "benchmarks: {b: {%s: %s}}\n"},
	{layerVariant, "variants: {v: {%s: %s}}\n"},
	{layerPreset + " p", "presets: {p: {%s: %s}}\n"},
	{layerFlag, "%s=%s"},
}

// values are for every key five values, one for each level, and what else a sweep has to have. A key of the whole sweep
// has three: it stands in no benchmark and no variant.
var levelValues = map[string][]string{
	"suite":                 {"a", "b", "c", "d", "e", "command: [x]"},
	"command":               {"[a]", "[b]", "[c]", "[d]", "[e]"},
	"wrapper":               {"[a]", "[b]", "[c]", "[d]", "[e]", "command: [x]"},
	"file":                  {"a.py", "b.py", "c.py", "d.py", "e.py"},
	"backend":               {"a", "b", "c", "d", "e", "file: x.py"},
	"model":                 {"a.pt", "b.pt", "c.pt", "d.pt", "e.pt", "backend: torch"},
	"benchmark":             {"a", "b", "c", "command: [x]"},
	"variant":               {"a", "b", "c", "command: [x]"},
	"build":                 {"[[a]]", "[[b]]", "[[c]]", "[[d]]", "[[e]]", "command: [x]"},
	"env":                   {"{A: 1}", "{A: 2}", "{A: 3}", "{A: 4}", "{A: 5}", "command: [x]"},
	"cwd":                   {"a", "b", "c", "d", "e", "command: [x]"},
	"share":                 {"a", "b", "c", "command: [x]"},
	"tags":                  {"{a: 1}", "{a: 2}", "{a: 3}", "command: [x]"},
	"optional":              {"true", "false", "true", "false", "true", "command: [x]"},
	"skip_exit":             {"1", "2", "3", "4", "5", "command: [x]"},
	"shell":                 {"sh", "bash", "true", "dash", "zsh", "command: a | b"},
	"setup":                 {"a", "[b]", "c d", "[d]", "e", "command: [x]"},
	"prepare":               {"a", "[b]", "c d", "[d]", "e", "command: [x]"},
	"cleanup":               {"a", "[b]", "c d", "[d]", "e", "command: [x]"},
	"stdin":                 {"a", "b", "c", "d", "e", "command: [x]"},
	"ignore_exit":           {"1", "[2]", "true", "[4, 5]", "5", "command: [x]"},
	"metrics":               {"{m: {regex: a}}", "{m: {jq: .b}}", "{m: {regex: c}}", "{m: {regex: d}}", "{m: {jq: .e}}", "command: [x]"},
	"grid":                  {"{k: [1, 2]}", "{k: 3}", "{k: [4, 5]}", "{k: 6}", "{k: [7, 8, 9]}", "file: x.py"},
	"params":                {"{k: 1}", "{k: 2}", "{k: 3}", "{k: 4}", "{k: 5}", "file: x.py"},
	"scale":                 {scaleOf(1), scaleOf(2), scaleOf(3), scaleOf(4), scaleOf(5), "file: x.py"},
	"zip":                   {"[a, b]", "[a, c]", "[b, c]", "[a, b, c]", "[[a, c]]", "grid: {a: [1, 2], b: [1, 2], c: [1, 2]}\nfile: x.py"},
	"include":               {"[{a: 5}]", "[{a: 6}]", "[{a: 7}]", "[{a: 8}]", "[{a: 9}]", "grid: {a: 1}\nfile: x.py"},
	"exclude":               {"[{a: 1}]", "[{a: 2}]", "[{a: 3}]", "[{a: 4}]", "[{a: 5}]", "grid: {a: [1, 2, 3, 4, 5]}\nfile: x.py"},
	"skip_if":               {"{when: k == 1}", "[{when: k == 2}]", "{when: k == 3}", "{when: k == 4}", "{when: k == 5}", "grid: {k: [1, 2, 3, 4, 5]}\nfile: x.py"},
	"baseline":              {"a=1", "b=1", "a=2", "grid: {a: [1, 2], b: [1, 2]}\nfile: x.py"},
	"control":               {"a=1", "b=1", "a=2", "grid: {a: [1, 2], b: [1, 2]}\nfile: x.py"},
	"calibrate":             {"true", "false", "true", "command: [x]"},
	"thresholds":            {"{latency: 1%}", "{latency: 2%}", "{latency: {abs: 3}}", "{latency: 4%}", "{latency: 5%}", "command: [x]"},
	"output":                {"{from: a}", "{from: b}", "{from: c}", "{from: d}", "{from: e}", "command: [x]"},
	"reference":             {"{from: a, rtol: 1}", "{from: b, rtol: 2}", "{from: c, rtol: 3}", "{from: d, rtol: 4}", "{from: e, rtol: 5}", "file: x.py"},
	"derived":               {"{a: {expr: latency, unit: s}}", "{a: {expr: 2 * latency, unit: s}}", "{a: {expr: '3', unit: J}}", "{a: {expr: '4', unit: J}}", "{a: {expr: '5', unit: J}}", "file: x.py"},
	"check":                 {"latency < 1", "latency < 2", "latency < 3", "latency < 4", "latency < 5", "file: x.py"},
	"allow_failed":          {"1", "2", "3%", "4", "0.5", "file: x.py"},
	"artifacts":             {"[a]", "[b]", "[c]", "[d]", "{files: [e], limit: 1MiB}", "file: x.py"},
	"primary":               {"a", "b", "c", "d", "e", "file: x.py"},
	"deterministic":         {"true", "false", "true", "false", "true", "file: x.py"},
	"profile":               {"torch", "[]", "torch", "[]", "torch", "file: x.py"},
	"telemetry":             {"{hz: 1}", "{hz: 2}", "{hz: 3}", "{hz: 4}", "{hz: 5}", "file: x.py"},
	"work":                  {"{items: 1}", "{items: 2}", "{items: 3}", "{items: 4}", "{items: 5}", "file: x.py"},
	"warmup":                {"1", "2", "3", "4", "5", "file: x.py"},
	"iterations":            {"1", "2", "3", "4", "5", "file: x.py"},
	"budget":                {"1s", "2s", "3s", "4s", "5s", "file: x.py"},
	"timeout":               {"21s", "22s", "23s", "24s", "25s", "file: x.py"},
	"timeouts":              {"{setup: 1s}", "{setup: 2s}", "{setup: 3s}", "{setup: 4s}", "{setup: 5s}", "file: x.py"},
	"timeout_multiplier":    {"2", "3", "4", "file: x.py"},
	"repeats":               {"2", "3", "4", "5", "6", "file: x.py"},
	"rel_error":             {"1%", "2%", "3%", "file: x.py"},
	"max_repeats":           {"21", "22", "23", "rel_error: 1%\nfile: x.py"},
	"order":                 {"random", "sequential", "interleaved", "file: x.py"},
	"python":                {"a", "b", "c", "d", "e", "file: x.py"},
	"provider":              {"a", "b", "c", "d", "e", "backend: onnxrt\nmodel: a.onnx"},
	"device":                {"a", "b", "c", "d", "e", "backend: torch\nmodel: a.pt"},
	"threads":               {"1", "2", "3", "4", "5", "backend: torch\nmodel: a.pt"},
	"timing":                {"auto", "perf_counter", "cuda_event", "triton", "torch_timer", "file: x.py"},
	"iterations_per_sample": {"1", "2", "3", "4", "5", "file: x.py"},
	"min_run_time":          {"1s", "2s", "3s", "4s", "5s", "timing: torch_timer\nfile: x.py"},
	"seed":                  {"1", "2", "3", "4", "5", "file: x.py"},
	"reproducible":          {"true", "false", "true", "false", "true", "file: x.py"},
	"cold_start":            {"true", "false", "true", "false", "true", "file: x.py"},
	"inputs":                {"{a: 1}", "{a: {high: 2}}", "{a: 3}", "{a: {mean: 4}}", "{a: 5}", "backend: onnxrt\nmodel: a.onnx"},
	"session":               {"{inter_op_num_threads: 1}", "{inter_op_num_threads: 2}", "{inter_op_num_threads: 3}", "{inter_op_num_threads: 4}", "{inter_op_num_threads: 5}", "backend: onnxrt\nmodel: a.onnx"},
	"flush_l2":              {"true", "false", "true", "false", "true", "backend: torch\nmodel: a.pt"},
}

// scaleOf is a scale that does not depend on the machine.
func scaleOf(base int) string { return fmt.Sprintf("{k: {base: %d, by: 1, steps: {0: 1}}}", base) }

// TestPrecedence: of a key that stands at every level up to one, the topmost level wins, and is said to be where it comes
// from. What holds for the whole sweep is of no benchmark and no variant.
func TestPrecedence(t *testing.T) {
	for _, k := range keys {
		values := levelValues[k.Name]
		at := []int{0, 1, 2, 3, 4}
		if k.Whole {
			at = []int{0, 3, 4}
		}
		if len(values) < len(at) {
			t.Errorf("%s: want a value for each level", k.Name)
			continue
		}
		rest := strings.Join(values[len(at):], "") + "\n"
		for top := range at {
			checkPrecedence(t, k, at[:top+1], values, rest)
		}
	}
}

func checkPrecedence(t *testing.T, k Key, at []int, values []string, rest string) {
	t.Helper()
	src, o := rest, Overrides{}
	plain := rest + fmt.Sprintf(levels[0].form, k.Name, values[len(at)-1])
	spread := k.Name != "benchmark" && k.Name != "variant"
	for i, level := range at {
		text := fmt.Sprintf(levels[level].form, k.Name, values[i])
		switch level {
		case 4:
			o.Set = []string{text}
		case 3:
			o.Presets = []string{"p"}
			fallthrough
		default:
			src += text
		}
	}
	for key, empty := range map[string]string{"benchmarks": "benchmarks: {b: }\n", "variants": "variants: {v: }\n"} {
		if spread && !strings.Contains(src, key) {
			src += empty
		}
		if spread {
			plain += empty
		}
	}
	got, want := parse(t, src, o), parse(t, plain, Overrides{})
	layer := levels[at[len(at)-1]].layer
	for i := range got.Points {
		if origin := got.Points[i].Origins[k.Name]; k.Stored && origin != layer {
			t.Errorf("%s at %s is said to be of %q", k.Name, layer, origin)
		}
	}
	var results []string
	for _, s := range []*Sweep{got, want} {
		s.SHA256 = ""
		for _, p := range s.Planned() {
			if p.Skip != nil {
				p.Skip.Line = 0
			}
			p.Line, p.ModelLine, p.FileLine, p.CommandLine, p.BuildLine, p.PythonLine = 0, 0, 0, 0, 0, 0
			p.Origins, p.Fixed = nil, nil
			if p.Reference != nil {
				p.Reference.Line = 0
			}
			results = append(results, resultsText(p))
			p.Derived, p.Checks = nil, nil
		}
	}
	equal(t, got, want)
	equal(t, results[:len(results)/2], results[len(results)/2:])
	if t.Failed() {
		t.Fatalf("%s at %s:\n%s%v", k.Name, layer, src, o.Set)
	}
}

// resultsText is what is made of the metrics of a point.
func resultsText(p *Point) string {
	var words []string
	for _, r := range slices.Concat(p.Derived, p.Checks) {
		words = append(words, r.Name, r.Text, r.Unit, string(r.Better))
	}
	return strings.Join(words, " ")
}
