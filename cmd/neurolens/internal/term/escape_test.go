package term

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
)

// TestMarkdownSaysNothing: what is measured makes no element, link or mention of a comment to a pull request.
func TestMarkdownSaysNothing(t *testing.T) {
	t.Parallel()
	for _, text := range programtest.Nasty() {
		got := MarkdownText(text)
		for _, forbidden := range []string{"<", "@n", "@S", "://", "www.", "#1"} {
			if strings.Contains(got, forbidden) {
				t.Errorf("%q became %q, which has %q", text, got, forbidden)
			}
		}
		for i, c := range []byte(got) {
			escaped := i > 0 && got[i-1] == '\\'
			if strings.IndexByte("[]`*|~$", c) >= 0 && !escaped {
				t.Errorf("%q became %q, which has a bare %q", text, got, c)
			}
		}
	}
	if got := MarkdownText("batch_size=1 (p99 +2.5 %)"); got != "batch_size=1 (p99 +2.5 %)" {
		t.Errorf("a plain text became %q", got)
	}
}

// FuzzEscaper writes a text in two parts: it comes out in one piece, and as it was where nothing steers.
func FuzzEscaper(f *testing.F) {
	for i, text := range programtest.Nasty() {
		f.Add(text, i)
	}
	f.Fuzz(func(t *testing.T, text string, at int) {
		if !utf8.ValidString(text) {
			return
		}
		at = max(0, min(at, len(text)))
		var out bytes.Buffer
		e := &Escaper{To: &out}
		for _, part := range []string{text[:at], text[at:]} {
			if n, err := e.Write([]byte(part)); err != nil || n != len(part) {
				t.Fatalf("%d of %d written: %v", n, len(part), err)
			}
		}
		has := func(r rune) bool { return IsControl(r) && r != '\n' && r != '\t' }
		if strings.IndexFunc(out.String(), has) >= 0 {
			t.Errorf("%q became %q", text, out.String())
		}
		if want := Escaped(text, has); out.String() != want {
			t.Errorf("%q became %q, want %q", text, out.String(), want)
		}
	})
}
