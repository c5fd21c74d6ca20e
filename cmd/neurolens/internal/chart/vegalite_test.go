package chart

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

var vegaNone = math.NaN()

// vegaExamples returns figures of every kind, with each style, tone and guide.
func vegaExamples() map[string]*Figure {
	mark := func(x, y float64) Mark {
		return Mark{X: x, Y: y, Low: y - 1, High: y + 2, Value: x*y + 1, Run: "01RUN", Text: fmt.Sprintf("%g and %g", x, y)}
	}
	gap := Mark{X: 3, Y: vegaNone, Low: vegaNone, High: vegaNone, Value: vegaNone, Tone: Failed, Text: "timeout"}
	warned := mark(4, 7e6)
	warned.Tone, warned.Word = Warned, "drift"
	marks := []Mark{mark(1, 4.01e6), mark(2, 5.5e6), gap, warned, mark(5, 6.123456789e6)}
	cells := []Mark{mark(0, 0), mark(1, 1), {X: 1, Y: 0, Value: vegaNone, Tone: Failed}}
	names := []string{"bs=1", "bs=1", "bs=2", "bs=4"}
	guides := []Guide{
		{Along: Vertical, At: 2, Text: "release 1.2"},
		{Along: Vertical, At: 3, Until: 4, Text: "margin"},
		{Along: Horizontal, At: 5e6, Text: "median"},
	}
	ns := Axis{Label: "latency", Unit: "ns", Better: Lower}
	days := make([]Mark, len(marks))
	for i, m := range marks {
		m.X = 1785628800 + 86400*m.X
		days[i] = m
	}
	log := func(a Axis) Axis { a.Scale = Log; return a }
	all := map[string]*Figure{
		"ecdf": {X: ns, Y: Axis{Label: "share", Unit: "ratio", High: 1}, Series: []Series{{Name: "run 1", Style: Steps, Marks: []Mark{mark(4e6, 0), mark(5e6, .5), mark(6e6, 1)}}}},
		"runs": {X: Axis{Label: "sample"}, Y: ns, Series: []Series{{Style: Points, Marks: marks}}, Guides: guides},
		"history": {X: Axis{Scale: Time, Label: "session"}, Y: ns, Series: []Series{
			{Name: "median", Style: Points, Marks: days}, {Name: "level", Style: Line, Marks: days}, {Name: "usual", Style: Band, Marks: days},
		}},
		"forest": {
			X: Axis{Label: "change", Unit: "ratio"}, Y: Axis{Scale: Categories, Categories: names},
			Series: []Series{{Style: Intervals, Tone: Regressed, Marks: []Mark{
				{X: .147, Y: 0, Low: .121, High: .172, Word: "regressed", Label: "+14.7 %"}, {X: vegaNone, Y: 2, Low: vegaNone, High: vegaNone, Tone: Failed},
			}}, {Style: Intervals, Tone: Neutral, Marks: []Mark{{X: -.01, Y: 1, Low: -.02, High: .01, Word: "unchanged"}}}},
			Guides: []Guide{{Along: Vertical, At: 0, Text: "no change"}, {Along: Vertical, At: -.05, Until: .05, Text: "margin"}},
		},
		"scatter": {X: log(ns), Y: log(ns), Series: []Series{{Style: Points, Tone: Neutral, Marks: []Mark{mark(1e4, 2e4), mark(1e7, 9e6)}}}, Guides: []Guide{{Along: Diagonal, Text: "equal"}}},
		"heatmap": {
			X: Axis{Label: "seq_len", Scale: Categories, Categories: []string{"64", "128"}}, Y: Axis{Label: "batch_size", Scale: Categories, Categories: []string{"1", "2"}},
			Values: log(ns), Series: []Series{{Style: Cells, Marks: cells}},
		},
		"lines": {X: log(Axis{Label: "batch_size"}), Y: ns, Series: []Series{{Name: "fp32", Style: Line, Marks: marks}, {Name: "fp16", Style: Intervals, Marks: marks}}},
		"pareto": {X: Axis{Label: "memory", Unit: "B"}, Y: ns, Series: []Series{
			{Name: "beaten", Style: Points, Marks: marks[:2]}, {Name: "not beaten", Style: Steps, Marks: []Mark{mark(1<<30, 6e6), mark(3<<30, 4e6)}},
		}},
		"panels": {X: Axis{Label: "sample"}, Y: ns, Panels: []Panel{
			{Title: "a", Series: []Series{{Name: "fp32", Style: Line, Marks: marks}}, Guides: guides}, {Title: "a", Series: []Series{{Style: Points, Marks: marks}}},
		}},
		"mixed": {X: Axis{Label: "sample"}, Y: log(ns), Panels: []Panel{
			{Title: `a "b"`, Series: []Series{{Style: Points, Marks: []Mark{mark(1, 1e3), mark(2, 1e9)}}}},
			{Title: "zeros", Series: []Series{{Style: Points, Marks: []Mark{mark(1, 0), mark(2, 5)}}}},
		}},
		"empty": {},
	}
	for name, f := range all {
		f.Kind, f.Title, f.Notes = Kind(name), name, []string{"a note"}
	}
	all["panels"].Kind, all["panels"].Y.Own = Lines, true
	all["mixed"].Kind, all["mixed"].Y.Own = Runs, true
	return all
}

// document is what is read back of a specification.
type document struct {
	Data struct {
		Values []row `json:"values"`
	} `json:"data"`
}

// TestEveryMark: the data have each mark with its numbers as they are stored, and no number where none is known.
func TestEveryMark(t *testing.T) {
	for name, f := range vegaExamples() {
		text, err := VegaLite(f, 0)
		ok(t, err)
		again, _ := VegaLite(f, 0)
		if !bytes.Equal(text, again) {
			t.Errorf("%s is written in two ways", name)
		}
		var d document
		if err := json.Unmarshal(text, &d); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		rows := slices.DeleteFunc(d.Data.Values, func(r row) bool { return r.Part != "mark" })
		at := 0
		for _, part := range f.Parts() {
			for s, m := range part.All() {
				if at >= len(rows) {
					t.Fatalf("%s has %d marks in its data, %d in the figure", name, len(rows), f.Marks())
				}
				checkVegaMark(t, name, s, m, rows[at])
				at++
			}
		}
		if at != len(rows) {
			t.Errorf("%s has %d marks in its data, %d in the figure", name, len(rows), at)
		}
	}
}

func checkVegaMark(t *testing.T, name string, s Series, m Mark, r row) {
	t.Helper()
	same := func(field string, got *float64, want float64, has bool) {
		if has = has && !math.IsNaN(want); has != (got != nil) || has && *got != want {
			t.Errorf("%s: %s of %+v is not %g", name, field, r, want)
		}
	}
	ends := s.Style == Intervals || s.Style == Band || s.Style == Bars || s.Style == Line
	same("x", r.X, m.X, true)
	same("y", r.Y, m.Y, true)
	same("low", r.Low, m.Low, ends)
	same("high", r.High, m.High, ends)
	same("value", r.Value, m.Value, s.Style == Cells)
	if r.Series != s.Name || r.Run != m.Run || r.Text != m.Text || r.Word != m.Word || r.Label != m.Label {
		t.Errorf("%s: %+v is not %+v", name, r, m)
	}
}

// TestVegaLiteHostileTexts: what steers a terminal, or would end an element of a page, stands in no specification, and is read back as it
// was.
func TestVegaLiteHostileTexts(t *testing.T) {
	const bad = "</script><script>alert(1)</script>\x1b[2J\u202e\u009b'\"\n\\" + "]; datum"
	f := vegaExamples()["lines"]
	f.Title, f.X.Label, f.Series[0].Name, f.Series[0].Marks[0].Text = bad, bad, bad, bad
	text, err := VegaLite(f, 0)
	ok(t, err)
	var d document
	ok(t, json.Unmarshal(text, &d))
	if strings.ContainsAny(string(text), "<>\x1b\u202e\u009b") || d.Data.Values[0].Series != bad || d.Data.Values[0].Text != bad {
		t.Errorf("got %q\n%.400s", d.Data.Values[0].Series, text)
	}
}

// TestTooManyMarks: nobody gets a file that no browser draws.
func TestTooManyMarks(t *testing.T) {
	f := &Figure{Series: []Series{{Marks: make([]Mark, MaxMarks+1)}}}
	if _, err := VegaLite(f, 0); err == nil || err.Error() != "writing the chart for Vega-Lite: 2001 marks, at most 2000" {
		t.Errorf("got %v", err)
	}
}

// TestSchema: every specification is valid by the schema of Vega-Lite, a file of its npm package. NEUROLENS_VEGA_LITE_SCHEMA says where it
// is: build/vega-lite-schema.json of vega-lite 6. Examples are written into the folder NEUROLENS_VEGA_LITE_OUT, where that is set.
func TestSchema(t *testing.T) {
	path := os.Getenv("NEUROLENS_VEGA_LITE_SCHEMA")
	if path == "" {
		if slices.Contains(strings.Split(os.Getenv("NEUROLENS_TEST_REQUIRE"), ","), "vega-lite") {
			t.Fatal("vega-lite is required: NEUROLENS_VEGA_LITE_SCHEMA is not set")
		}
		t.Skip("NEUROLENS_VEGA_LITE_SCHEMA names no schema of Vega-Lite")
	}
	text, err := os.ReadFile(path)
	ok(t, err)
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	ok(t, err)
	compiler := jsonschema.NewCompiler()
	ok(t, compiler.AddResource("vega-lite.json", parsed))
	valid, err := compiler.Compile("vega-lite.json")
	ok(t, err)
	for name, f := range vegaExamples() {
		spec, err := VegaLite(f, 0)
		ok(t, err)
		if out := os.Getenv("NEUROLENS_VEGA_LITE_OUT"); out != "" {
			ok(t, os.WriteFile(out+"/"+name+".vl.json", spec, 0o644))
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(spec))
		ok(t, err)
		if err := valid.Validate(value); err != nil {
			t.Errorf("%s: %.3000s", name, err.Error())
		}
	}
}

// TestVegaLiteGap: what is not known is shown as nothing, never as 0, and a line has a gap there; on a log axis what is not positive
// neither.
func TestVegaLiteGap(t *testing.T) {
	for name, want := range map[string][]string{
		"lines":   {`"calculate": "isValid(datum.y) ? datum.y / 1e+06 : null"`, `"invalid": "break-paths-show-domains"`, `"latency (ms)"`},
		"scatter": {`"isValid(datum.x) \u0026\u0026 datum.x \u003e 0 ? datum.x / 1e+06 : null"`, `"type": "log"`},
	} {
		text, err := VegaLite(vegaExamples()[name], 0)
		ok(t, err)
		for _, part := range want {
			if !strings.Contains(string(text), part) {
				t.Errorf("%s has no %s", name, part)
			}
		}
	}
}

// TestMixedPanels: where a panel has zeros, its axis is linear, and those of the others stay logarithmic; each has its own marks.
func TestMixedPanels(t *testing.T) {
	text, err := VegaLite(vegaExamples()["mixed"], 0)
	ok(t, err)
	var spec struct {
		Concat []struct {
			Transform []struct{ Filter, Calculate, As string }
			Layer     []struct {
				Encoding struct {
					Y struct{ Scale struct{ Type string } }
				}
			}
		}
	}
	ok(t, json.Unmarshal(text, &spec))
	if len(spec.Concat) != 2 {
		t.Fatalf("there are %d panels", len(spec.Concat))
	}
	for i, want := range []struct{ scale, filter string }{{"log", `datum.panel === "a \"b\""`}, {"", `datum.panel === "zeros"`}} {
		panel := spec.Concat[i]
		if got := panel.Layer[0].Encoding.Y.Scale.Type; got != want.scale || panel.Transform[0].Filter != want.filter {
			t.Errorf("panel %d has the scale %q and the filter %q, want %+v", i, got, panel.Transform[0].Filter, want)
		}
		for _, calculated := range panel.Transform {
			if calculated.As == "shown_y" && strings.Contains(calculated.Calculate, "datum.y > 0") != (want.scale == "log") {
				t.Errorf("panel %d shows %q", i, calculated.Calculate)
			}
		}
	}
}
