package term

import (
	"errors"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/neurolens/neurolens/runner/shellwords"
	"github.com/neurolens/neurolens/schema"
)

// Thousands prints a whole number with commas: 1,204.
func Thousands(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Count prints a number of things with the right ending: 1 run, 1,204 runs.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Thousands(n) + " " + noun + "s"
}

// All prints a number of things that are all there are: 1 run, both runs, all 1,204 runs.
func All(n int, noun string) string {
	switch n {
	case 1:
		return Count(n, noun)
	case 2:
		return "both " + noun + "s"
	}
	return "all " + Count(n, noun)
}

// Width returns the number of columns of a terminal that a text takes.
func Width(text string) int { return ansi.StringWidth(text) }

// Heading joins what is said once above a table.
func Heading(parts []string) []string {
	if len(parts) == 0 {
		return nil
	}
	short := make([]string, len(parts))
	for i, part := range parts { // of a command of several lines
		short[i] = Short(strings.Join(strings.Fields(part), " "))
	}
	return []string{strings.Join(short, " · ")}
}

// longest is how many columns a name may take, wherever it stands: a command may have a hundred kilobytes.
const longest = 120

// longestMessage is how many columns a message may take, which repeats what a user has typed.
const longestMessage = 2000

// Message returns a message in one line, without its middle where it is very long.
func Message(text string) string { return cutMiddle(text, longestMessage) }

// Short returns a text in one line, without its middle where it takes more columns than a name may.
func Short(text string) string { return cutMiddle(text, longest) }

// ShortNames returns the names of different things, each as Short returns it, or cut where they can still be told apart.
func ShortNames(names []string) []string {
	if widest(names) <= longest {
		return names
	}
	return CutDistinct(names, longest)
}

// Pairs returns lines of name and value, aligned.
func Pairs(rows [][2]string) []string {
	width := 0
	for _, row := range rows {
		width = max(width, ansi.StringWidth(row[0]))
	}
	lines := make([]string, len(rows))
	for i, row := range rows {
		lines[i] = Pad(row[0], width, false) + Gap + Message(row[1])
	}
	return lines
}

// FirstLine returns a text up to its first line break.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// ShellWord writes a word as a shell reads it back, in characters that can be printed.
func ShellWord(s string) string {
	if !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return shellwords.Quote(s)
	}
	if s != "" && !strings.ContainsAny(s, " \t\n'\"\\$`*?[]{}()<>|&;#!~") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Texts returns a text for each of several things.
func Texts[T any](things []T, text func(T) string) []string {
	texts := make([]string, len(things))
	for i, thing := range things {
		texts[i] = text(thing)
	}
	return texts
}

// DidYouMean returns a hint at the name that is most like a word, after a semicolon. It is empty if none is like it.
func DidYouMean(word string, names []string) string {
	if near := schema.Nearest(word, names); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// ShellLine joins words to a command line, each as a shell reads it back.
func ShellLine(words ...string) string {
	return strings.Join(Texts(words, ShellWord), " ")
}

// Verb returns the form of a verb for a number of things: that of one thing, or that of more.
func Verb(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

// IsAre returns "is" or "are".
func IsAre(n int) string { return Verb(n, "is", "are") }

// WantedNumber returns what a flag or a setting wants in place of a text that could not be read as a number, or as true or false. It is
// empty for other errors.
func WantedNumber(err error) string {
	var number *strconv.NumError
	switch {
	case !errors.As(err, &number):
		return ""
	case errors.Is(number.Err, strconv.ErrRange):
		return "a smaller number"
	case number.Func == "ParseFloat":
		return "a number"
	case number.Func == "ParseBool":
		return "true or false"
	}
	return "a whole number"
}

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
	for word := range strings.SplitSeq(strings.ReplaceAll(text, " %", glued), " ") {
		word = strings.ReplaceAll(word, glued, " %")
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

// glued stands for the space and the sign of a percentage while a line is wrapped, which does not part them. OneLine has removed all others.
const glued = "\x00"

// OneLine returns a text without what would end the line, turn its direction or steer the terminal.
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
