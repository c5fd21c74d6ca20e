package chart

import (
	"fmt"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// alike are names that look the same where their middles are cut, where they end, and where a terminal has ASCII alone.
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

// ofTextNames are figures that say names in every place where a figure has some.
func ofTextNames(names []string) map[string]*Figure {
	category := Axis{Scale: Categories, Categories: names}
	all := map[string]*Figure{
		"rows":    {Kind: Forest, Y: category, Series: []Series{{Style: Intervals}}},
		"legend":  {Kind: ECDF},
		"panels":  {Kind: Runs},
		"side":    {Kind: Scatter, Y: category, Series: []Series{{Style: Points}}},
		"up":      {Kind: Heatmap, X: Axis{Label: "x"}, Y: category, Series: []Series{{Style: Cells}}},
		"columns": {Kind: Heatmap, X: category, Y: Axis{Label: "y"}, Series: []Series{{Style: Cells}}},
	}
	for i, name := range names {
		m := func(x, y float64) Mark { return Mark{X: x, Y: y, Low: none, High: none, Value: 1} }
		at := float64(i)
		for kind, place := range map[string]Mark{"rows": m(1, at), "side": m(1, at), "up": m(0, at), "columns": m(at, 0)} {
			all[kind].Series[0].Marks = append(all[kind].Series[0].Marks, place)
		}
		own := []Series{{Name: name, Style: Line, Marks: []Mark{m(1, 1), m(2, 2)}}}
		all["legend"].Series = append(all["legend"].Series, own...)
		own[0].Name = ""
		all["panels"].Panels = append(all["panels"].Panels, Panel{Title: name, Series: own})
	}
	return all
}

// TestTextLabelsDiffer: no two names of a figure look the same, however narrow the page is.
func TestTextLabelsDiffer(t *testing.T) {
	for way, names := range alike() {
		for place, f := range ofTextNames(names) {
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

// labelsIn are the names that lines show in one of the places of ofNames.
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
		case place == "legend" && strings.ContainsAny(words[0], "●○◆△■*o+#x") && len(words) > 1:
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

// besideOneAnotherIn are the names of a line.
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
