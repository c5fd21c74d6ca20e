package report

import (
	"bytes"
	"fmt"
	"html/template"
	"io"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
)

// standIn draws a figure as a row of circles.
func standIn(w io.Writer, f *chart.Figure, name string) error {
	fmt.Fprintf(w, `<svg viewBox="0 0 600 120" role="img" aria-labelledby="%s-t"><title id="%s-t">%s</title>`, name, name, template.HTMLEscapeString(f.Title))
	i := 0
	for _, p := range f.Parts() {
		for _, m := range p.All() {
			i++
			_, err := fmt.Fprintf(w, `<circle cx="%d" cy="60" r="9" data-x="%g" data-y="%g" data-run="%s" data-point="%s" data-command="%s"><title>%s</title></circle>`,
				i*30, m.X, m.Y, template.HTMLEscapeString(m.Run), template.HTMLEscapeString(m.Point), template.HTMLEscapeString(m.Command), template.HTMLEscapeString(m.Text))
			if err != nil {
				return err
			}
		}
	}
	_, err := fmt.Fprint(w, "</svg>")
	return err
}

// small returns a page that has everything once, about points of these names.
func small(names ...string) *Page {
	t := &Table{ID: "points", Title: "All points", Text: []string{"lab3 · torch"}, Command: "neurolens ls point_id=KEY", Below: []string{"Two points."}, Columns: []Column{
		{Header: "benchmark"}, {Header: "latency", Unit: "ns", Right: true, Stored: true}, {Header: "vs base", Unit: "ratio", Right: true, Stored: true}, {Header: "notes"},
	}}
	drawing := &Chart{Command: "neurolens plot ecdf", Figure: &chart.Figure{Kind: chart.ECDF, Title: "Samples of the points", Notes: []string{"100 samples a run."}}}
	var marks []chart.Mark
	for i, name := range names {
		key := fmt.Sprintf("9f3c1d2%x", i)
		value := float64(1_000_000*(len(names)-i)) + .5
		t.Rows = append(t.Rows, Row{key, []Cell{
			{Text: name},
			{Text: fmt.Sprintf("%d ms", len(names)-i), Stored: strconv.FormatFloat(value, 'g', -1, 64)},
			{Text: "1.5x improved", Stored: "1.5", Tone: chart.Improved},
			{Text: name},
		}})
		marks = append(marks, chart.Mark{X: value, Y: float64(i), Point: key, Run: name, Text: name, Command: "neurolens show " + name})
	}
	drawing.Figure.Series = []chart.Series{{Marks: marks}}
	return &Page{
		Title: "Benchmark report", Subtitle: names[0], Answer: []Item{{Text: names[0], Command: "neurolens history " + names[0], Tone: chart.Regressed}}, Basis: names[0], Made: "made by " + names[0],
		Tallies: []Tally{{"1", "regressed", chart.Regressed}, {"2", names[0], ""}},
		Sections: []Section{
			{ID: "changes", Title: "What changed", Text: []string{names[0]}, Items: []Item{{Text: names[0], Command: "neurolens show " + names[0], Lines: names[0], Tone: chart.Failed}}, Figures: []*Chart{drawing}},
			{ID: "points", Title: names[0], Tables: []*Table{t}, Details: []Detail{{names[0], Section{Text: []string{names[0]}}}}},
		},
	}
}

// written returns a page as HTML.
func written(t testing.TB, p *Page) string {
	t.Helper()
	var b bytes.Buffer
	ok(t, p.Write(&b, Pen{Style: "circle{fill:#0072b2}", Draw: standIn}))
	return b.String()
}

// TestPageGolden: a small page is what it was, its style and script apart.
func TestPageGolden(t *testing.T) {
	got := written(t, small("matmul", "softmax"))
	for name, text := range map[string]string{"STYLE": style, "SCRIPT": script} {
		got = strings.Replace(got, text, name, 1)
	}
	before, rest, _ := strings.Cut(got, "style-src ")
	_, after, _ := strings.Cut(rest, "img-src")
	golden(t, filepath.Join("testdata", "small.html"), before+"HASHES"+after)
}

// hostile returns names that would do something if they were not escaped.
func hostile() []string {
	return append(programtest.Nasty(),
		`"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, "</script><script>alert(1)</script>", "</style><style>*{display:none}</style>", "</title><b>", "<!--", "]]>", "--><svg onload=alert(1)>",
		"javascript:alert(1)", "{{.Policy}}", "${alert(1)}", "\x00", "\xff\xfe", strings.Repeat("x", 10_000), strings.Repeat("<b>", 3_000), "a;b;c", "x onclick=alert(1) y", "`onclick=alert(1)`", "=1 autofocus")
}

// shape returns a document without its texts: elements and the names of their attributes.
func shape(t *testing.T, page string) string {
	t.Helper()
	root, err := html.Parse(strings.NewReader(regexp.MustCompile(`<span class=whole>([^<]*)</span>`).ReplaceAllString(page, "$1"))) // of names with hyphens
	ok(t, err)
	var b strings.Builder
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.ElementNode || n.Type == html.CommentNode {
			b.WriteString("<" + n.Data)
			for _, a := range n.Attr {
				b.WriteString(" " + a.Key)
			}
			b.WriteString(">")
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(root)
	return b.String()
}

// TestHostileNames: whatever points are called, the page has the elements and attributes of one with plain names, no character that
// turns or ends a line, and no very long text.
func TestHostileNames(t *testing.T) {
	whole, cut := shape(t, written(t, small("matmul"))), shape(t, written(t, small(strings.Repeat("matmul", 1000))))
	for _, name := range hostile() {
		got := written(t, small(name))
		want := whole
		if command("neurolens show "+name) == "" { // a command that cannot be typed is left out
			want = cut
		}
		if shape := shape(t, got); shape != want {
			t.Errorf("%.60q: the page has other elements:\n%s\nwant\n%s", name, shape, want)
		}
		body := got[strings.Index(got, "<body>"):]
		body = body[:strings.LastIndex(body, "<script>")]
		before, svg, _ := strings.Cut(body, "<svg") // its texts are the drawer's
		_, after, _ := strings.Cut(svg, "</svg>")
		for _, r := range before + after {
			if r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069) {
				t.Errorf("%.60q: the page has the character %U", name, r)
			}
		}
		if len(before)+len(after) > 30_000 {
			t.Errorf("%.60q: a page of one point has %d bytes", name, len(before)+len(after))
		}
	}
}

// TestRoomForCharts: where charts would take more than there is room for, the later ones are left out, with their commands.
func TestRoomForCharts(t *testing.T) {
	p := small("matmul", "softmax")
	one := written(t, p)
	length := func(from, to string) int { return strings.Index(one, to) - strings.Index(one, from) + len(to) }
	p.Sections[0].Figures = append(p.Sections[0].Figures, p.Sections[0].Figures[0], p.Sections[0].Figures[0])
	p.Room = len(style) + len(script) + aroundCharts + length("<div class=box", "</table></div>") + length("<svg", "</svg>") + 100
	got := written(t, p)
	if strings.Count(got, "<svg") != 1 || strings.Count(got, "Left out to keep the file small") != 2 || strings.Count(got, "neurolens plot ecdf") != 3 {
		t.Errorf("%d charts, %d left out, %d commands", strings.Count(got, "<svg"), strings.Count(got, "Left out to keep the file small"), strings.Count(got, "neurolens plot ecdf"))
	}
}

// TestWordsOfScript: the script and the style do not end their elements.
func TestWordsOfScript(t *testing.T) {
	for _, text := range []string{script, style} {
		if strings.Contains(text, "</") || strings.Contains(text, "<!--") {
			t.Error("a text that stands in an element has a tag")
		}
	}
}

// TestSharedNames: a long table hides on a screen the beginning that all names of a column share, up to the end of a part, and a note has
// it. The text of the cell is whole. Names that are too wide are not cut.
func TestSharedNames(t *testing.T) {
	const shared = "module_with_a_long_name.submodule_of_it."
	table := &Table{ID: "points", Title: "All points", Columns: []Column{{Header: "benchmark"}, {Header: "variant"}, {Header: "latency", Right: true}}}
	for i := range longTable {
		table.add(fmt.Sprintf("%sbench_1%03d", shared, i), fmt.Sprintf("%s%d", strings.Repeat("wide", 10), i), "1 ms")
	}
	var b bytes.Buffer
	ok(t, (&Page{Title: "Names", Sections: []Section{{ID: "points", Title: "All points", Tables: []*Table{table}}}}).Write(&b, pen()))
	for _, want := range []string{
		"<td><i>" + shared + "</i>bench_1000<td>" + strings.Repeat("wide", 10) + "0<td>1 ms", "In the column benchmark, … stands for " + shared,
		"#t1 tr{grid-template-columns:13ch 38ch", "#t1 td:nth-child(1) i{display:none}", "#t1 td:nth-child(2){white-space:normal;",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q", want)
		}
	}
	if strings.Contains(b.String(), "#t1 td:nth-child(1){white-space:normal") || strings.Contains(b.String(), "#t1 td:nth-child(2) i") {
		t.Error("a column has the style of the other one")
	}
}
