package term

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// Wrapped breaks a line at spaces, with the rest indented under its second column of text, where it has one.
func Wrapped(line string, width int) []string {
	line = OneLine(line)
	if ansi.StringWidth(line) <= width {
		return []string{line}
	}
	text := strings.TrimLeft(line, " ")
	current := line[:len(line)-len(text)]
	indent := current
	if first, rest, found := strings.Cut(text, Gap); found {
		under := ansi.StringWidth(first+Gap) + len(rest) - len(strings.TrimLeft(rest, " "))
		if under <= width/2 { // else it is a text with two spaces in it
			indent += strings.Repeat(" ", under)
		}
	}
	var lines []string
	begun := false // the line has a word
	for word := range strings.SplitSeq(text, " ") {
		switch {
		case begun && word == "" && ansi.StringWidth(current) >= width: // more spaces than there is room for
		case begun && word != "" && ansi.StringWidth(current)+1+ansi.StringWidth(word) > width && ansi.StringWidth(current)+1 > ansi.StringWidth(indent):
			lines = append(lines, strings.TrimRight(current, " "))
			current = indent + word
		case begun:
			current += " " + word
		default:
			current += word
			begun = true
		}
	}
	return append(lines, strings.TrimRight(current, " "))
}

// OneLine is a text without what would end the line, turn its direction or steer the terminal.
func OneLine(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n':
			return ' '
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp):
			return '·'
		}
		return r
	}, s)
}

// Pad fills a text up with spaces to so many columns: before it where it is to end at the right.
func Pad(s string, width int, right bool) string {
	space := strings.Repeat(" ", max(width-ansi.StringWidth(s), 0))
	if right {
		return space + s
	}
	return s + space
}
