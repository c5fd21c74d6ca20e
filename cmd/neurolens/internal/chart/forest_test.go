package chart

import (
	"fmt"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// ratiosExample returns a forest of ratios on a log axis, whose intervals lie on the line of no change, end there or have their estimate
// there.
func ratiosExample() *Figure {
	f := &Figure{
		Kind: Forest, Title: "change of latency", X: Axis{Label: "latency, head / base", Scale: Log}, Y: Axis{Scale: Categories},
		Notes:  []string{"points without a verdict: the sides are of different sessions, and too few earlier ones tell what sessions differ by; measure both by turns in one, as variants of a sweep"},
		Guides: []Guide{{Along: Vertical, At: 1, Text: "no change"}},
		Series: []Series{{Style: Intervals}},
	}
	for i, m := range [][3]float64{{3, 2, 9}, {2, .3, 4}, {1, .5, 2}, {2, 1, 3}, {.5, .4, 1}} {
		f.Y.Categories = append(f.Y.Categories, fmt.Sprintf("bs=%d seq=128 fp32 dim=128", i))
		f.Series[0].Marks = append(f.Series[0].Marks, Mark{X: m[0], Low: m[1], High: m[2], Y: float64(i), Tone: Neutral, Word: "inconclusive"})
	}
	return f
}

// TestNoChangeIsSeen: every row of a forest shows the line of no change, in one column, over its interval too, and 1 is among the ticks
// below it, beside one for what is less.
func TestNoChangeIsSeen(t *testing.T) {
	for _, o := range []TextOptions{{}, {ASCII: true}} {
		for width := 40; width <= 120; width += 10 {
			lines := Text(ratiosExample(), term.Page{Width: width}, o)
			line, unit, rows := "│┿◉┠┨", -1, 0
			if o.ASCII {
				line = "|+@"
			}
			for i, text := range lines {
				if strings.ContainsAny(text, "┬") || o.ASCII && strings.Contains(text, "+--") && !strings.Contains(text, "inconclusive") {
					below := []rune(lines[i+1])
					for at, r := range below {
						if r == '1' && (at == 0 || below[at-1] == ' ') && (at+1 == len(below) || below[at+1] == ' ') {
							unit = at
						}
					}
					if unit < 0 || !strings.Contains(string(below), "0.5") {
						t.Fatalf("at %d columns, %+v: the ticks are %q", width, o, lines[i+1])
					}
				}
			}
			for _, text := range lines {
				if strings.Contains(text, "inconclusive") {
					rows++
					if at := []rune(text)[unit]; !strings.ContainsRune(line, at) {
						t.Errorf("at %d columns, %+v: %q has no line in column %d, but %c", width, o, text, unit, at)
					}
				}
			}
			if rows != 5 {
				t.Errorf("%d rows:\n%s", rows, strings.Join(lines, "\n"))
			}
		}
	}
}

// TestForestOnAPipe: also where names are whole no line is wider than the page, and notes go on in other lines.
func TestForestOnAPipe(t *testing.T) {
	f := ratiosExample()
	for width := narrowest; width <= 120; width += 5 {
		lines := Text(f, term.Page{Width: width, Whole: true}, TextOptions{})
		got := strings.Join(lines, "\n")
		for _, line := range lines {
			if term.Width(line) > width {
				t.Errorf("at %d columns: %q", width, line)
			}
		}
		if !strings.Contains(got, f.Y.Categories[0]) || !strings.HasSuffix(strings.ReplaceAll(got, "\n", " "), f.Notes[0]) {
			t.Errorf("at %d columns:\n%s", width, got)
		}
	}
}
