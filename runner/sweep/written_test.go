package sweep

import (
	"strings"
	"testing"
)

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
	if want := "-P p: 0.50 ends in a zero: -P 'p=\"0.50\"' keeps it as text, or write 0.5 for the number"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
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
	if _, err := ExpandPath("~/x"); err == nil || !strings.HasPrefix(err.Error(), `"~/x" begins with the home directory: `) {
		t.Errorf("without a home: %v", err)
	}
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
		if _, err := Read("s.yaml", strings.NewReader(text), Overrides{}); err == nil || !strings.HasPrefix(err.Error(), "s.yaml:2: ") {
			t.Errorf("%s: %v", key, err)
		}
	}
	check("cwd: $HOME/x", "3: cwd: variables are not replaced in paths: want ~/ for the home directory, or ./$HOME/x for a file of that name, got \"$HOME/x\"")
}
