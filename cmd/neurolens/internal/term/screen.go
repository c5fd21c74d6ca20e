package term

import (
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// Screen rewrites a block of lines at the end of what a terminal shows. It sets nothing that would have to be undone:
// the cursor stays visible, in the first column below the block, so that whatever ends the process, at whatever
// moment, leaves a terminal that can be typed into.
type Screen struct {
	// Hidden tells that no block is wanted now, only lines that stay: whoever is in the background of a shell would write over what
	// is typed there. nil: it always is.
	Hidden func() bool

	w    io.Writer
	size func() (columns, rows int)

	mu      sync.Mutex
	drawn   []string  // the block, as it stands on the terminal
	columns int       // of the terminal when it was drawn
	last    time.Time // of Draw
}

// NewScreen is at the end of what a terminal shows that is w, and as large as size says.
func NewScreen(w io.Writer, size func() (columns, rows int)) *Screen {
	return &Screen{w: w, size: size}
}

// Width returns the present width of the terminal.
func (s *Screen) Width() int {
	columns, _ := s.size()
	return columns
}

// Clear removes the block.
func (s *Screen) Clear() { s.Draw(nil, func(int) []string { return nil }) }

// A process that was stopped goes on in all its goroutines at once: the one that hears of it, and calls Forget, may be later than the one that
// draws. So after a pause that a stop may explain Draw waits for the other.
const (
	quiet    = time.Second
	settling = 50 * time.Millisecond
)

// Forget says that somebody else may have written to the terminal: what stands there stays, and the next block is drawn below it.
func (s *Screen) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drawn = nil
}

// Draw writes lines that stay, and below them the block as it is for so many columns. Lines that stay may be longer
// than the terminal is wide; those of the block may not.
func (s *Screen) Draw(stays []string, block func(columns int) []string) {
	s.mu.Lock()
	if !s.last.IsZero() && time.Since(s.last) > quiet {
		s.mu.Unlock()
		time.Sleep(settling)
		s.mu.Lock()
	}
	defer s.mu.Unlock()
	s.last = time.Now()
	columns, rows := s.size()
	lines := block(columns - 1) // where the last column is written, terminals differ in where the cursor is then
	if lines = lines[:min(len(lines), max(rows-1, 0))]; s.Hidden != nil && s.Hidden() {
		lines = nil
	}
	if len(s.drawn)+len(lines)+len(stays) == 0 {
		return
	}
	if len(stays) == 0 && columns == s.columns && slices.Equal(lines, s.drawn) {
		return
	}
	var b strings.Builder
	b.WriteString(ansi.SetModeSynchronizedOutput + "\r")
	if n := s.height(columns); n > 0 {
		b.WriteString(ansi.CursorUp(n))
	}
	if len(stays) > 0 || columns != s.columns {
		b.WriteString(ansi.EraseScreenBelow) // with it a terminal forgets which lines it had broken
	}
	for _, line := range stays {
		b.WriteString(line + "\n")
	}
	for _, line := range lines {
		b.WriteString(line + ansi.EraseLineRight + "\n")
	}
	b.WriteString(ansi.EraseScreenBelow + ansi.ResetModeSynchronizedOutput)
	_, _ = io.WriteString(s.w, b.String()) // in one go; a view that cannot be written ends no measurement
	s.drawn, s.columns = lines, columns
}

// height returns how many rows the block takes up: a terminal that has become narrower has broken its lines.
func (s *Screen) height(columns int) int {
	n := 0
	for _, line := range s.drawn {
		n += max(1, (ansi.StringWidth(line)+columns-1)/columns)
	}
	return n
}
