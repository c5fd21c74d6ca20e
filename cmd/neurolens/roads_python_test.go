//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestRoadsPython: a Python benchmark is handed each value with its type, and what it reads back is the text of the sweep.
func TestRoadsPython(t *testing.T) {
	t.Parallel()
	python := programtest.PythonWith(t, "python", "json")
	points, axes := 2, 60 // a point may have 64
	if programtest.Long() {
		points = 20
	}
	var grid, names, keep strings.Builder
	want := make([]map[string]string, points) // of each point, JSON by axis
	for axis := range axes {
		var values []string
		name := fmt.Sprintf("x%d", axis)
		for i := range points {
			value := jsonValue(rand.New(rand.NewPCG(uint64(axis*points+i), 2)), 3)
			if want[i] == nil {
				want[i] = map[string]string{"point": fmt.Sprint(i)}
			}
			want[i][name], values = value, append(values, value)
		}
		fmt.Fprintf(&grid, "  %s: [%s]\n", name, strings.Join(values, ", "))
		fmt.Fprintf(&names, ", %s", name)
		fmt.Fprintf(&keep, "        self.%s = %s\n", name, name)
	}
	dir := t.TempDir()
	programtest.WriteFile(t, dir, "roads.yaml", "file: b.py\nwarmup: 0\niterations: 1\ngrid:\n  point: "+numbersUpTo(points)+"\n"+grid.String()+"zip: [point"+names.String()+"]\n")
	programtest.WriteFile(t, dir, "b.py", `import json

class Bench:
    def __init__(self, point`+names.String()+`):
`+keep.String()+`        self.got = {k: v for k, v in locals().items() if k != "self"}
        with open("got%d.json" % point, "w") as file:
            json.dump(self.got, file)
    def benchmark_fn(self): pass
    def applied(self): return self.got
`)
	programtest.Program(t, dir, "bench", "roads.yaml", "--python", python).MustRun(t)
	valuetest.Equal(t, rows(t, dir, "SELECT count(*) FROM runs WHERE status = 'ok'"), fmt.Sprintf("[%d]", points))
	const differing = `SELECT unnest(map_keys(params)) AS axis, params[axis] AS asked, applied['param.' || axis] AS read FROM runs`
	if got := rows(t, dir, "SELECT * FROM ("+differing+") WHERE asked IS DISTINCT FROM read"); got != "" {
		t.Errorf("a worker reads back another text: axis, text, what it read\n%s", got)
	}
	for i := range points {
		checkReceived(t, filepath.Join(dir, fmt.Sprintf("got%d.json", i)), want[i])
	}
}

// checkReceived holds that a benchmark was handed the values of its point, a real as a real.
func checkReceived(t *testing.T, file string, want map[string]string) {
	t.Helper()
	text := valuetest.Must(os.ReadFile(file))
	var got map[string]jsontext.Value
	valuetest.OK(t, jsontext.Unmarshal(text, &got))
	for axis, value := range want {
		received := valuetest.Must(schema.CanonicalValue(got[axis]))
		sent := valuetest.Must(schema.CanonicalValue([]byte(value)))
		real := func(text string) bool { return strings.Trim(text, "-0123456789") != "" }
		if received != sent || got[axis].Kind() == jsontext.KindNumber && real(value) != real(string(got[axis])) {
			t.Errorf("%s: %s was handed over as %s", axis, value, got[axis])
		}
	}
}

// numbersUpTo returns a list of as many numbers, from 0.
func numbersUpTo(n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = fmt.Sprint(i)
	}
	return "[" + strings.Join(words, ", ") + "]"
}
