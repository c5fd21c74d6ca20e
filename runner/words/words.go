// Package words splits the text of a program into words as a shell would: it removes quotes and backslashes, and does nothing
// else. A text that needs a real shell is refused.
package words

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Split returns the words of a program as a shell would, without quotes and backslashes. It refuses what only a shell can do.
func Split(text string) ([]string, error) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(text), "")
	if err != nil {
		if parsing, is := errors.AsType[syntax.ParseError](err); is {
			err = errors.New(parsing.Text)
		}
		return nil, fmt.Errorf("reading %q: %w", text, err)
	}
	if len(file.Stmts) == 0 {
		return nil, fmt.Errorf("%q: it contains no program", text)
	}
	call, simple := file.Stmts[0].Cmd.(*syntax.CallExpr)
	if why := needsShell(file.Stmts); why != "" {
		return nil, fmt.Errorf("%q: %s needs a shell: use --shell", text, why)
	}
	if !simple {
		return nil, fmt.Errorf("%q: only a shell can run it: use --shell", text)
	}
	words := make([]string, len(call.Args))
	for i, word := range call.Args {
		if !plain(word.Parts) {
			return nil, fmt.Errorf("%q: only a shell can fill in a variable or a command: use --shell, or single quotes for the literal text", text)
		}
		if mark := pattern(word.Parts); mark != "" {
			return nil, fmt.Errorf("%q: %s needs a shell: use --shell, or single quotes for the literal text", text, mark)
		}
		words[i] = unquoted(word.Parts, false)
	}
	return words, nil
}

// needsShell names the part of statements that only a shell can run; empty: there is none with a name.
func needsShell(all []*syntax.Stmt) string {
	first := all[0]
	binary, _ := first.Cmd.(*syntax.BinaryCmd)
	call, _ := first.Cmd.(*syntax.CallExpr)
	switch {
	case binary != nil && (binary.Op == syntax.Pipe || binary.Op == syntax.PipeAll):
		return "a pipe"
	case binary != nil:
		return binary.Op.String()
	case first.Background:
		return "&"
	case len(all) > 1:
		return "more than one program"
	case len(first.Redirs) > 0:
		return "a redirection (" + first.Redirs[0].Op.String() + ")"
	case first.Negated:
		return "!"
	case call != nil && len(call.Assigns) > 0:
		return "an assignment (" + call.Assigns[0].Name.Value + "=)"
	}
	return ""
}

// pattern is the mark by which a shell would put names of files, or a home, in place of a word; empty: there is none. A bracket
// that none closes is a mark of nothing.
func pattern(parts []syntax.WordPart) string {
	open := false
	for i, part := range parts {
		lit, is := part.(*syntax.Lit)
		if !is {
			continue // quotes keep what they hold
		}
		if i == 0 && strings.HasPrefix(lit.Value, "~") {
			return "~"
		}
		for at := 0; at < len(lit.Value); at++ {
			switch mark := lit.Value[at]; {
			case mark == '\\':
				at++
			case mark == '*', mark == '?', mark == ']' && open:
				return strings.Replace(string(mark), "]", "[", 1)
			case mark == '[':
				open = true
			}
		}
	}
	return ""
}

// Same reports whether two texts are the same program with the same arguments, however they are quoted. A comment after a program makes it
// different.
func Same(a, b string) bool {
	first, errFirst := Split(a)
	second, errSecond := Split(b)
	if errFirst != nil || errSecond != nil {
		return strings.TrimSpace(a) == strings.TrimSpace(b)
	}
	return slices.Equal(first, second) && comment(a) == comment(b)
}

// comment is what stands behind the # of a text.
func comment(text string) string {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX), syntax.KeepComments(true)).Parse(strings.NewReader(text), "")
	if err != nil {
		return ""
	}
	var all strings.Builder
	syntax.Walk(file, func(node syntax.Node) bool {
		if c, is := node.(*syntax.Comment); is {
			all.WriteString(strings.TrimSpace(c.Text) + "\n")
		}
		return true
	})
	return all.String()
}

// unquoted is the text of parts that stand for themselves, without quotes and backslashes.
func unquoted(parts []syntax.WordPart, double bool) string {
	var text strings.Builder
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			text.WriteString(unescaped(part.Value, double))
		case *syntax.SglQuoted:
			text.WriteString(part.Value)
		case *syntax.DblQuoted:
			text.WriteString(unquoted(part.Parts, true))
		}
	}
	return text.String()
}

// unescaped takes off backslashes: in double quotes those alone that stand before a character with a meaning there.
func unescaped(text string, double bool) string {
	var out strings.Builder
	for at := 0; at < len(text); at++ {
		if text[at] == '\\' && at+1 < len(text) && (!double || strings.IndexByte("$`\"\\\n", text[at+1]) >= 0) {
			if at++; text[at] == '\n' {
				continue
			}
		}
		out.WriteByte(text[at])
	}
	return out.String()
}

// plain reports whether parts of a word stand for themselves.
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

// Join writes words as a text that Split splits into the same words.
func Join(words []string) (string, error) {
	quoted := make([]string, len(words))
	for i, word := range words {
		var err error
		if quoted[i], err = syntax.Quote(word, syntax.LangPOSIX); err != nil {
			return "", fmt.Errorf("quoting %q: %w", word, err)
		}
	}
	return strings.Join(quoted, " "), nil
}
