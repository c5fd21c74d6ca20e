package chart

import (
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/recorder"
)

// written returns the texts that a picture in pixels has.
func written(t *testing.T, f *Figure) (texts []string) {
	t.Helper()
	s, err := newSheet(f, ImageOptions{}, drawnHere)
	ok(t, err)
	c := &recorder.Canvas{}
	vg.Initialize(c)
	s.surface = &pixelSurface{c, colorsOf(false), s.face}
	s.draw()
	for _, action := range c.Actions {
		if text, is := action.(*recorder.FillString); is {
			texts = append(texts, text.String)
		}
	}
	return texts
}

// TestLackingLetters: what the font of a picture lacks, or would put into the wrong order, is a box in it, names stay different, and a
// note says so. What the font has, and an SVG, have no such note.
func TestLackingLetters(t *testing.T) {
	for _, c := range []struct {
		names []string
		note  string
	}{
		{[]string{"模型一", "模型二"}, "□ replaces 4 characters that this picture has no font for (U+6A21, U+578B, U+4E00, …): an SVG shows them"},
		{[]string{"אב", "fast"}, "□ replaces 2 characters that this picture has no font for (U+05D0, U+05D1): an SVG shows them"},
		{[]string{"🚀 v1", "v2 \u200d"}, "□ replaces 1 character that this picture has no font for (U+1F680): an SVG shows them"},
		{[]string{"größe µs ±5 % ≤ Ωя", "□"}, ""},
	} {
		f := &Figure{Kind: Forest, Title: c.names[0], Y: Axis{Scale: Categories, Categories: c.names}, Series: []Series{{
			Style: Intervals, Marks: []Mark{{X: 1, Low: nan, High: nan}, {X: 2, Y: 1, Low: nan, High: nan}},
		}}}
		texts := written(t, f)
		all := strings.Join(texts, "\n")
		if strings.ContainsFunc(all, func(r rune) bool { return strings.ContainsRune("模型一二אב🚀\u200d", r) }) {
			t.Errorf("%q: the picture has letters that its font lacks: %q", c.names, texts)
		}
		if said := slices.ContainsFunc(texts, func(s string) bool { return strings.HasPrefix(s, "□ replaces") }); said != (c.note != "") || !strings.Contains(strings.ReplaceAll(all, "\n", " "), c.note) {
			t.Errorf("%q: the picture says %q, want %q", c.names, texts, c.note)
		}
		if c.note != "" && c.names[0][:1] == "模"[:1] && (!slices.Contains(texts, "□□□ #1") || !slices.Contains(texts, "□□□ #2")) {
			t.Errorf("%q look the same: %q", c.names, texts)
		}
		svgOf(t, f, ImageOptions{}).each(func(e *element) {
			if strings.Contains(e.Text, "replaces") {
				t.Errorf("the SVG says %q", e.Text)
			}
		})
	}
}
