package chart

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/png"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// element is what a program reads of an SVG.
type element struct {
	Name     string
	Attr     map[string]string
	Text     string
	Children []*element
}

func parsed(t *testing.T, svg []byte) *element {
	t.Helper()
	if !utf8.Valid(svg) {
		t.Fatal("the SVG is not UTF-8")
	}
	d := xml.NewDecoder(bytes.NewReader(svg))
	root := &element{}
	open := []*element{root}
	for {
		token, err := d.Token()
		if err == io.EOF {
			return root.Children[0]
		}
		ok(t, err)
		top := open[len(open)-1]
		switch token := token.(type) {
		case xml.StartElement:
			e := &element{Name: token.Name.Local, Attr: map[string]string{}}
			for _, a := range token.Attr {
				if _, twice := e.Attr[a.Name.Local]; twice {
					t.Errorf("<%s> has %s twice", e.Name, a.Name.Local)
				}
				e.Attr[a.Name.Local] = a.Value
			}
			top.Children = append(top.Children, e)
			open = append(open, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			top.Text += string(token)
		case xml.Comment, xml.Directive, xml.ProcInst:
			t.Errorf("the SVG has %v", token)
		}
	}
}

func (e *element) each(do func(*element)) {
	do(e)
	for _, c := range e.Children {
		c.each(do)
	}
}

func (e *element) has(class string) bool {
	for _, c := range strings.Fields(e.Attr["class"]) {
		if c == class {
			return true
		}
	}
	return false
}

func svgOf(t *testing.T, f *Figure, o ImageOptions) *element {
	t.Helper()
	var b bytes.Buffer
	ok(t, SVG(&b, f, o))
	return parsed(t, b.Bytes())
}

func marksOf(root *element) []*element {
	var marks []*element
	root.each(func(e *element) {
		if e.has("mark") {
			marks = append(marks, e)
		}
	})
	return marks
}

// TestNumbersCanBeReadBack: every number of a mark stands in the picture as it is stored.
func TestNumbersCanBeReadBack(t *testing.T) {
	figures := samples()
	figures["odd numbers"] = &Figure{Kind: Scatter, Series: []Series{{Style: Intervals, Marks: []Mark{
		{X: .1 + .2, Y: 1e300, Low: math.Inf(-1), High: math.Inf(1), Count: 12345, Value: math.Pi, Run: "a", Point: "b"},
		{X: math.SmallestNonzeroFloat64, Y: -math.MaxFloat64, Low: nan, High: math.MaxFloat64},
		{X: math.Copysign(0, -1), Y: 9007199254740993, Low: 1 / 3., High: nan},
		{X: nan, Y: nan, Low: nan, High: nan, Value: nan},
	}}}}
	for name, f := range figures {
		marks := marksOf(svgOf(t, f, ImageOptions{Embedded: true}))
		if len(marks) != f.Marks() {
			t.Errorf("%s: %d marks are drawn, of %d", name, len(marks), f.Marks())
			continue
		}
		for _, m := range f.All() {
			checkMark(t, name, marks[0], m)
			marks = marks[1:]
		}
	}
}

func checkMark(t *testing.T, name string, e *element, m Mark) {
	t.Helper()
	for _, n := range []struct {
		name   string
		stored float64
	}{{"data-x", m.X}, {"data-y", m.Y}, {"data-low", m.Low}, {"data-high", m.High}, {"data-value", m.Value}, {"data-count", float64(m.Count)}} {
		text, said := e.Attr[n.name]
		if !said {
			if optional := n.name != "data-x" && n.name != "data-y"; !math.IsNaN(n.stored) && !(optional && n.stored == 0) {
				t.Errorf("%s: %s of %v is not said", name, n.name, n.stored)
			}
			continue
		}
		if v, err := strconv.ParseFloat(text, 64); err != nil || v != n.stored {
			t.Errorf("%s: %s is %q, stored %v", name, n.name, text, n.stored)
		}
	}
	if e.Attr["data-run"] != m.Run || e.Attr["data-point"] != m.Point || e.Attr["data-command"] != m.Command {
		t.Errorf("%s: run %q, point %q and command %q are drawn as %v", name, m.Run, m.Point, m.Command, e.Attr)
	}
	if m.Text != "" && (len(e.Children) == 0 || e.Children[0].Name != "title" || e.Children[0].Text != m.Text) {
		t.Errorf("%s: a mark does not say %q", name, m.Text)
	}
}

// hostile are texts that want more than to be read.
var hostile = []string{
	`<script>alert(1)</script>`, `</title></svg><img src=x onerror=alert(1)>`, `"><g onload="alert(1)`, `' onclick='alert(1)`, `]]><!--`, `&lt;b&gt;&#0;&quot;`,
	"\u202egnp.exe\u202c", "\u2066a\u2069\u200f", "a\x00b\x1b[31mc\x07\r\nd\te\x7f\u0085", "\xff\xfe\xc0", "\ufffe\uffff\u2028\u2029", "e" + strings.Repeat("\u0301", 300),
	strings.Repeat("x", 10000), strings.Repeat("名", 10000), strings.Repeat("<", 10000), "--></style><style>*{display:none}", "url(javascript:alert(1))", "😀🏳️‍🌈", "",
}

// TestHostileTextsAreInert: whatever texts a figure has, the picture has the same elements, and shows no text that steers.
func TestHostileTextsAreInert(t *testing.T) {
	for _, text := range hostile {
		for name, f := range samples() {
			if f.Marks() > 100 {
				continue
			}
			spoil(f, text)
			var b bytes.Buffer
			ok(t, SVG(&b, f, ImageOptions{Prefix: text}))
			root := parsed(t, b.Bytes())
			root.each(func(e *element) { checkInert(t, fmt.Sprintf("%s with %.20q", name, text), e) })
			if b.Len() > 6000*(f.Marks()+20) {
				t.Errorf("%s with %.20q: the picture has %d bytes", name, text, b.Len())
			}
		}
	}
	f := forest(12)
	spoil(f, strings.Repeat("x", 10000))
	if err := PNG(io.Discard, f, ImageOptions{}); err != nil {
		t.Error(err)
	}
}

// spoil puts a text everywhere in a figure.
func spoil(f *Figure, text string) {
	f.Title, f.Notes = text, []string{text, text}
	for _, a := range []*Axis{&f.X, &f.Y, &f.Values} {
		a.Label = text
		for i := range a.Categories {
			a.Categories[i] = text
		}
	}
	f.Y.Unit = text
	spoilParts(f.Series, f.Guides, text)
	for i := range f.Panels {
		f.Panels[i].Title = text
		spoilParts(f.Panels[i].Series, f.Panels[i].Guides, text)
	}
}

func spoilParts(series []Series, guides []Guide, text string) {
	for i := range series {
		series[i].Name = text
		for j := range series[i].Marks {
			m := &series[i].Marks[j]
			m.Label, m.Text, m.Command, m.Run, m.Point, m.Word = text, text, text, text, text, text
		}
	}
	for i := range guides {
		guides[i].Text = text
	}
}

var elements = map[string]bool{
	"svg": true, "title": true, "desc": true, "style": true, "g": true, "a": true, "path": true, "circle": true, "rect": true, "text": true,
}

var id = regexp.MustCompile(`^nl-[-_a-zA-Z0-9]*[td]$`)

func checkInert(t *testing.T, what string, e *element) {
	t.Helper()
	if !elements[e.Name] {
		t.Errorf("%s: there is an element %s", what, e.Name)
	}
	for name, value := range e.Attr {
		if strings.HasPrefix(name, "on") || name == "href" && strings.Contains(value, "script:") || name == "id" && !id.MatchString(value) {
			t.Errorf("%s: <%s %s=%.40q>", what, e.Name, name, value)
		}
	}
	if e.Name == "text" || e.Name == "title" || e.Name == "desc" {
		if strings.ContainsFunc(strings.TrimSpace(e.Text), func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) }) {
			t.Errorf("%s: <%s> has %q", what, e.Name, e.Text)
		}
	}
	if n := utf8.RuneCountInString(e.Text); e.Name == "text" && n > 250 || e.Name == "title" && n > longestTitle {
		t.Errorf("%s: <%s> has %d characters", what, e.Name, n)
	}
}

// TestMiddle: of a long text, both ends are left.
func TestMiddle(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{{"short", 5, "short"}, {"abcdefghij", 5, "ab…ij"}, {"abcdefghij", 4, "ab…j"}, {"äöüßäöüß", 3, "ä…ß"}, {"abc", 1, "…"}} {
		if got := middle(c.text, c.n); got != c.want {
			t.Errorf("middle(%q, %d) is %q, want %q", c.text, c.n, got, c.want)
		}
	}
}

// TestNoTextsOverlap: no text of a picture lies on another one, or leaves the picture.
func TestNoTextsOverlap(t *testing.T) {
	for name, f := range samples() {
		for _, width := range []int{360, 720, 1200} {
			checkTexts(t, fmt.Sprintf("%s at %d", name, width), f, ImageOptions{Width: width, Embedded: true})
		}
	}
}

// wide is how much wider letters are in the widest of usual fonts than in the one that texts are measured in.
const wide = 1.17

func checkTexts(t *testing.T, what string, f *Figure, o ImageOptions) {
	t.Helper()
	s, err := newSheet(f, o, drawnThere)
	ok(t, err)
	root := svgOf(t, f, o)
	var boxes []box
	var texts []string
	root.each(func(e *element) {
		if e.Name != "text" || e.Attr["transform"] != "" {
			return
		}
		size := float(t, e.Attr["font-size"])
		w := s.width(e.Text, size, e.Attr["font-weight"] != "") / drawnThere * wide
		x, y := float(t, e.Attr["x"]), float(t, e.Attr["y"])
		switch anchor(e.Attr["text-anchor"]) {
		case center:
			x -= w / 2
		case end:
			x -= w
		}
		b := box{x, y - .72*size, x + w, y + .2*size}
		if b.left < -.5 || b.right > s.size.right+.5 || b.top < 0 || b.bottom > s.height {
			t.Errorf("%s: %q leaves the picture: %v of %v x %v", what, e.Text, b, s.size.right, s.height)
		}
		for i, other := range boxes {
			if b.meets(other) {
				t.Errorf("%s: %q lies on %q", what, e.Text, texts[i])
			}
		}
		boxes, texts = append(boxes, b), append(texts, e.Text)
	})
}

func float(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	ok(t, err)
	return v
}

// TestPrefix: figures of one page share no id, and each says what it shows to those who do not see it.
func TestPrefix(t *testing.T) {
	seen := map[string]bool{}
	for i, f := range []*Figure{forest(6), ecdf(20), heatmap()} {
		root := svgOf(t, f, ImageOptions{Prefix: strconv.Itoa(i), Embedded: true})
		labels := strings.Fields(root.Attr["aria-labelledby"])
		root.each(func(e *element) {
			if id := e.Attr["id"]; id != "" {
				if seen[id] {
					t.Errorf("id %s is there twice", id)
				}
				seen[id] = true
			}
			if e.Name == "style" {
				t.Error("an embedded figure has colours of its own")
			}
		})
		if root.Attr["role"] != "img" || len(labels) != 2 || !seen[labels[0]] || !seen[labels[1]] {
			t.Errorf("figure %d is %v to those who do not see it", i, root.Attr)
		}
		if root.Children[0].Text != f.Title || !strings.Contains(root.Children[1].Text, "marks") {
			t.Errorf("figure %d says %q, %q", i, root.Children[0].Text, root.Children[1].Text)
		}
	}
}

// TestPNG: two dots a pixel, and no two pictures of light and dark are the same.
func TestPNG(t *testing.T) {
	var light, dark bytes.Buffer
	ok(t, PNG(&light, forest(12), ImageOptions{Width: 500}))
	ok(t, PNG(&dark, forest(12), ImageOptions{Width: 500, Dark: true}))
	picture, err := png.Decode(bytes.NewReader(light.Bytes()))
	ok(t, err)
	if w := picture.Bounds().Dx(); w != 1000 {
		t.Errorf("500 pixels are %d dots", w)
	}
	if r, _, _, _ := picture.At(1, 1).RGBA(); r != 0xffff {
		t.Error("light paper is not white")
	}
	if bytes.Equal(light.Bytes(), dark.Bytes()) {
		t.Error("dark is as light")
	}
}

// TestSameAgain: a figure is drawn the same each time.
func TestSameAgain(t *testing.T) {
	for name, f := range samples() {
		var a, b bytes.Buffer
		if SVG(&a, f, ImageOptions{}) != nil || SVG(&b, f, ImageOptions{}) != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Errorf("%s is drawn otherwise the second time", name)
		}
	}
}

// TestNoValues: a figure without marks says so.
func TestNoValues(t *testing.T) {
	for _, f := range []*Figure{{}, {Kind: Forest}, {Panels: []Panel{{Title: "a"}, {Title: "b"}}}, {Series: []Series{{Name: "empty"}}}} {
		var b bytes.Buffer
		ok(t, SVG(&b, f, ImageOptions{Embedded: true}))
		if !strings.Contains(b.String(), ">No values to show.</text>") {
			t.Errorf("%+v is drawn as %s", f, b.String())
		}
	}
}

// unplaced are lengths that are none; stored numbers may be so.
var unplaced = regexp.MustCompile(`(?: (?:x|y|cx|cy|r|width|height|d|viewBox)="[^"]*|>[^<]*)(?:NaN|Inf)`)

// TestOddFigures: what no maker should make is drawn all the same, and nothing hangs.
func TestOddFigures(t *testing.T) {
	odd := []float64{nan, math.Inf(1), math.Inf(-1), 0, -1, 1, 1 + 1e-15, 1e15, math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64}
	for _, kind := range []Kind{ECDF, Runs, History, Forest, Scatter, Heatmap, Lines, Pareto, "<odd>"} {
		for _, scale := range []Scale{Linear, Log, Categories, Time} {
			for _, style := range []Style{Points, Line, Steps, Intervals, Band, Cells, "odd"} {
				for i, v := range odd {
					w := odd[(i*3+1)%len(odd)]
					f := &Figure{
						Kind: kind, X: Axis{Scale: scale, Unit: "ns"}, Y: Axis{Scale: scale, Unit: "B"}, Values: Axis{Scale: scale},
						Series: []Series{{Style: style, Marks: []Mark{{X: v, Y: w, Low: w, High: v, Value: v}, {X: w, Y: v, Low: v, High: nan, Value: w}}}},
						Guides: []Guide{{Along: Vertical, At: w, Until: v, Text: "a"}, {Along: Horizontal, At: v, Text: "b"}, {Along: Diagonal, Text: "c"}},
					}
					var b bytes.Buffer
					ok(t, SVG(&b, f, ImageOptions{Embedded: true}))
					if unplaced.Match(b.Bytes()) {
						t.Fatalf("%s, %s, %s, %v, %v: %s", kind, scale, style, v, w, b.String())
					}
				}
			}
		}
	}
}

// TestSize: a picture is as wide as asked for, and no lower than what can be read.
func TestSize(t *testing.T) {
	for name, f := range samples() {
		if f.Marks() == 0 {
			continue
		}
		root := svgOf(t, f, ImageOptions{Width: 900, Embedded: true})
		if root.Attr["width"] != "900" {
			t.Errorf("%s is %s wide", name, root.Attr["width"])
		}
	}
	if h := float(t, svgOf(t, forest(30), ImageOptions{Embedded: true}).Attr["height"]); h < 30*20 {
		t.Errorf("30 rows are %v pixels high", h)
	}
	for _, width := range []int{-1, 1e6} {
		if err := SVG(io.Discard, forest(6), ImageOptions{Width: width}); err == nil {
			t.Errorf("%d pixels are drawn", width)
		}
	}
}

// TestFrontIsSeen: the points of a front are marks, however many they are.
func TestFrontIsSeen(t *testing.T) {
	front := Series{Name: "front", Style: Steps}
	for i := range 100 {
		front.Marks = append(front.Marks, Mark{X: float64(i), Y: float64(100 - i)})
	}
	var b bytes.Buffer
	ok(t, SVG(&b, &Figure{Kind: Pareto, Series: []Series{front}}, ImageOptions{Embedded: true}))
	if strings.Contains(b.String(), `class="f-nothing"`) {
		t.Error("points of the front are not seen")
	}
}

// TestLineThatEndsEarly: nothing is drawn where a line has no value, but a mark with its name.
func TestLineThatEndsEarly(t *testing.T) {
	slow := Series{Name: "slow", Style: Line, Marks: []Mark{{X: 1, Y: 3}, {X: 2, Y: 4}, {X: 4, Y: Unknown(), Tone: Failed}}}
	quick := Series{Name: "quick", Style: Line, Marks: []Mark{{X: 1, Y: 1}, {X: 2, Y: 2}, {X: 4, Y: 3}}}
	var b bytes.Buffer
	ok(t, SVG(&b, &Figure{Kind: Lines, Series: []Series{slow, quick}}, ImageOptions{Embedded: true}))
	if names := strings.Count(b.String(), ">slow</text>"); names != 2 {
		t.Errorf("the line has its name %d times, want it at its end and at what failed", names)
	}
	if leaders := strings.Count(b.String(), `stroke-dasharray="1 3"`); leaders != 1 {
		t.Errorf("%d dotted lines lead to names, want that of the line that goes to the end:\n%s", leaders, b.String())
	}
}

// alike returns names that look the same where their middles are cut, where they end, and where a terminal has ASCII alone.
func alike() map[string][]string {
	long := strings.Repeat("and_a_long_name_", 8)
	all := map[string][]string{"scripts": {"模型一", "模型二", "模型三", "模型四", "模型五"}}
	for n := range 5 {
		all["middles"] = append(all["middles"], fmt.Sprintf("%s%c%s", long, 'a'+n, long))
		all["ends"] = append(all["ends"], fmt.Sprintf("%s%c", long, 'a'+n))
		all["words"] = append(all["words"], fmt.Sprintf("bs=%d %s %s%c%s", n%2, long, long, 'a'+n, long))
	}
	return all
}

// TestTextLabelsDiffer: no two names of a figure look the same, however narrow the page is.
func TestTextLabelsDiffer(t *testing.T) {
	for way, names := range alike() {
		for place, f := range ofNames(names) {
			for _, width := range []int{30, 40, 80, 120} {
				for _, o := range []TextOptions{{}, {ASCII: true}} {
					seen := map[string]bool{}
					lines := Text(f, term.Page{Width: width}, o)
					for _, label := range labelsIn(place, lines) {
						seen[label] = true
					}
					if len(seen) != len(names) {
						t.Errorf("%s, %s at %d columns, %+v: of %d names %d look different:\n%s", way, place, width, o, len(names), len(seen), strings.Join(lines, "\n"))
					}
				}
			}
		}
	}
}

// labelsIn returns the names that lines show in one of the places of ofNames.
func labelsIn(place string, lines []string) (labels []string) {
	for i, line := range lines {
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case place == "rows" && strings.ContainsAny(line, "●*"):
			if strings.HasPrefix(line, " ") { // the name has a line of its own
				line = lines[i-1]
			}
			labels = append(labels, strings.ReplaceAll(strings.ReplaceAll(line, "●", ""), "*", ""))
		case place == "side" && strings.ContainsAny(line, "●*"):
			if strings.HasPrefix(line, " ┤") || strings.HasPrefix(line, " +") { // the name has a line of its own
				line = lines[i-1]
			}
			labels = append(labels, line)
		case (place == "legend" || place == "ends") && strings.ContainsAny(words[0], "●○◆△■*o+#x") && len(words) > 1:
			for _, entry := range strings.Split(line, "   ") {
				labels = append(labels, strings.Join(strings.Fields(entry)[1:], " "))
			}
		case place == "panels" && !strings.ContainsAny(line, "│┤┬└|+─") && strings.Trim(line, "0123456789. ") != "":
			labels = append(labels, besideOneAnotherIn(line)...)
		case place == "up" && words[len(words)-1] == "1":
			labels = append(labels, line)
		case place == "columns" && words[0] == "y":
			labels = append(labels, besideOneAnotherIn(line[1:])...)
		}
	}
	return labels
}

// besideOneAnotherIn returns the names of a line.
func besideOneAnotherIn(line string) (names []string) {
	for name := range strings.SplitSeq(line, "   ") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// TestWholeHeadings: the headings of two columns are whole where the page has room for them.
func TestWholeHeadings(t *testing.T) {
	names := []string{"torch rank=1 trace=old", "torch trace=new world=2"}
	f := &Figure{
		Kind: Heatmap, X: Axis{Label: "point", Scale: Categories, Categories: names}, Y: Axis{Label: "y"},
		Series: []Series{{Style: Cells, Marks: []Mark{{X: 0, Y: 1, Value: 1}, {X: 1, Y: 1, Value: 2}}}},
	}
	for _, text := range names {
		if lines := strings.Join(Text(f, term.Page{Width: 80}, TextOptions{}), "\n"); !strings.Contains(lines, text) {
			t.Errorf("no %q in\n%s", text, lines)
		}
	}
}

// TestEmptyPanel: a panel whose marks have no place is drawn without columns, beside one that has some.
func TestEmptyPanel(t *testing.T) {
	panel := func(x float64) Panel {
		return Panel{Title: "a", Series: []Series{{Style: Cells, Marks: []Mark{{X: x, Y: 1, Value: 1}}}}}
	}
	f := &Figure{Kind: Heatmap, X: Axis{Label: "x"}, Y: Axis{Label: "y"}, Panels: []Panel{panel(1), panel(none)}}
	if lines := Text(f, term.Page{Width: 80}, TextOptions{}); len(lines) == 0 {
		t.Error("nothing is drawn")
	}
}

// TestTextMarginIsSeenOrSaid: the legend explains what counts as no change where it is seen; where intervals hide it, or it has no room, a
// line below says it.
func TestTextMarginIsSeenOrSaid(t *testing.T) {
	for _, c := range []struct {
		low, high, margin float64
		legend, line      bool // the margin; the line of no change
	}{
		{.5, 1, .2, true, true},    // it lies beside the interval
		{.5, 1, .001, false, true}, // it is narrower than the line in it
		{-1, 1, .2, false, true},   // the interval lies on both, and the line goes through it
	} {
		for _, o := range []TextOptions{{}, {ASCII: true}} {
			m := mark(.75*c.high, 0)
			m.Low, m.High = c.low, c.high
			f := &Figure{
				Kind: Forest, X: Axis{Unit: "ratio"}, Y: Axis{Scale: Categories, Categories: []string{"bs=1"}},
				Series: []Series{{Style: Intervals, Marks: []Mark{m}}},
				Guides: []Guide{{Along: Vertical, Text: "no change"}, {Along: Vertical, At: -c.margin, Until: c.margin, Text: "small is none"}},
			}
			got := strings.Join(Text(f, term.Page{Width: 60}, o), "\n")
			shade, line := "░ ", "│ "
			if o.ASCII {
				shade, line = ": ", "| "
			}
			if strings.Contains(got, shade+"small is none") != c.legend || strings.Contains(got, line+"no change") != c.line ||
				strings.Contains(got, "\nsmall is none (too narrow to show") == c.legend {
				t.Errorf("%+v, %+v:\n%s", c, o, got)
			}
		}
	}
}

// TestEachTextPanelItsScale: a panel with a zero has a linear axis with a place for it, beside one that is logarithmic.
func TestEachTextPanelItsScale(t *testing.T) {
	got := strings.Join(Text(ownScales(), term.Page{Width: 40}, TextOptions{}), "\n")
	own, name := map[string][]string{}, ""
	for line := range strings.Lines(got) {
		if tick, _, found := strings.Cut(line, " ┤"); found {
			own[name] = append(own[name], strings.TrimSpace(tick))
		} else if slices.Contains([]string{"zeros", "wide", "narrow"}, strings.TrimSpace(line)) {
			name = strings.TrimSpace(line)
		}
	}
	for panel, ticks := range map[string][]string{"zeros": {"0", "5"}, "wide": {"1", "1000", "1000000"}, "narrow": {"7", "8", "9"}} {
		for _, tick := range ticks {
			if !slices.Contains(own[panel], tick) {
				t.Errorf("%s has the ticks %q, want %s:\n%s", panel, own[panel], tick, got)
			}
		}
	}
	if strings.Contains(got, "no place on these axes") {
		t.Errorf("a value has no place:\n%s", got)
	}
}
