package line

import (
	"errors"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// split gives the words of a program as a shell would, quotes and backslashes taken off. It refuses what only a shell can do.
func split(text string) ([]string, error) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(text), "")
	if err != nil {
		if parsing, is := errors.AsType[syntax.ParseError](err); is {
			err = errors.New(parsing.Text)
		}
		return nil, fmt.Errorf("reading %q: %w", text, err)
	}
	if len(file.Stmts) == 0 {
		return nil, fmt.Errorf("%q: there is no program in it", text)
	}
	call, simple := file.Stmts[0].Cmd.(*syntax.CallExpr)
	if statement := file.Stmts[0]; !simple || len(file.Stmts) > 1 || len(statement.Redirs) > 0 || statement.Background || statement.Negated || len(call.Assigns) > 0 {
		return nil, fmt.Errorf("%q: only a shell can run it, because of a pipe, a redirection or the like; --shell has sh run it", text)
	}
	words := make([]string, len(call.Args))
	for i, word := range call.Args {
		if !plain(word.Parts) {
			return nil, fmt.Errorf("%q: only a shell can fill in a variable or a command; --shell has sh run it, quotes keep the text", text)
		}
		if words[i], err = expand.Literal(nil, word); err != nil {
			return nil, fmt.Errorf("reading %q: %w", text, err)
		}
	}
	return words, nil
}

// plain tells whether parts of a word stand for themselves.
func plain(parts []syntax.WordPart) bool {
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit, *syntax.SglQuoted:
		case *syntax.DblQuoted:
			if !plain(part.Parts) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// joined writes words as a text that split takes apart again.
func joined(words []string) (string, error) {
	quoted := make([]string, len(words))
	for i, word := range words {
		var err error
		if quoted[i], err = syntax.Quote(word, syntax.LangPOSIX); err != nil {
			return "", fmt.Errorf("quoting %q: %w", word, err)
		}
	}
	return strings.Join(quoted, " "), nil
}
