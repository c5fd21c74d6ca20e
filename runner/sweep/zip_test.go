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
	check("zip: [op, size]\ngrid: {op: [add, mul, add], size: [1, 2, 1.0]}", "3: axis op: op=add size=1 is there twice")
	check("grid: {op: [add, add], size: 1}", `2: axis op: "add" is there twice`)
	check("zip: [op, size]\ngrid: {op: [x], size: [1]}\ninclude: [{op: [y, y], size: [1, 1]}]",
		"4: include: axis op: op=y size=1 is there twice")
	check("grid: {op: [x], size: [1]}\nexclude: [{op: [x, x]}]", `3: exclude: axis op: "x" is there twice`)
}
