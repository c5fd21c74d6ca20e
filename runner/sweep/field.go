package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/schema"
)

// maxDuration and maxMultiplier keep every product of a deadline and its multiplier within an int64 of nanoseconds.
const (
	maxDuration   = 1000 * time.Hour
	maxMultiplier = 1000
)

// maxDigits bounds the text of a number: no float64 needs more to be told from its neighbours.
const maxDigits = 800

// field is a value of a sweep file, with its origin for errors. The zero field stands for a key that is not set.
type field struct {
	*yaml.Node
	origin
	what string
	line int // of its key, where it has one
}

func (f field) given() bool { return f.Node != nil }

func (f field) errorf(format string, args ...any) error {
	if f.what != "" {
		format, args = "%s: "+format, append([]any{f.what}, args...)
	}
	return f.origin.errorf(f.line, format, args...)
}

// want is an error that names the expected and the given value.
func (f field) want(what string) error { return f.errorf("want %s, got %s", what, f.got()) }

// got describes the value in an error.
func (f field) got() string {
	switch {
	case f.Kind == yaml.MappingNode:
		return "a map"
	case f.Kind == yaml.SequenceNode:
		return "a list"
	case f.ShortTag() == "!!null":
		return "nothing"
	case f.ShortTag() == "!!str":
		return strconv.Quote(shorten(f.Value))
	}
	return shorten(f.Value)
}

func shorten(text string) string {
	const maxRunes = 40
	if runes := []rune(text); len(runes) > maxRunes {
		return string(runes[:maxRunes]) + "…"
	}
	return text
}

// oneOf reads one of several words.
func (f field) oneOf(known []string) (string, error) {
	if f.Kind != yaml.ScalarNode || !slices.Contains(known, f.Value) {
		return "", f.want("one of " + strings.Join(known, " "))
	}
	return f.Value, nil
}

// boolean reads true or false.
func (f field) boolean() (bool, error) {
	if f.Kind != yaml.ScalarNode || f.ShortTag() != "!!bool" {
		return false, f.want("true or false")
	}
	return strings.EqualFold(f.Value, "true"), nil
}

// fileLine is the line in the sweep file; 0 for values of the command line.
func (f field) fileLine() int {
	if !f.lines || f.describeLine != nil {
		return 0
	}
	return f.line
}

// with is a value inside f, or f itself, under another name for its errors.
func (f field) with(n *yaml.Node, what string) field {
	from := f.origin
	if f.others != nil {
		if other, is := f.others.of[n]; is {
			from = other
		}
	}
	return field{n, from, what, n.Line}
}

// items are the values of a list. Any other value counts as a list of one.
func (f field) items() []field {
	if f.Kind != yaml.SequenceNode {
		return []field{f}
	}
	items := make([]field, len(f.Content))
	for i, n := range f.Content {
		items[i] = f.with(n, f.what)
	}
	return items
}

// member is a key of a map and its value.
type member struct {
	key   string
	value field
}

// members are the keys and values of a map, in the order of the file. Errors put prefix before the key.
func (f field) members(prefix string) ([]member, error) {
	if f.Kind != yaml.MappingNode {
		return nil, f.want("a map")
	}
	var members []member
	for pair := range slices.Chunk(f.Content, 2) {
		key, value := pair[0].Value, f.with(pair[1], prefix+shorten(pair[0].Value))
		if key == "" {
			return nil, f.with(pair[0], f.what).errorf("a key is empty")
		}
		value.line = pair[0].Line
		members = append(members, member{key, value})
	}
	return members, nil
}

// known are the values of a map that may have only certain keys.
func (f field) known(prefix string, keys []string) (map[string]field, error) {
	members, err := f.members(prefix)
	if err != nil {
		return nil, err
	}
	values := map[string]field{}
	for i, m := range members {
		if !slices.Contains(keys, m.key) {
			return nil, f.with(f.Content[2*i], f.what).errorf("unknown key %s: %s", shorten(m.key), remedy(m.key, keys))
		}
		values[m.key] = m.value
	}
	return values, nil
}

// text reads a text. A number is refused, because it is probably a mistake.
func (f field) text() (string, error) {
	switch {
	case f.Kind != yaml.ScalarNode, f.ShortTag() == "!!null":
		return "", f.want("text")
	case isBinary(f.Node):
		return "", f.refuseBinary()
	case f.ShortTag() != "!!str" && f.ShortTag() != "!!timestamp":
		return "", f.errorf("want text, got %s: quote it", f.got())
	case f.Value == "":
		return "", f.errorf("is empty")
	}
	return f.Value, nil
}

// scalar is the canonical text of a value that is neither a list nor a map.
func (f field) scalar() (string, error) {
	if f.Kind != yaml.ScalarNode {
		return "", f.want("one value")
	}
	return f.canonical()
}

// canonical is the canonical text of any value; see schema.CanonicalNumber and schema.CanonicalJSON.
func (f field) canonical() (string, error) {
	if err := f.checkFraction(); err != nil {
		return "", err
	}
	value, err := f.decode()
	if err != nil {
		return "", err
	}
	switch v := value.(type) {
	case nil:
		return "", f.errorf(`is empty: write "" for an empty text`)
	case string:
		return v, nil
	}
	text, err := schema.CanonicalJSON(value)
	if err != nil {
		return "", f.errorf("%v", err)
	}
	return text, nil
}

// decode converts a value into the types that schema.CanonicalJSON takes.
func (f field) decode() (any, error) {
	switch f.Kind {
	case yaml.SequenceNode:
		list := []any{}
		for _, item := range f.items() {
			value, err := item.decode()
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		return list, nil
	case yaml.MappingNode:
		object := map[string]any{}
		for pair := range slices.Chunk(f.Content, 2) {
			value, err := f.with(pair[1], f.what).decode()
			if err != nil {
				return nil, err
			}
			object[pair[0].Value] = value
		}
		return object, nil
	}
	switch tag := f.ShortTag(); {
	case tag == binaryTag:
		return nil, f.refuseBinary()
	case tag == "!!null":
		return nil, nil
	case tag == "!!bool":
		return strings.EqualFold(f.Value, "true"), nil
	case tag == "!!int", tag == "!!float", f.looksNumeric():
		return f.number()
	}
	return f.Value, nil
}

// looksNumeric finds plain texts that a person means as numbers but YAML does not: nan, inf, 1e400.
func (f field) looksNumeric() bool {
	if f.Kind != yaml.ScalarNode || f.Style&quotedStyle != 0 {
		return false
	}
	_, err := strconv.ParseFloat(f.Value, 64)
	return err == nil || errors.Is(err, strconv.ErrRange)
}

func (f field) number() (json.Number, error) {
	if len(f.Value) > maxDigits {
		return "", f.errorf("%s: too long for a number: quote it to keep it as text", shorten(f.Value))
	}
	if strings.ContainsAny(f.Value, "xXoObB") {
		return "", f.errorf("%s: write the number in decimal, or quote it to keep it as text", shorten(f.Value))
	}
	text, err := schema.CanonicalNumber(f.Value)
	if err != nil {
		return "", f.errorf("%v", err)
	}
	return json.Number(text), nil
}

// integer is a whole number from minimum to maximum. Errors say expected.
func (f field) integer(minimum, maximum int64, expected string) (int64, error) {
	if f.Kind != yaml.ScalarNode {
		return 0, f.want(expected)
	}
	value, err := f.decode()
	if err != nil {
		return 0, err
	}
	number, ok := value.(json.Number)
	if !ok {
		return 0, f.want(expected)
	}
	n, err := number.Int64()
	if err != nil {
		return 0, f.errorf("want a whole number, got %s", f.got())
	}
	if n < minimum && maximum == math.MaxInt64 {
		return 0, f.errorf("want a whole number of at least %d, got %d", minimum, n)
	}
	if n < minimum || n > maximum {
		return 0, f.errorf("want a whole number from %d to %d, got %d", minimum, maximum, n)
	}
	return n, nil
}

// duration reads a time with a unit.
func (f field) duration() (time.Duration, error) {
	const expected = "a time with its unit (500ms, 15s, 10m)"
	if f.Kind != yaml.ScalarNode || f.ShortTag() != "!!str" {
		return 0, f.want(expected)
	}
	d, err := time.ParseDuration(f.Value)
	if err != nil {
		return 0, f.want(expected)
	}
	if err := checkDuration(d); err != nil {
		return 0, f.errorf("%v", err)
	}
	return d, nil
}

func checkDuration(d time.Duration) error {
	if d <= 0 || d > maxDuration {
		return fmt.Errorf("want more than 0s and at most %s, got %s", maxDuration, d)
	}
	return nil
}
