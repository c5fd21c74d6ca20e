package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"

	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

var (
	integerLiteral = regexp.MustCompile(`^[-+]?[0-9]+$`)
	decimalLiteral = regexp.MustCompile(`^[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$`)
	leadingZero    = regexp.MustCompile(`^[-+]?0[0-9]`)
	digitGroup     = regexp.MustCompile(`^[-+]?[0-9][0-9_]*_[0-9_]*(?:\.[0-9_]*)?$`)
	nonFinite      = regexp.MustCompile(`^[-+]?\.?(?i:nan|inf|infinity)$`)
)

// CanonicalNumber returns the canonical text of a number literal: as RFC 8785 prints it (1.0 is 1, 1e3 is 1000), but an
// integer literal keeps all its digits up to int64. Literals with leading zeros or with _ between digits, values beyond
// 64 bits and non-finite values are errors.
func CanonicalNumber(literal string) (string, error) {
	if isPlainInteger(literal) {
		return literal, nil
	}
	switch {
	case leadingZero.MatchString(literal):
		return "", fmt.Errorf("%s has a leading zero: quote it to keep it as text, or write the number without", literal)
	case digitGroup.MatchString(literal):
		return "", fmt.Errorf("%s has _ between digits: quote it to keep it as text, or write the number without", literal)
	case nonFinite.MatchString(literal):
		return "", fmt.Errorf("%s is not a finite number: quote it to keep it as text", literal)
	case integerLiteral.MatchString(literal):
		n, _ := new(big.Int).SetString(strings.TrimPrefix(literal, "+"), 10)
		if !n.IsInt64() {
			return "", fmt.Errorf("%s does not fit in 64 bits: quote it to keep it as text", literal)
		}
		return n.String(), nil
	case decimalLiteral.MatchString(literal):
		f, err := strconv.ParseFloat(literal, 64)
		mantissa, _, _ := strings.Cut(strings.ToLower(literal), "e")
		if err != nil || f == 0 && strings.ContainsAny(mantissa, "123456789") { // too large, or so small that it would be 0
			return "", fmt.Errorf("%s does not fit in 64 bits: quote it to keep it as text", literal)
		}
		return CanonicalFloat(f), nil
	}
	return "", fmt.Errorf("%q is not a number", literal)
}

// isPlainInteger reports whether a literal is its own canonical text, as most numbers of axes are: only digits, without a leading 0, and
// few enough to fit in 64 bits.
func isPlainInteger(literal string) bool {
	const sure = 18
	if literal == "" || len(literal) > sure || literal[0] == '0' {
		return false
	}
	for _, c := range []byte(literal) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// CanonicalFloat prints a finite number as RFC 8785 does (ECMAScript Number::toString).
func CanonicalFloat(f float64) string {
	if f == 0 {
		return "0" // and minus zero
	}
	if magnitude := math.Abs(f); magnitude >= 1e-6 && magnitude < 1e21 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	s := strconv.FormatFloat(f, 'e', -1, 64)
	mantissa, exponent, _ := strings.Cut(s, "e")
	sign := exponent[:1]
	return mantissa + "e" + sign + strings.TrimLeft(exponent[1:], "0")
}

// CertainDigits is the number of significant digits that every float64 has. Digits beyond them, as in 168686609.55999994,
// come from rounding in the arithmetic of percentiles, means and unit factors.
const CertainDigits = 15

// RoundedTo rounds a number to the given number of significant digits. A value that is not finite is returned unchanged.
func RoundedTo(digits int, v float64) float64 {
	short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	if err != nil {
		return v
	}
	return short
}

// CanonicalJSON prints lists, maps and scalars as RFC 8785 does: keys sorted by UTF-16 code unit, no white space, no HTML escaping.
// Numbers must be json.Number; they print as CanonicalNumber prints them.
func CanonicalJSON(value any) (string, error) {
	var b bytes.Buffer
	if err := appendJSON(&b, value); err != nil {
		return "", err
	}
	return b.String(), nil
}

// CanonicalText returns the canonical text of a value that is written without quotes: a number, or a list or map in JSON.
// Any other text is returned unchanged.
func CanonicalText(text string) string {
	if number, err := CanonicalNumber(text); err == nil {
		return number
	}
	if !strings.HasPrefix(text, "[") && !strings.HasPrefix(text, "{") {
		return text
	}
	if canonical, err := CanonicalValue([]byte(text)); err == nil {
		return canonical
	}
	return text
}

// CanonicalValue is CanonicalJSON for a JSON text. If a name appears twice in an object, the last value counts.
func CanonicalValue(text []byte) (string, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return "", fmt.Errorf("canonical text of JSON: %w", err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return "", errors.New("canonical text of JSON: more than one value")
	}
	return CanonicalJSON(value)
}

func appendJSON(b *bytes.Buffer, value any) error {
	switch v := value.(type) {
	case nil:
		b.WriteString("null")
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case json.Number:
		text, err := CanonicalNumber(v.String())
		if err != nil {
			return err
		}
		b.WriteString(text)
	case string:
		appendJSONString(b, v)
	case []any:
		return appendJSONList(b, v)
	case map[string]any:
		return appendJSONMap(b, v)
	default:
		return fmt.Errorf("canonical text of %T: not a YAML or JSON value", value)
	}
	return nil
}

func appendJSONList(b *bytes.Buffer, list []any) error {
	b.WriteByte('[')
	for i, v := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := appendJSON(b, v); err != nil {
			return err
		}
	}
	b.WriteByte(']')
	return nil
}

func appendJSONMap(b *bytes.Buffer, m map[string]any) error {
	b.WriteByte('{')
	for i, k := range sortedUTF16(m) {
		if i > 0 {
			b.WriteByte(',')
		}
		appendJSONString(b, k)
		b.WriteByte(':')
		if err := appendJSON(b, m[k]); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

func appendJSONString(b *bytes.Buffer, s string) {
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\b':
			b.WriteString(`\b`)
		case r == '\f':
			b.WriteString(`\f`)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x20:
			fmt.Fprintf(b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
}
