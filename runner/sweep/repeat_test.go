package sweep

import (
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema"
)

// TestRepeat: the words that choose the point of a run, and those that it was made with. That they do is tried in the command.
func TestRepeat(t *testing.T) {
	t.Parallel()
	file := map[string]string{"sweep.file": "a sweep.yaml"}
	with := func(more ...string) map[string]string {
		facts := map[string]string{"sweep.file": "s.yaml"}
		for i := 0; i < len(more); i += 2 {
			facts[more[i]] = more[i+1]
		}
		return facts
	}
	for name, c := range map[string]struct {
		run  schema.Run
		want string
	}{
		"no file": {schema.Run{Benchmark: "b"}, ""},
		"a command": {
			schema.Run{Executor: schema.ExecutorCommand, Benchmark: "b", Variant: "label", Params: map[string]string{"z": "1", "n": "007", "e": ""}, Env: schema.Env{Facts: file}},
			`bench|a sweep.yaml|--targets|b|-P|e=""|-P|n="007"|-P|z=1`,
		},
		"a target that is a pattern": {schema.Run{Executor: schema.ExecutorCommand, Benchmark: "a*", Env: schema.Env{Facts: file}}, "bench|a sweep.yaml"},
		"axes of columns": {
			schema.Run{
				Executor: schema.ExecutorPython, Benchmark: "b.py:{f}", Backend: "no", BatchSize: new(int64(8)), SeqLen: new(int64(128)), Precision: "fp16",
				Params: map[string]string{"x": "2"}, Env: schema.Env{Facts: with("runner.axis.x", "2.0")},
			},
			`bench|s.yaml|-P|benchmark="b.py:{{f}}"|-P|backend="no"|-P|batch_size=8|-P|seq_len=128|-P|precision=fp16|-P|x=2.0`,
		},
		"a model by its path": {
			schema.Run{Executor: schema.ExecutorONNXRT, Model: "one.onnx", Env: schema.Env{Facts: with("runner.model", "./one.onnx", "runner.profile", "ort")}},
			`bench|s.yaml|-P|model="./one.onnx"|--profile|ort|--against|abc`,
		},
		"a model of another name": {schema.Run{Executor: schema.ExecutorONNXRT, Model: "mine", Env: schema.Env{Facts: with("runner.model", "./one.onnx")}}, "bench|s.yaml"},
		"a calibration": {
			schema.Run{Executor: schema.ExecutorBuiltin, Benchmark: "calibration", Variant: "fma", Env: schema.Env{Facts: with("runner.control", "true")}},
			"bench|s.yaml|--targets|calibration",
		},
		"options": {
			schema.Run{Executor: schema.ExecutorPython, Env: schema.Env{Facts: with("runner.flags", `{"python":"p","cold-start":"true","iterations":"4","seed":"7"}`, "runner.cold_start", "true", "python.executable", "q")}},
			"bench|s.yaml|--python|p|--iterations=4|--cold-start",
		},
		"a variant with keys of its own, and layers": {
			schema.Run{
				Executor: schema.ExecutorCommand, Benchmark: "b", Variant: "v",
				Env: schema.Env{Facts: with("runner.axis.variant", "v", "runner.flags", `{"preset":"quick","set":"[\"warmup=0\",\"env.A=b,c\"]"}`)},
			},
			"bench|s.yaml|--targets|b|-P|variant=v|--preset|quick|--set|warmup=0|--set|env.A=b,c",
		},
		"a shell and an input, of keys": {
			schema.Run{
				Executor: schema.ExecutorCommand, Params: map[string]string{"shell": "sh", "stdin": "a", "n": "1"},
				Env: schema.Env{Facts: with("runner.shell", "sh", "runner.stdin", "a", "runner.flags", `{"shell":"true"}`)},
			},
			"bench|s.yaml|-P|n=1|--shell",
		},
		"a shell of an axis": {
			schema.Run{
				Executor: schema.ExecutorCommand, Params: map[string]string{"shell": "sh", "stdin": "a"},
				Env: schema.Env{Facts: with("runner.shell", "sh", "runner.axis.shell", "sh")},
			},
			"bench|s.yaml|-P|shell=sh|-P|stdin=a",
		},
		"hooks that are called true": {
			schema.Run{
				Executor: schema.ExecutorCommand,
				Env: schema.Env{Facts: with("runner.prepare", "x", "runner.cleanup", "x", "runner.ignore_exit", "true",
					"runner.flags", `{"prepare":"true","cleanup":"true","ignore-exit":"true","no-skip-after-oom":"true"}`)},
			},
			"bench|s.yaml|--no-skip-after-oom|--prepare=true|--cleanup=true|--ignore-exit",
		},
		"the interpreter":              {schema.Run{Executor: schema.ExecutorPython, Env: schema.Env{Facts: with("python.executable", "/v/bin/python")}}, "bench|s.yaml|--python|/v/bin/python"},
		"one that a parameter chooses": {schema.Run{Executor: schema.ExecutorCommand, Params: map[string]string{"py": "v/bin/python"}, Env: schema.Env{Facts: with("python.executable", "/v/bin/python")}}, `bench|s.yaml|-P|py=v/bin/python`},
	} {
		against := ""
		if strings.Contains(c.want, "--against") {
			against = "abc"
		}
		line, program := Repeat(&c.run, against)
		if program != nil {
			line = append(append(line, "--"), program...)
		}
		if got := strings.Join(line, "|"); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, c.want)
		}
	}
}

// TestChoosesPython: an axis that names the interpreter needs no option.
func TestChoosesPython(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{"./venv/bin/python": true, "python": true, "thon": false, "": false, ".": false, "64": false} {
		if got := choosesPython(map[string]string{"which": value}, "/a/venv/bin/python"); got != want {
			t.Errorf("%q: %v", value, got)
		}
	}
}

// TestRepeated: what is stored of the layers of a command line is what is typed again, and the variant of a sweep is known
// for one of several.
func TestRepeated(t *testing.T) {
	given := Overrides{Presets: []string{"a", "b"}, Set: []string{"warmup=0"}, Given: map[string]string{"python": "p", "seed": "1"}}.Repeated()
	equal(t, given, map[string]string{"python": "p", "preset": "a,b", "set": `["warmup=0"]`})
	p := parse(t, operations, Overrides{}).Points[0]
	equal(t, []string{p.Written["variant"], p.Written["benchmark"]}, []string{p.Variant, p.Benchmark})
	equal(t, parse(t, "command: [a]\nvariant: b\n", Overrides{}).Points[0].Written["variant"], "")
}

// TestShellOfAxis: a parameter that is an axis and a key is said to be an axis; one of a key alone is not.
func TestShellOfAxis(t *testing.T) {
	p := parse(t, "command: a {shell}\nshell: '{shell}'\nstdin: b\ngrid: {shell: [sh, bash]}\n", Overrides{}).Points[0]
	equal(t, []string{p.Written["shell"], p.Written["stdin"]}, []string{"sh", ""})
}
