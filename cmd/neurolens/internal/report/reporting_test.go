package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

var update = flag.Bool("update", false, "write the golden files and the tables of docs/reports.md anew")

// golden compares a text with a file of testdata.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		ok(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	ok(t, err)
	if got != string(want) {
		t.Errorf("%s is not what is made (-update writes it anew):\n%s", path, got)
	}
}

// forms returns the sample in both forms.
func forms(t *testing.T) (md, js string) {
	t.Helper()
	var m, j bytes.Buffer
	ok(t, errors.Join(document().markdown(&m), document().json(&j)))
	return m.String(), j.String()
}

// TestGolden: both forms of a report that has every part are what they were.
func TestGolden(t *testing.T) {
	md, js := forms(t)
	golden(t, filepath.Join("testdata", "report.md"), md)
	golden(t, filepath.Join("testdata", "report.json"), js)
}

// TestGoldenPage: the page of that report is what it was, its charts, its style, its script and their hashes apart.
func TestGoldenPage(t *testing.T) {
	var b bytes.Buffer
	ok(t, maker().HTML(document(), Pictures{})(&b))
	text := regexp.MustCompile(`(?s)<(style|script|svg)[ >].*?</(style|script|svg)>`).ReplaceAllString(b.String(), "<$1></$1>")
	golden(t, filepath.Join("testdata", "report.html"), regexp.MustCompile(`sha256-.*?=`).ReplaceAllString(text, "sha256-HASH"))
}

// TestNamesOfPage: a name that is an element stays a text, wherever it stands.
func TestNamesOfPage(t *testing.T) {
	var b bytes.Buffer
	ok(t, maker().HTML(document(), Pictures{})(&b))
	if strings.Contains(b.String(), "<img") || !strings.Contains(b.String(), "&lt;img&gt;") {
		t.Error("the page has a name as an element")
	}
}

// compiled returns the schema of documents.
func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := JSONSchema()
	ok(t, err)
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	ok(t, err)
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	ok(t, compiler.AddResource("report.json", document))
	return compiler.MustCompile("report.json")
}

// TestSchema: the schema takes what is written, of which every member is there, and refuses what it does not name, what lacks and what
// is of another type.
func TestSchema(t *testing.T) {
	s := compiled(t)
	_, js := forms(t)
	for name, change := range map[string][2]string{
		"as it is":          {"", ""},
		"another member":    {`"format": "`, `"more": 1, "format": "`},
		"a member less":     {`"speedup":2.5,`, ``},
		"a text for number": {`"speedup":2.5,`, `"speedup":"2.5",`},
		"null for a list":   {`"recommendations": [`, `"recommendations": null, "x": [`},
		"no time":           {`"made_at": "2026`, `"made_at": "yesterday 2026`},
	} {
		changed := strings.Replace(js, change[0], change[1], 1)
		if changed == js && change[0] != "" {
			t.Fatalf("%s: nothing was changed", name)
		}
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(changed))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := s.Validate(v); (err == nil) != (change[0] == "") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// digits are the numbers in a text for people: 1,204 and 0.0065 and 12.
var digits = regexp.MustCompile(`[0-9](?:[0-9,]*[0-9])?(?:\.[0-9]+)?`)

// TestNumbers: every number that the Markdown has stands in the JSON: in a text, or as a number in one of the ways in which numbers
// are printed for people, or it is how many entries a list has.
func TestNumbers(t *testing.T) {
	md, js := forms(t)
	var document any
	ok(t, json.Unmarshal([]byte(js), &document))
	known := map[string]bool{}
	learn := func(text string) {
		for _, number := range digits.FindAllString(text, -1) {
			known[number] = true
		}
	}
	var visit func(v any)
	visit = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, value := range v {
				learn(name)
				visit(value)
			}
		case []any:
			learn(fmt.Sprint(len(v)))
			for _, value := range v {
				visit(value)
			}
		case string:
			learn(v)
			learn(environmentText("memory_bytes", v))
		case float64:
			for _, unit := range []string{"ns", "B", ""} {
				learn(schema.ForPeople(v, unit))
			}
			learn(changed(&v, chart.Lower))
			learn(changed(&v, chart.Higher))
			learn(views.Share(v))
			learn(term.Thousands(int(math.Round(v))))
		}
	}
	visit(document)
	for line := range strings.Lines(md) {
		for _, number := range digits.FindAllString(strings.ReplaceAll(line, "&#8203;", ""), -1) {
			if !known[number] {
				t.Errorf("%s is not in the JSON: %s", number, line)
			}
		}
	}
}

// checkTables checks that each row of a table has as many cells as its header.
func checkTables(t *testing.T, md string) {
	t.Helper()
	cells := 0
	for line := range strings.Lines(md) {
		if !strings.HasPrefix(line, "|") {
			cells = 0
			continue
		}
		n := strings.Count(strings.ReplaceAll(strings.ReplaceAll(line, `\\`, ""), `\|`, ""), "|")
		if cells == 0 {
			cells = n
		}
		if n != cells {
			t.Errorf("%d ends of cells, the header has %d: %s", n, cells, line)
		}
	}
}

// TestOddNames: names break no table, make no element and mention nobody.
func TestOddNames(t *testing.T) {
	md, _ := forms(t)
	checkTables(t, md)
	if strings.Contains(md, "<img>") || strings.Contains(md, "@me") || !strings.Contains(md, `a\|b c`) {
		t.Errorf("the odd name is not escaped:\n%s", md)
	}
}

// FuzzTable: whatever stands in a cell, the table has its rows and cells, and nothing in it steers a terminal.
func FuzzTable(f *testing.F) {
	for _, text := range []string{oddName, "", "|", `\|`, `\`, "a\r\nb", "\x1b[31m", "\u202e", strings.Repeat("long ", 100), "\xff"} {
		f.Add(text, text)
	}
	f.Fuzz(func(t *testing.T, header, cell string) {
		var b bytes.Buffer
		table := Table{Columns: []Column{{Header: "a" + header}, {Header: "b", Right: true}}}
		table.add("a"+cell, "1")
		table.add("c", cell+"x")
		table.markdown(&b)
		checkTables(t, b.String())
		if n := strings.Count(b.String(), "\n"); n != 5 {
			t.Errorf("%d lines, want 5: %q", n, b.String())
		}
		if strings.ContainsFunc(strings.ReplaceAll(b.String(), "\n", ""), term.IsControl) {
			t.Errorf("it steers: %q", b.String())
		}
	})
}

// TestHeadlineOfBothDirections: the changes of the best and the worst pair are printed in the direction of their own metrics. Only times are
// slower or faster.
func TestHeadlineOfBothDirections(t *testing.T) {
	d := Document{Pairs: []summary.Pair{{Better: "lower", Speedup: new(.5)}, {Better: "higher", Speedup: new(3.)}}}
	d.Comparisons = []summary.Comparison{{Axis: "v", Baseline: "a", All: summary.Ratios{
		Pairs: 2, Compared: 2, Slower: 1, GeometricMean: new(1.5), Median: new(1.5), FastestPair: new(1), SlowestPair: new(0),
	}}}
	if got := d.headline(&d.Comparisons[0]); !strings.HasSuffix(got, ", best +200 %, worst +100 %") || !strings.Contains(got, " 1 of 2 pairs worse by estimate") {
		t.Error(got)
	}
	for i := range d.Pairs {
		d.Pairs[i].Unit, d.Pairs[i].Better = "ns", "lower"
	}
	if got := d.headline(&d.Comparisons[0]); !strings.HasSuffix(got, ", fastest −66.7 %, slowest +100 %") {
		t.Error(got)
	}
}

// TestChanged: a speed-up is printed as the change of the metric, in its direction, with the digits of compare.
func TestChanged(t *testing.T) {
	for _, c := range []struct {
		speedup     float64
		lower, want string
	}{
		{1.5409, "−35.1 %", "+54.1 %"}, {.55, "+81.8 %", "−45.0 %"}, {1, "0.0 %", "0.0 %"}, {.167, "+499 %", "−83.3 %"}, {21822.68, "−99.9954 %", "+2,182,168 %"},
	} {
		if got := changed(&c.speedup, chart.Lower); got != c.lower {
			t.Errorf("%g of a time is %s, want %s", c.speedup, got, c.lower)
		}
		if got := changed(&c.speedup, chart.Higher); got != c.want {
			t.Errorf("%g of a rate is %s, want %s", c.speedup, got, c.want)
		}
	}
	if got := changed(nil, chart.Lower); got != term.Unknown {
		t.Errorf("none is %s", got)
	}
}

// full is a writer that takes so many bytes.
type full struct{ left int }

var errFull = errors.New("no space left on device")

func (f *full) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

// TestFullDisk: wherever the space ends, the error is that of the writer, and a file that was there stays as it is.
func TestFullDisk(t *testing.T) {
	md, js := forms(t)
	for name, form := range map[string]func(w io.Writer) error{"md": document().markdown, "json": document().json} {
		size := map[string]int{"md": len(md), "json": len(js)}[name]
		for left := 0; left < size; left += 500 {
			if err := form(&full{left}); !errors.Is(err, errFull) {
				t.Fatalf("%s of %d bytes, with room for %d: %v", name, size, left, err)
			}
		}
		if err := form(&full{size}); err != nil {
			t.Errorf("%s with just enough room: %v", name, err)
		}
		path := filepath.Join(t.TempDir(), "report."+name)
		ok(t, os.WriteFile(path, []byte("old"), 0o600))
		err := WriteForm(path, io.Discard, func(w io.Writer) error { return errors.Join(form(w), errFull) })
		if old, _ := os.ReadFile(path); !errors.Is(err, errFull) || string(old) != "old" {
			t.Errorf("%s: %v, and the file is %q", name, err, old)
		}
		if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
			t.Errorf("%s: %d files lie about", name, len(entries))
		}
	}
}

// TestHints: each way in which runs end that are not ok has a hint; a timeout names the key to raise, unless another tool measured.
func TestHints(t *testing.T) {
	for _, status := range schema.Statuses {
		f := summary.Failure{Status: string(status), Stages: []summary.Text{"setup", "measure"}}
		if own, foreign := hint(&f, false), hint(&f, true); status != schema.StatusOK && (own == "" || foreign == "") {
			t.Errorf("%s has the hints %q and %q", status, own, foreign)
		}
	}
	for _, status := range []schema.Status{schema.StatusError, schema.StatusCrashed} {
		if got := hint(&summary.Failure{Status: string(status)}, true); !strings.Contains(got, "neurolens show --json of such a run has the message, if there is one, and the file (env source.path)") {
			t.Errorf("%s of another tool says %q", status, got)
		}
	}
	for points, want := range map[int]string{1: "37 runs of a.py: no message is stored", 2: "37 runs of 2 points, such as a.py: no message is stored"} {
		cause := summary.Cause{Runs: 37, Points: points, Example: summary.Subject{Benchmark: "a.py"}}
		valuetest.Equal(t, (markdownWriter{}).causeText(&cause), want)
	}
	timeout := summary.Failure{Status: "timeout", Stages: []summary.Text{"setup", "measure"}}
	if got := hint(&timeout, false); !strings.Contains(got, "timeouts.setup and timeouts.measure") {
		t.Errorf("a timeout says %q", got)
	}
	if got := hint(&timeout, true); strings.Contains(got, "sweep") {
		t.Errorf("a timeout of another tool says %q", got)
	}
}

// TestHeadline: a pair that is slower by its estimate is not counted as regressed.
func TestHeadline(t *testing.T) {
	t.Parallel()
	c := &summary.Comparison{Axis: "variant", Baseline: "a", All: summary.Ratios{Pairs: 3, Compared: 3, Slower: 2}, Verdicts: map[string]int{"regressed": 1, "inconclusive": 2}}
	if got, want := (&Document{}).headline(c), "against variant=a: 2 of 3 pairs slower by estimate, 1 regressed by verdict; "; !strings.HasPrefix(got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestChangeOfSide: runs without a side may have the point of a pair of sides, but only the head has its change.
func TestChangeOfSide(t *testing.T) {
	t.Parallel()
	pair := &summary.Pair{Subject: summary.Subject{PointID: "p", Side: "head"}, Speedup: new(2.), Better: "lower", Verdict: "improved"}
	a := against{"the base", map[pairKey]*summary.Pair{{"p", ""}: pair}}
	for side, want := range map[summary.Text]string{"": "", "base": "", "head": "−50.0 % improved"} {
		if got := a.cell(&summary.Point{Subject: summary.Subject{PointID: "p", Side: side}}).Text; got != want {
			t.Errorf("side %q: %q, want %q", side, got, want)
		}
	}
}

// TestSelectedOfOneMinute: two sessions that began in one minute are told apart by seconds, others by minutes.
func TestSelectedOfOneMinute(t *testing.T) {
	for seconds, want := range map[int]string{
		7:  "session of 2026-11-08 03:00:07 UTC against session of 2026-11-08 03:00:00 UTC",
		67: "session of 2026-11-08 03:01 UTC against session of 2026-11-08 03:00 UTC",
	} {
		base, head := on(8), on(8)
		head.Time = head.Add(time.Duration(seconds) * time.Second)
		d := &Document{Selection: summary.Selection{Base: "session=01KBJ0Q6M800000000000BASES", Head: "session=01KBJ0Q6M800000000000HEADS", Since: base, Until: head}}
		valuetest.Equal(t, d.selected(strings.TrimSpace, strings.TrimSpace), want)
	}
}

// TestNameOfOnePoint: the name of the only point of a report has no machine, which the environment names.
func TestNameOfOnePoint(t *testing.T) {
	s := summary.Subject{Benchmark: "gemm", Precision: "fp16", Machine: "lab3"}
	valuetest.Equal(t, namerOf([]summary.Point{{Subject: s}}).name(&s), "gemm fp16")
}
