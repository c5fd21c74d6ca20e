package sweep

import "testing"

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
