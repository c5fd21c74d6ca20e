package foreign

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/neurolens/neurolens/schema"
)

// SetAxis gives a run the value of an axis: in its column where it has one (bs is batch_size), else as a parameter. A
// number is in canonical text already (Canonical). What does not fit a column, a precision that is none, becomes a
// parameter by an alias of that: dtype.
func SetAxis(r *schema.Run, name, text string) {
	switch schema.CanonicalAlias(name) {
	case "batch_size":
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			r.BatchSize = &n
			return
		}
		name = "batch"
	case "seq_len":
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			r.SeqLen = &n
			return
		}
		name = "seq"
	case "precision":
		if p, err := schema.CanonicalPrecision(text); err == nil {
			r.Precision = p
			return
		}
		name = "dtype"
	case "backend":
		r.Backend = text
		return
	case "model":
		r.Model = text
		return
	}
	if r.Params == nil {
		r.Params = map[string]string{}
	}
	r.Params[name] = text
}

// SetParam gives a run a parameter whose text is a number or anything else; numbers become canonical text. An empty
// text is no value.
func SetParam(r *schema.Run, name, text string) {
	if text != "" {
		SetAxis(r, name, Canonical(text))
	}
}

// Canonical is the canonical text of a number, and any other text itself.
func Canonical(text string) string {
	if number, err := schema.CanonicalNumber(text); err == nil {
		return number
	}
	return text
}

// TextOf is the canonical text of a JSON value: strings as they are, numbers and containers as schema.CanonicalJSON
// prints them; empty for null.
func TextOf(value jsontext.Value) string {
	switch value.Kind() {
	case jsontext.KindInvalid, jsontext.KindNull:
		return ""
	case jsontext.KindString:
		var s string
		if Decode(value, &s) == nil {
			return s
		}
	case jsontext.KindNumber:
		return Canonical(string(value))
	}
	text := value.Clone()
	if text.Canonicalize(lenient) != nil {
		return string(value)
	}
	return string(text)
}

// Text is a JSON scalar or container as text: TextOf.
type Text string

// UnmarshalJSON takes any value.
func (t *Text) UnmarshalJSON(value []byte) error {
	*t = Text(TextOf(value))
	return nil
}
