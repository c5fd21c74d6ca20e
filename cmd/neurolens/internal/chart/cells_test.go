package chart

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// looks are the ways in which golden files have the examples.
var looks = []struct {
	name string
	page term.Page
	o    TextOptions
}{
	{"80", term.Page{Width: 80}, TextOptions{}},
	{"40", term.Page{Width: 40}, TextOptions{}},
	{"80.ascii", term.Page{Width: 80}, TextOptions{ASCII: true}},
	{"80.color", term.Page{Width: 80, Color: true}, TextOptions{}},
}

// TestTextGolden: every kind looks as it did when somebody looked at it.
func TestTextGolden(t *testing.T) {
	for name, f := range examples() {
		for _, look := range looks {
			path := filepath.Join("testdata", fmt.Sprintf("%s.%s.txt", name, look.name))
			got := strings.Join(Text(f, look.page, look.o), "\n") + "\n"
			if *update {
				ok(t, os.WriteFile(path, []byte(got), 0o644))
				continue
			}
			want, err := os.ReadFile(path)
			ok(t, err)
			if got != string(want) {
				t.Errorf("%s is not what is drawn now; write it anew and look at the difference", path)
			}
		}
	}
}

// everyLook calls do with each example as every page has it.
func everyLook(examples map[string]*Figure, widths []int, do func(name string, page term.Page, o TextOptions, lines []string)) {
	for name, f := range examples {
		for _, width := range widths {
			for _, color := range []bool{false, true} {
				for _, o := range []TextOptions{{}, {ASCII: true}} {
					page := term.Page{Width: width, Color: color}
					do(fmt.Sprintf("%s %d color=%v %+v", name, width, color, o), page, o, Text(f, page, o))
				}
			}
		}
	}
}

// TestNeverWraps: at any width no line is wider, a plot is as wide as the page, and at most 20 rows high; colours are where they are
// asked for and end in their line, and ASCII is ASCII.
func TestNeverWraps(t *testing.T) {
	var widths []int
	for width := narrowest; width <= 200; width += 1 + width/20 {
		widths = append(widths, width)
	}
	everyLook(examples(), widths, func(name string, page term.Page, o TextOptions, lines []string) {
		widest, rows := 0, 0
		for _, line := range lines {
			widest = max(widest, term.Width(line))
			if strings.ContainsAny(line, "│|┤+└") {
				rows++
			}
			colored := strings.Contains(line, "\x1b")
			if colored && !page.Color || colored && strings.LastIndex(line, term.Plain) != strings.LastIndex(line, "\x1b") {
				t.Errorf("%s: %q", name, line)
			}
			if strings.TrimRight(line, " ") != line || o.ASCII && strings.ContainsFunc(line, func(r rune) bool { return r > '~' }) {
				t.Errorf("%s: %q", name, line)
			}
		}
		if widest > page.Width {
			t.Errorf("%s: %d wide\n%s", name, widest, strings.Join(lines, "\n"))
		}
		if plotted := !strings.HasPrefix(name, "heatmap") && !strings.HasPrefix(name, "forest") && !strings.HasPrefix(name, "panels"); plotted && (widest != page.Width || rows > 20) {
			t.Errorf("%s: %d wide, %d rows\n%s", name, widest, rows, strings.Join(lines, "\n"))
		}
	})
}

// TestHostileTexts: texts of figures neither steer a terminal nor break a line, however long they are.
func TestHostileTexts(t *testing.T) {
	hostile := examples()
	for _, f := range hostile {
		const bad = "a\x1b[2J\nb\t\u202ec\u009b</script>\"'世界"
		long := strings.Repeat("x", 10000)
		f.Title, f.Notes = bad+long, []string{bad, long, strings.Repeat("word ", 2000)}
		f.X.Label, f.Y.Label, f.Values.Label = bad, bad+long, bad+long
		f.X.Unit = strings.ReplaceAll(f.X.Unit, "ns", bad)
		for i := range f.Y.Categories {
			f.Y.Categories[i] = bad + fmt.Sprint(i) + long
		}
		for i := range f.X.Categories {
			f.X.Categories[i] = fmt.Sprint(i) + bad
		}
		for i := range f.Guides {
			f.Guides[i].Text = bad + long
		}
		for i := range f.Series {
			f.Series[i].Name += bad + long
			for m := range f.Series[i].Marks {
				f.Series[i].Marks[m].Text, f.Series[i].Marks[m].Word = bad, bad
			}
		}
		for i := range f.Panels {
			f.Panels[i].Title = bad + long
		}
	}
	everyLook(hostile, []int{narrowest, 80, 200}, func(name string, page term.Page, o TextOptions, lines []string) {
		for _, line := range lines {
			if page.Color {
				line = sequences.ReplaceAllString(line, "")
			}
			if term.OneLine(line) != line || term.Width(line) > page.Width {
				t.Errorf("%s, %d: %q", name, term.Width(line), line)
			}
		}
	})
}

// sequences are the sequences that this package writes.
var sequences = regexp.MustCompile("\x1b\\[[0-9;]*m")

// TestNothingToDraw: a page that is too narrow, a figure without values and one with too many marks are said in words.
func TestNothingToDraw(t *testing.T) {
	if got := Text(ecdfExample(), term.Page{Width: 29}, TextOptions{}); len(got) != 1 || got[0] != "too narrow for a figure (30)" {
		t.Errorf("at 29 columns: %q", got)
	}
	for width, want := range map[int]string{20: "too narrow (30)", 14: "too narrow", 8: "too\nnarrow"} {
		if got := strings.Join(Text(ecdfExample(), term.Page{Width: width}, TextOptions{}), "\n"); got != want {
			t.Errorf("at %d columns: %q, want %q", width, got, want)
		}
	}
	for _, kind := range []Kind{ECDF, Runs, History, Forest, Scatter, Heatmap, Lines, Pareto} {
		empty := &Figure{Kind: kind, Title: "title", Notes: []string{"note"}}
		for _, series := range [][]Series{nil, {{}}, {{Marks: []Mark{mark(none, none)}}}} {
			empty.Series = series
			if got := strings.Join(Text(empty, term.Page{Width: 80}, TextOptions{}), "\n"); got != "title\nThere is nothing to draw: no values.\nnote" {
				t.Errorf("%s: %s", kind, got)
			}
		}
	}
	many := &Figure{Series: []Series{{Marks: make([]Mark, MaxMarks+1)}}}
	if got := Text(many, term.Page{Width: 80}, TextOptions{}); len(got) != 1 || got[0] != "2,001 marks are too many to draw: 2,000 at most." {
		t.Errorf("got %q", got)
	}
}

// TestOneMark: a figure of a single mark has it, and axes around it.
func TestOneMark(t *testing.T) {
	for _, kind := range []Kind{ECDF, Runs, History, Scatter, Lines, Pareto} {
		f := &Figure{Kind: kind, Y: Axis{Unit: "ns"}, Series: []Series{{Style: Points, Marks: []Mark{mark(3, 4e6)}}}}
		got := strings.Join(Text(f, term.Page{Width: 60}, TextOptions{}), "\n")
		if strings.Count(got, "●") != 1 || !strings.Contains(got, "4.0 ms") {
			t.Errorf("%s:\n%s", kind, got)
		}
	}
}

// TestPlaces: a mark stands in the row and in the column of the ticks of its values, on log axes too.
func TestPlaces(t *testing.T) {
	for _, kind := range []Scale{Linear, Log} {
		f := &Figure{Kind: Scatter, X: Axis{Unit: "ns", Scale: kind}, Y: Axis{Unit: "ns", Scale: kind}}
		f.Series = []Series{{Style: Points, Marks: []Mark{mark(1e3, 1e3), mark(9.5e5, 9.5e5)}}}
		x, y := scales(f, f.Parts())
		ys := y.Ticks(16/3 + 1)
		for _, at := range x.Ticks(6) {
			f.Series[0].Marks = append(f.Series[0].Marks, mark(at.At, ys[len(ys)/2].At))
		}
		lines := Text(f, term.Page{Width: 80}, TextOptions{})
		row := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, ys[len(ys)/2].Text+" ┤") })
		ruler := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, "└") })
		marks := 0
		for column, r := range []rune(lines[ruler]) {
			if r == '┬' {
				if above := []rune(lines[row]); column >= len(above) || above[column] != '●' {
					t.Errorf("no mark over column %d:\n%s", column, strings.Join(lines, "\n"))
				}
				marks++
			}
		}
		if marks < 3 {
			t.Errorf("%d ticks:\n%s", marks, strings.Join(lines, "\n"))
		}
	}
}

// TestGap: where a value is unknown, no line goes.
func TestGap(t *testing.T) {
	f := &Figure{Kind: Lines, Series: []Series{{Style: Line, Marks: []Mark{mark(0, 0), mark(1, 0), mark(2, none), mark(3, 1), mark(4, 1)}}}}
	for _, line := range Text(f, term.Page{Width: 80}, TextOptions{ASCII: true}) {
		_, drawn, found := strings.Cut(line, "|")
		if middle := 30; found && len(drawn) > middle+15 && strings.TrimSpace(drawn[middle:middle+15]) != "" {
			t.Errorf("there is a line at the gap: %q", line)
		}
	}
}

// TestNoPlace: what has no place on a log axis is counted.
func TestNoPlace(t *testing.T) {
	f := &Figure{Kind: Lines, Y: Axis{Scale: Log}, Series: []Series{{Style: Line, Marks: []Mark{mark(0, 0), mark(1, 10), mark(2, 1000), mark(3, none)}}}}
	lines := Text(f, term.Page{Width: 80}, TextOptions{})
	if got := lines[len(lines)-1]; got != "1 value not drawn: 0 or less, or infinite." {
		t.Errorf("got %q", got)
	}
}

// TestManySeries: six have shapes and names, the others are named in a sentence.
func TestManySeries(t *testing.T) {
	f := &Figure{Kind: Lines}
	for n := range 9 {
		f.Series = append(f.Series, Series{Name: fmt.Sprintf("series %d", n), Style: Line, Marks: []Mark{mark(0, float64(n)), mark(1, float64(n))}})
	}
	got := strings.Join(Text(f, term.Page{Width: 80}, TextOptions{}), "\n")
	if !strings.Contains(got, "3 more, without a symbol: series 6, series 7, series 8") {
		t.Errorf("got\n%s", got)
	}
	for n, shape := range shapes {
		if strings.Count(got, string(shape)) != 3 || !strings.Contains(got, fmt.Sprintf("%c series %d", shape, n)) {
			t.Errorf("series %d has %d of its shape:\n%s", n, strings.Count(got, string(shape)), got)
		}
	}
}

// TestOwnRange: panels have the same axes, unless an axis says that each has its own.
func TestOwnRange(t *testing.T) {
	f := panelsExample()
	same := strings.Count(strings.Join(Text(f, term.Page{Width: 80}, TextOptions{}), "\n"), "10 k/s ┤")
	f.Y.Own = true
	own := strings.Count(strings.Join(Text(f, term.Page{Width: 80}, TextOptions{}), "\n"), "10 k/s ┤")
	if same != 3 || own != 1 {
		t.Errorf("%d of 3 panels go to 10 k/s, %d where each has its own range", same, own)
	}
}

// TestWholeNames: what reads all of a page has names in full.
func TestWholeNames(t *testing.T) {
	got := strings.Join(Text(forestExample(), term.Page{Width: 80, Whole: true}, TextOptions{}), "\n")
	if !strings.Contains(got, "\nbs=32 seq=64 fp32 a long name of a point\n") || !strings.Contains(got, "failed on head") {
		t.Errorf("got\n%s", got)
	}
	wide := strings.Join(Text(forestExample(), term.Page{Width: 120}, TextOptions{}), "\n")
	if !strings.Contains(wide, "+14.7 % (+12.1 % to +17.2 %)  REGRESSED") {
		t.Errorf("got\n%s", wide)
	}
}

// TestAllWarned: where most marks say something, their shapes lie apart, so that the marks can be seen; a few have theirs each.
func TestAllWarned(t *testing.T) {
	f := runsExample()
	few := strings.Count(strings.Join(Text(f, term.Page{Width: 80}, TextOptions{}), "\n"), "!")
	f.Series[0].Tone = Warned
	all := strings.Count(strings.Join(Text(f, term.Page{Width: 80}, TextOptions{}), "\n"), "!")
	if few != 4 || all < 5 || all > 25 { // one is in the legend
		t.Errorf("%d shapes of 3 warnings, %d of 300", few, all)
	}
}

// TestDotsAreExplained: where marks have shapes, a dot without one is of what has none, or the legend says what it is.
func TestDotsAreExplained(t *testing.T) {
	series := func(name string, tone Tone, from float64) Series {
		s := Series{Name: name, Tone: tone, Style: Points}
		for n := range 100 {
			s.Marks = append(s.Marks, mark(float64(n), from+float64(n*37%50)))
		}
		return s
	}
	categories := Axis{Scale: Categories}
	for range 100 {
		categories.Categories = append(categories.Categories, "point")
	}
	for name, c := range map[string]struct {
		series []Series
		y      Axis
		legend string // what it says of dots; empty: there are none
	}{
		"all warned":    {[]Series{series("", Warned, 0)}, Axis{}, "! with a warning (dots too)"},
		"all of a name": {[]Series{series("runs", "", 0)}, Axis{}, "● runs (dots too)"},
		"most warned":   {[]Series{series("", Warned, 0), {Style: Points, Marks: []Mark{mark(1, 90)}}}, Axis{}, ""},
		"two tones":     {[]Series{series("", Neutral, 0), series("", Regressed, 90)}, Axis{}, ""},
		"two names":     {[]Series{series("runs", "", 0), series("others", "", 90)}, Axis{}, ""},
		"rows":          {[]Series{series("runs", Warned, 0)}, categories, ""},
	} {
		for _, width := range []int{40, 80} {
			f := &Figure{Kind: Scatter, Y: c.y, Series: c.series}
			got := strings.Join(Text(f, term.Page{Width: width}, TextOptions{}), "\n")
			dots := strings.ContainsFunc(got, func(r rune) bool { return r > 0x2800 && r <= 0x28ff })
			if dots != (c.legend != "") || strings.Contains(got, "dots") != dots || !strings.Contains(got, c.legend) {
				t.Errorf("%s at %d columns:\n%s", name, width, got)
			}
		}
	}
}

// TestNamedTone: a series that is named has the shape of its marks in the legend, and what it says is not said again.
func TestNamedTone(t *testing.T) {
	front := Series{Name: "front", Style: Steps, Marks: []Mark{{X: 1, Y: 3}, {X: 2, Y: 1}}}
	beaten := Series{Name: "beaten", Style: Points, Tone: Neutral, Marks: []Mark{{X: 2, Y: 1}, {X: 3, Y: 3}}}
	failed := Series{Name: "without a value", Style: Points, Tone: Failed, Marks: []Mark{{X: 3, Y: Unknown(), Low: Unknown()}}}
	lines := Text(&Figure{Kind: Pareto, Series: []Series{front, beaten, failed}}, term.Page{Width: 80}, TextOptions{})
	if got, want := lines[len(lines)-1], "● front   ○ beaten   ⊘ without a value"; got != want {
		t.Errorf("the legend is %q, want %q", got, want)
	}
	if got := strings.Count(strings.Join(lines, "\n"), "●"); got != 3 { // one is in the legend
		t.Errorf("%d of 3 shapes of the front:\n%s", got, strings.Join(lines, "\n"))
	}
}

// TestLevelsAreLines: a level has a tone, and yet no shapes at its ends, nor does the legend explain one.
func TestLevelsAreLines(t *testing.T) {
	f := &Figure{Kind: History, Series: []Series{{Name: "sessions", Style: Points}}}
	for n := range 9 {
		f.Series[0].Marks = append(f.Series[0].Marks, mark(float64(n), float64(n/5*10)+float64(n%3)))
	}
	f.Series = append(f.Series, Series{Name: "level", Style: Line, Tone: Neutral, Marks: []Mark{mark(0, 4), mark(4, 4)}},
		Series{Style: Line, Tone: Neutral, Marks: []Mark{mark(5, 14), mark(8, 14)}})
	got := strings.Join(Text(f, term.Page{Width: 80}, TextOptions{}), "\n")
	if strings.Count(got, "●") != 10 || strings.Contains(got, "○") || !strings.HasSuffix(got, "● sessions   ─ level") {
		t.Errorf("got\n%s", got)
	}
}

// TestBetter: which values are better is said of every axis of which it is known.
func TestBetter(t *testing.T) {
	mark := []Series{{Style: Points, Marks: []Mark{{X: 1, Y: 3, Value: 2}, {X: 2, Y: 1, Value: 1}}}}
	lower, higher := Axis{Label: "latency", Unit: "ns", Better: Lower}, Axis{Label: "accuracy", Better: Higher}
	for _, f := range []*Figure{
		{Kind: Pareto, X: lower, Y: higher, Series: mark},
		{Kind: Heatmap, X: Axis{Label: "a"}, Y: higher, Values: lower, Series: mark},
	} {
		got := strings.Join(Text(f, term.Page{Width: 80}, TextOptions{}), "\n")
		if !strings.Contains(got, "latency, lower is better") || f.Kind == Pareto && !strings.Contains(got, "accuracy, higher is better") {
			t.Errorf("%s\n%s", f.Kind, got)
		}
	}
}

// TestCategoriesUp: of categories upwards the first one is at the top, each has a line with its name, and its marks lie there.
func TestCategoriesUp(t *testing.T) {
	for _, n := range []int{1, 2, 23} {
		f := &Figure{Kind: Scatter, Y: Axis{Scale: Categories}, Series: []Series{{Name: "runs", Style: Points}}}
		for i := range n {
			f.Y.Categories = append(f.Y.Categories, fmt.Sprintf("point%02d", i))
			f.Series[0].Marks = append(f.Series[0].Marks, Mark{X: float64(i), Y: float64(i)})
		}
		var rows []string
		for _, line := range Text(f, term.Page{Width: 60}, TextOptions{ASCII: true}) {
			if strings.Contains(line, "point") {
				name, drawn, _ := strings.Cut(line, "+")
				rows = append(rows, strings.TrimSpace(name)+" "+strings.TrimSpace(drawn))
			}
		}
		for i := range n {
			if want := fmt.Sprintf("point%02d *", i); i >= len(rows) || rows[i] != want {
				t.Errorf("of %d, row %d is not %q:\n%s", n, i, want, strings.Join(rows, "\n"))
			}
		}
	}
}

// TestNamesOfRowsCanBeRead: names that would look alike beside their rows stand above them, in full.
func TestNamesOfRowsCanBeRead(t *testing.T) {
	f := &Figure{Kind: Scatter, Y: Axis{Scale: Categories}, Series: []Series{{Name: "runs", Style: Points}}}
	for i := range 8 {
		f.Y.Categories = append(f.Y.Categories, fmt.Sprintf("bs=%d seq=%d fp32 dim=%d", 4+i/4*4, 64+i/2%2*64, 64+i%2*64))
		f.Series[0].Marks = append(f.Series[0].Marks, Mark{X: float64(i), Y: float64(i)})
	}
	for width, end := range map[int]string{30: "\n ┤", 40: "\n ┤", 100: " ┤"} {
		got := strings.Join(Text(f, term.Page{Width: width}, TextOptions{}), "\n")
		for _, name := range f.Y.Categories {
			if !strings.Contains(got, name+end) {
				t.Errorf("at %d columns, no %s:\n%s", width, name, got)
			}
		}
	}
}

// TestLegendNamesWarnings: a legend says which warnings marks have, and of a change by which word; of many words the first ones.
func TestLegendNamesWarnings(t *testing.T) {
	f := &Figure{Kind: Runs, Series: []Series{{Tone: Warned, Style: Points}}}
	for i, word := range []string{"drift", "load, drift", "throttled"} {
		m := mark(float64(i), 1)
		m.Word = word
		f.Series[0].Marks = append(f.Series[0].Marks, m)
	}
	legend := func() string { return strings.Join(Text(f, term.Page{Width: 80}, TextOptions{}), "\n") }
	if got := legend(); !strings.Contains(got, "! with a warning: drift, load, throttled\n") && !strings.HasSuffix(got, "! with a warning: drift, load, throttled") {
		t.Errorf("no such words:\n%s", got)
	}
	f.Series[0].Marks[0].Word = "a, b, c"
	if got := legend(); !strings.Contains(got, "with a warning: a, b, c, drift, …") {
		t.Errorf("no first words:\n%s", got)
	}
	f.Kind, f.Series[0].Marks = History, f.Series[0].Marks[2:]
	if got := legend(); !strings.Contains(got, "! throttled") || strings.Contains(got, "with a warning") {
		t.Errorf("no word alone:\n%s", got)
	}
}

// TestRatiosHaveThreeDigits: the ends of an interval have as many significant digits as each other, zeros at the end included.
func TestRatiosHaveThreeDigits(t *testing.T) {
	m := mark(1.25, 0)
	m.Low, m.High = .7, 2.21
	f := &Figure{
		Kind: Forest, X: Axis{Scale: Log}, Y: Axis{Scale: Categories, Categories: []string{"bs=1"}},
		Series: []Series{{Style: Intervals, Marks: []Mark{m}}},
	}
	if got := strings.Join(Text(f, term.Page{Width: 100}, TextOptions{}), "\n"); !strings.Contains(got, "(0.700 to 2.21)") {
		t.Errorf("no interval (0.700 to 2.21):\n%s", got)
	}
}
