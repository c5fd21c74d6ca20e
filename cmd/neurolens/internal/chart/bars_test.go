package chart

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// barsExample has two series of bars over two names, with intervals.
func barsExample() *Figure {
	f := &Figure{Kind: Lines, X: Axis{Label: "size", Scale: Categories, Categories: []string{"2M", "9M"}}, Y: Axis{Label: "latency", Unit: "ns", High: 22e6}}
	for i, name := range []string{"old", "new"} {
		s := Series{Name: name, Style: Bars}
		for x, v := range []float64{26e6, 102e6} {
			v *= 1 - .15*float64(i)
			s.Marks = append(s.Marks, Mark{X: float64(x), Y: v, Low: .95 * v, High: 1.05 * v, Label: fmt.Sprintf("%.3g ms", v/1e6), Text: "bar"})
		}
		f.Series = append(f.Series, s)
	}
	return f
}

// TestBars: bars begin at zero, are as high as their values, lie side by side and have their values in words.
func TestBars(t *testing.T) {
	root := svgOf(t, barsExample(), ImageOptions{Embedded: true})
	var heights []float64
	var values []string
	bottom, right := "", 0.0
	root.each(func(e *element) {
		if e.Name != "rect" || e.Attr["width"] == "10" { // of the legend
			return
		}
		number := func(name string) float64 {
			v, err := strconv.ParseFloat(e.Attr[name], 64)
			ok(t, err)
			return v
		}
		heights = append(heights, number("height"))
		if at := fmt.Sprintf("%.1f", number("y")+number("height")); bottom == "" {
			bottom = at
		} else if at != bottom {
			t.Errorf("a bar begins at %s, another one at %s", at, bottom)
		}
		right = max(right, number("x"))
	})
	root.each(func(e *element) {
		if e.Name == "text" && strings.HasSuffix(e.Text, " ms") && e.Text != "latency, ms" {
			values = append(values, e.Text)
		}
	})
	if len(heights) != 4 || strings.Join(values, "|") != "26 ms|102 ms|22.1 ms|86.7 ms" {
		t.Fatalf("bars of %v, with %q", heights, values)
	}
	if ratio := heights[1] / heights[0]; ratio < 102./26-.02 || ratio > 102./26+.02 {
		t.Errorf("a bar is %v times as high as another one, want %v", ratio, 102./26)
	}
	for _, width := range []int{40, 80} {
		got := strings.Join(Text(barsExample(), term.Page{Width: width}, TextOptions{}), "\n")
		if !strings.Contains(got, "0 ms ┤") || strings.Count(got, "●") != 3 || strings.Count(got, "○") != 3 { // one is in the legend
			t.Errorf("at %d columns:\n%s", width, got)
		}
	}
	spec, err := VegaLite(barsExample(), 0)
	ok(t, err)
	for _, part := range []string{`"type": "bar"`, `"xOffset"`, `"shown_low"`} {
		if !strings.Contains(string(spec), part) {
			t.Errorf("no %s", part)
		}
	}
}

// TestWarningsAreOutlines: marks with a warning keep the colour of their series, also where all have one.
func TestWarningsAreOutlines(t *testing.T) {
	f := &Figure{Kind: Scatter, Series: []Series{{Name: "old", Style: Points}, {Name: "new", Style: Points}}}
	for i := range 8 {
		m := mark(float64(i), float64(i))
		m.Tone, m.Word = Warned, "load"
		f.Series[i%2].Marks = append(f.Series[i%2].Marks, m)
	}
	var b bytes.Buffer
	ok(t, SVG(&b, f, ImageOptions{Embedded: true}))
	if svg := b.String(); strings.Count(svg, "f-s0") != 5 || strings.Count(svg, "f-s1") != 5 || strings.Contains(svg, "f-warned") || !strings.Contains(svg, ">with a warning: load<") {
		t.Errorf("the colours of the series are lost:\n%s", svg)
	}
	got := strings.Join(Text(f, term.Page{Width: 80}, TextOptions{}), "\n")
	if strings.Contains(got, "!") || !strings.Contains(got, "all with a warning: load") || strings.Count(got, "●") != 5 {
		t.Errorf("the shapes of the series are lost:\n%s", got)
	}
}

// TestNamesWithNumbersHaveKeys: where only numbers tell names apart, notes say which is which.
func TestNamesWithNumbersHaveKeys(t *testing.T) {
	var names []string
	for n := range 3 {
		names = append(names, strings.Repeat("x", 60)+string(rune('a'+n))+strings.Repeat("x", 60))
	}
	f := &Figure{Kind: Runs}
	for _, name := range names {
		f.Panels = append(f.Panels, Panel{Title: name, Series: []Series{{Style: Points, Marks: []Mark{mark(1, 1), mark(2, 2)}}}})
	}
	var b bytes.Buffer
	ok(t, SVG(&b, f, ImageOptions{Width: 900}))
	for n, name := range names {
		if !strings.Contains(b.String(), fmt.Sprintf(">#%d: %s</text>", n+1, name)) {
			t.Errorf("no key of #%d:\n%s", n+1, b.String())
		}
	}
}

// TestTurnedNamesStayInside: names of categories that are turned end within the picture.
func TestTurnedNamesStayInside(t *testing.T) {
	f := &Figure{Kind: Lines, X: Axis{Scale: Categories}, Y: Axis{High: 1}, Series: []Series{{Style: Bars}}}
	for n := range 30 {
		f.X.Categories = append(f.X.Categories, fmt.Sprintf("kernel_variant_%02d_tile%d", n, 8<<(n%4)))
		f.Series[0].Marks = append(f.Series[0].Marks, Mark{X: float64(n), Y: float64(n + 1), Low: none, High: none})
	}
	s, err := newSheet(f, ImageOptions{}, drawnHere)
	ok(t, err)
	first := s.width(s.xs[0].ticks[0].Text, textSize, false) * .766 // the cosine of 40°
	if left := s.plots.left + s.xs[0].each(s.panelWidth)/2 + 4 - first; !s.turned || left < 0 {
		t.Errorf("the first name begins at %v: %q", left, s.xs[0].ticks[0].Text)
	}
}
