package draw

import (
	"slices"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/figure"
)

// TestMarginIsSeenOrSaid: an area that is seen has its name, which is that of the line in it, too; of one that is too narrow a note has
// the name, and the line has its own.
func TestMarginIsSeenOrSaid(t *testing.T) {
	for margin, want := range map[float64][]string{.2: {"small is none"}, .0001: {"no change", "small is none (too narrow to be seen here)"}} {
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
