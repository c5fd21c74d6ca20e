package term

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
)

// TestScreen: what stands above the block is kept, whatever becomes of the terminal's size, and nothing is left below.
func TestScreen(t *testing.T) {
	m := &programtest.Terminal{Columns: 30, Rows: 8}
	s := NewScreen(m, func() (int, int) { return m.Columns, m.Rows })
	block := func(lines ...string) func(int) []string {
		return func(columns int) []string {
			lines := slices.Clone(lines)
			for i := range lines {
				lines[i] = ansi.Truncate(lines[i], columns, "")
			}
			return lines
		}
	}
	check := func(want ...string) {
		t.Helper()
		if got := strings.TrimSpace(m.String()); got != strings.Join(want, "\n") || m.Column != 0 {
			t.Errorf("got\n%s\nwant\n%s\ncursor in column %d", got, strings.Join(want, "\n"), m.Column)
		}
	}
	s.Draw([]string{"head"}, block("aaaaaaaaaaaaaaaaaaaaaaaaa", "b", "c"))
	check("head", "aaaaaaaaaaaaaaaaaaaaaaaaa", "b", "c")
	s.Draw(nil, block("a", "b"))
	check("head", "a", "b")
	s.Draw([]string{"fail 1"}, block("aaaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbb"))
	check("head", "fail 1", "aaaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbb")
	m.Narrow(10)
	s.Draw(nil, block("aaaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbb"))
	check("head", "fail 1", "aaaaaaaaa", "bbbbbbbbb")
	m.Rows = 3
	s.Draw(nil, block("a", "b", "c", "d"))
	check("head", "fail 1", "a", "b")
	s.Draw(nil, block())
	check("head", "fail 1")
	if len(m.Unknown) > 0 {
		t.Errorf("the terminal was told %q", m.Unknown)
	}
	var again bytes.Buffer
	s.w = &again
	s.Draw(nil, block())
	if again.Len() > 0 {
		t.Errorf("drawn again without a change: %q", again.String())
	}
}
