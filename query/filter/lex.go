// Package filter compiles the filter language, in which users select runs, to SQL.
//
//	expr  := and ("or" and)*
//	and   := unary+
//	unary := "not" unary | "(" expr ")" | word
//	word  := key operator value ("," value)*
//
// The case of and, or and not does not matter. && || ! mean the same, and == means = .
//
// Outside of double quotes, white space ends a word. Inside, \" and \\ are escapes; other backslashes are literal. Brackets that are
// opened in a value belong to the value; an unmatched ) ends it. In a regular expression a backslash escapes the next character, and
// brackets inside [...] are literal.
package filter

import (
	"fmt"
	"strings"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// tokenKind is the kind of a token.
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

// token is a part of a filter; word is set if the kind is tokenWord.
type token struct {
	kind   tokenKind
	offset int
	word   *Word
}

// Word is a condition as the user wrote it.
type Word struct {
	Text   string // the whole word
	offset int    // byte offset in the filter
	Key    string
	Op     string // = != < <= > >= ~ !~
	Values []Value
}

// Value is one value of a word. A quoted value is always text: never null, an alias or a number.
type Value struct {
	Text   string
	quoted bool
	offset int
}

// Null reports whether a value is null.
func (v Value) Null() bool { return v.Text == "null" && !v.quoted }

// Having returns the filter of the runs that have one of a word's values, even if the word excludes them.
func (w *Word) Having(v Value) string {
	text := v.Text
	if v.quoted {
		text = Quote(text)
	}
	return QuoteWord(w.Key) + strings.TrimPrefix(w.Op, "!") + text
}

// operators are the operators as written and their meaning, longer ones first.
var operators = []struct{ text, op string }{
	{"==", "="}, {"=~", "~"}, {"!=", "!="}, {"!~", "!~"}, {"<>", "!="}, {"<=", "<="}, {">=", ">="}, {"=", "="}, {"<", "<"}, {">", ">"}, {"~", "~"},
}

// lexer cuts a filter into tokens.
type lexer struct {
	text string
	at   int
}

// ErrorAt returns an ErrInput about a position in a filter. offset is in bytes.
func ErrorAt(where string, offset int, format string, args ...any) error {
	return answer.InputError("filter: %s  (offset %d): %s", answer.Brief(where), offset, fmt.Sprintf(format, args...))
}

func (l *lexer) next() (token, error) {
	l.at = l.overSpace(l.at)
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
	case '!':
		if operatorAt(l.text[l.at:]).text == "" {
			l.at++
			t.kind = tokenNot
			return t, nil
		}
	}
	for text, kind := range joiners {
		if strings.HasPrefix(l.text[l.at:], text) {
			l.at += len(text)
			t.kind = kind
			return t, nil
		}
	}
	return l.word()
}

// joiners are the symbols for and and or.
var joiners = map[string]tokenKind{"&&": tokenAnd, "||": tokenOr}

func (l *lexer) word() (token, error) {
	start := l.at
	w := &Word{offset: start}
	quoted, err := l.key(w)
	if err != nil {
		return token{}, err
	}
	if w.Op == "" {
		return l.keyword(start, w, quoted)
	}
	if w.Key == "" {
		return token{}, ErrorAt(w.Op, start, "a key is missing before %s", w.Op)
	}
	if err := l.values(w); err != nil {
		return token{}, err
	}
	w.Text = l.text[start:l.at]
	return token{kind: tokenWord, offset: start, word: w}, nil
}

// key reads a key and its operator. A ( ends a key, so that not(a=1) is read as expected.
func (l *lexer) key(w *Word) (quoted bool, err error) {
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
		if found := operatorAt(l.text[l.at:]); found.text != "" {
			w.Op = found.op
			l.at += len(found.text)
			break
		}
		key.WriteByte(c)
		l.at++
	}
	w.Key = key.String()
	if _, isKeyword := keywords[strings.ToLower(w.Key)]; w.Op == "" && w.Key != "" && (quoted || !isKeyword) {
		l.spacedOperator(w)
	}
	return quoted, nil
}

// spacedOperator reads an operator with white space on both sides.
func (l *lexer) spacedOperator(w *Word) {
	at := l.overSpace(l.at)
	found := operatorAt(l.text[at:])
	value := l.overSpace(at + len(found.text))
	if found.text == "" || at == l.at || value == len(l.text) {
		return
	}
	w.Op, l.at = found.op, value
}

func (l *lexer) overSpace(at int) int {
	for at < len(l.text) && isSpace(l.text[at]) {
		at++
	}
	return at
}

func operatorAt(text string) (found struct{ text, op string }) {
	for _, o := range operators {
		if strings.HasPrefix(text, o.text) {
			return o
		}
	}
	return found
}

var keywords = map[string]tokenKind{"and": tokenAnd, "or": tokenOr, "not": tokenNot}

// keyword makes a token of a word without an operator.
func (l *lexer) keyword(start int, w *Word, quoted bool) (token, error) {
	if kind, ok := keywords[strings.ToLower(w.Key)]; ok && !quoted {
		return token{kind: kind, offset: start}, nil
	}
	return token{}, &NoConditionError{Word: l.text[start:l.at], Offset: start}
}

// values reads the values of a word; only = and != have more than one.
func (l *lexer) values(w *Word) error {
	regex := strings.HasSuffix(w.Op, "~")
	list := strings.HasSuffix(w.Op, "=") && !strings.ContainsAny(w.Op, "<>")
	for {
		v, err := l.value(w, regex, list)
		if err != nil {
			return err
		}
		text := l.text[w.offset:l.at]
		if v.Text == "" && !v.quoted {
			return ErrorAt(text, v.offset, "a value is missing")
		}
		if !regex && !v.quoted && strings.ContainsRune("=<>~", rune(v.Text[0])) {
			return ErrorAt(text, v.offset, "two operators in a row; quote a value that begins with %c", v.Text[0])
		}
		if key, value, found := strings.Cut(v.Text, "="); found && !v.quoted && len(w.Values) > 0 && !FieldOf(key).Bare {
			return ErrorAt(text, v.offset, "separate conditions with a space, not a comma: %s %s=%s", answer.Brief(l.text[w.offset:v.offset-1]), key, answer.Brief(value))
		}
		w.Values = append(w.Values, v)
		if !list || l.at == len(l.text) || l.text[l.at] != ',' {
			return nil
		}
		l.at++
	}
}

// value reads one value up to white space, an unmatched ) or, in a list, a comma.
func (l *lexer) value(w *Word, regex, list bool) (Value, error) {
	v := Value{offset: l.at}
	var text strings.Builder
	var open nesting
	for l.at < len(l.text) {
		c := l.text[l.at]
		switch {
		case isSpace(c), c == ')' && len(open) == 0, c == ',' && list && len(open) == 0, !regex && len(open) == 0 && l.joinsHere():
			v.Text = text.String()
			return v, nil
		case c == '"':
			v.quoted = true
			if err := l.quote(&text); err != nil {
				return v, ErrorAt(l.text[w.offset:], l.at, "the quote is not closed")
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
	v.Text = text.String()
	return v, nil
}

// joinsHere reports whether && or || follows.
func (l *lexer) joinsHere() bool {
	return strings.HasPrefix(l.text[l.at:], "&&") || strings.HasPrefix(l.text[l.at:], "||")
}

// quote reads a quoted text. On an error l.at stays at the opening quote.
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
	return ErrorAt(l.text[l.at:], l.at, "the quote is not closed")
}

// nesting are the open brackets of a value.
type nesting []byte

var closers = map[byte]byte{'(': ')', '[': ']', '{': '}'}

// see updates the open brackets with a character. A closing bracket of the wrong kind is an ordinary character.
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

// Quote returns a text as a quoted value of a filter.
func Quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// Unquote returns the text of a value that may be quoted.
func Unquote(value string) string {
	var text strings.Builder
	l := lexer{text: value}
	if !strings.HasPrefix(value, `"`) || l.quote(&text) != nil || l.at < len(value) {
		return value
	}
	return text.String()
}

// QuoteAll writes texts as alternative values of a condition.
func QuoteAll(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = Quote(text)
	}
	return strings.Join(quoted, ",")
}

// QuoteFor returns a text as the value of a condition on a key. A column of numbers takes no quoted value.
func QuoteFor(key, text string) string {
	if f := FieldOf(key); f.Kind() != schema.KindString && QuoteWord(text) == text {
		return text
	}
	return Quote(text)
}
