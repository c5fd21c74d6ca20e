// Package jsontext reads JSON as a stream, value by value. It reports where a text is wrong, and keeps the digits of numbers and the
// order of members. Only this package imports the JSON module, which will become encoding/json/v2 and encoding/json/jsontext: then only
// the names and functions below change.
//
// Files of other tools contain text that is not UTF-8, and objects in which a name appears twice. Both are accepted; the last member
// with a name counts.
package jsontext

import (
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Value is the text of a JSON value.
type Value = jsontext.Value

// Decoder reads a stream of JSON.
type Decoder = jsontext.Decoder

// SyntacticError reports the position of a syntax error in JSON.
type SyntacticError = jsontext.SyntacticError

// SemanticError reports the position of a value that does not fit the Go type it is decoded into.
type SemanticError = json.SemanticError

// ErrDuplicateName is the error for a name that appears twice in an object, if that is not allowed.
var ErrDuplicateName = jsontext.ErrDuplicateName

// Kind is the kind of a value or token, by its first byte.
type Kind = jsontext.Kind

// The kinds of values and tokens.
const (
	KindInvalid     = jsontext.KindInvalid
	KindNull        = jsontext.KindNull
	KindFalse       = jsontext.KindFalse
	KindTrue        = jsontext.KindTrue
	KindString      = jsontext.KindString
	KindNumber      = jsontext.KindNumber
	KindBeginObject = jsontext.KindBeginObject
	KindEndObject   = jsontext.KindEndObject
	KindBeginArray  = jsontext.KindBeginArray
	KindEndArray    = jsontext.KindEndArray
)

// anyText are the options that accept text that is not UTF-8; anyName are those that accept names that appear twice.
var (
	anyText = jsontext.AllowInvalidUTF8(true)
	anyName = jsontext.AllowDuplicateNames(true)
)

// NewDecoder reads JSON from r.
func NewDecoder(r io.Reader) *Decoder { return jsontext.NewDecoder(r, anyName, anyText) }

// Unmarshal reads a value into the variable that v points to.
func Unmarshal(text Value, v any) error { return json.Unmarshal(text, v, anyName, anyText) }

// UnmarshalOnce is Unmarshal, but a name that appears twice in an object is an ErrDuplicateName.
func UnmarshalOnce(text Value, v any) error { return json.Unmarshal(text, v, anyText) }

// Unquote returns the text of a JSON string.
func Unquote(text Value) (string, error) {
	b, err := jsontext.AppendUnquote(nil, text)
	return string(b), err
}
