// Package jsontext reads JSON as it comes: value by value, with the place of what is wrong, and with the numbers and the
// order of members that a text has. It is the one place that names the module behind it, which becomes encoding/json/v2
// and encoding/json/jsontext: these names and the few functions below are all that changes then.
//
// Files of other tools hold texts that are not UTF-8, and names that stand twice in an object. Both are read; the last
// member of a name wins.
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

// SyntacticError says where a text is no JSON.
type SyntacticError = jsontext.SyntacticError

// SemanticError says where a value is none of the type that it is read into.
type SemanticError = json.SemanticError

// ErrDuplicateName is the cause where a name stands twice in an object, and may not.
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

// anyText are the options of reading texts that are not UTF-8, anyName those of reading names that stand twice.
var (
	anyText = jsontext.AllowInvalidUTF8(true)
	anyName = jsontext.AllowDuplicateNames(true)
)

// NewDecoder reads what r gives.
func NewDecoder(r io.Reader) *Decoder { return jsontext.NewDecoder(r, anyName, anyText) }

// Unmarshal reads a value into what v points to.
func Unmarshal(text Value, v any) error { return json.Unmarshal(text, v, anyName, anyText) }

// UnmarshalOnce is Unmarshal where a name that stands twice in an object is an ErrDuplicateName.
func UnmarshalOnce(text Value, v any) error { return json.Unmarshal(text, v, anyText) }

// Unquote is the text of a JSON string.
func Unquote(text Value) (string, error) {
	b, err := jsontext.AppendUnquote(nil, text)
	return string(b), err
}
