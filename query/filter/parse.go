package filter

import (
	"strings"
	"unicode/utf8"

	"github.com/neurolens/neurolens/query/answer"
)

// Limits of a filter. They reject texts that are not filters before these cost memory or exceed the nesting that DuckDB supports.
const (
	maxFilterBytes = 64 << 10
	maxFilterDepth = 50
	maxFilterWords = 500
)

// node is a filter: a word, or an operation on other nodes (and, or: two or more; not: one).
type node struct {
	kind  tokenKind // tokenWord, tokenAnd, tokenOr, tokenNot
	word  *Word
	parts []*node
}

// parser reads a filter; peeked is the next token.
type parser struct {
	lexer  lexer
	peeked token
	depth  int
	words  int
}

// parseFilter reads a filter; nil if it is empty. Errors wrap ErrInput and have the offset in bytes.
func parseFilter(text string) (*node, error) {
	switch {
	case len(text) > maxFilterBytes:
		return nil, ErrorAt(text, maxFilterBytes, "longer than %d bytes", maxFilterBytes)
	case !utf8.ValidString(text):
		return nil, ErrorAt(text, answer.InvalidAt(text), "not UTF-8")
	case strings.ContainsRune(text, 0):
		return nil, ErrorAt(text, strings.IndexByte(text, 0), "a NUL byte")
	}
	p := &parser{lexer: lexer{text: text}}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.peeked.kind == tokenEnd {
		return nil, nil
	}
	n, err := p.expr()
	if err != nil {
		return nil, err
	}
	if p.peeked.kind == tokenClose {
		return nil, p.fail("unmatched )")
	}
	return n, nil
}

func (p *parser) advance() (err error) {
	p.peeked, err = p.lexer.next()
	return err
}

func (p *parser) fail(message string) error {
	return ErrorAt(p.lexer.text, p.peeked.offset, "%s", message)
}

func (p *parser) expr() (*node, error) {
	n, err := p.and()
	if err != nil {
		return nil, err
	}
	parts := []*node{n}
	for p.peeked.kind == tokenOr {
		if err := p.advance(); err != nil {
			return nil, err
		}
		n, err := p.and()
		if err != nil {
			return nil, err
		}
		parts = append(parts, n)
	}
	return join(tokenOr, parts), nil
}

func (p *parser) and() (*node, error) {
	var parts []*node
	for {
		n, err := p.unary()
		if err != nil {
			return nil, err
		}
		parts = append(parts, n)
		if p.peeked.kind == tokenAnd {
			if err := p.advance(); err != nil {
				return nil, err
			}
			continue
		}
		if k := p.peeked.kind; k == tokenEnd || k == tokenClose || k == tokenOr {
			return join(tokenAnd, parts), nil
		}
	}
}

func join(kind tokenKind, parts []*node) *node {
	if len(parts) == 1 {
		return parts[0]
	}
	return &node{kind: kind, parts: parts}
}

func (p *parser) unary() (*node, error) {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxFilterDepth {
		return nil, p.fail("nested too deeply")
	}
	t := p.peeked
	switch t.kind {
	case tokenNot:
		if err := p.advance(); err != nil {
			return nil, err
		}
		n, err := p.unary()
		return &node{kind: tokenNot, parts: []*node{n}}, err
	case tokenOpen:
		return p.group()
	case tokenWord:
		if p.words++; p.words > maxFilterWords {
			return nil, p.fail("too many conditions")
		}
		return &node{kind: tokenWord, word: t.word}, p.advance()
	default:
		return nil, p.fail("a condition is missing")
	}
}

func (p *parser) group() (*node, error) {
	open := p.peeked
	if err := p.advance(); err != nil {
		return nil, err
	}
	n, err := p.expr()
	if err != nil {
		return nil, err
	}
	if p.peeked.kind != tokenClose {
		return nil, ErrorAt(p.lexer.text, open.offset, "unmatched (")
	}
	return n, p.advance()
}
