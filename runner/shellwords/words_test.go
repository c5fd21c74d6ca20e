package shellwords

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/neurolens/neurolens/schema/valuetest"
)

func TestSplit(t *testing.T) {
	for text, want := range map[string][]string{
		"sort  -n 'a b'":                   {"sort", "-n", "a b"},
		`a "b c"\ d '' {n}`:                {"a", "b c d", "", "{n}"},
		`[ -f '*' ] \* \~ a~ "[a]?" b\[c]`: {"[", "-f", "*", "]", "*", "~", "a~", "[a]?", "b[c]"},
	} {
		valuetest.DeepEqual(t, valuetest.Must(Split(text)), want, text)
	}
	for text, want := range map[string]string{
		"a | b": "a pipe", "a && b": "&&", "a &": "&", "a; b": "more than one program", "a > b": "a redirection (>)", "! a": "!",
		"A=1 b": "an assignment (A=)", "echo $A": "fill in a variable", "(a)": "only a shell can run it", "a |": "reading", "": "no program", "'a": "reading",
		"rm *.gz": `"rm *.gz": * needs a shell: use --shell, or single quotes for the literal text`, "a b?": "? needs", "a 'b'[c]": "[ needs", "~/a": "~ needs", "a ~": "~ needs",
	} {
		valuetest.ErrorText(t, valuetest.Error(Split(text)), "…"+want+"…", text)
	}
}

// TestSame: blanks and quotes make no other program, a comment tells two apart.
func TestSame(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"true", "true ", true},
		{"a 'b'", `a  "b"`, true},
		{"a 'b  c'", "a 'b c'", false},
		{"a # one", "a # two", false},
		{"a # one", "a", false},
		{"a  #one ", "a # one", true},
		{"a | b", "a | b ", true},
		{"a | b", "a | c", false},
	} {
		valuetest.DeepEqual(t, Same(c.a, c.b), c.want, c.a, c.b)
	}
}

// FuzzSplit: the words of a text are written as a text that has the same words.
func FuzzSplit(f *testing.F) {
	for _, text := range []string{"a 'b c'", `a "b\"" c\ d`, "a | b", "a $(b)", "'", "a #b", "{n} ~ *", "\\\n", "a=1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parts, err := Split(text)
		if err != nil {
			return
		}
		joined := Join(parts)
		valuetest.DeepEqual(t, valuetest.Must(Split(joined)), parts, text, joined)
	})
}

// pieces are parts of words that shells, terminals or readers of UTF-8 may take for something else.
var pieces = []string{
	"", "a", "b c", "-", "--", "-n", "=", "a=b", "{", "}", "{n}", "{{n}}", "{a,b}", "$", "$HOME", "${x}", "$(id)", "`id`", `\`, `\\`, `\n`, `\0`, `\351`, "'", `"`, `'\''`,
	"%", "%s", "%%", "!", "!!", "#", "~", "*", "?", "[a]", "&", "|", ";", "<", ">", "(", ")", "^", "if", "\t", "\n", "\n\n", "\r", "\r\n", "\x01", "\x07", "\x1b[31m", "\x7f",
	"\x80", "\x81", "\x82", "\x83", "\x84", "\x85", "\x88", "\x9b", "\xa0", "\xe9", "\xff", "\xc3", "\xed\xb3\xa9", "\u00e9", "\u0085", "\u00a0", "\u00ad", "\u061c", "\u200b", "\u200e",
	"\u2028", "\u202e", "\u2066", "\u3000", "\ufeff", "\ufffd", "\U0001f600", "e\u0301", `"$(printf '`, `"$(printf 'a')"`, `')"`, "printf", "eval",
}

// randomWord returns a word of any bytes but NUL.
func randomWord(random *rand.Rand) string {
	var word strings.Builder
	for range random.IntN(5) {
		if random.IntN(4) > 0 {
			word.WriteString(pieces[random.IntN(len(pieces))])
			continue
		}
		for range random.IntN(6) {
			word.WriteByte(byte(1 + random.IntN(255)))
		}
	}
	return word.String()
}

// randomLists returns lists of words, and a few that random ones seldom are.
func randomLists(random *rand.Rand, count int) [][]string {
	every := make([]byte, 255)
	for i := range every {
		every[i] = byte(i + 1)
	}
	lists := [][]string{{""}, {"\n"}, {"a\n", "\n\nb\n\n"}, {string(every)}, {strings.Repeat("\xe9'", 20_000)}, {strings.Repeat("x", 100_000)}}
	for range count {
		list := make([]string, 1+random.IntN(6))
		for i := range list {
			list[i] = randomWord(random)
		}
		lists = append(lists, list)
	}
	return lists
}

// shells returns the shells of this machine.
func shells(t *testing.T) (found []string) {
	t.Helper()
	for _, name := range []string{"dash", "bash", "busybox"} {
		path, err := exec.LookPath(name)
		if errors.Is(err, exec.ErrNotFound) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, path)
	}
	if len(found) == 0 {
		t.Skip("there is no dash and no bash")
	}
	return found
}

// wordsOf returns the words of a text as a shell gives them to a program.
func wordsOf(t *testing.T, shell, text string) []string {
	t.Helper()
	command := exec.Command(shell)
	if filepath.Base(shell) == "busybox" {
		command.Args = append(command.Args, "sh")
	}
	command.Stdin = strings.NewReader(`printf '%s\0' ` + text + "\n")
	var said bytes.Buffer
	command.Stderr = &said
	out, err := command.Output()
	if err != nil || said.Len() > 0 {
		t.Fatalf("%s: %q: %v\n%s", shell, text, err, said.String())
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

// TestQuoteInShells: whatever bytes words have, shells and Split read them back from the text of Join, which steers no terminal.
func TestQuoteInShells(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, list := range randomLists(random, 400) {
		text := Join(list)
		if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
			t.Fatalf("%q is written %q", list, text)
		}
		valuetest.DeepEqual(t, valuetest.Must(Split(text)), list, text)
		for _, shell := range shells(t) {
			for _, text := range []string{text, JoinRaw(list)} {
				if got := wordsOf(t, shell, text); !slices.Equal(got, list) {
					t.Fatalf("%q is written %q, which %s takes for %q", list, text, shell, got)
				}
			}
		}
	}
}

// TestSplitBytes: texts of any bytes have the words that they have in a shell.
func TestSplitBytes(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for _, list := range randomLists(random, 2000) {
		text := JoinRaw(list)
		valuetest.DeepEqual(t, valuetest.Must(Split(text)), list, text)
	}
	valuetest.ErrorText(t, valuetest.Error(Split("a\xe9 |")), `reading "a\xe9 |": …`)
}

// TestToUTF8: each text has a form in UTF-8 that no other text has.
func TestToUTF8(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	for _, list := range randomLists(random, 2000) {
		for _, text := range append(list, Join(list), ToUTF8(Join(list))) {
			stored := ToUTF8(text)
			if !utf8.ValidString(stored) || FromUTF8(stored) != text {
				t.Fatalf("%q is stored as %q, which is %q", text, stored, FromUTF8(stored))
			}
			if utf8.ValidString(text) && !strings.HasPrefix(text, printed) && stored != text {
				t.Fatalf("%q is stored as %q", text, stored)
			}
		}
	}
}

// TestSplitPrintf: of command substitutions a printf of a text alone is read, as Join writes it.
func TestSplitPrintf(t *testing.T) {
	for text, want := range map[string]string{
		`a "$(printf '\t')"`: "\t", `a x"$(printf 'b\n\n')"y`: "xby", `a "$(printf '100%%\\\041')"`: `100%\!`,
	} {
		if got, err := Split(text); err != nil || len(got) != 2 || got[1] != want {
			t.Errorf("%s: %q, %v, want %q", text, got, err, want)
		}
	}
	for _, text := range []string{
		`a $(printf '\t')`, `a "$(printf '%s')"`, `a "$(printf '\x41')"`, `a "$(printf '\000')"`, `a "$(printf '\')"`, `a "$(printf a)"`, `a "$(printf 'a' b)"`, `a "$(printf 'a' >b)"`,
		`a "$(printf '-n')"`, `a "$(printf "a")"`, `a "$(echo 'a')"`, `a "$(A=1 printf 'a')"`, "a \"`printf 'a'`\"", `a "$(printf 'a'; b)"`, `a "$(printf '\41')"`, `a "$(printf '\777')"`,
	} {
		if got, err := Split(text); err == nil {
			t.Errorf("%s: %q, want an error", text, got)
		}
	}
}
