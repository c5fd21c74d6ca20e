package sweep

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// refuses gives a check that a text, after a beginning, is refused with an error that starts with `sweep.yaml:`.
func refuses(t *testing.T, beginning string) func(src, want string) {
	return func(src, want string) {
		t.Helper()
		valuetest.ErrorText(t, valuetest.Error(readText("sweep.yaml", []byte(beginning+src), Overrides{})), "sweep.yaml:"+want, src)
	}
}

func TestErrorsOfText(t *testing.T) {
	check := refuses(t, "")
	check("", " empty")
	check("# only a comment", " empty")
	check("---\n", " empty")
	check("backend: [", "1: YAML: did not find expected node content")
	check("backend: builtin\nmodel builtin:x", "2: YAML: could not find expected ':'")
	check("a\x00b: 1", "1: byte 0x00 is not text: want YAML in UTF-8")
	check("backend: builtin\n\x01", "2: byte 0x01 is not text: want YAML in UTF-8")
	check("\xff", "1: byte 0xff is not text: want YAML in UTF-8")
	check(`backend: "a\0b"`, "1: a text cannot contain a NUL byte")
	check("- a", "1: want a map, got a list")
	check("hello", `1: want a map, got "hello"`)
	check("---\na: 1\n---\nb: 2", "3: a second YAML document: a file may have only one")
	check("a: 1\n<<: {b: 2}", "2: merge keys (<<) are not supported: write the keys out")
	check("? [a]\n: 1", "1: a key must be a word")
	check("a: &x 1\n*x: 2", "2: a key must be a word")
	check("a: *b", "1: YAML: unknown anchor 'b' referenced")
	check("command: [a, !!binary aGk]", `1: command: !!binary: want base64 of bytes other than 0, got "aGk"`)
	check("command: [a, !!binary AA==]", `1: command: !!binary: want base64 of bytes other than 0, got "AA=="`)
	check("command: [a, '{n}']\ngrid: {n: [!!binary 6Q==]}", "2: axis n: !!binary is for texts that only a program reads: its words, hooks, files and environment")
	check("command: [a]\nvariant: !!binary 6Q==", "2: variant: !!binary is for texts that only a program reads: its words, hooks, files and environment")
	check("!!binary 6Q==: a", "1: a key must be a word, got !!binary")
	check("file: !!binary 6S5weQ==", "1: file: want path.py or path.py:Name, got \"\\xe9.py\"")
	check("backend: !!str 7", "1: YAML tag !!str is not supported: write the value without a tag, or quote it")
	check("backend: builtin\nmodel: m\nbackend: torch", "3: duplicate key backend: line 1 sets it already")
	check("grid: {a: 1, a: 2}", "1: duplicate key a: line 1 sets it already")
}

func TestErrorsOfWhatRuns(t *testing.T) {
	check := refuses(t, "")
	check("backend: builtin", "1: backend: builtin needs a model (builtin:tiny_linear) or a benchmark (LayerNorm)")
	check("model: builtin:x", "1: nothing to run: want command, file, or model and backend")
	check("backend: cuda\nmodel: builtin:x",
		`1: backend: without command or file, want builtin, onnxrt, torch or tensorrt, got "cuda"`)
	check("backend: onnxrt", "1: backend: onnxrt needs a model: a file, or builtin:NAME")
	check("backend: torch\nbenchmark: x", "1: backend: torch needs a model: a file, or builtin:NAME")
	check("backend: builtin\nmodel: a.onnx", "1: backend: builtin cannot run the model a.onnx: want builtin:NAME")
	check("backend: [builtin, torch]\nmodel: {name: mlp}", "1: backend: builtin cannot run the model mlp: want builtin:NAME")
	check("backend: torch\nmodel: [a/m.pt, b/m.pt]",
		"2: model: a/m.pt and b/m.pt are both called m.pt: set model.name")
	check("backend: torch\nmodel: a/m.pt\ninclude: [{model: b/m.pt}]",
		"3: include: axis model: a/m.pt and b/m.pt are both called m.pt: set model.name")
	check("backend: torch\nmodel: 7", "2: model: want text, got 7: quote it")
	check("backend: torch\nmodel: {}", "2: model: want a name, a path, or both")
	check("backend: torch\nmodel: {nam: x}", "2: model: unknown key nam: did you mean name?")
	check("backend: torch\nmodel: {path: builtin:x}",
		"2: model.path: want a file, got builtin:x: write model: builtin:x")
	check("backend: torch\nmodel: {name: builtin:x, path: y}",
		"2: model.name: want a name, got builtin:x: write model: builtin:x")
	check("command: []", "1: command: is empty")
	check(`command: ""`, "1: command: the name of the program is empty")
	check("command: {a: b}", `1: command: want text, got a map: quote it ("{axis}")`)
	check("command: [a, {bs}]", `1: command: want text, got a map: quote it ("{axis}")`)
	check("command: [a, [b]]", "1: command: want one value, got a list")
	check("command: [a, 007]",
		"1: command: 007 has a leading zero: quote it to keep it as text, or write the number without")
	check("command: [a, null]", `1: command: is empty: write "" for an empty text`)
	check("command: [a, \"{batchsize}\"]\ngrid: {batch_size: 1}",
		"1: command: {batchsize} is not an axis: did you mean {batch_size}? (write {{ and }} for literal braces)")
	check("command: [a, \"{zzz}\"]\ngrid: {batch_size: 1}", "1: command: {zzz} is not an axis (write {{ and }} for literal braces)")
	check(`command: [a, "{}"]`, "1: command: {} is not an axis (write {{ and }} for literal braces)")
	check(`command: [a, '{"k": 1}']`, `1: command: {"k": 1} is not an axis (write {{ and }} for literal braces)`)
	check(`command: [a, "b}"]`, `1: command: unmatched } in "b}": write }} for a literal brace`)
	check(`command: [a, "{b"]`, `1: command: unmatched { in "{b": write {{ for a literal brace`)
	check("command: [a]\ngrid:\n  batch_size: [1, 2]",
		"3: axis batch_size: not used by the command: write {batch_size} in command, wrapper, build, env or cwd")
	check("command: [a]\nparams: {epochs: 5}",
		"2: params.epochs: not used by the command: write {epochs} in command, wrapper, build, env or cwd")
	check("command: [a]\nvariant: [x, y]",
		"2: variant: not used by the command: write {variant} in command, wrapper, build, env or cwd")
	check("command: [a]\nwrapper: []", "2: wrapper: is empty")
	check("command: [\"{p}\"]\ngrid: {p: [\"\", b]}", "1: command: the name of the program is empty")
}

func TestErrorsOfKeys(t *testing.T) {
	check := refuses(t, tiny)
	check("1", "3: YAML: could not find expected ':'")
	check("bakend: x", "3: unknown key bakend: did you mean backend?")
	check("repeat: 3", "3: unknown key repeat: did you mean repeats?")
	check("foo: 3", "3: unknown key foo: want one of "+strings.Join(keyNames(Keys()), " "))
	check("precision: fp32", "3: unknown key precision: put axes under grid")
	check("dtype: fp32", "3: unknown key dtype: put axes under grid")
	check("warm_up: 3", "3: unknown key warm_up: did you mean warmup?")
	check(`"": 3`, "3: a key is empty")
	check("repeats: 0", "3: repeats: want a whole number from 1 to 10000000, got 0")
	check("repeats: 1.5", "3: repeats: want a whole number, got 1.5")
	check(`repeats: "3"`, `3: repeats: want a number, got "3"`)
	check("repeats: [3]", "3: repeats: want a number, got a list")
	check("repeats: 1e30", "3: repeats: want a whole number, got 1e30")
	check("repeats:", "3: repeats: want a number, got nothing")
	check("repeats: 08", "3: repeats: 08 has a leading zero: quote it to keep it as text, or write the number without")
	check("iterations: 0", "3: iterations: want a whole number from 1 to 10000000, got 0")
	check("warmup: -1", "3: warmup: want a whole number from 0 to 10000000, got -1")
	check("warmup: 10000001", "3: warmup: want a whole number from 0 to 10000000, got 10000001")
	check("budget: 10", "3: budget: want a time with its unit (500ms, 15s, 10m), got 10")
	check("budget: 10 s", `3: budget: neither a time with its unit (500ms, 15s, 10m) nor an expression: 1:4: unexpected token Identifier("s")`)
	check("budget: 0s", "3: budget: want more than 0s and at most 1000h0m0s, got 0s")
	check("budget: -5s", "3: budget: want more than 0s and at most 1000h0m0s, got -5s")
	check("budget: 2000h", "3: budget: want more than 0s and at most 1000h0m0s, got 2000h0m0s")
	check("budget: [1s]", "3: budget: want a time with its unit (500ms, 15s, 10m), got a list")
	check("timeout: 15", "3: timeout: want a time with its unit (500ms, 15s, 10m), got 15")
	check("timeout: 1s\ntimeouts:\n  measure: 2s", "3: timeout: is the same as timeouts.measure (line 5): use one of them")
	check("timeouts: {measur: 2s}", "3: timeouts: unknown key measur: did you mean measure?")
	check("timeouts: {sweep: 4h}",
		"3: timeouts: unknown key sweep: want one of build setup warmup measure validate teardown profile suite")
	check("timeouts: {suite: 4}", "3: timeouts.suite: want a time with its unit (500ms, 15s, 10m), got 4")
	check("budget: 20s\ntimeouts:\n  measure: 15s",
		"5: timeouts.measure: 15s is not longer than the budget of 20s: raise it, or lower the budget")
	check("budget: 20s\ntimeout: 20s",
		"4: timeout: 20s is not longer than the budget of 20s: raise it, or lower the budget")
	check("budget: 10s\ntimeout: 15s\ntimeout_multiplier: 0.5",
		"4: timeout: 7.5s (multiplied by 0.5) is not longer than the budget of 10s: raise it, or lower the budget")
	check("timeouts: 5s", `3: timeouts: want a map, got "5s"`)
	check("timeouts: {warmup: 6, setup: 5}", "3: timeouts.setup: want a time with its unit (500ms, 15s, 10m), got 5")
	check("timeout_multiplier: 0", "3: timeout_multiplier: want a number above 0 and at most 1000, got 0")
	check("timeout_multiplier: 2x", `3: timeout_multiplier: want a number, got "2x"`)
	check("timeout_multiplier: [2]", "3: timeout_multiplier: want a number, got a list")
	check("timeout_multiplier: 1001", "3: timeout_multiplier: want a number above 0 and at most 1000, got 1001")
}

func TestErrorsOfLabels(t *testing.T) {
	check := refuses(t, tiny)
	check("tags: smoke", `3: tags: want a map, got "smoke"`)
	check("tags: {a: [1]}", "3: tags.a: want one value, got a list")
	check("tags: {a: 007}",
		"3: tags.a: 007 has a leading zero: quote it to keep it as text, or write the number without")
	check("tags: {a: }", `3: tags.a: is empty: write "" for an empty text`)
	check(`tags: {"": 1}`, "3: tags: a key is empty")
	check("suite: 4", "3: suite: want text, got 4: quote it")
	check(`suite: ""`, "3: suite: is empty")
	check("suite: [a]", "3: suite: want text, got a list")
	check("variant: 4", "3: variant: want text, got 4: quote it")
	check("variant: true", "3: variant: want text, got true: quote it")
	check("variant: []", "3: variant: has no values")
	check("variant: [a, a]", `3: variant: "a" appears twice`)
	check("benchmark: {a: b}", "3: benchmark: want a value or a list, got a map")
}

func TestErrorsOfAxes(t *testing.T) {
	check := refuses(t, tiny)
	check("grid:", "3: grid: want a map, got nothing")
	check("grid: [1]", "3: grid: want a map, got a list")
	check("grid: {batch_size: four}", `3: axis batch_size: want a number or a list, got "four"`)
	check(`grid: {batch_size: "4"}`, `3: axis batch_size: want a number or a list, got "4"`)
	check("grid:\n  bs:\n    - four", `5: axis bs: want a number or a list, got "four"`)
	check("grid: {batch_size: 1.5}", "3: axis batch_size: want a whole number, got 1.5")
	check("grid: {batch_size: 0}", "3: axis batch_size: want a whole number of at least 1, got 0")
	check("grid: {seq_len: [[1]]}", "3: axis seq_len: want a number or a list, got a list")
	check("grid: {seq_len: {a: 1}}", `3: axis seq_len: want a number or a list, got "a"`)
	check("grid: {seq_len: 9223372036854775808}",
		"3: axis seq_len: 9223372036854775808 does not fit in 64 bits: quote it to keep it as text")
	check("grid: {seq_len: [true]}", "3: axis seq_len: want a number or a list, got true")
	check("grid: {a: []}", "3: axis a: has no values")
	check("grid: {a: {b: 1}}", "3: axis a: its arguments are not used: write {a} as a word of command, wrapper or build")
	check("grid: {a: {}}", "3: axis a: has no values")
	check("grid: {a: {1: [], 1.0: []}}", "3: axis a: 1 and 1.0 are the same value")
	check("grid: {a: {b: {c: d}}}", `3: axis a.b: want text, got a map: quote it ("{axis}")`)
	check("grid: {a: {b: [[c]]}}", "3: axis a.b: want one value, got a list")
	check("grid: {a: {b: --c d}}", `3: axis a.b: want a list, ["--c", "d"], or, if it needs a shell, [sh, -c, "--c d"]`)
	check("grid: {a: {b: ['{x}']}}", "3: axis a.b: {x} is not filled in here: use it in benchmark, model, backend, variant, command, file, env or cwd")
	check("grid: {a: }", `3: axis a: is empty: write "" for an empty text`)
	check("grid: {a: [1, 1]}", "3: axis a: 1 appears twice")
	check("grid: {a: [1, 1.0]}", "3: axis a: 1 and 1.0 are the same value")
	check(`grid: {a: [1, "1"]}`, `3: axis a: 1 and "1" are the same value`)
	check("grid: {precision: [fp32, float32]}", `3: axis precision: "fp32" and "float32" are the same value`)
	check("grid: {precision: fp31}",
		`3: axis precision: want one of fp64 fp32 tf32 fp16 bf16 fp8 int8 int4, got "fp31"`)
	check("grid: {precision: 32}", "3: axis precision: want one of fp64 fp32 tf32 fp16 bf16 fp8 int8 int4, got 32")
	check("grid: {a: 1_000}",
		"3: axis a: 1_000 has _ between digits: quote it to keep it as text, or write the number without")
	check("grid: {a: [08]}",
		"3: axis a: 08 has a leading zero: quote it to keep it as text, or write the number without")
	check("grid: {a: 0x10}", "3: axis a: 0x10: write the number in decimal, or quote it to keep it as text")
	check("grid: {a: 1e400}", "3: axis a: 1e400 does not fit in 64 bits: quote it to keep it as text")
	check("grid: {a: nan}", "3: axis a: nan is not a finite number: quote it to keep it as text")
	check("grid: {a: .inf}", "3: axis a: .inf is not a finite number: quote it to keep it as text")
	check("grid: {a: [[1_0]]}",
		"3: axis a: 1_0 has _ between digits: quote it to keep it as text, or write the number without")
	check("grid: {a: 18446744073709551616}",
		"3: axis a: 18446744073709551616 does not fit in 64 bits: quote it to keep it as text")
	check("grid: {a: "+strings.Repeat("9", 801)+"}",
		"3: axis a: "+strings.Repeat("9", 40)+"…: too long for a number: quote it to keep it as text")
	check("params: {p: &v four}\ngrid:\n  bs:\n    - 1\n    - *v", `7: axis bs: want a number or a list, got "four"`)
	check("grid: {status: 1}", `3: axis status: "status" is the name of a column of runs: call the axis something else`)
	check("grid: {benchmark: [a]}",
		`3: axis benchmark: "benchmark" is the name of a column of runs: call the axis something else`)
	check("grid: {a.b: 1}", "3: axis a.b: want a name made of letters, digits, _ and -")
	check("grid: {bs: 1, batch_size: 2}", "3: axis batch_size: batch_size is already defined on line 3")
	check("grid: {model: builtin:y}", "3: axis model: model is already defined on line 2")
	check("grid: {a: 1}\nparams: {a: 2}", "3: axis a: a is already defined on line 4")
	check("params: {batch_size: [1]}", "3: params.batch_size: want one value, got a list: put axes under grid")
	check("params: {batch_size: {b: 1}}", "3: params.batch_size: want one value, got a map: put axes under grid")
	check("params: {host_id: 1}",
		`3: params.host_id: "host_id" is the name of a column of runs: call the axis something else`)
}

func TestErrorsOfSelection(t *testing.T) {
	check := refuses(t, tiny)
	check("zip: a", "3: zip: want a list of two or more axes to pair")
	check("zip: [a]", "3: zip: want a list of two or more axes to pair")
	check("grid: {a: [1], b: [2]}\nzip: [a, c]", "4: zip: c is not an axis of this sweep")
	check("grid: {alpha: [1], b: [2]}\nzip: [alhpa, b]", "4: zip: alhpa is not an axis of this sweep: did you mean alpha?")
	check("grid: {a: [1], b: [2]}\nzip: [a, a]", "4: zip: axis a appears twice")
	check("grid: {a: [1], b: [2], c: 3}\nzip: [[a, b], [c, b]]", "4: zip: axis b appears twice")
	check("grid: {a: [1, 2], b: [2]}\nzip: [a, b]",
		"4: zip: zipped axes need the same number of values: a has 2, b has 1")
	check("grid: {a: [1, 2], b: [2, 3]}\nzip: [a, b]\ninclude: [{a: 3}]",
		"5: include: a is zipped with b: name both")
	check("grid: {a: [1, 2], b: [2, 3]}\nzip: [a, b]\ninclude: [{a: [3, 4], b: 5}]",
		"5: include: zipped axes need the same number of values: a has 2, b has 1")
	check("include: {a: 1}", "3: include: want a list of maps, got a map")
	check("include: [a]", `3: include: want a map, got "a"`)
	check("include: [{}]", "3: include: an entry names no axis")
	check("include: [{a: 1}]", "3: include: a is not an axis of this sweep")
	check("grid: {a: [1, 2], b: [3, 4]}\ninclude:\n  - {b: 5}\n  - {a: 2}",
		"6: include: the point a=2 b=3 already exists, from line 3")
	check("grid: {a: [1, 2], b: 1}\ninclude: [{a: 3}, {a: [4, 3]}]",
		"4: include: the point a=3 already exists, from line 4")
	check("grid: {bs: [1, 2]}\ninclude: [{bs: 3, batch: 4}]", "4: include: axis batch_size appears twice")
	check("grid: {bs: [1, 2]}\ninclude: [{bs: four}]", `4: include: axis bs: want a number or a list, got "four"`)
	check("grid: {a: [1, 2]}\nexclude:\n  - {a: 3}", "5: exclude: no point matches it")
	check("grid: {a: [1, 2]}\nexclude: [{a: [1, 2]}]", "4: exclude: no point is left")
	check("grid: {precision: fp32}\nexclude: [{precison: fp32}]",
		"4: exclude: precison is not an axis of this sweep: did you mean precision?")
	check("baseline: x", `3: baseline: want axis=value, got "x"`)
	check("baseline: x=1", "3: baseline: x is not an axis of this sweep")
	check("baseline: [a]", "3: baseline: want text, got a list")
	check("grid: {a: [1, 2]}\nbaseline: a=3", "4: baseline: axis a has no value 3")
	check("grid: {a: [1, 2]}\nbaseline: a=", `4: baseline: "" is not a value of axis a`)
	check("grid: {a: [1, 2]}\nbaseline: a=1_0",
		"4: baseline: 1_0 has _ between digits: quote it to keep it as text, or write the number without")
	check("wrapper: [nice]", "3: wrapper: goes before a command, but there is no command")
	check(`env: {A: "{x}"}`, "3: env.A: {x} is not an axis (write {{ and }} for literal braces)")
	check("env: [A]", "3: env: want a map, got a list")
	check("env: {A=B: x}", "3: env.A=B: a name cannot contain =")
	check("env: {A: [x]}", "3: env.A: want one value, got a list")
	check("env: {A: }", `3: env.A: is empty: write "" for an empty text`)
	check(`cwd: "{x"`, `3: cwd: unmatched { in "{x": write {{ for a literal brace`)
	check("cwd: [a]", "3: cwd: want one value, got a list")
}

func TestErrorsOfOptions(t *testing.T) {
	check := func(o Overrides, want string) {
		t.Helper()
		valuetest.ErrorText(t, valuetest.Error(readText("sweep.yaml", []byte(tiny+"grid: {a: 1}"), o)), want)
	}
	p := func(name, values string) Overrides { return Overrides{Params: map[string]string{name: values}} }
	check(p("bs", "four"), `-P bs: want a number or a list, got "four"`)
	check(p("a", ""), "-P a: has no values")
	check(p("a", "1,1.0"), "-P a: 1 and 1.0 are the same value")
	check(p("a", "007"), "-P a: 007 has a leading zero: -P 'a=\"007\"' keeps it as text, or write the number without")
	check(p("a", "[1]"), "-P a: want values separated by commas, got a list")
	check(p("a", "1]"), "-P a: YAML: did not find expected <document start>")
	check(p("status", "1"), `-P status: "status" is the name of a column of runs: call the axis something else`)
	check(p("a b", "1"), "-P a b: want a name made of letters, digits, _ and -")
	check(Overrides{Params: map[string]string{"bs": "1", "batch": "2"}}, "-P bs: is the same axis as -P batch")
	check(Overrides{Given: map[string]string{"repeats": "0"}}, "--repeats: want a whole number from 1 to 10000000, got 0")
	check(Overrides{Given: map[string]string{"warmup": "-1"}}, "--warmup: want a whole number from 0 to 10000000, got -1")
	check(Overrides{Given: map[string]string{"iterations": "0"}}, "--iterations: want a whole number from 1 to 10000000, got 0")
	check(Overrides{Given: map[string]string{"budget": "0s"}}, "--budget: want more than 0s and at most 1000h0m0s, got 0s")
	check(Overrides{Given: map[string]string{"timeout_multiplier": "0"}}, "--timeout-multiplier: want a number above 0 and at most 1000, got 0")
	check(p("repeats", "3"), "-P repeats: is not an axis: use --repeats")
	check(p("tags", "a"), "-P tags: is not an axis: use --tag")
	check(Overrides{Given: map[string]string{"suite": "\xff"}}, `--suite: want UTF-8, got "\xff"`)
	check(Overrides{Tags: map[string]string{"k": "\xff"}}, `--tag: want UTF-8, got "k\xff"`)
}

func TestReadErrors(t *testing.T) {
	valuetest.ErrorText(t, valuetest.Error(Read("sweep.yaml", iotest.ErrReader(io.ErrUnexpectedEOF), Overrides{})), "reading the sweep: unexpected EOF")
}

// TestOptionAdvice: what an error about -P advises can be pasted into a shell.
func TestOptionAdvice(t *testing.T) {
	for values, want := range map[string]string{
		"3.10": `-P 'n="3.10"' keeps it as text, or write 3.1 for the number`, "01,2": `-P 'n="TEXT"' keeps it as text`, "1,,2": "a value is missing between commas: 1,,2",
	} {
		_, err := Read("s.yaml", strings.NewReader("command: [sleep, '{n}']"), Overrides{Params: map[string]string{"n": values}})
		valuetest.ErrorText(t, err, "…"+want+"…", "-P n=", values)
	}
}

// TestOutputMeant: a word that is spelt like keep is no file, unless it says so.
func TestOutputMeant(t *testing.T) {
	for text, want := range map[string]string{"kep": "did you mean keep? For a file of that name, write ./kep", "./kep": "", "out": "", "kep.txt": ""} {
		_, err := Read("s.yaml", strings.NewReader("command: [ls]"), Overrides{Given: map[string]string{"output": text}})
		valuetest.ErrorText(t, err, "…"+want+"…", text)
	}
}
