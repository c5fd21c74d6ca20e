// Package shellwords splits the text of a program into words as a shell would: it removes quotes and backslashes, and does nothing else. A
// text that needs a real shell is refused.
//
// Words may have any bytes except NUL. A word that cannot be printed is written as "$(printf '\t')", which every POSIX shell reads, and
// so does Split.
package shellwords

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// Split returns the words of a program as a shell would, without quotes and backslashes. It refuses syntax that only a shell can
// execute.
func Split(text string) ([]string, error) {
	source, read := text, literal(func(part string) string { return part })
	if !utf8.ValidString(text) || strings.ContainsRune(text, '\r') { // the parser requires UTF-8, and drops \r before \n
		source, read = characters(text), bytesOf
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(source), "")
	if err != nil {
		if parsing, is := errors.AsType[syntax.ParseError](err); is {
			err = errors.New(parsing.Text)
		}
		return nil, fmt.Errorf("reading %s: %w", Shown(text), err)
	}
	if len(file.Stmts) == 0 {
		return nil, fmt.Errorf("%s: it contains no program", Shown(text))
	}
	call, simple := file.Stmts[0].Cmd.(*syntax.CallExpr)
	if why := needsShell(file.Stmts); why != "" {
		return nil, fmt.Errorf("%s: %s needs a shell: use --shell", Shown(text), why)
	}
	if !simple {
		return nil, fmt.Errorf("%s: only a shell can run it: use --shell", Shown(text))
	}
	words := make([]string, len(call.Args))
	for i, word := range call.Args {
		word, known := read.unquoted(word.Parts, false)
		if !known {
			return nil, fmt.Errorf("%s: only a shell can fill in a variable or a command: use --shell, or single quotes for the literal text", Shown(text))
		}
		if mark := pattern(call.Args[i].Parts); mark != "" {
			return nil, fmt.Errorf("%s: %s needs a shell: use --shell, or single quotes for the literal text", Shown(text), mark)
		}
		words[i] = word
	}
	return words, nil
}

// characters maps each byte of a text to the character of that number, and \r to a letter beyond these, because neither \r nor a byte
// above 0x7f has a meaning to a shell. bytesOf reverses it.
func characters(text string) string {
	all := make([]rune, len(text))
	for i := range len(text) {
		if all[i] = rune(text[i]); text[i] == '\r' {
			all[i] |= 1 << 8
		}
	}
	return string(all)
}

func bytesOf(characters string) string {
	var text []byte
	for _, r := range characters {
		text = append(text, byte(r))
	}
	return string(text)
}

// needsShell names the part of statements that only a shell can run; empty: no such part has a name.
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

// pattern returns the wildcard or tilde that a shell would expand in a word; empty: there is none. A bracket that is not closed is
// literal.
func pattern(parts []syntax.WordPart) string {
	open := false
	for i, part := range parts {
		lit, is := part.(*syntax.Lit)
		if !is {
			continue // quoted characters are literal
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

// comment returns the comment of a text, after its #.
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

// literal reads the literal parts of a parsed text.
type literal func(part string) string

// unquoted returns the text of the parts of a word without quotes and backslashes; false: only a shell can determine it.
func (read literal) unquoted(parts []syntax.WordPart, double bool) (string, bool) {
	var text strings.Builder
	for _, part := range parts {
		known := true
		switch part := part.(type) {
		case *syntax.Lit:
			text.WriteString(unescaped(read(part.Value), double))
		case *syntax.SglQuoted:
			text.WriteString(read(part.Value))
		case *syntax.DblQuoted:
			var inner string
			inner, known = read.unquoted(part.Parts, true)
			text.WriteString(inner)
		case *syntax.CmdSubst:
			var written string
			written, known = read.formatted(part)
			text.WriteString(written)
			known = known && double // a shell would split it otherwise
		default:
			known = false
		}
		if !known {
			return "", false
		}
	}
	return text.String(), true
}

// unescaped removes backslashes; in double quotes only before a character with a special meaning there.
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

// Shown returns a text in quotes for a message, without its middle where it is long.
func Shown(text string) string {
	const end = 100 // bytes of each
	if len(text) > 2*end {
		text = strings.ToValidUTF8(text[:end], "") + "…" + strings.ToValidUTF8(text[len(text)-end:], "")
	}
	return strconv.Quote(text)
}

// Join writes words as a text that Split splits into the same words.
func Join(words []string) string { return join(words, Quote) }

// JoinRaw writes words for a shell that is measured: as Join does, but with the bytes of a word in single quotes where Join has the
// shell start a printf.
func JoinRaw(words []string) string {
	return join(words, func(word string) string {
		if quoted, printable := quotePrintable(word); printable {
			return quoted
		}
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	})
}

func join(words []string, quote func(string) string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = quote(word)
	}
	return strings.Join(quoted, " ")
}

// The text around the format of a printf in a quoted word.
const (
	printed    = `"$(printf '`
	printedEnd = `')"`
)

// Quote writes a word without a NUL in printable characters that POSIX shells read back: a\tb is "$(printf 'a\tb')". Newlines at the end
// are literal, in single quotes, because shells remove them from the output of a printf.
func Quote(word string) string {
	if quoted, printable := quotePrintable(word); printable {
		return quoted
	}
	return quoteBytes(word)
}

// quoteBytes quotes a word of any characters.
func quoteBytes(word string) string {
	text, quoted := strings.TrimRight(word, "\n"), ""
	if text != "" {
		quoted = printed + format(text) + printedEnd
	}
	if end := word[len(text):]; end != "" {
		quoted += "'" + end + "'"
	}
	return quoted
}

// quotePrintable quotes a word of printable characters; false: it has others.
func quotePrintable(word string) (string, bool) {
	quoted, err := syntax.Quote(word, syntax.LangPOSIX) // points are named with these quotes, so no others will do
	return quoted, err == nil
}

// letters are the characters that a printf has an escape with a letter for.
var letters = strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`, `\`, `\\`, "%", "%%")

// format writes a text as the format of a printf in single quotes. A - at the beginning would be an option, and bash has ! mean a line
// typed before, also in such quotes within double ones.
func format(text string) string {
	var out strings.Builder
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		character := text[at : at+size]
		escaped := letters.Replace(character)
		switch {
		case escaped != character:
			out.WriteString(escaped)
		case r == '\'', r == '!', r == '-' && at == 0, r == utf8.RuneError && size == 1, !unicode.IsPrint(r):
			for _, b := range []byte(character) {
				fmt.Fprintf(&out, `\%03o`, b)
			}
		default:
			out.WriteString(character)
		}
		at += size
	}
	return out.String()
}

// formatted returns the output of a command substitution that is the printf of a text in single quotes; false: it is another command.
func (read literal) formatted(c *syntax.CmdSubst) (string, bool) {
	if c.Backquotes || len(c.Stmts) != 1 || needsShell(c.Stmts) != "" {
		return "", false
	}
	call, simple := c.Stmts[0].Cmd.(*syntax.CallExpr)
	if !simple || len(call.Args) != 2 || call.Args[0].Lit() != "printf" || len(call.Args[1].Parts) != 1 {
		return "", false
	}
	quoted, is := call.Args[1].Parts[0].(*syntax.SglQuoted)
	if !is || strings.HasPrefix(quoted.Value, "-") {
		return "", false
	}
	text, known := unformatted(read(quoted.Value))
	return strings.TrimRight(text, "\n"), known
}

// unformatted returns the output of a printf of a format without arguments; false: the format has more than format writes.
func unformatted(text string) (string, bool) {
	var out strings.Builder
	for at := 0; at < len(text); {
		if text[at] != '%' && text[at] != '\\' {
			out.WriteByte(text[at])
			at++
			continue
		}
		if at+1 == len(text) {
			return "", false
		}
		switch pair := text[at : at+2]; pair {
		case "%%", `\\`:
			out.WriteByte(text[at])
		case `\n`:
			out.WriteByte('\n')
		case `\r`:
			out.WriteByte('\r')
		case `\t`:
			out.WriteByte('\t')
		default:
			b, isOctal := octal(text[at:])
			if !isOctal {
				return "", false
			}
			out.WriteByte(b)
			at += 2
		}
		at += 2
	}
	return out.String(), true
}

// octal reads the backslash and three octal digits of a byte, but for NUL.
func octal(text string) (byte, bool) {
	const length = 4
	if len(text) < length || text[0] != '\\' {
		return 0, false
	}
	value := 0
	for _, digit := range []byte(text[1:length]) {
		if digit < '0' || digit > '7' {
			return 0, false
		}
		value = value<<3 | int(digit-'0')
	}
	return byte(value), value > 0 && value <= 0xff
}

// ToUTF8 returns a text that is not UTF-8 in the form of Quote, and any other text unchanged. FromUTF8 reverses it for both.
func ToUTF8(text string) string {
	if utf8.ValidString(text) && !strings.HasPrefix(text, printed) {
		return text
	}
	return quoteBytes(text)
}

// FromUTF8 returns the text that ToUTF8 was given.
func FromUTF8(text string) string {
	if !strings.HasPrefix(text, printed) {
		return text
	}
	if words, err := Split(text); err == nil && len(words) == 1 {
		return words[0]
	}
	return text
}

// inShells are commands that shells have in themselves.
var inShells = strings.Fields("alias cd declare eval exec export local popd pushd read readonly set shopt source trap type ulimit umask unset wait")

// InShells reports whether a command is built into shells and is not a program.
func InShells(name string) bool { return slices.Contains(inShells, name) }
