package sweep

import (
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

func TestSpans(t *testing.T) {
	values := func(text string, o Overrides) (all []string) {
		t.Helper()
		for _, p := range parse(t, "command: [sleep, '{n}']\n"+text, o).Points {
			all = append(all, p.Command[1])
		}
		return all
	}
	for text, want := range map[string][]string{
		"1..4":           {"1", "2", "3", "4"},
		"1..8..3":        {"1", "4", "7"},
		"-1..1":          {"-1", "0", "1"},
		"0.1..0.5..0.2":  {"0.1", "0.3", "0.5"},
		"0.5..2..0.5":    {"0.5", "1", "1.5", "2"},
		"1..100*4":       {"1", "4", "16", "64"},
		"8..8":           {"8"},
		"[1..2, 5]":      {"1", "2", "5"},
		"'1..4'":         {"1..4"}, // what is quoted is text
		"a..c":           {"a..c"},
		"v1..v4":         {"v1..v4"},
		"[0.25..1*2, 7]": {"0.25", "0.5", "1", "7"},
	} {
		equal(t, values("grid: {n: "+text+"}\n", Overrides{}), want)
	}
	equal(t, values("", Overrides{Params: map[string]string{"n": "1..3,10"}}), []string{"1", "2", "3", "10"})
	refuse := func(text, want string) {
		t.Helper()
		_, err := readText("sweep.yaml", []byte("command: [sleep, '{n}']\ngrid: {n: "+text+"}\n"), Overrides{})
		valuetest.ErrorText(t, err, "sweep.yaml:2: axis n: "+want, text)
	}
	refuse("4..1", "4..1: want the lower end first")
	refuse("1..4..0", "1..4..0: want a step above 0")
	refuse("1..4*1", "1..4*1: want a factor above 1, and a first number above 0")
	refuse("0..4*2", "0..4*2: want a factor above 1, and a first number above 0")
	refuse("1..20000", "1..20000: more than 10000 values")
	for _, text := range []string{"1...4", "1..x", "1e0..1e3*10", "1..1k"} {
		refuse(text, text+": want a span of numbers (1..8, 1..8..2, 1..1024*2), or quotes around a text")
	}
	refuse("[1..3, 2]", "2 appears twice")
}

const withArguments = `benchmark: train
wrapper: [env, "{backend}"]
command: [prog, "--on={backend}", "{backend}", "{n}"]
build: [[make, "{backend}", all]]
grid:
  backend: {cpu: [], mps: [--mps], fast: [--mps, "-O 3"]}
  n: {1: -n1, 2: [-n, 2]}
`

// TestArguments: a value of a map stands for its arguments where it is a word of a command, and for itself elsewhere.
func TestArguments(t *testing.T) {
	s := valuetest.Must(readText("s.yaml", []byte(withArguments), Overrides{}))
	got := map[string]string{}
	for i := range s.Points {
		p := &s.Points[i]
		got[p.Backend+" "+p.Params["n"]] = strings.Join(p.Command, "|") + " after " + strings.Join(p.Build[0], "|")
	}
	want := map[string]string{
		"cpu 1":  "env|prog|--on=cpu|-n1 after make|all",
		"cpu 2":  "env|prog|--on=cpu|-n|2 after make|all",
		"mps 1":  "env|--mps|prog|--on=mps|--mps|-n1 after make|--mps|all",
		"mps 2":  "env|--mps|prog|--on=mps|--mps|-n|2 after make|--mps|all",
		"fast 1": "env|--mps|-O 3|prog|--on=fast|--mps|-O 3|-n1 after make|--mps|-O 3|all",
		"fast 2": "env|--mps|-O 3|prog|--on=fast|--mps|-O 3|-n|2 after make|--mps|-O 3|all",
	}
	for key, text := range want {
		valuetest.DeepEqual(t, got[key], text, key)
	}
	valuetest.DeepEqual(t, len(got), len(want))
}

// TestArgumentsChosen: the command line and include name values, and do not lose their arguments.
func TestArgumentsChosen(t *testing.T) {
	src := withArguments + "include: [{backend: mps, n: 2, m: 1}]\n"
	s := valuetest.Must(readText("s.yaml", []byte(strings.Replace(src, ", m: 1", "", 1)), Overrides{Params: map[string]string{"backend": "mps"}}))
	if len(s.Points) != 2 || !slices.Contains(s.Points[0].Command, "--mps") {
		t.Errorf("got %d points, the first with %q", len(s.Points), s.Points[0].Command)
	}
	_, err := readText("s.yaml", []byte(withArguments), Overrides{Params: map[string]string{"backend": "msp"}})
	valuetest.ErrorText(t, err, `-P backend: "msp" has no arguments in the sweep: did you mean mps?`)
}

// TestListParameter: a list is a value of a parameter.
func TestListParameter(t *testing.T) {
	s := valuetest.Must(readText("s.yaml", []byte("command: [prog, \"{shape}\"]\nparams: {shape: [1, 2.0]}\n"), Overrides{}))
	if p := s.Points[0]; len(s.Points) != 1 || p.Params["shape"] != "[1,2]" || p.Command[1] != "[1,2.0]" {
		t.Errorf("got %d points, the first with %v and %q", len(s.Points), p.Params, p.Command)
	}
}

// TestScale: the value depends on the machine and is what the point is known by; the base is kept.
func TestScale(t *testing.T) {
	ids := map[string]bool{}
	src := "command: [x, '{size}']\nscale: {size: {base: 4096, by: gpu.memory, steps: {16GiB: 1, 8GiB: 0.5, 4GiB: 0.25, 0: 0.1}}}\n"
	for memory, want := range map[string]string{"16GiB": "4096", "80GiB": "4096", "15.9 GiB": "2048", "8GiB": "2048", "4GiB": "1024", "3GiB": "409"} {
		s := parse(t, src, Overrides{Facts: here(t, map[string]string{"gpu.memory": memory})})
		p := &s.Points[0]
		if len(s.Points) != 1 || p.Params["size"] != want || p.Command[1] != want || p.Scaled["size"] != "4096" {
			t.Errorf("with %s: %d points, %v of %v, %v", memory, len(s.Points), p.Params, p.Scaled, p.Command)
		}
		ids[p.PointID] = true
		same := parse(t, "command: [x, '{size}']\ngrid: {size: "+want+"}\n", Overrides{})
		valuetest.DeepEqual(t, same.Points[0].PointID, p.PointID, "with", memory, want)
	}
	valuetest.DeepEqual(t, len(ids), 4)
	s := parse(t, src, Overrides{Params: map[string]string{"size": "7,8"}})
	if len(s.Points) != 2 || s.Points[0].Params["size"] != "7" || s.Points[0].Scaled != nil {
		t.Errorf("-P size=7,8: %d points, %v of %v", len(s.Points), s.Points[0].Params, s.Points[0].Scaled)
	}
}

// TestScaleValues: values are exact, of columns too, and may be what other axes are combined with.
func TestScaleValues(t *testing.T) {
	for _, test := range []struct{ scale, axis, want string }{
		{"k: {base: 100, by: 1, steps: {1: 0.29}}", "k", "29"}, // in binary fractions it is 28.999999999999996
		{"k: {base: 0.5, by: 1, steps: {0: 0.5}}", "k", "0.25"},
		{"k: {base: 10, by: 1, steps: {0: 3}}", "k", "30"},
		{"k: {base: 1e3, by: 1, steps: {0: 1}}", "k", "1000"},
		{"bs: {base: 64, by: 1, steps: {0: 0.51}}", "batch_size", "32"},
		{"k: {base: 8, by: gpu.memory ?? 3, steps: {4: 1, 2: 0.5}}", "k", "4"},
		{"k: {base: 8, by: \"min(gpu.memory ?? 1e9, 2e9)\", steps: {1GB: 1, 0: 0.5}}", "k", "8"},
		{"k: {base: 8, by: gpu.count, steps: {1: 1, 0: 0.5}}", "k", "4"},
	} {
		s := parse(t, "file: x.py\ngrid: {a: [1, 2]}\nscale:\n  "+test.scale+"\n", Overrides{Facts: here(t, nil)})
		if got := s.Points[0].textOf(test.axis); got != test.want || len(s.Points) != 2 {
			t.Errorf("%s: %s at %d points, want %s", test.scale, got, len(s.Points), test.want)
		}
	}
	s := parse(t, "file: x.py\nscale: {k: {base: 8, by: 1, steps: {0: 1}}}\npresets: {quick: {grid: {k: [1, 2]}}}\n", Overrides{Presets: []string{"quick"}})
	if len(s.Points) != 2 || s.Points[0].Scaled != nil {
		t.Errorf("an axis of a preset does not replace a scaled one: %d points", len(s.Points))
	}
}

func TestErrorsOfScale(t *testing.T) {
	check := refuses(t, "file: x.py\nscale:\n")
	check("  3", "2: scale: want a map, got 3")
	check("  k: 3", "3: scale.k: want a map, got 3")
	check("  k: {base: 1, by: os}", "3: scale.k: want {base: NUMBER, by: FACT, steps: {AMOUNT: FACTOR}}: steps is missing")
	check("  k: {by: 1, steps: {0: 1}}", "3: scale.k: want {base: NUMBER, by: FACT, steps: {AMOUNT: FACTOR}}: base is missing")
	check("  k: {base: 1, by: 1, steps: {0: 1}, least: 2}", "3: scale.k: unknown key least: want one of base by steps")
	check("  k: {base: 1, by: max(1, 2), steps: {0: 1}}", "3: scale.k: unknown key 2): quote the expression, because YAML ends it at the comma")
	check("  k: {base: big, by: 1, steps: {0: 1}}", `3: scale.k.base: want a number above 0, got "big"`)
	check("  k: {base: '1', by: 1, steps: {0: 1}}", `3: scale.k.base: want a number above 0, got "1"`)
	check("  k: {base: 0, by: 1, steps: {0: 1}}", "3: scale.k.base: want a number above 0, at most 2**53, got 0")
	check("  k: {base: 1e300, by: 1, steps: {0: 1}}", "3: scale.k.base: want a number above 0, at most 2**53, got 1e300")
	check("  k: {base: 1, by: gpu.memroy, steps: {0: 1}}", "3: scale.k.by: 1:1: unknown name gpu.memroy: did you mean gpu.memory?")
	check("  k: {base: 1, by: os, steps: {0: 1}}", "3: scale.k.by: 1:1: want a number, got text")
	check("  k: {base: 1, by: batch_size, steps: {0: 1}}", "3: scale.k.by: 1:1: unknown name batch_size")
	check("  k: {base: 1, by: [1], steps: {0: 1}}", "3: scale.k.by: want an expression, got a list")
	check("  k: {base: 1, by: gpu.memory, steps: {0: 1}}",
		"3: scale.k.by: gpu.memory is not known here (unsupported): write (gpu.memory ?? VALUE) for a default, or give --fact gpu.memory=VALUE")
	check("  k: {base: 1, by: 1, steps: 3}", "3: scale.k.steps: want a map, got 3")
	check("  k: {base: 1, by: 1, steps: {}}", "3: scale.k.steps: is empty")
	check("  k: {base: 1, by: 1, steps: {much: 1}}", `3: scale.k.steps.much: want an amount such as 16GiB: "much" is not a number`)
	check("  k: {base: 1, by: gpu.memory, steps: {16 ms: 1}}", `3: scale.k.steps.16 ms: want an amount such as 16GiB: "16 ms": want a value in B, not in ms`)
	check("  k: {base: 1, by: gpu.memory, steps: {1GiB: 1, 1024MiB: 2}}", "3: scale.k.steps.1024MiB: appears twice")
	check("  k: {base: 1, by: 1, steps: {0: -1}}", "3: scale.k.steps.0: want a number above 0, at most 2**53, got -1")
	check("  k: {base: 1, by: 1, steps: {2: 1}}", "3: scale.k.steps: 1 is 1, which is below every step: add a step 0 for smaller machines")
	check("  k: {base: 3, by: 1, steps: {0: 0.1}}", "3: scale.k.steps.0: the base 3 times this factor rounds down to 0")
	check("  k: {base: 1, by: 1, steps: {0: 1}}\ngrid: {k: 1}", "3: scale.k: k is already defined on line 4")
	check("  'a b': {base: 1, by: 1, steps: {0: 1}}", "3: scale.a b: want a name made of letters, digits, _ and -")
	check("  backend: {base: 1, by: 1, steps: {0: 1}}", `3: scale.backend: want text, got 1: quote it`)
}

// TestZipOfPairs: axes that move together may repeat a value, but no combination.
func TestZipOfPairs(t *testing.T) {
	t.Parallel()
	const program = "command: [a, '{op}', '{size}']\n"
	s := parse(t, program+"zip: [op, size]\ngrid: {op: [add, add, mul], size: [1, 2, 1]}", Overrides{})
	equal(t, points(s), []string{"a op=add size=1", "a op=add size=2", "a op=mul size=1"})
	s = parse(t, program+"zip: [op, size]\ngrid: {op: [x], size: [1]}\ninclude: [{op: [y, y], size: [1, 2]}]", Overrides{})
	equal(t, len(s.Points), 3)
	check := refuses(t, program)
	check("zip: [op, size]\ngrid: {op: [add, mul, add], size: [1, 2, 1.0]}", "3: axis op: op=add size=1 appears twice")
	check("grid: {op: [add, add], size: 1}", `2: axis op: "add" appears twice`)
	check("zip: [op, size]\ngrid: {op: [x], size: [1]}\ninclude: [{op: [y, y], size: [1, 1]}]",
		"4: include: axis op: op=y size=1 appears twice")
	check("grid: {op: [x], size: [1]}\nexclude: [{op: [x, x]}]", `3: exclude: axis op: "x" appears twice`)
}

// TestZipOfTheCommandLine: values of some of the axes that move together choose the combinations that have them; of all of
// them they are combinations, whatever the file has.
func TestZipOfTheCommandLine(t *testing.T) {
	t.Parallel()
	const program = "command: [a, '{benchmark}', '{op}', '{size}']\nbenchmark: [x, y, x]\nzip: [benchmark, op, size]\ngrid: {op: [add, mul, div], size: [1, 2, 3]}"
	for _, c := range []struct {
		given map[string]string
		want  []string
	}{
		{map[string]string{"op": "div"}, []string{"x op=div size=3"}},
		{map[string]string{"benchmark": "x"}, []string{"x op=add size=1", "x op=div size=3"}},
		{map[string]string{"benchmark": "x", "size": "1,2"}, []string{"x op=add size=1"}},
		{map[string]string{"benchmark": "z", "op": "add", "size": "9"}, []string{"z op=add size=9"}},
	} {
		equal(t, points(parse(t, program, Overrides{Params: c.given})), c.want)
	}
	models := parse(t, "command: [a, '{model}', '{n}']\nmodel: [m/e.onnx, m/f.onnx]\nzip: [model, n]\ngrid: {n: [0.001, 2]}", Overrides{Params: map[string]string{"n": "1e-3"}})
	equal(t, len(models.Points), 1)
	equal(t, models.Points[0].Command, []string{"a", "m/e.onnx", "1e-3"})
	if _, err := readText("s", []byte("command: [a, '{model}', '{n}']\nmodel: [m/e.onnx, m/f.onnx]\nzip: [model, n]\ngrid: {n: [1, 2]}"), Overrides{Params: map[string]string{"model": "o/e.onnx"}}); err == nil {
		t.Error("another file of the same name is one of the file's models")
	}
	for _, given := range []map[string]string{{"op": "neg"}, {"op": "add", "size": "2"}} {
		if _, err := readText("sweep.yaml", []byte(program), Overrides{Params: given}); err == nil {
			t.Errorf("%v: no combination has it", given)
		}
	}
}

// TestZeroAtTheEnd: an unquoted 3.10 is a version that YAML would make 3.1 of, wherever a value is text in the end.
func TestZeroAtTheEnd(t *testing.T) {
	t.Parallel()
	check := refuses(t, "command: [a, '{p}']\n")
	says := func(number, short string) string {
		return number + " ends in a zero: quote it to keep it as text, or write " + short + " for the number"
	}
	check("grid: {p: [3.9, 3.10]}", "2: axis p: "+says("3.10", "3.1"))
	check("grid:\n  p:\n    - 3.9\n    - 1.50", "5: axis p: "+says("1.50", "1.5"))
	check("params: {p: -0.50e3}", "2: params.p: "+says("-0.50e3", "-500"))
	check("grid: {p: [[1, 2.50]]}", "2: axis p: "+says("2.50", "2.5"))
	check("grid: {p: 1}\ntags: {python: 3.10}", "3: tags.python: "+says("3.10", "3.1"))
	check("grid: {p: 1}\nenv: {V: 3.10}", "3: env.V: "+says("3.10", "3.1"))
	check("grid: {p: ['3.10', '3.9']}\nexclude: [{p: 3.10}]", "3: exclude: axis p: "+says("3.10", "3.1"))
	check("grid: {p: 1}\ninclude: [{p: 3.10}]", "3: include: axis p: "+says("3.10", "3.1"))
	refuses(t, "")("command: [a, 3.10]", "1: command: "+says("3.10", "3.1"))
	for _, number := range []string{"1.0", "2.00", "10", "1e10", "0.05", "100.0"} {
		parse(t, "command: [a, '{p}']\ngrid: {p: "+number+"}", Overrides{})
	}
	parse(t, "command: a\ntimeout_multiplier: 1.50", Overrides{}) // which no program is given
}

// TestWritten: the program is given a value as it is written, and the point has its canonical text.
func TestWritten(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ yaml, argument, text, typed, option string }{
		{"1e3", "1e3", "1000", "1e3", "1e3"},
		{"1.0", "1.0", "1", "1.0", "1.0"},
		{"+5", "+5", "5", "", "+5"},
		{".5", ".5", "0.5", "", ".5"},
		{"2.", "2.", "2", "2.0", "2."},
		{"64", "64", "64", "", ""},
		{`"64"`, "64", "64", `"64"`, `"64"`},
		{`"3.10"`, "3.10", "3.10", `"3.10"`, `"3.10"`},
		{"True", "True", "true", "", "True"},
		{`"true"`, "true", "true", `"true"`, `"true"`},
		{"word", "word", "word", "", ""},
		{"[1.0, 2]", "[1.0,2]", "[1,2]", "[1.0,2]", "[1.0,2]"},
		{"{b: 1e1, a: '1'}", `{"a":"1","b":1e1}`, `{"a":"1","b":10}`, `{"a":"1","b":1e1}`, `{"a":"1","b":1e1}`},
	} {
		p := parse(t, "command: [a, '{p}']\ngrid: {p: ["+c.yaml+"]}", Overrides{}).Points[0]
		equal(t, p.Command[1], c.argument)
		equal(t, p.Params["p"], c.text)
		equal(t, p.Values["p"], c.typed)
		equal(t, p.Written["p"], c.option)
		if c.option != "" { // which chooses the same point again
			again := parse(t, "command: [a, '{p}']\ngrid: {p: [x, "+c.yaml+"]}", Overrides{Params: map[string]string{"p": c.option}}).Points[0]
			equal(t, again.Command, p.Command)
			equal(t, again.PointID, p.PointID)
			equal(t, again.Values, p.Values)
		}
	}
	literal := parse(t, "command: [a, 1e3, True]", Overrides{}).Points[0]
	equal(t, literal.Command, []string{"a", "1e3", "True"})
	column := parse(t, "command: [a, '{bs}', '{dtype}']\ngrid: {bs: 1e1, precision: float32}", Overrides{}).Points[0]
	equal(t, column.Command, []string{"a", "1e1", "float32"})
	equal(t, []string{column.Precision, column.Written["precision"], column.Written["batch_size"]}, []string{"fp32", "float32", "1e1"})
}

// TestSpelledOnTheLine: the shell has taken the quotes away, and the point is that of the file all the same.
func TestSpelledOnTheLine(t *testing.T) {
	t.Parallel()
	check := func(values, option, argument, text string) {
		t.Helper()
		p := parse(t, "command: [a, '{p}']\ngrid: {p: "+values+"}", Overrides{Params: map[string]string{"p": option}}).Points[0]
		equal(t, []string{p.Command[1], p.Params["p"]}, []string{argument, text})
	}
	check(`["3.9", "3.10"]`, "3.10", "3.10", "3.10")
	check(`["3.9", "3.10"]`, `"3.10"`, "3.10", "3.10")
	check(`["3.9", "3.10"]`, "3.20", "3.20", "3.20") // all is text there
	check(`["3.9", "007"]`, "008", "008", "008")
	check(`["12.0", 11]`, "12.0", "12.0", "12.0") // the one that is spelled so
	check(`["12.0", 11]`, "13.0", "13.0", "13")
	check("[1, 2]", "1e3", "1e3", "1000")
	_, err := readText("sweep.yaml", []byte("command: [a, '{p}']\ngrid: {p: [0.25, 1]}"), Overrides{Params: map[string]string{"p": "0.50"}})
	valuetest.ErrorText(t, err, "-P p: 0.50 ends in a zero: -P 'p=\"0.50\"' keeps it as text, or write 0.5 for the number")
	s := parse(t, `command: [a, '{p}', '{q}']
grid: {p: ["3.9", "3.10"], q: [1, 2]}
baseline: p=3.10`, Overrides{})
	equal(t, len(s.blocks), 2)
}

func TestExpandPath(t *testing.T) {
	t.Setenv("HOME", "/home/me")
	for path, want := range map[string]string{
		"~": "/home/me", "~/": "/home/me", "~/a b/c": "/home/me/a b/c", "a/~/b": "a/~/b", "./~x": "./~x", "a~": "a~", "": "", "/~/x": "/~/x", "$": "$", "./$HOME": "./$HOME", "a/$HOME": "a/$HOME",
	} {
		if got, err := ExpandPath(path); got != want || err != nil {
			t.Errorf("%q: got %q, %v, want %q", path, got, err, want)
		}
	}
	for path, want := range map[string]string{
		"~root/x": `want ~/ for the home directory, or ./~root/x for a file of that name, got "~root/x"`,
		"$HOME/x": `variables are not replaced in paths: want ~/ for the home directory, or ./$HOME/x for a file of that name, got "$HOME/x"`,
		"${A}":    `variables are not replaced in paths: want ~/ for the home directory, or ./${A} for a file of that name, got "${A}"`,
	} {
		if got, err := ExpandPath(path); got != "" || err == nil || err.Error() != want {
			t.Errorf("%q: got %q, %v, want %s", path, got, err, want)
		}
	}
	t.Setenv("HOME", "")
	valuetest.ErrorText(t, valuetest.Error(ExpandPath("~/x")), `"~/x" begins with the home directory: …`, "without a home")
}

// TestPathsOfKeys: each key that is a path has the home directory in the place of ~, also where an axis brings it, and words of programs
// are as they are.
func TestPathsOfKeys(t *testing.T) {
	t.Setenv("HOME", "/home/me")
	first := func(text string, o Overrides) *Point {
		t.Helper()
		s, err := Read("s.yaml", strings.NewReader(text), o)
		if err != nil {
			t.Fatalf("%s\n%v", text, err)
		}
		return &s.Points[0]
	}
	p := first(`command: [~/bin/x, ~/arg]
setup: [~/bin/y]
env: {A: ~/env}
cwd: ~/{where}
stdin: ~/in
output: {to: ~/out, from: ~/numbers}
artifacts: ["~/kept/*"]
metrics: {m: {from: ~/metric, regex: x}}
reference: {from: ~/reference.npy}
grid: {where: [place]}
`, Overrides{})
	got := strings.Join([]string{p.Dir, p.Stdin, p.Stdout, p.Output.From, p.Artifacts.Files[0], p.Metrics[0].From, p.Reference.File}, " ")
	if want := "/home/me/place /home/me/in /home/me/out /home/me/numbers /home/me/kept/* /home/me/metric /home/me/reference.npy"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := strings.Join(append(p.Command, p.Hooks.Setup[0], p.Env["A"], p.Params["stdin"]), " "); got != "~/bin/x ~/arg ~/bin/y ~/env ~/in" {
		t.Errorf("words: %s", got)
	}
	if p := first("file: ~/b.py:f\npython: ~/venv/bin/python\n", Overrides{}); p.File != "/home/me/b.py" || p.Python != "/home/me/venv/bin/python" {
		t.Errorf("%s, %s", p.File, p.Python)
	}
	for _, model := range []string{"~/m.onnx", "{name: m, path: ~/m.onnx}"} {
		if p := first("backend: onnxrt\nmodel: "+model, Overrides{}); p.ModelPath != "/home/me/m.onnx" {
			t.Errorf("%s is %s", model, p.ModelPath)
		}
	}
	if p := first("file: b.py", Overrides{Given: map[string]string{"python": "~/p"}}); p.Python != "/home/me/p" {
		t.Errorf("--python: %s", p.Python)
	}
	check := refuses(t, tiny)
	for _, key := range []string{"cwd: ~you/x", "stdin: $HOME/x", "output: {to: '${HOME}/x'}", "artifacts: [~you/x]", "share: [~/x]", "share: [$X/y]", "python: ~you/python"} {
		text := "command: [x]\n" + key
		if strings.HasPrefix(key, "python") {
			text = "file: b.py\n" + key
		}
		valuetest.ErrorText(t, valuetest.Error(Read("s.yaml", strings.NewReader(text), Overrides{})), "s.yaml:2: …", key)
	}
	check("cwd: $HOME/x", "3: cwd: variables are not replaced in paths: want ~/ for the home directory, or ./$HOME/x for a file of that name, got \"$HOME/x\"")
}
