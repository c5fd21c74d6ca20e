package term

import (
	"cmp"
	"io"
	"strings"
	"unicode/utf8"
)

// WantsASCII tells that a terminal shows nothing but WantsASCII: the variables of its locale say which characters it has, the first that is set.
// Where none is, it is taken for one of today.
func WantsASCII(getenv func(string) string) bool {
	locale := strings.ToLower(cmp.Or(getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG")))
	return locale != "" && !strings.Contains(locale, "utf-8") && !strings.Contains(locale, "utf8")
}

// Spelled is a stream as a terminal without UTF-8 can show it, if it is one.
func Spelled(w io.Writer, isTerminal bool, getenv func(string) string) io.Writer {
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

// Write writes what is whole of a text.
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
