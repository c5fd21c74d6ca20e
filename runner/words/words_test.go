package words

import (
	"slices"
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	for text, want := range map[string][]string{
		"sort  -n 'a b'":    {"sort", "-n", "a b"},
		`a "b c"\ d '' {n}`: {"a", "b c d", "", "{n}"},
	} {
		got, err := Split(text)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v, want %q", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"a | b": "a pipe", "a && b": "&&", "a &": "&", "a; b": "more than one program", "a > b": "a redirection (>)", "! a": "!",
		"A=1 b": "an assignment (A=)", "echo $A": "fill in a variable", "(a)": "only a shell can run it", "a |": "reading", "": "no program", "'a": "reading",
	} {
		if _, err := Split(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q in it", text, err, want)
		}
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
		joined, err := Join(parts)
		if err != nil {
			return // a word that no shell can be given
		}
		again, err := Split(joined)
		if err != nil || !slices.Equal(again, parts) {
			t.Errorf("%q is %q, written %q, which is %q, %v", text, parts, joined, again, err)
		}
	})
}
