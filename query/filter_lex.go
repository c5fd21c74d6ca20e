package query

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// A filter is text of a user: expr := and ("or" and)* ; and := unary+ ; unary := "not" unary | "(" expr ")" | word ;
// word := key operator value ("," value)*.
//
// White space ends a word outside double quotes. In quotes \" and \\ are escapes, other backslashes stay. Brackets
// opened in a value belong to it; a ) that closes nothing in its value is the filter's. In a regular expression a
// backslash takes the meaning from the next character, and brackets inside [...] mean nothing.

// tokenKind tells what a token is.
type tokenKind int

const (
	tokenEnd tokenKind = iota
	tokenOpen
	tokenClose
	tokenAnd
	tokenOr
	tokenNot
	tokenWord
)

// token is a part of a filter; word is set where the kind is tokenWord.
type token struct {
	kind   tokenKind
	offset int
	word   *word
}

// word is a condition as it was written.
type word struct {
	text   string // the whole word
	offset int    // of the word in the filter
	key    string
	op     string // = != < <= > >= ~ !~
	values []value
}

// value is one value of a word. A quoted one is text, never null, an alias or a number.
type value struct {
	text   string
	quoted bool
	offset int
}

// operators in the order of trying: the longest that fits wins.
var operators = []string{"!=", "!~", "<=", ">=", "=", "<", ">", "~"}

// lexer cuts a filter into tokens.
type lexer struct {
	text string
	at   int
}

// inputError is an ErrInput about a place in a filter.
func inputError(where string, offset int, format string, args ...any) error {
	return input("filter: %s  (offset %d): %s", brief(where), offset, fmt.Sprintf(format, args...))
}

// brief makes a text of a user fit into one line of an error: cut to 60 characters, nothing unprintable.
func brief(text string) string {
	const limit = 60
	if utf8.RuneCountInString(text) > limit {
		text = string([]rune(text)[:limit]) + "…"
	}
	return printable(text)
}

func (l *lexer) next() (token, error) {
	for l.at < len(l.text) && isSpace(l.text[l.at]) {
		l.at++
	}
	t := token{offset: l.at}
	if l.at == len(l.text) {
		return t, nil
	}
	switch l.text[l.at] {
	case '(':
		l.at++
		t.kind = tokenOpen
		return t, nil
	case ')':
		l.at++
		t.kind = tokenClose
		return t, nil
	}
	return l.word()
}

func (l *lexer) word() (token, error) {
	start := l.at
	w := &word{offset: start}
	quoted, err := l.key(w)
	if err != nil {
		return token{}, err
	}
	if w.op == "" {
		return l.keyword(start, w, quoted)
	}
	if w.key == "" {
		return token{}, inputError(w.op, start, "a key is missing before %s", w.op)
	}
	if err := l.values(w); err != nil {
		return token{}, err
	}
	w.text = l.text[start:l.at]
	return token{kind: tokenWord, offset: start, word: w}, nil
}

// key reads up to the operator and over it. A ( ends a key, so that not(a=1) is what it looks like.
func (l *lexer) key(w *word) (quoted bool, err error) {
	var key strings.Builder
	for l.at < len(l.text) {
		c := l.text[l.at]
		if c == '"' {
			quoted = true
			if err := l.quote(&key); err != nil {
				return quoted, err
			}
			continue
		}
		if isSpace(c) || c == '(' || c == ')' {
			break
		}
		if w.op = operatorAt(l.text[l.at:]); w.op != "" {
			l.at += len(w.op)
			break
		}
		key.WriteByte(c)
		l.at++
	}
	w.key = key.String()
	return quoted, nil
}

func operatorAt(text string) string {
	for _, op := range operators {
		if strings.HasPrefix(text, op) {
			return op
		}
	}
	return ""
}

// keyword makes a token of a word without an operator.
func (l *lexer) keyword(start int, w *word, quoted bool) (token, error) {
	kinds := map[string]tokenKind{"and": tokenAnd, "or": tokenOr, "not": tokenNot}
	if kind, ok := kinds[w.key]; ok && !quoted {
		return token{kind: kind, offset: start}, nil
	}
	text := l.text[start:l.at]
	return token{}, inputError(text, start, "a condition is missing; a shell takes < and > for itself, so quote it: '%s>=2'", brief(text))
}

// values reads the values of a word; only = and != have more than one.
func (l *lexer) values(w *word) error {
	regex := strings.HasSuffix(w.op, "~")
	list := strings.HasSuffix(w.op, "=") && !strings.ContainsAny(w.op, "<>")
	for {
		v, err := l.value(w, regex, list)
		if err != nil {
			return err
		}
		text := l.text[w.offset:l.at]
		if v.text == "" && !v.quoted {
			return inputError(text, v.offset, "a value is missing")
		}
		if !regex && !v.quoted && strings.ContainsRune("=<>~", rune(v.text[0])) {
			return inputError(text, v.offset, "two operators; a value that begins with %c has to be quoted", v.text[0])
		}
		w.values = append(w.values, v)
		if !list || l.at == len(l.text) || l.text[l.at] != ',' {
			return nil
		}
		l.at++
	}
}

// value reads one value up to white space, to a ) that it did not open and, in a list, to a comma.
func (l *lexer) value(w *word, regex, list bool) (value, error) {
	v := value{offset: l.at}
	var text strings.Builder
	var open nesting
	for l.at < len(l.text) {
		c := l.text[l.at]
		switch {
		case isSpace(c), c == ')' && len(open) == 0, c == ',' && list && len(open) == 0:
			v.text = text.String()
			return v, nil
		case c == '"':
			v.quoted = true
			if err := l.quote(&text); err != nil {
				return v, inputError(l.text[w.offset:], l.at, "the quote is not closed")
			}
			continue
		case c == '\\' && regex && l.at+1 < len(l.text) && !isSpace(l.text[l.at+1]):
			text.WriteByte(c)
			l.at++
			c = l.text[l.at]
		default:
			open.see(c, regex)
		}
		text.WriteByte(c)
		l.at++
	}
	v.text = text.String()
	return v, nil
}

// quote reads a quoted text with its quotes. On an error l.at stays at the opening quote.
func (l *lexer) quote(to *strings.Builder) error {
	for i := l.at + 1; i < len(l.text); i++ {
		switch c := l.text[i]; {
		case c == '"':
			l.at = i + 1
			return nil
		case c == '\\' && i+1 < len(l.text) && (l.text[i+1] == '"' || l.text[i+1] == '\\'):
			i++
			to.WriteByte(l.text[i])
		default:
			to.WriteByte(c)
		}
	}
	return inputError(l.text[l.at:], l.at, "the quote is not closed")
}

// nesting are the brackets open in a value.
type nesting []byte

var closers = map[byte]byte{'(': ')', '[': ']', '{': '}'}

// see takes note of a character. A closing bracket of the wrong kind is an ordinary character.
func (n *nesting) see(c byte, regex bool) {
	last := byte(0)
	if len(*n) > 0 {
		last = (*n)[len(*n)-1]
	}
	switch {
	case last != 0 && c == closers[last]:
		*n = (*n)[:len(*n)-1]
	case regex && last == '[':
	case closers[c] != 0:
		*n = append(*n, c)
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
