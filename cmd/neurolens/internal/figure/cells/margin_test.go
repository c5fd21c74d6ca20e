package cells

import (
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/figure"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// TestMarginIsSeenOrSaid: the legend explains what counts as no change where it is seen; where intervals hide it, or it has no room, a
// line below says it.
func TestMarginIsSeenOrSaid(t *testing.T) {
	for _, c := range []struct {
		low, high, margin float64
		legend, line      bool // the margin; the line of no change
	}{
		{.5, 1, .2, true, true},    // it lies beside the interval
		{.5, 1, .001, false, true}, // it is narrower than the line in it
		{-1, 1, .2, false, false},  // the interval lies on both
	} {
		for _, o := range []Options{{}, {ASCII: true}} {
			m := mark(.75*c.high, 0)
			m.Low, m.High = c.low, c.high
			f := &figure.Figure{
				Kind: figure.Forest, X: figure.Axis{Unit: "ratio"}, Y: figure.Axis{Scale: figure.Categories, Categories: []string{"bs=1"}},
				Series: []figure.Series{{Style: figure.Intervals, Marks: []figure.Mark{m}}},
				Guides: []figure.Guide{{Along: figure.Vertical, Text: "no change"}, {Along: figure.Vertical, At: -c.margin, Until: c.margin, Text: "small is none"}},
			}
			got := strings.Join(Text(f, term.Page{Width: 60}, o), "\n")
			shade, line := "░ ", "│ "
			if o.ASCII {
				shade, line = ": ", "| "
			}
			if strings.Contains(got, shade+"small is none") != c.legend || strings.Contains(got, line+"no change") != c.line ||
				strings.Contains(got, "\nsmall is none (not seen here: too") == c.legend {
				t.Errorf("%+v, %+v:\n%s", c, o, got)
			}
		}
	}
}
