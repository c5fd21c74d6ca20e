package discover

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// No maintained Go parser of current Python works without cgo or the grammars of a hundred languages, and little is
// needed here: names at the top level of a file, and imports. So this scanner knows the lexical structure of Python (strings
// with fields, comments, brackets, continued lines, indentation), and python.go and python_names.go the statements that matter. They are
// tolerant: unknown syntax passes, and the interpreter decides when the file is run.

// kind is what a token is.
type kind byte

const (
	nameToken kind = iota
	numberToken
	stringToken
	opToken
)

// token is a word of a statement.
type token struct {
	kind kind
	text string // of a name or an operator
}

// logical is a logical line in the sense of Python: with the lines that brackets and \ join to it, without comments.
type logical struct {
	line, indent int
	tokens       []token
}

// scanner cuts a source into logical lines.
type scanner struct {
	source string
	at     int
	line   int
	tokens []token
	open   []bracket
	err    error
}

type bracket struct {
	closes byte
	line   int
}

// codingLine declares another encoding than UTF-8 in one of the first two lines.
var codingLine = regexp.MustCompile(`^(?:[^\r\n]*\r?\n)?[ \t\f]*#[^\r\n]*coding[:=][ \t]*[-\w.]+`)

// scan passes the logical lines of a source to do until either finds an error, which contains the line number.
func scan(source string, do func(logical) error) error {
	source = strings.TrimPrefix(source, "\ufeff")
	if at := strings.IndexByte(source, 0); at >= 0 {
		return fmt.Errorf("line %d: a NUL byte: it is not a text file", 1+strings.Count(source[:at], "\n"))
	}
	if !utf8.ValidString(source) && !codingLine.MatchString(source) {
		return errors.New("it is not UTF-8, and declares no other encoding")
	}
	s := &scanner{source: source, line: 1}
	for s.at < len(s.source) {
		l := s.logical()
		if s.err != nil {
			return s.err
		}
		if len(l.tokens) == 0 {
			continue
		}
		if err := do(l); err != nil {
			return err
		}
	}
	return nil
}

// fail keeps the first error and ends the scan.
func (s *scanner) fail(line int, format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf("line %d: %s", line, fmt.Sprintf(format, args...))
	}
	s.at = len(s.source)
}

// peek is the byte that many places ahead; 0 after the end.
func (s *scanner) peek(ahead int) byte {
	if s.at+ahead >= len(s.source) {
		return 0
	}
	return s.source[s.at+ahead]
}

// newline skips the end of a line, if it is here.
func (s *scanner) newline() bool {
	switch {
	case s.peek(0) == '\r' && s.peek(1) == '\n':
		s.at += 2
	case s.peek(0) == '\n', s.peek(0) == '\r':
		s.at++
	default:
		return false
	}
	s.line++
	return true
}

// indentation skips and counts the blanks at the beginning of a line.
func (s *scanner) indentation() int {
	const tab = 8
	for columns := 0; ; s.at++ {
		switch s.peek(0) {
		case ' ':
			columns++
		case '\t':
			columns += tab - columns%tab
		case '\f':
			columns = 0
		default:
			return columns
		}
	}
}

// logical reads to the end of a logical line. An empty line has no tokens.
func (s *scanner) logical() logical {
	l := logical{indent: s.indentation(), line: s.line}
	s.tokens = s.tokens[:0]
	for s.at < len(s.source) {
		if s.newline() {
			if len(s.open) == 0 {
				break
			}
			continue
		}
		s.token()
	}
	if len(s.open) > 0 {
		s.fail(s.open[len(s.open)-1].line, "a bracket is not closed: want a %c", s.open[len(s.open)-1].closes)
	}
	l.tokens = s.tokens
	return l
}

// token reads one token, or what is none.
func (s *scanner) token() {
	c := s.peek(0)
	switch {
	case c == ' ' || c == '\t' || c == '\f':
		s.at++
	case c == '#':
		s.comment()
	case c == '\\':
		if s.at++; !s.newline() {
			s.fail(s.line, `a \ must be at the end of the line`)
		} else if s.at == len(s.source) {
			s.fail(s.line, `the file ends after a \`)
		}
	case c == '"' || c == '\'':
		s.text("")
	case isDigit(c) || c == '.' && isDigit(s.peek(1)):
		s.number()
	case isLetter(c):
		s.name()
	default:
		s.operator()
	}
}

func (s *scanner) comment() {
	for s.at < len(s.source) && s.peek(0) != '\n' && s.peek(0) != '\r' {
		s.at++
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isLetter reports whether a name may begin with a byte. Bytes beyond ASCII count as letters, which makes no difference here.
func isLetter(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c >= utf8.RuneSelf
}

func (s *scanner) name() {
	start := s.at
	for isLetter(s.peek(0)) || isDigit(s.peek(0)) {
		s.at++
	}
	name := s.source[start:s.at]
	if c := s.peek(0); (c == '"' || c == '\'') && isPrefix(name) {
		s.text(name)
		return
	}
	s.tokens = append(s.tokens, token{nameToken, name})
}

// isPrefix reports whether letters before a quote define the type of the string.
func isPrefix(name string) bool {
	switch strings.ToLower(name) {
	case "r", "u", "b", "f", "t", "br", "rb", "fr", "rf", "tr", "rt":
		return true
	}
	return false
}

// The digits of numbers, and what may stand between them.
const (
	decimalDigits     = "0123456789_"
	hexadecimalDigits = decimalDigits + "abcdefABCDEF"
)

// number goes over a number. 1if is a number and a keyword.
func (s *scanner) number() {
	s.tokens = append(s.tokens, token{kind: numberToken})
	if s.peek(0) == '0' && strings.IndexByte("xXoObB", s.peek(1)) >= 0 {
		s.at += 2
		s.over(hexadecimalDigits)
		return
	}
	if s.over(decimalDigits); s.peek(0) == '.' {
		if s.at++; isDigit(s.peek(0)) {
			s.over(decimalDigits)
		}
	}
	sign := 0
	if s.peek(1) == '-' || s.peek(1) == '+' {
		sign = 1
	}
	if s.peek(0)|0x20 == 'e' && isDigit(s.peek(1+sign)) {
		s.at += 1 + sign
		s.over(decimalDigits)
	}
	if s.peek(0)|0x20 == 'j' {
		s.at++
	}
}

// over goes over characters of a set.
func (s *scanner) over(set string) {
	for s.at < len(s.source) && strings.IndexByte(set, s.source[s.at]) >= 0 {
		s.at++
	}
}

// operator reads an operator, of two characters where the second is = or it is ->. Brackets have to match.
func (s *scanner) operator() {
	c := s.peek(0)
	size := 1
	switch {
	case strings.IndexByte("([{", c) >= 0:
		s.open = append(s.open, bracket{")]}"[strings.IndexByte("([{", c)], s.line})
	case strings.IndexByte(")]}", c) >= 0:
		if len(s.open) == 0 || s.open[len(s.open)-1].closes != c {
			s.fail(s.line, "unmatched %c", c)
			return
		}
		s.open = s.open[:len(s.open)-1]
	case strings.IndexByte("=!<>:+-*/%&|^@", c) >= 0 && s.peek(1) == '=', c == '-' && s.peek(1) == '>':
		size = 2
	case strings.IndexByte("=<>:+-*/%&|^@.,;~", c) < 0:
		s.fail(s.line, "%q is not valid Python", c)
		return
	}
	s.tokens = append(s.tokens, token{opToken, s.source[s.at : s.at+size]})
	s.at += size
}
