package foreign

import (
	"bytes"
	"io"
)

// quoted puts the words for non-finite numbers in a JSON text in quotation marks: NaN, Infinity, -Infinity and the like,
// which many tools write and JSON does not allow. The content of strings is unchanged.
type quoted struct {
	r        io.Reader
	buffer   []byte
	in       []byte // part of buffer that was read and not processed yet
	out      []byte // processed bytes
	made     []byte // the memory of out
	inString bool
	err      error
}

func newQuoted(r io.Reader) *quoted { return &quoted{r: r, buffer: make([]byte, 64<<10)} }

// nonFinite are the words and their replacements. A longer word comes before one that it begins with.
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

// unread is what was not given away, and all that follows.
func (q *quoted) unread() io.Reader {
	rest := q.r
	if q.err != nil {
		rest = failing{q.err}
	}
	return io.MultiReader(bytes.NewReader(bytes.Clone(q.out)), bytes.NewReader(bytes.Clone(q.in)), rest)
}

const maxWordLength = len("-Infinity")

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

// fill reads on and makes ready what can be decided. What a word may begin in stays for the next time. Text without such
// words, which is nearly all, is not copied.
func (q *quoted) fill() {
	if q.err == nil {
		kept := copy(q.buffer, q.in)
		var n int
		n, q.err = q.r.Read(q.buffer[kept:])
		q.in = q.buffer[:kept+n]
	}
	end := len(q.in)
	if q.err == nil {
		end -= maxWordLength
	}
	q.made = q.made[:0]
	i, copied := 0, 0
	for i < end {
		if q.inString {
			i = q.string(i, end)
			continue
		}
		next := end // the string after this
		if at := bytes.IndexByte(q.in[i:end], '"'); at >= 0 {
			next = i + at
		}
		if i, copied = q.words(i, next, copied); i < end {
			q.inString = true
			i++
		}
	}
	i = max(min(i, len(q.in)), 0)
	if copied == 0 {
		q.out = q.in[:i]
	} else {
		q.made = append(q.made, q.in[copied:i]...)
		q.out = q.made
	}
	q.in = q.in[i:]
}

// string is where a string that goes on at i ends, or end and more where it goes on behind that.
func (q *quoted) string(i, end int) int {
	for ; i < end; i++ {
		switch q.in[i] {
		case '\\':
			i++ // what is escaped ends nothing
		case '"':
			q.inString = false
			return i + 1
		}
	}
	return i
}

// words makes the text from i to end, in which no string is, from what was copied already on: it is where the text ends,
// or the last word in it. All words have an n, and numbers, which most of a large file is, have none.
func (q *quoted) words(i, end, copied int) (at, copiedTo int) {
	text := q.in[i:min(end+maxWordLength, len(q.in))]
	if bytes.IndexByte(text, 'n') < 0 && bytes.IndexByte(text, 'N') < 0 {
		return end, copied
	}
	for ; i < end; i++ {
		if !begins[q.in[i]] {
			continue
		}
		if word, quoted := wordAt(q.in[i:]); word > 0 {
			q.made = append(append(q.made, q.in[copied:i]...), quoted...)
			i += word - 1
			copied = i + 1
		}
	}
	return i, copied
}

// begins are the bytes that a word may begin with.
var begins = [256]bool{'N': true, 'I': true, '-': true, 'n': true, 'i': true}

// wordAt is the length of the word that a text begins with, and what it becomes; 0 if there is none.
func wordAt(text []byte) (length int, quoted []byte) {
	if text[0] == '-' && len(text) > 1 && text[1] <= '9' { // a number, as nearly always
		return 0, nil
	}
	for _, w := range nonFinite {
		if bytes.HasPrefix(text, w.word) {
			return len(w.word), w.quoted
		}
	}
	return 0, nil
}
