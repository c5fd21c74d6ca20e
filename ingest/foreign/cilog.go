package foreign

import (
	"bufio"
	"bytes"
	"errors"

	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// ciPrefix is what CI systems write before each line of a log. GitHub Actions writes a time, and gh run view the job and
// the step before it; GitLab a time and the stream; Jenkins a time in brackets.
var ciPrefix = regexp.MustCompile(`^(?:(?:[^\t\n]*\t[^\t\n]*\t)?(?:\x{feff})?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z(?: |\r?$)` +
	`|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z \d\d[OE][ +]?` +
	`|\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[-+]\d\d:?\d\d)\](?: |\r?$))`)

// terminal matches control sequences of terminals, and GitLab's marks of sections, which end with a carriage return.
var terminal = regexp.MustCompile(`\x1b\[[0-9;?]*[ -/]*[@-~]|section_(?:start|end):\d+:[^\r\n]*\r`)

const escape = 0x1b

// withoutCI removes from a text the prefixes of a CI system and the control sequences of terminals. The number of lines
// stays the same. A text without them is returned unchanged.
func withoutCI(b *bufio.Reader) *bufio.Reader {
	start, _ := b.Peek(headBytes)
	f := lineFilter{r: b, prefixed: hasCIPrefix(start), drawn: bytes.IndexByte(start, escape) >= 0}
	if !f.prefixed && !f.drawn || bytes.IndexByte(start, 0) >= 0 { // what has a NUL is no text
		return b
	}
	return bufio.NewReaderSize(&f, headBytes)
}

// hasCIPrefix reports whether maxLines lines at the beginning have a prefix.
func hasCIPrefix(start []byte) bool {
	const maxLines = 40
	if part := start[:min(len(start), 4<<10)]; !bytes.Contains(part, []byte("Z")) && !bytes.Contains(part, []byte("] ")) {
		return false
	}
	lines, prefixed := 0, 0
	for line := range bytes.Lines(start) {
		if line = bytes.TrimSuffix(line, []byte("\n")); len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		lines++
		if ciPrefix.Match(drawnAway(line)) {
			prefixed++
		}
		if lines == maxLines {
			break
		}
	}
	return prefixed > 0 && 2*prefixed >= lines
}

// drawnAway is a line without control sequences of terminals.
func drawnAway(line []byte) []byte {
	if bytes.IndexByte(line, escape) < 0 && !bytes.Contains(line, []byte("section_")) {
		return line
	}
	return terminal.ReplaceAll(line, nil)
}

// lineFilter reads lines without their prefixes.
type lineFilter struct {
	r               *bufio.Reader
	prefixed, drawn bool
	inLine          bool // the next bytes continue a long line
	line            []byte
	err             error
}

func (f *lineFilter) Read(p []byte) (int, error) {
	for len(f.line) == 0 {
		if f.err != nil {
			return 0, f.err
		}
		var line []byte
		line, f.err = f.r.ReadSlice('\n')
		long := errors.Is(f.err, bufio.ErrBufferFull)
		if long {
			f.err = nil
		}
		f.line = f.without(line)
		f.inLine = long
	}
	n := copy(p, f.line)
	f.line = f.line[n:]
	return n, nil
}

// without is a line without its prefix and without control sequences.
func (f *lineFilter) without(line []byte) []byte {
	text, ended := bytes.CutSuffix(line, []byte("\n"))
	before := len(text)
	if f.drawn {
		text = drawnAway(text)
	}
	if f.prefixed && !f.inLine {
		text = text[len(ciPrefix.Find(text)):]
		if f.drawn {
			text = drawnAway(text)
		}
	}
	if len(text) == before {
		return line
	}
	if ended {
		return append(bytes.Clone(text), '\n')
	}
	return text
}
