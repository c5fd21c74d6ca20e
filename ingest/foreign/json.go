package foreign

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/neurolens/neurolens/schema/jsontext"
)

// JSON reads a JSON text, or several one after the other, value by value. It accepts what tools write: NaN and Infinity,
// which become strings ("NaN", "-Infinity"), names that appear twice, and text that is not UTF-8.
type JSON struct {
	decoder *jsontext.Decoder
	bounded *bounded
	quoted  *quoted
	in      *Input // that counts the lines of text which are passed over; nil if text is an error
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

// Where is the JSON pointer of the last value.
func (j *JSON) Where() string { return string(j.decoder.StackPointer()) }

// Kind is the kind of the next value: '{', '[', '"', '0', 't', 'f', 'n', or 0 if there is none.
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

// Value is the text of the next value. It is valid until the next one is read.
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
