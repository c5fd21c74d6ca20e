package foreign

import (
	"bytes"
	"io"
)

// quoted passes a JSON text on and puts the words for what is no finite number, which many tools write and JSON does not
// know, in quotation marks: NaN, Infinity, -Infinity and the like. What is inside strings stays as it is.
type quoted struct {
	r        io.Reader
	buffer   []byte
	in       []byte // of buffer: read, not passed on
	out      []byte // ready to be given away
	made     []byte // the room of out
	inString bool
	err      error
}

func newQuoted(r io.Reader) *quoted { return &quoted{r: r, buffer: make([]byte, 64<<10)} }

// nonFinite are the words and what they become, the longer before their beginnings.
var nonFinite = []struct{ word, quoted []byte }{
	{[]byte("-Infinity"), []byte(`"-Infinity"`)},
	{[]byte("Infinity"), []byte(`"Infinity"`)},
	{[]byte("-inf"), []byte(`"-Infinity"`)},
	{[]byte("inf"), []byte(`"Infinity"`)},
	{[]byte("-NaN"), []byte(`"NaN"`)},
	{[]byte("NaN"), []byte(`"NaN"`)},
	{[]byte("-nan"), []byte(`"NaN"`)},
	{[]byte("nan"), []byte(`"NaN"`)},
}

const longestWord = len("-Infinity")

func (q *quoted) Read(p []byte) (int, error) {
	for len(q.out) == 0 {
		if q.err != nil && len(q.in) == 0 {
			return 0, q.err
		}
		q.fill()
	}
	n := copy(p, q.out)
	q.out = q.out[n:]
	return n, nil
}

// fill reads on and makes ready what can be decided. What a word may begin in stays for the next time.
func (q *quoted) fill() {
	if q.err == nil {
		kept := copy(q.buffer, q.in)
		var n int
		n, q.err = q.r.Read(q.buffer[kept:])
		q.in = q.buffer[:kept+n]
	}
	end := len(q.in)
	if q.err == nil {
		end -= longestWord
	}
	q.made = q.made[:0]
	i := 0
	for i < end {
		i += q.pass(q.in[i:], end-i)
	}
	q.in, q.out = q.in[i:], q.made
}

// pass makes ready the next piece of text, which begins in its first end bytes, and gives its length.
func (q *quoted) pass(text []byte, end int) int {
	if q.inString {
		n := q.string(text, end)
		q.made = append(q.made, text[:n]...)
		return n
	}
	n := bytes.IndexAny(text[:end], `"NI-ni`)
	switch {
	case n < 0:
		n = end
	case text[n] == '"':
		q.inString = true
		n++
	default:
		return q.word(text, n)
	}
	q.made = append(q.made, text[:n]...)
	return n
}

// string is the length of what goes on inside a string: to its end, or over the first end bytes and what is escaped by
// the last of them.
func (q *quoted) string(text []byte, end int) int {
	i := 0
	for i < end {
		next := bytes.IndexAny(text[i:end], `"\`)
		if next < 0 {
			return end
		}
		i += next
		if text[i] == '"' {
			q.inString = false
			return i + 1
		}
		i += len(`\"`) // what is escaped ends nothing
	}
	return min(i, len(text))
}

// word makes ready the text up to n and what stands there, quoted where it is one of the words.
func (q *quoted) word(text []byte, n int) int {
	q.made = append(q.made, text[:n]...)
	for _, w := range nonFinite {
		if bytes.HasPrefix(text[n:], w.word) {
			q.made = append(q.made, w.quoted...)
			return n + len(w.word)
		}
	}
	q.made = append(q.made, text[n])
	return n + 1
}
