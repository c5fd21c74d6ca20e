package chart

import (
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

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
	f := &Figure{
		Kind: Runs, Y: Axis{Label: "share", Scale: Log, Own: true},
		Panels: []Panel{
			{Title: "zeros", Series: []Series{{Style: Points, Marks: []Mark{mark(1, 0), mark(2, 6)}}}},
			{Title: "wide", Series: []Series{{Style: Points, Marks: []Mark{mark(1, 1), mark(2, 1000000)}}}},
			{Title: "narrow", Linear: true, Series: []Series{{Style: Points, Marks: []Mark{mark(1, 7), mark(2, 9)}}}},
		},
	}
	got := strings.Join(Text(f, term.Page{Width: 40}, TextOptions{}), "\n")
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
