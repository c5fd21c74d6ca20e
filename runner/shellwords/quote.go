package shellwords

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

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

// What stands around the format of a printf that a word is written as.
const (
	printed    = `"$(printf '`
	printedEnd = `')"`
)

// Quote writes a word without a NUL as POSIX shells read it, in characters that can be printed: a\tb is "$(printf 'a\tb')". Only
// newlines at the end stand for themselves, in single quotes, because shells remove those that a printf writes.
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

// formatted returns what a command substitution gives that is the printf of a text in single quotes; false: it is another.
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

// unformatted returns what a printf of a format without arguments writes; false: the format has more than format writes.
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

// ToUTF8 returns a text that is not UTF-8 as Quote writes it, for a place that takes UTF-8 alone, and any other as it is. FromUTF8
// gives the text back, whatever it was.
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
