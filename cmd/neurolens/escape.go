package main

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// steers tells whether a character, printed as it is, does something to a terminal or turns the text around it: the
// control characters, and the marks of the bidirectional algorithm.
func steers(r rune) bool {
	switch {
	case r < ' ' || r >= 0x7f && r <= 0x9f:
		return true
	case r == 0x061c || r == 0x200e || r == 0x200f:
		return true
	}
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// escaped writes each character of a text for which it has to as \u and four digits.
func escaped(text string, has func(rune) bool) string {
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

// plainEscapes are those of the format plain that are older than \u, and its own escape character.
var plainEscapes = strings.NewReplacer("\\", `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`)

// plainText is a text for a cell of the format plain: one line without tabs that steers nothing.
func plainText(text string) string { return escaped(plainEscapes.Replace(text), steers) }

// escaper writes a text of lines with what would steer a terminal as \u and four digits: JSON says the same so; of CSV
// it is another text, which only somebody who looks at it gets.
type escaper struct {
	to   io.Writer
	rest []byte // of a character whose end has not come yet
}

func (e *escaper) Write(b []byte) (int, error) {
	if len(e.rest) == 0 && !slices.ContainsFunc(b, func(c byte) bool { return c < ' ' && c != '\n' && c != '\t' || c >= 0x7f }) {
		return e.to.Write(b)
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
	out := escaped(strings.ToValidUTF8(string(text[:whole]), "\ufffd"), func(r rune) bool { return r != '\n' && r != '\t' && steers(r) })
	e.rest = append([]byte(nil), text[whole:]...)
	if _, err := io.WriteString(e.to, out); err != nil {
		return 0, err
	}
	return len(b), nil
}

// csvNumber matches the numbers that may begin with a sign.
var csvNumber = regexp.MustCompile(`^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$`)

// csvText is a text for a cell that a spreadsheet must not take for a formula: it gets an apostrophe before it.
func csvText(text string) string {
	if text == "" || !strings.Contains("=+-@\t\r", text[:1]) || csvNumber.MatchString(text) {
		return text
	}
	return "'" + text
}

// markdownMarks are characters that mean something in GitHub's Markdown, and how to write them so that they do not.
var markdownMarks = strings.NewReplacer(
	`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "[", `\[`, "]", `\]`, "~", `\~`, "$", `\$`,
	"&", "&amp;", "<", "&lt;", ">", "&gt;",
	"://", ":&#8203;//", "www.", "www&#8203;.", "WWW.", "WWW&#8203;.",
)

// markdownNames matches the first two characters of what GitHub takes for a name, or for the number of an issue.
var markdownNames = regexp.MustCompile(`@[\pL\pN_-]|#[0-9]`)

// noNames takes the names that GitHub knows apart.
func noNames(text string) string {
	return markdownNames.ReplaceAllStringFunc(text, func(name string) string { return name[:1] + "&#8203;" + name[1:] })
}

// markdownText is a text as GitHub's Markdown shows it: it makes no element, no link and mentions nobody. Where GitHub
// looks at what is shown (names, addresses, numbers of issues), a space without width stands between.
func markdownText(text string) string { return noNames(markdownMarks.Replace(oneLine(text))) }
