package chart

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestLabelsDiffer: no two names of a picture look the same where the whole ones differ, wherever they stand, however little room there is.
func TestLabelsDiffer(t *testing.T) {
	long := strings.Repeat("and_a_long_name_", 8)
	for way, form := range map[string]string{"middles": long + "%c" + long, "ends": long + "%c", "far": strings.Repeat("x", 9000) + "%c" + strings.Repeat("x", 9000)} {
		var names []string
		for n := range 5 {
			names = append(names, fmt.Sprintf(form, 'a'+n))
		}
		for place, f := range ofNames(names) {
			for _, width := range []int{300, 720} {
				seen := map[string]bool{}
				svgOf(t, f, ImageOptions{Width: width, Embedded: true}).each(func(e *element) {
					if e.Name == "text" && len(e.Text) > 1 && !strings.HasPrefix(e.Text, "#") && strings.ContainsAny(e.Text, "_x#…") {
						seen[e.Text] = true
					}
				})
				if len(seen) != len(names) {
					t.Errorf("%s, %s, %d wide: of %d names %d look different: %q", way, place, width, len(names), len(seen), slices.Sorted(maps.Keys(seen)))
				}
			}
		}
	}
}

// TestFailedTogether: lines that have no value at the same place are named there together, each once.
func TestFailedTogether(t *testing.T) {
	f := &Figure{Kind: Lines}
	for i, name := range []string{"mode=fast", "mode=slow"} {
		f.Series = append(f.Series, Series{Name: name, Style: Line, Marks: []Mark{
			{X: 1, Y: float64(1 + i), Low: nan, High: nan}, {X: 2, Y: nan, Low: nan, High: nan, Tone: Failed}, {X: 3, Y: float64(1 + i), Low: nan, High: nan},
		}})
	}
	var texts []string
	svgOf(t, f, ImageOptions{}).each(func(e *element) {
		if e.Name == "text" && strings.Contains(e.Text, "mode=") {
			texts = append(texts, e.Text)
		}
	})
	slices.Sort(texts)
	if want := []string{"mode=fast", "mode=fast, mode=slow", "mode=slow"}; !slices.Equal(texts, want) {
		t.Errorf("names are %q, want %q", texts, want)
	}
}

// ofNames returns figures that say names in every place where a figure has some.
func ofNames(names []string) map[string]*Figure {
	category := Axis{Scale: Categories, Categories: names}
	all := map[string]*Figure{
		"rows":    {Kind: Forest, Y: category, Series: []Series{{Style: Intervals}}},
		"ends":    {Kind: Lines},
		"legend":  {Kind: ECDF},
		"panels":  {Kind: Runs},
		"side":    {Kind: Scatter, Y: category, Series: []Series{{Style: Points}}},
		"up":      {Kind: Heatmap, X: Axis{Label: "x"}, Y: category, Series: []Series{{Style: Cells}}},
		"columns": {Kind: Heatmap, X: category, Y: Axis{Label: "y"}, Series: []Series{{Style: Cells}}},
	}
	for i, name := range names {
		m := func(x, y float64) Mark { return Mark{X: x, Y: y, Low: nan, High: nan, Value: 1} }
		at := float64(i)
		for kind, place := range map[string]Mark{"rows": m(1, at), "side": m(1, at), "up": m(0, at), "columns": m(at, 0)} {
			all[kind].Series[0].Marks = append(all[kind].Series[0].Marks, place)
		}
		own := Series{Name: name, Style: Line, Marks: []Mark{m(1, at), m(2, at)}}
		for _, kind := range []string{"legend", "ends"} {
			all[kind].Series = append(all[kind].Series, own)
		}
		own.Name = ""
		all["panels"].Panels = append(all["panels"].Panels, Panel{Title: name, Series: []Series{own}})
	}
	return all
}
