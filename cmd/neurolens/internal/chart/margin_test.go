package chart

import (
	"fmt"
	"slices"
	"testing"
)

// TestMarginIsSeenOrSaid: an area that is seen has its name, which is that of the line in it, too; of one that is too narrow a note has
// the name, and the line has its own.
func TestMarginIsSeenOrSaid(t *testing.T) {
	for margin, want := range map[float64][]string{.2: {"small is none"}, .0001: {"no change", "small is none (too narrow to show)"}} {
		f := &Figure{
			Kind: Forest, Y: Axis{Scale: Categories, Categories: []string{"bs=1"}},
			Series: []Series{{Style: Intervals, Marks: []Mark{{X: .7, Low: .5, High: 1}}}},
			Guides: []Guide{{Along: Vertical, Text: "no change"}, {Along: Vertical, At: -margin, Until: margin, Text: "small is none"}},
		}
		var texts []string
		svgOf(t, f, ImageOptions{Embedded: true}).each(func(e *element) {
			if e.Name == "text" && len(e.Text) > len("−0.25") {
				texts = append(texts, e.Text)
			}
		})
		if !slices.Equal(texts, want) {
			t.Errorf("a margin of %v has the texts %q, want %q", margin, texts, want)
		}
	}
}

// TestAreaWithoutRoom: the name of an area is never cut: without room for all of it, a note has it.
func TestAreaWithoutRoom(t *testing.T) {
	const name = "a change of less than the threshold of this metric counts as none"
	f := &Figure{
		Kind: Forest, Y: Axis{Scale: Categories, Categories: []string{"bs=1"}},
		Series: []Series{{Style: Intervals, Marks: []Mark{{X: .7, Low: .5, High: 1}}}},
		Guides: []Guide{{Along: Vertical, At: -.2, Until: .2, Text: name}},
	}
	svg := svgOf(t, f, ImageOptions{Embedded: true})
	var texts []string
	svg.each(func(e *element) { texts = append(texts, e.Text) })
	if !slices.Contains(texts, "shaded: "+name) {
		t.Errorf("no note has the name of the area: %q", texts)
	}
}

// TestPanelNames: the names of panels with axes of their own are whole where there is room from the names of their ticks on, and none
// touches another one.
func TestPanelNames(t *testing.T) {
	f := &Figure{Kind: Runs, Y: Axis{Unit: "ns", Own: true}}
	for i := range 6 {
		f.Panels = append(f.Panels, Panel{
			Title: fmt.Sprintf("algorithm=slow k=%d n=4000", i), Series: []Series{{Style: Points, Marks: []Mark{mark(1, 1e6*float64(i+1)), mark(2, 1.5e6*float64(i+1))}}},
		})
	}
	s, err := newSheet(f, ImageOptions{Width: 440}, drawnHere)
	ok(t, err)
	for i, title := range s.titles {
		if title != f.Panels[i].Title {
			t.Errorf("%s is cut to %s", f.Panels[i].Title, title)
		}
		if wide := s.width(title, textSize, true); wide <= s.panelWidth {
			t.Fatalf("%s is not wider than its panel of %v", title, s.panelWidth)
		} else if wide > s.panelWidth+s.inset {
			t.Errorf("%s touches the next one", title)
		}
	}
}

// ownScales has panels whose axes are linear because of a zero, logarithmic, and linear as asked.
func ownScales() *Figure {
	return &Figure{
		Kind: Runs, Y: Axis{Label: "share", Scale: Log, Own: true},
		Panels: []Panel{
			{Title: "zeros", Series: []Series{{Style: Points, Marks: []Mark{mark(1, 0), mark(2, 6)}}}},
			{Title: "wide", Series: []Series{{Style: Points, Marks: []Mark{mark(1, 1), mark(2, 1000000)}}}},
			{Title: "narrow", Linear: true, Series: []Series{{Style: Points, Marks: []Mark{mark(1, 7), mark(2, 9)}}}},
		},
	}
}

// TestEachPanelItsScale: a panel with a zero has a linear axis with a place for it, beside one that is logarithmic.
func TestEachPanelItsScale(t *testing.T) {
	f := ownScales()
	s, err := newSheet(f, ImageOptions{}, drawnThere)
	ok(t, err)
	for i, want := range []struct {
		scale Scale
		ticks int
	}{{Linear, 0}, {Log, 1}, {Linear, 7}} {
		y := s.ys[i]
		if y.spec.Scale != want.scale || !slices.ContainsFunc(y.ticks, func(tick Tick) bool { return tick.At == float64(want.ticks) }) {
			t.Errorf("panel %d has the scale %q with the ticks %v, want %+v", i, y.spec.Scale, y.ticks, want)
		}
	}
	if marks := marksOf(svgOf(t, f, ImageOptions{Embedded: true})); len(marks) != 6 {
		t.Errorf("%d marks are drawn", len(marks))
	}
}

// TestColumnsOfPanels: many panels of a narrow picture stand in two columns, so that it is not much taller than wide; few have all of its
// width.
func TestColumnsOfPanels(t *testing.T) {
	for panels, want := range map[int]int{3: 1, 12: 2} {
		f := &Figure{Kind: Lines}
		for i := range panels {
			f.Panels = append(f.Panels, Panel{Title: fmt.Sprintf("bs=%d seq=64 fp32", i), Series: []Series{{Style: Points, Marks: []Mark{{X: 1, Y: 2}, {X: 2, Y: 3}}}}})
		}
		s, err := newSheet(f, ImageOptions{Width: 420}, 0)
		if err != nil || s.columns != want {
			t.Errorf("%d panels: %v columns, want %d: %v", panels, s.columns, want, err)
		}
	}
}
