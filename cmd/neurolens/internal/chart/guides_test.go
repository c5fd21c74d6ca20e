package chart

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
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
	if !strings.Contains(svg, ">regressed</text>") || strings.Contains(svg, "no room") || strings.Count(svg, "</text>") > 30 {
		t.Errorf("of %d texts none is the one that matters, or some are said to be missing", strings.Count(svg, "</text>"))
	}
	if n := strings.Count(svg, "release number"); n <= 12 || n >= 24 { // each is a title, and some are texts
		t.Errorf("%d names", n)
	}
	for i := range f.Guides {
		f.Guides[i].Noted = false
	}
	b.Reset()
	if err := SVG(&b, f, ImageOptions{}); err != nil || !strings.Contains(b.String(), "vertical lines that have no room for a label: ") {
		t.Error("names are missing and nothing says so", err)
	}
}

// TestShortLabels: a step has its size beside it where its whole name has no room.
func TestShortLabels(t *testing.T) {
	f := &Figure{Kind: History, X: Axis{Scale: Time}}
	for n := range 6 {
		p := Panel{Title: fmt.Sprint("panel ", n), Series: []Series{{Style: Points}}}
		for i := range 10 {
			p.Series[0].Marks = append(p.Series[0].Marks, Mark{X: 1.8e9 + 86400*float64(i), Y: 1})
		}
		for i := range 3 { // three names of this length have no room over 190 pixels
			at := 1.8e9 + 86400*float64(2+3*i)
			p.Guides = append(p.Guides, Guide{Along: Vertical, At: at, Until: at, Text: "regressed over some sessions +12.5 %", Short: "+12.5 %"})
		}
		f.Panels = append(f.Panels, p)
	}
	var b bytes.Buffer
	ok(t, SVG(&b, f, ImageOptions{}))
	if n := strings.Count(b.String(), "+12.5 %</text>"); n != 18 || strings.Contains(b.String(), "no room") {
		t.Errorf("%d of 18 steps have labels:\n%s", n, b.String())
	}
	for width, least := range map[int]int{400: 2, 600: 4, 720: 6} { // each of the panels in the last row has two dates below it at least
		b.Reset()
		ok(t, SVG(&b, f, ImageOptions{Width: width}))
		if n := strings.Count(b.String(), ">2027-01-"); n < least {
			t.Errorf("%d dates at %d pixels", n, width)
		}
	}
}

// TestWarningsInLegend: the words of warnings are whole, and the last ones are left out where there is no room.
func TestWarningsInLegend(t *testing.T) {
	f := &Figure{Kind: Scatter, Series: []Series{{Name: "runs", Style: Points}}}
	for i, word := range []string{"slow_start", "drift", "spread_of_samples", "load"} {
		f.Series[0].Marks = append(f.Series[0].Marks, Mark{X: float64(i), Y: 1, Tone: Warned, Word: word})
	}
	f.Series[0].Marks = append(f.Series[0].Marks, Mark{X: 4, Y: 1})
	for width, want := range map[int]string{720: "with a warning: drift, load, slow_start, spread_of_samples", 330: "with a warning: drift, load, slow_start, …", 150: "with a warning"} {
		var b bytes.Buffer
		ok(t, SVG(&b, f, ImageOptions{Width: width}))
		if !strings.Contains(b.String(), ">"+want+"</text>") && width > minWidth {
			t.Errorf("at %d pixels the legend has no %q", width, want)
		}
		if lines := strings.Join(Text(f, term.Page{Width: width / 8}, TextOptions{}), "\n"); width > 400 && !strings.Contains(lines, "! "+want) || strings.Contains(lines, "dr…") {
			t.Errorf("at %d columns the legend has no %q:\n%s", width/8, want, lines)
		}
	}
}
