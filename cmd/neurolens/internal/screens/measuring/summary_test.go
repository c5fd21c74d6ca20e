package measuring

import (
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/wording"
	"github.com/neurolens/neurolens/query"
)

// TestUnknownWarning: a word of another version stands in the rows without an explanation, also where every row has it.
func TestUnknownWarning(t *testing.T) {
	points := []query.SessionPoint{{Warnings: []string{"newer", "load"}}, {Warnings: []string{"newer", "load"}}}
	n := wording.Notes{}
	if words, _ := pointWords(n, &points[0], common(points)); words != "newer" {
		t.Errorf("the row says %q, want newer", words)
	}
	if lines := n.Lines(); len(lines) != 2 || !strings.HasPrefix(lines[0], "load"+term.Gap+"(all points) more") {
		t.Errorf("notes %q", lines)
	}
}
