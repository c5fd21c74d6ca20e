package programtest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Terminal is a terminal that knows what term.Screen needs, and nothing else: a sequence that sets something is kept in Unknown.
type Terminal struct {
	Columns, Rows int
	Column        int      // where the cursor is, from 0
	Unknown       []string // sequences that it does not know

	lines [][]rune
	row   int
}

var sequence = regexp.MustCompile(`^\x1b\[(\??[0-9;]*)([A-Za-z])`)

// Write shows a text.
func (m *Terminal) Write(p []byte) (int, error) {
	for text := string(p); text != ""; {
		if found := sequence.FindStringSubmatch(text); found != nil {
			m.obey(found[1], found[2])
			text = text[len(found[0]):]
			continue
		}
		r := []rune(text)[0]
		m.put(r)
		text = text[len(string(r)):]
	}
	return len(p), nil
}

func (m *Terminal) obey(argument, command string) {
	m.line()
	n := 1
	if v, err := strconv.Atoi(argument); err == nil {
		n = v
	}
	switch {
	case command == "A":
		m.row = max(m.row-n, len(m.lines)-m.Rows, 0)
	case command == "K" && argument == "", command == "J" && argument == "":
		m.lines[m.row] = m.lines[m.row][:min(m.Column, len(m.lines[m.row]))]
		if command == "J" {
			m.lines = m.lines[:m.row+1]
		}
	case command == "m", argument == "?2026" && (command == "h" || command == "l"):
	default:
		m.Unknown = append(m.Unknown, argument+command)
	}
}

func (m *Terminal) put(r rune) {
	switch {
	case r == '\r':
		m.Column = 0
	case r == '\n':
		m.row, m.Column = m.row+1, 0
		m.line()
	case r < ' ':
		m.Unknown = append(m.Unknown, fmt.Sprintf("%q", r))
	default:
		if m.Column == m.Columns {
			m.put('\n')
		}
		line := m.line()
		for len(*line) <= m.Column {
			*line = append(*line, ' ')
		}
		(*line)[m.Column] = r
		m.Column++
	}
}

func (m *Terminal) line() *[]rune {
	for len(m.lines) <= m.row {
		m.lines = append(m.lines, nil)
	}
	return &m.lines[m.row]
}

// Narrow makes the terminal narrower and breaks its lines, as most terminals do.
func (m *Terminal) Narrow(columns int) {
	var lines [][]rune
	row := 0
	for i, line := range m.lines {
		if i == m.row {
			row = len(lines)
		}
		for len(line) > columns {
			lines, line = append(lines, line[:columns]), line[columns:]
		}
		lines = append(lines, line)
	}
	m.Columns, m.lines, m.row = columns, lines, row
}

// String returns all that was shown and not removed.
func (m *Terminal) String() string {
	var b strings.Builder
	for _, line := range m.lines {
		b.WriteString(strings.TrimRight(string(line), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// Hostile returns texts that end what they stand in (an element, a section, a block of code, a string), that do what Nasty do, and that are
// far too long.
func Hostile() []string {
	return append(Nasty(),
		"</title></svg><img src=x onerror=alert(1)>", `"><g onload="alert(1)`, `' onclick='alert(1)`, "]]><!--", "-->", "</style><style>*{display:none}",
		"```", "~~~~", "``````", "</code></pre>", `"};alert(1);//`, `${alert(1)}`, "{{constructor.constructor('alert(1)')()}}", "&#0;&quot;", "\x00",
		`=HYPERLINK("https://example.org")`, "\r=1", "@SUM(A1:A9)", "名前", "e"+strings.Repeat("\u0301", 300), strings.Repeat("x", 10_000), strings.Repeat("<", 10_000))
}

// Nasty returns texts that steer a terminal, turn the text around them, make formulas, elements, links, or mention somebody.
func Nasty() []string {
	return []string{
		"\x1b]0;title\a", "\u009b31m", "\x7f", "a\u202eb\u202c", "\u2066x\u2069", "\u061c\u200e\u200f", "one\ntwo\tthree\rfour", `back\slash`,
		"=cmd|' /C calc'!A0", "@SUM(1)", "+1+1", "-2+3", "\t=1", "-1.5e3", "<script>alert(1)</script>", "[a](javascript:1)", "`code`", "@name", "#12",
		"https://example.org", "www.example.org", "**bold**", "![x](y)", "a|b", "&lt;", "~~gone~~", "$x$",
	}
}
