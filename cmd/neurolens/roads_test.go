package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/ingest/foreign/formats"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// FuzzRoads: a value is the same text, and its point the same point, whichever way it comes: in a sweep file, by -P, in JSON of an
// imported file, in JSON lines, in a table with a mapping, and in a filter. TestRoadsPython is of the way through a benchmark.
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
			valuetest.Equal(t, again.Params["x"], text, value)
			valuetest.Equal(t, again.PointID, point.PointID, value)
		}
		valuetest.Equal(t, foreign.TextOf(jsontext.Value(value)), text, value)
		run := schema.Run{Benchmark: point.Benchmark, Params: map[string]string{"x": text}}
		valuetest.Equal(t, schema.PointID(&run), point.PointID, value, "point")
		asked(t, value, text)
		checkImports(t, value, point)
	})
}

// checkImports holds that a value is the same text, and its point the same point, in JSON lines and in a table. A table has
// no types: text that is a number there is one, in JSON lines too, white space around a cell is none of it, and an empty cell is
// no value.
func checkImports(t *testing.T, value string, point *sweep.Point) {
	t.Helper()
	text := point.Params["x"]
	cell, line := value, text
	switch value[0] {
	case '"':
		cell, line = text, foreign.Canonical(text)
	case '[', '{':
		cell = text // it is taken as it stands
	}
	mapped := valuetest.Must(formats.Mapped(formats.CSV, []byte("benchmark: b\nfields: {x: params}\nmetrics: {m: {metric: latency, unit: ns}}\n")))
	var table strings.Builder
	valuetest.OK(t, csv.NewWriter(&table).WriteAll([][]string{{"x", "m"}, {cell, "1"}}))
	jsonLines := valuetest.Must(formats.Named("jsonl"))
	for _, road := range []struct {
		name, want string
		run        schema.Run
	}{
		{"JSON lines", line, imported(t, *jsonLines, `{"benchmark": "b", "status": "ok", "params": {"x": `+value+`}}`)},
		{"a table", strings.TrimSpace(line), imported(t, mapped, table.String())},
	} {
		got, given := road.run.Params["x"]
		if got != road.want || !given && text != "" {
			t.Errorf("%s is %q in a sweep, and %q in %s, want %q", value, text, got, road.name, road.want)
		}
		if id := schema.PointID(&road.run); (id == point.PointID) != (road.want == text && given) {
			t.Errorf("%s: point %s in a sweep, %s in %s", value, point.PointID, id, road.name)
		}
	}
}

// imported returns the only run of a text.
func imported(t *testing.T, format foreign.Format, text string) schema.Run {
	t.Helper()
	in := valuetest.Must(foreign.FromReader(strings.NewReader(text), "roads", time.UTC))
	var runs []schema.Run
	report := valuetest.Must(foreign.NewReader(foreign.Added{}, nil).Read(in, &format, func(valid schema.Valid) bool { runs = append(runs, valid.Run()); return true }))
	valuetest.Equal(t, len(runs), 1, text, report)
	return runs[0]
}

// jsonValue returns a JSON text: a number, a text, a truth value, or a list or map of them.
func jsonValue(random *rand.Rand, depth int) string {
	switch kind := random.IntN(8); {
	case kind < 2:
		return fmt.Sprint(random.Int64N(1<<20) - 1<<19)
	case kind == 2: // what a double does not hold
		return fmt.Sprint(int64(1)<<53 + random.Int64N(math.MaxInt64-1<<53))
	case kind == 3 && random.IntN(2) == 0: // what has several spellings
		return []string{"1.0", "-0.0", "1e3", "5E-1", "1e21", "1e-7"}[random.IntN(6)]
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
		names := []string{"z", "\U0001f600", "\ue000", "a"} // sorted by UTF-16, the last but one comes last
		for _, name := range names[random.IntN(len(names)):] {
			entries = append(entries, fmt.Sprintf("%q: %s", name, jsonValue(random, depth-1)))
		}
		return "{" + strings.Join(entries, ", ") + "}"
	}
}

// sweptPoint returns the only point of a sweep of a value.
func sweptPoint(t *testing.T, value string, o sweep.Overrides) *sweep.Point {
	t.Helper()
	text := "suite: roads\nbenchmark: b\ncommand: [echo, \"{x}\"]\ngrid:\n  x: [" + value + "]\n"
	s, err := sweep.Read("roads.yaml", strings.NewReader(text), o)
	valuetest.OK(t, err, text)
	valuetest.Equal(t, len(s.Points), 1, text)
	return &s.Points[0]
}

// asked holds that a filter of what was written, without quotes, looks for the text as well. A text with what ends a word
// has to be quoted.
func asked(t *testing.T, written, text string) {
	t.Helper()
	if strings.ContainsAny(written, "\" ,()") || slices.ContainsFunc([]string{"..", "&&", "||"}, func(part string) bool { return strings.Contains(written, part) }) {
		return
	}
	c, err := filter.Compile("param.x="+written, filter.Lookups{IDs: func(string, string) ([]string, error) { return nil, nil }})
	valuetest.OK(t, err, written)
	for _, arg := range c.Args {
		if arg == text {
			return
		}
	}
	t.Errorf("a filter of %s looks for %v, want %q", written, c.Args, text)
}
