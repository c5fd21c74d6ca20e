package chart

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// TestNamesOverLines: no name stands over a line that has none itself: one without words, or one whose words have no room.
func TestNamesOverLines(t *testing.T) {
	crowd := func(noted bool) (all []Guide) {
		for i := range 14 {
			at := 3 + 1.1*float64(i)
			all = append(all, Guide{Along: Vertical, At: at, Until: at, Text: fmt.Sprintf("release number %d", i), Noted: noted})
		}
		return all
	}
	for what, guides := range map[string][]Guide{
		"without words": {{Along: Vertical, At: 10, Until: 10, Text: "release number 1"}, {Along: Vertical, At: 11, Until: 11}},
		"no end":        {{Along: Vertical, At: 10, Until: nan, Text: "release number 1"}, {Along: Vertical, At: 11, Until: nan}},
		"noted":         crowd(true),
		"not noted":     crowd(false),
	} {
		f := &Figure{Kind: History, Guides: guides, Series: []Series{{Style: Points}}}
		for i := range 21 {
			f.Series[0].Marks = append(f.Series[0].Marks, Mark{X: float64(i), Y: 1})
		}
		s, err := newSheet(f, ImageOptions{}, drawnHere)
		ok(t, err)
		names, _ := s.placeNames(guides, s.xs[0])
		if len(names) == 0 {
			t.Errorf("%s: no line has a name", what)
		}
		named := map[float64]bool{}
		for _, name := range names {
			named[name.guide.At] = true
		}
		for _, name := range names {
			for _, g := range guides {
				if at := s.xs[0].share(g.At) * s.panelWidth; !named[g.At] && at > name.left && at < name.right {
					t.Errorf("%s: %s of the line at %v stands over the one at %v", what, name.text, name.guide.At, g.At)
				}
			}
		}
	}
}

// TestNotedGuides: where there is no room for all names of lines, those that a note has anyway give way, and are not said to be missing.
func TestNotedGuides(t *testing.T) {
	f := &Figure{Kind: History, Series: []Series{{Style: Points}}}
	for i := range 30 {
		f.Series[0].Marks = append(f.Series[0].Marks, Mark{X: float64(i), Y: 1})
	}
	for i := range 12 {
		f.Guides = append(f.Guides, Guide{Along: Vertical, At: 10 + 1.6*float64(i), Until: 10 + 1.6*float64(i), Text: fmt.Sprintf("release number %d", i), Noted: true})
	}
	f.Guides = append(f.Guides, Guide{Along: Vertical, At: 9.9, Until: 9.9, Text: "regressed"})
	var b bytes.Buffer
	ok(t, SVG(&b, f, ImageOptions{}))
	svg := b.String()
	if !strings.Contains(svg, ">regressed</text>") || strings.Contains(svg, "lack of room") || strings.Count(svg, "</text>") > 30 {
		t.Errorf("of %d texts none is the one that matters, or some are said to be missing", strings.Count(svg, "</text>"))
	}
	if n := strings.Count(svg, "release number"); n <= 12 || n >= 24 { // each is a title, and some are texts
		t.Errorf("%d names", n)
	}
	for i := range f.Guides {
		f.Guides[i].Noted = false
	}
	b.Reset()
	if err := SVG(&b, f, ImageOptions{}); err != nil || !strings.Contains(b.String(), "lines without a name for lack of room: ") {
		t.Error("names are missing and nothing says so", err)
	}
}
