package draw

import (
	"slices"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/figure"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/figure/scale"
)

// TestMarginIsSeenOrSaid: an area that is seen has its name, which is that of the line in it, too; of one that is too narrow a note has
// the name, and the line has its own.
func TestMarginIsSeenOrSaid(t *testing.T) {
	for margin, want := range map[float64][]string{.2: {"small is none"}, .0001: {"no change", "small is none (too narrow to show)"}} {
		f := &figure.Figure{
			Kind: figure.Forest, Y: figure.Axis{Scale: figure.Categories, Categories: []string{"bs=1"}},
			Series: []figure.Series{{Style: figure.Intervals, Marks: []figure.Mark{{X: .7, Low: .5, High: 1}}}},
			Guides: []figure.Guide{{Along: figure.Vertical, Text: "no change"}, {Along: figure.Vertical, At: -margin, Until: margin, Text: "small is none"}},
		}
		var texts []string
		svgOf(t, f, Options{Embedded: true}).each(func(e *element) {
			if e.Name == "text" && len(e.Text) > len("−0.25") {
				texts = append(texts, e.Text)
			}
		})
		if !slices.Equal(texts, want) {
			t.Errorf("a margin of %v has the texts %q, want %q", margin, texts, want)
		}
	}
}

// TestEachPanelItsScale: a panel with a zero has a linear axis with a place for it, beside one that is logarithmic.
func TestEachPanelItsScale(t *testing.T) {
	mark := func(x, y float64) figure.Mark { return figure.Mark{X: x, Y: y, Low: nan, High: nan} }
	f := &figure.Figure{
		Kind: figure.Runs, Y: figure.Axis{Label: "share", Scale: figure.Log, Own: true},
		Panels: []figure.Panel{
			{Title: "zeros", Series: []figure.Series{{Style: figure.Points, Marks: []figure.Mark{mark(1, 0), mark(2, 6)}}}},
			{Title: "wide", Series: []figure.Series{{Style: figure.Points, Marks: []figure.Mark{mark(1, 1), mark(2, 1000000)}}}},
			{Title: "narrow", Linear: true, Series: []figure.Series{{Style: figure.Points, Marks: []figure.Mark{mark(1, 7), mark(2, 9)}}}},
		},
	}
	s, err := newSheet(f, Options{}, drawnThere)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		scale figure.Scale
		ticks int
	}{{figure.Linear, 0}, {figure.Log, 1}, {figure.Linear, 7}} {
		y := s.ys[i]
		if y.spec.Scale != want.scale || !slices.ContainsFunc(y.ticks, func(tick scale.Tick) bool { return tick.At == float64(want.ticks) }) {
			t.Errorf("panel %d has the scale %q with the ticks %v, want %+v", i, y.spec.Scale, y.ticks, want)
		}
	}
	if marks := marksOf(svgOf(t, f, Options{Embedded: true})); len(marks) != 6 {
		t.Errorf("%d marks are drawn", len(marks))
	}
}
