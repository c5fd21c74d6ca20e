package foreign

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

// Number is a number as it is written in a file: all its digits, or a word for a non-finite number. Empty is NULL. It can
// be decoded from JSON numbers, strings of digits and null.
type Number string

// UnmarshalJSON takes a number, a string and null.
func (n *Number) UnmarshalJSON(text []byte) error {
	switch jsontext.Value(text).Kind() {
	case jsontext.KindNull:
		*n = ""
		return nil
	case jsontext.KindNumber:
		*n = Number(text)
		return nil
	case jsontext.KindString:
		s, err := jsontext.Unquote(text)
		if err != nil {
			return err
		}
		word := strings.TrimSpace(s)
		if _, err := strconv.ParseFloat(word, 64); err != nil && word != "" && !isRange(err) {
			return fmt.Errorf("%q is not a number", Brief(word))
		}
		*n = Number(word)
		return nil
	}
	return fmt.Errorf("%s is not a number", Brief(string(text)))
}

// Int64 is the number if it is a 64-bit integer, otherwise nil.
func (n Number) Int64() *int64 {
	if i, err := strconv.ParseInt(string(n), 10, 64); err == nil {
		return &i
	}
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return nil
	}
	return new(int64(f))
}

// Float64 is the number, including NaN and infinity, or nil if it is NULL.
func (n Number) Float64() *float64 { return n.In("") }

// In converts the number from a unit to the stored unit (s: ns), or gives nil if it is NULL. Decimal digits stay exact:
// 0.0012 s is 1200000 ns.
func (n Number) In(unit string) *float64 {
	if n == "" {
		return nil
	}
	v, err := scaleOf(unit).value([]byte(n))
	if err != nil {
		return nil
	}
	return &v
}

// Finite is In, but nil if the number is NaN or infinite.
func (n Number) Finite(unit string) *float64 {
	v := n.In(unit)
	if v == nil || math.IsNaN(*v) || math.IsInf(*v, 0) {
		return nil
	}
	return v
}

func isRange(err error) bool {
	e, ok := err.(*strconv.NumError)
	return ok && e.Err == strconv.ErrRange
}

// Brief shortens a text of a file, which may be long, for an error.
func Brief(text string) string {
	const limit = 60
	return clipped(strings.ToValidUTF8(text, ""), limit)
}

// clipped shortens a text to a number of bytes.
func clipped(text string, limit int) string {
	if len(text) > limit {
		return strings.ToValidUTF8(text[:limit], "") + "…"
	}
	return text
}

// scale converts numbers of a unit to its stored unit: by moving the decimal point if possible, otherwise by a factor.
type scale struct {
	point  int
	factor float64
}

func scaleOf(unit string) scale {
	_, factor, _ := schema.StoredUnit(unit)
	if point := math.Round(math.Log10(factor)); math.Pow(10, point) == factor {
		return scale{point: int(point), factor: 1}
	}
	return scale{factor: factor}
}

// value parses a number. A number that is too large is infinite, as IEEE 754 rounds it.
func (s scale) value(digits []byte) (float64, error) {
	var room [64]byte
	text := digits
	if s.point != 0 {
		text = s.shifted(room[:0], digits)
	}
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil && !isRange(err) {
		return 0, fmt.Errorf("%q is not a number", Brief(string(digits)))
	}
	return v * s.factor, nil
}

// shifted appends the digits with the exponent that the unit needs.
func (s scale) shifted(to, digits []byte) []byte {
	exponent := s.point
	if e := bytes.IndexAny(digits, "eE"); e >= 0 {
		own, err := strconv.Atoi(string(digits[e+1:]))
		if err != nil { // a word, or an exponent beyond all numbers
			return append(to, digits...)
		}
		digits, exponent = digits[:e], exponent+own
	} else if c := digits[len(digits)-1]; c != '.' && (c < '0' || c > '9') {
		return append(to, digits...) // NaN, Infinity
	}
	to = append(append(to, digits...), 'e')
	return strconv.AppendInt(to, int64(exponent), 10)
}
