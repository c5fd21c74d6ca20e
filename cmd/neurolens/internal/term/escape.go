package term

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// IsControl tells whether a character, printed as it is, does something to a terminal or turns the text around it: the
// control characters, and the marks of the bidirectional algorithm.
func IsControl(r rune) bool {
	switch {
	case r < ' ' || r >= 0x7f && r <= 0x9f:
		return true
	case r == 0x061c || r == 0x200e || r == 0x200f:
		return true
	}
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// Escaped writes each character of a text for which it has to as \u and four digits.
func Escaped(text string, has func(rune) bool) string {
	if strings.IndexFunc(text, has) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if has(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Escaper writes a text of lines with what would steer a terminal as \u and four digits: JSON says the same so; of CSV
// it is another text, which only somebody who looks at it gets.
type Escaper struct {
	To   io.Writer
	rest []byte // of a character whose end has not come yet
}

// Write writes the complete characters of a text, and keeps an incomplete one for the next call.
func (e *Escaper) Write(b []byte) (int, error) {
	if len(e.rest) == 0 && !slices.ContainsFunc(b, func(c byte) bool { return c < ' ' && c != '\n' && c != '\t' || c >= 0x7f }) {
		return e.To.Write(b)
	}
	text := append(e.rest, b...)
	whole := len(text)
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if utf8.RuneStart(text[len(text)-n]) {
			if !utf8.FullRune(text[len(text)-n:]) {
				whole -= n
			}
			break
		}
	}
	out := Escaped(strings.ToValidUTF8(string(text[:whole]), "\ufffd"), func(r rune) bool { return r != '\n' && r != '\t' && IsControl(r) })
	e.rest = append([]byte(nil), text[whole:]...)
	if _, err := io.WriteString(e.To, out); err != nil {
		return 0, err
	}
	return len(b), nil
}

// WantsASCII reports whether a terminal shows only ASCII. The first variable of the locale that is set decides; without any the terminal is
// taken to show UTF-8.
func WantsASCII(getenv func(string) string) bool {
	locale := strings.ToLower(cmp.Or(getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG")))
	return locale != "" && !strings.Contains(locale, "utf-8") && !strings.Contains(locale, "utf8")
}

// ASCIIWriter returns a stream as a terminal without UTF-8 can show it, if it is one.
func ASCIIWriter(w io.Writer, isTerminal bool, getenv func(string) string) io.Writer {
	if !isTerminal || !WantsASCII(getenv) {
		return w
	}
	return &spelling{to: w}
}

// spelling writes ASCII, a character for each: columns stay where they are.
type spelling struct {
	to   io.Writer
	rest []byte // of a character whose end has not come yet
}

// spelled are the characters of our own texts that ASCII lacks, each with one that says about the same.
var spelled = strings.NewReplacer(
	"µ", "u", "μ", "u", "−", "-", "–", "-", "…", "~", "·", "-", "×", "x", "±", "~", "→", ">", "≤", "<", "≥", ">", "°", "'", "²", "2",
	"▁", "_", "▂", ".", "▃", ",", "▄", "-", "▅", "=", "▆", "+", "▇", "*", "█", "#", "░", ".", "▏", "#", "▎", "#", "▍", "#", "▌", "#", "▋", "#", "▊", "#", "▉", "#",
)

// Write writes the complete characters of a text.
func (s *spelling) Write(b []byte) (int, error) {
	text := append(s.rest, b...)
	whole := len(text)
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if utf8.RuneStart(text[len(text)-n]) {
			if !utf8.FullRune(text[len(text)-n:]) {
				whole -= n
			}
			break
		}
	}
	s.rest = append([]byte(nil), text[whole:]...)
	_, err := io.WriteString(s.to, strings.Map(func(r rune) rune {
		if r > '~' {
			return '?'
		}
		return r
	}, spelled.Replace(string(text[:whole]))))
	if err != nil {
		return 0, err
	}
	return len(b), nil
}
