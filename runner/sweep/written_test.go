package sweep

import (
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
