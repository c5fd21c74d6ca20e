package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

// FuzzRoads: a value is the same text, and its point the same point, whichever way it comes: in a sweep file, by -P, in JSON of an imported file, and in a filter.
func FuzzRoads(f *testing.F) {
	for seed := range uint64(300) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		value := jsonValue(rand.New(rand.NewPCG(seed, 1)), 3)
		point := sweptPoint(t, value, sweep.Overrides{})
		text := point.Params["x"]
		if !strings.ContainsAny(value[:1], "[{") { // -P takes no list
			again := sweptPoint(t, "0", sweep.Overrides{Params: map[string]string{"x": value}})
			if again.Params["x"] != text || again.PointID != point.PointID {
				t.Errorf("%s is %q in a sweep, and %q by -P", value, text, again.Params["x"])
			}
		}
		if imported := foreign.TextOf(jsontext.Value(value)); imported != text {
			t.Errorf("%s is %q in a sweep, and %q in a JSON file", value, text, imported)
		}
		run := schema.Run{Benchmark: point.Benchmark, Params: map[string]string{"x": text}}
		if id := schema.PointID(&run); id != point.PointID {
			t.Errorf("%s: point %s in a sweep, %s of a run", value, point.PointID, id)
		}
		asked(t, value, text)
	})
}

// jsonValue is a JSON text: a number, a text, a truth value, or a list or map of them.
func jsonValue(random *rand.Rand, depth int) string {
	switch kind := random.IntN(8); {
	case kind < 2:
		return fmt.Sprint(random.Int64N(1<<20) - 1<<19)
	case kind == 2: // what a double does not hold
		return fmt.Sprint(int64(1)<<53 + random.Int64N(math.MaxInt64-1<<53))
	case kind == 3:
		return strings.TrimSuffix(fmt.Sprintf("%g", math.Exp(40*random.Float64()-20)), "+")
	case kind == 4:
		text, _ := json.Marshal([]string{"fp16", "a b", "x,y", "é\u2028", "1.0", "", "null"}[random.IntN(7)])
		return string(text)
	case kind == 5 || depth == 0:
		return []string{"true", "false"}[random.IntN(2)]
	case kind == 6:
		var list []string
		for range random.IntN(4) {
			list = append(list, jsonValue(random, depth-1))
		}
		return "[" + strings.Join(list, ", ") + "]"
	default:
		var entries []string
		for i := range random.IntN(3) {
			entries = append(entries, fmt.Sprintf("%q: %s", string(rune('z'-i)), jsonValue(random, depth-1)))
		}
		return "{" + strings.Join(entries, ", ") + "}"
	}
}

// sweptPoint is the only point of a sweep of a value.
func sweptPoint(t *testing.T, value string, o sweep.Overrides) *sweep.Point {
	t.Helper()
	text := "suite: roads\nbenchmark: b\ncommand: [echo, \"{x}\"]\ngrid:\n  x: [" + value + "]\n"
	s, err := sweep.Parse("roads.yaml", []byte(text), o)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if len(s.Points) != 1 {
		t.Fatalf("%s: %d points", text, len(s.Points))
	}
	return &s.Points[0]
}

// asked holds that a filter of what was written, without quotes, looks for the text as well. A text with what ends a word
// has to be quoted.
func asked(t *testing.T, written, text string) {
	t.Helper()
	if strings.ContainsAny(written, "\" ,()") {
		return
	}
	c, err := filter.Compile("param.x="+written, func(string, string) ([]string, error) { return nil, nil })
	if err != nil {
		t.Fatalf("%s: %v", written, err)
	}
	for _, arg := range c.Args {
		if arg == text {
			return
		}
	}
	t.Errorf("a filter of %s looks for %v, want %q", written, c.Args, text)
}
