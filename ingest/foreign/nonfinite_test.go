package foreign

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestQuoted(t *testing.T) {
	for in, want := range map[string]string{
		`{"a": NaN, "b": [Infinity, -Infinity,-NaN,nan, inf,-inf]}`: `{"a": "NaN", "b": ["Infinity", "-Infinity","NaN","NaN", "Infinity","-Infinity"]}`,
		`{"NaN": "Infinity \" NaN \\", "x": -1}`:                    `{"NaN": "Infinity \" NaN \\", "x": -1}`,
		`[null, true, -5, "\\", NaN]`:                               `[null, true, -5, "\\", "NaN"]`,
		`NaN`:                                                       `"NaN"`,
		`"open NaN`:                                                 `"open NaN`,
		`"ends in a backslash \`:                                    `"ends in a backslash \`,
		``:                                                          ``,
	} {
		got, err := io.ReadAll(newQuoted(strings.NewReader(in)))
		if err != nil || string(got) != want {
			t.Errorf("%s: got %s, %v, want %s", in, got, err, want)
		}
	}
}

// TestQuotedPieces: however the text comes, byte by byte or at once, the same goes on; also across the buffer.
func TestQuotedPieces(t *testing.T) {
	unit := `{"a\"NaN": [NaN,-Infinity, "\\\\", null, -1.5e-3, "inf"]} `
	for pad := range 70 {
		text := strings.Repeat(" ", pad) + strings.Repeat(unit, 3000)
		want := strings.Repeat(" ", pad) + strings.Repeat(`{"a\"NaN": ["NaN","-Infinity", "\\\\", null, -1.5e-3, "inf"]} `, 3000)
		readers := []io.Reader{strings.NewReader(text), iotest.HalfReader(strings.NewReader(text))}
		if pad == 0 {
			readers = append(readers, iotest.OneByteReader(strings.NewReader(text)))
		}
		for _, r := range readers {
			got, err := io.ReadAll(newQuoted(r))
			if err != nil || !bytes.Equal(got, []byte(want)) {
				t.Fatalf("after %d spaces: differs, %v", pad, err)
			}
		}
	}
}

// quotedSimply is what newQuoted does, of a whole text and byte by byte.
func quotedSimply(text []byte) (out []byte) {
	inString := false
	for i := 0; i < len(text); i++ {
		if !inString && begins[text[i]] {
			if length, quoted := wordAt(text[i:]); length > 0 {
				out = append(out, quoted...)
				i += length - 1
				continue
			}
		}
		out = append(out, text[i])
		switch {
		case text[i] == '"':
			inString = !inString
		case inString && text[i] == '\\' && i+1 < len(text):
			i++
			out = append(out, text[i])
		}
	}
	return out
}

func FuzzQuoted(f *testing.F) {
	f.Add([]byte(`{"a": NaN, "b\\": "\"-Infinity", "c": [-inf]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		whole, err := io.ReadAll(newQuoted(bytes.NewReader(text)))
		if err != nil {
			t.Fatal(err)
		}
		if want := quotedSimply(text); !bytes.Equal(whole, want) {
			t.Fatalf("%q: got %q, want %q", text, whole, want)
		}
		pieces, err := io.ReadAll(newQuoted(iotest.OneByteReader(bytes.NewReader(text))))
		if err != nil || !bytes.Equal(whole, pieces) {
			t.Fatalf("at once %q, byte by byte %q, %v", whole, pieces, err)
		}
	})
}
