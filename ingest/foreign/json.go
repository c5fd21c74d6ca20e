package foreign

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/neurolens/neurolens/schema/jsontext"
)

// JSON reads a JSON text, or several one after the other, value by value. It accepts the deviations of common tools: NaN and Infinity,
// which become strings ("NaN", "-Infinity"), names that appear twice, and text that is not UTF-8.
type JSON struct {
	decoder *jsontext.Decoder
	bounded *bounded
	quoted  *quoted
	in      *Input // counts the skipped lines of text; nil if text is an error
	values  bool   // at least one value was read
}

func newJSON(r io.Reader) *JSON {
	j := &JSON{}
	j.begin(r)
	return j
}

// begin begins to read here.
func (j *JSON) begin(r io.Reader) {
	j.bounded = newBounded(r)
	j.quoted = newQuoted(j.bounded)
	j.decoder = jsontext.NewDecoder(j.quoted)
}

// Strict makes text between and after values an error.
func (j *JSON) Strict() { j.in = nil }

// Where returns the JSON pointer of the last value.
func (j *JSON) Where() string { return string(j.decoder.StackPointer()) }

// Kind returns the kind of the next value: '{', '[', '"', '0', 't', 'f', 'n', or 0 if there is none.
func (j *JSON) Kind() jsontext.Kind { return j.decoder.PeekKind() }

// More reports whether another top-level value follows. Lines of text in between, as programs print them, are skipped.
func (j *JSON) More() bool {
	j.bounded.renew()
	kind := j.decoder.PeekKind()
	if !j.values || j.in == nil || kind == jsontext.KindBeginObject || kind == jsontext.KindBeginArray && jsonStart(j.decoder.UnreadBuffer()) >= 0 {
		j.values = true
		_, err := j.peek() // an error of the file, too, is something to read
		return !errors.Is(err, io.EOF)
	}
	return j.passOver()
}

// passOver skips to the next line with which JSON begins. It returns false if there is none.
func (j *JSON) passOver() bool {
	rest := bufio.NewReaderSize(io.MultiReader(bytes.NewReader(bytes.Clone(j.decoder.UnreadBuffer())), j.quoted.unread()), headBytes)
	for begins := true; ; { // of the line; one that is too long for the buffer comes in parts
		line, err := rest.ReadSlice('\n')
		if begins && jsonStart(line) >= 0 {
			j.begin(io.MultiReader(bytes.NewReader(bytes.Clone(line)), rest))
			return true
		}
		if begins && len(bytes.TrimSpace(line)) > 0 {
			j.in.passedOver++
		}
		begins = !errors.Is(err, bufio.ErrBufferFull)
		if err != nil && begins {
			j.begin(failing{err})
			return !errors.Is(err, io.EOF)
		}
	}
}

// peek returns the error of the next read, without reading.
func (j *JSON) peek() (jsontext.Kind, error) {
	kind := j.decoder.PeekKind()
	if kind != jsontext.KindInvalid {
		return kind, nil
	}
	_, err := j.decoder.ReadToken()
	return kind, err
}

// Value returns the text of the next value. It is valid until the next one is read.
func (j *JSON) Value() (jsontext.Value, error) {
	j.bounded.renew()
	return j.decoder.ReadValue()
}

// Skip skips the next value.
func (j *JSON) Skip() error {
	j.bounded.renew()
	return j.decoder.SkipValue()
}

// Decode reads the next value into the variable that v points to, as encoding/json does. A value that does not fit gives
// a Mismatch.
func (j *JSON) Decode(v any) error {
	text, err := j.Value()
	if err != nil {
		return err
	}
	return DecodeAt(j.Where(), text, v)
}

// Decode reads the text of a JSON value into the variable that v points to.
func Decode(text jsontext.Value, v any) error {
	return jsontext.Unmarshal(text, v)
}

// DecodeOnce is Decode, but a name that appears twice in an object is an error.
func DecodeOnce(text jsontext.Value, v any) error {
	err := jsontext.UnmarshalOnce(text, v)
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok && errors.Is(err, jsontext.ErrDuplicateName) {
		return fmt.Errorf("%s appears twice", strings.TrimPrefix(string(syntactic.JSONPointer), "/"))
	}
	return err
}

// Members reads the next object: f reads the value of each member. A value of another kind gives a Mismatch and is
// skipped.
func (j *JSON) Members(f func(name string) error) error {
	if err := j.open(jsontext.KindBeginObject, "an object"); err != nil {
		return err
	}
	for j.decoder.PeekKind() != jsontext.KindEndObject {
		j.bounded.renew()
		name, err := j.decoder.ReadToken()
		if err != nil {
			return err
		}
		if err := f(name.String()); err != nil {
			return err
		}
	}
	_, err := j.decoder.ReadToken()
	return err
}

// Elements reads the next array: f reads each element. A value of another kind gives a Mismatch and is skipped.
func (j *JSON) Elements(f func(i int) error) error {
	if err := j.open(jsontext.KindBeginArray, "an array"); err != nil {
		return err
	}
	for i := 0; j.decoder.PeekKind() != jsontext.KindEndArray; i++ {
		j.bounded.renew()
		if _, err := j.peek(); err != nil {
			return err
		}
		if err := f(i); err != nil {
			return err
		}
	}
	_, err := j.decoder.ReadToken()
	return err
}

func (j *JSON) open(want jsontext.Kind, what string) error {
	j.bounded.renew()
	kind, err := j.peek()
	if err != nil {
		return err
	}
	if kind != want {
		if err := j.Skip(); err != nil {
			return err
		}
		return &Mismatch{j.Where(), fmt.Errorf("%s, want %s", kindName(kind), what)}
	}
	_, err = j.decoder.ReadToken()
	return err
}

// kindName names a kind of value for people.
func kindName(kind jsontext.Kind) string {
	switch kind {
	case jsontext.KindBeginObject:
		return "an object"
	case jsontext.KindBeginArray:
		return "an array"
	case jsontext.KindString:
		return "a string"
	case jsontext.KindNumber:
		return "a number"
	case jsontext.KindNull:
		return "null"
	}
	return "true or false"
}

// A Mismatch is a valid value of an unexpected kind. The reader continues after it.
type Mismatch struct {
	Where string // JSON pointer into the file
	Err   error
}

func (m *Mismatch) Error() string { return m.Err.Error() }
func (m *Mismatch) Unwrap() error { return m.Err }

// DecodeAt reads the text of a JSON value at a place of the file into the variable that v points to. A value that does
// not fit gives a Mismatch.
func DecodeAt(where string, text jsontext.Value, v any) error {
	if err := Decode(text, v); err != nil {
		return misfit(where, err)
	}
	return nil
}

// misfit describes a value that does not fit in its own words, because the errors of package json differ from process to
// process.
func misfit(where string, err error) *Mismatch {
	var semantic *jsontext.SemanticError
	for errors.As(err, &semantic) {
		where += string(semantic.JSONPointer)
		if semantic.Err == nil {
			return &Mismatch{where, fmt.Errorf("%s, want %s", kindName(semantic.JSONKind), wanted(semantic.GoType))}
		}
		err = semantic.Err
	}
	return &Mismatch{where, inWords(err)}
}

// wanted names, for people, the values that fit a type.
func wanted(t reflect.Type) string {
	if t == nil {
		return "another value"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return wanted(t.Elem())
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	}
	return "a number"
}

// inWords describes where JSON is cut off or invalid, without the words of the package that read it.
func inWords(err error) error {
	syntactic, ok := errors.AsType[*jsontext.SyntacticError](err)
	if !ok {
		if cause := errors.Unwrap(err); cause != nil && strings.HasPrefix(err.Error(), "jsontext: ") {
			err = cause // an error of reading
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("it is cut off: %w", err)
		}
		return err
	}
	// For a value that is longer than a buffer, the package loses the names inside of it. The error is somewhere in the
	// part that it still knows.
	where, _, _ := strings.Cut(string(syntactic.JSONPointer), "//")
	where = strings.TrimSuffix(where, "/")
	large, isLarge := errors.AsType[recordError](err)
	switch {
	case isLarge && where == "":
		return large
	case isLarge:
		return fmt.Errorf("%w, in %s", large, where)
	case errors.Is(err, io.ErrUnexpectedEOF) && where == "":
		return fmt.Errorf("it is cut off: %w", io.ErrUnexpectedEOF)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("it is cut off in %s: %w", where, io.ErrUnexpectedEOF)
	case where == "":
		return fmt.Errorf("invalid JSON at byte %d: %w", syntactic.ByteOffset, syntactic.Err)
	}
	return fmt.Errorf("invalid JSON at %s (byte %d): %w", where, syntactic.ByteOffset, syntactic.Err)
}

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

// nonFinite are the words and their replacements. A longer word precedes its own prefixes.
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

// unread reads the bytes that Read has not returned yet, and the rest of the text.
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

// fill reads on and processes the text up to a place at which no word can begin. Text without such
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

// string returns the end of a string that continues at i; at least end if the string continues after end.
func (q *quoted) string(i, end int) int {
	for ; i < end; i++ {
		switch q.in[i] {
		case '\\':
			i++ // an escaped character ends nothing
		case '"':
			q.inString = false
			return i + 1
		}
	}
	return i
}

// words copies the text from i to end, which contains no string, after the part that was copied already, and replaces its words. It
// returns the end of the text, or the last word in it. All words contain an n, and numbers, which fill most of a large file, do not.
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

// wordAt returns the length of the word at the beginning of a text, and its replacement; 0 if there is none.
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
