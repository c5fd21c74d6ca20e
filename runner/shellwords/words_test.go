package shellwords

import (
	"slices"
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	for text, want := range map[string][]string{
		"sort  -n 'a b'":                   {"sort", "-n", "a b"},
		`a "b c"\ d '' {n}`:                {"a", "b c d", "", "{n}"},
		`[ -f '*' ] \* \~ a~ "[a]?" b\[c]`: {"[", "-f", "*", "]", "*", "~", "a~", "[a]?", "b[c]"},
	} {
		got, err := Split(text)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v, want %q", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"a | b": "a pipe", "a && b": "&&", "a &": "&", "a; b": "more than one program", "a > b": "a redirection (>)", "! a": "!",
		"A=1 b": "an assignment (A=)", "echo $A": "fill in a variable", "(a)": "only a shell can run it", "a |": "reading", "": "no program", "'a": "reading",
		"rm *.gz": `"rm *.gz": * needs a shell: use --shell, or single quotes for the literal text`, "a b?": "? needs", "a 'b'[c]": "[ needs", "~/a": "~ needs", "a ~": "~ needs",
	} {
		if _, err := Split(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q in it", text, err, want)
		}
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
		if got := Same(c.a, c.b); got != c.want {
			t.Errorf("%q, %q: %v", c.a, c.b, got)
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
		joined := Join(parts)
		again, err := Split(joined)
		if err != nil || !slices.Equal(again, parts) {
			t.Errorf("%q is %q, written %q, which is %q, %v", text, parts, joined, again, err)
		}
	})
}
