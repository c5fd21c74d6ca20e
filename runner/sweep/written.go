package sweep

import (
	"encoding/json"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

const quotedStyle = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle

// cutFraction is a number whose fraction ends in a zero that it would lose: 3.10, but not 1.0, which no person takes
// for another number than 1.
var cutFraction = regexp.MustCompile(`^[-+]?[0-9]*\.[0-9]*[1-9][0-9]*0(?:[eE][-+]?[0-9]+)?$`)

// checkFraction refuses 3.10, which would be 3.1 wherever values are compared: a version, most likely.
func (f field) checkFraction() error {
	for _, n := range f.Content {
		if err := f.with(n, f.what).checkFraction(); err != nil {
			return err
		}
	}
	if f.Kind != yaml.ScalarNode || f.Style&quotedStyle != 0 || !cutFraction.MatchString(f.Value) {
		return nil
	}
	number, err := schema.CanonicalNumber(f.Value)
	if err != nil {
		return f.errorf("%v", err)
	}
	return f.errorf("%s ends in a zero: quote it to keep it as text, or write %s for the number", shorten(f.Value), number)
}

// written is a value as it stands in the file, for the arguments of a program: 1e3 and 1.0 stay what they are. A list is
// JSON.
func (f field) written() string {
	if f.Kind == yaml.ScalarNode {
		return f.Value
	}
	return f.typed()
}

// typed is a value that was read, as JSON that keeps its type: 1.0 is a float, and what is quoted is text.
func (f field) typed() string {
	switch f.Kind {
	case yaml.SequenceNode:
		var items []string
		for _, n := range f.Content {
			items = append(items, f.with(n, "").typed())
		}
		return "[" + strings.Join(items, ",") + "]"
	case yaml.MappingNode:
		var members []string
		for pair := range slices.Chunk(f.Content, 2) {
			members = append(members, jsonText(pair[0].Value)+":"+f.with(pair[1], "").typed())
		}
		slices.Sort(members)
		return "{" + strings.Join(members, ",") + "}"
	}
	value, _ := f.decode() // which has been done before, and went well
	number, ok := value.(json.Number)
	switch {
	case ok && json.Valid([]byte(f.Value)):
		return f.Value
	case ok && strings.ContainsAny(f.Value, ".eE") && !strings.ContainsAny(number.String(), ".e"):
		return number.String() + ".0"
	}
	text, _ := schema.CanonicalJSON(value)
	return text
}

func jsonText(text string) string {
	quoted, _ := schema.CanonicalJSON(text) // texts always have one
	return quoted
}

// isText reports that a value is text in the file, though it may look like a number.
func (f field) isText() bool {
	return f.Kind == yaml.ScalarNode && (f.ShortTag() == "!!str" || f.ShortTag() == "!!timestamp")
}

// describedValue is the value of a parameter, with what its canonical text does not say: that "64" was in quotes, that
// 1.0 is no integer, that a text of a list is none.
func describedValue(text string, f field) value {
	v := value{text: text, written: f.written(), at: f}
	typed := f.typed()
	switch {
	case f.isText():
		if json.Valid([]byte(text)) || text == "-Infinity" {
			v.typed, v.option = typed, typed
		}
	case typed != text:
		v.typed, v.option = typed, v.written
	case v.written != text || f.Kind != yaml.ScalarNode || f.ShortTag() == "!!bool":
		v.option = v.written
	}
	return v
}

// quote makes texts of the values of the command line, where the shell has taken the quotes away: those which the file
// has as text in the same spelling, and all where the file has nothing but text.
func (a *axis) quote(values []*yaml.Node) {
	texts := map[string]bool{}
	for _, v := range a.values {
		if v.at.isText() {
			texts[v.at.Value] = true
		}
	}
	for _, n := range values {
		if n.Kind == yaml.ScalarNode && n.Style&quotedStyle == 0 && (texts[n.Value] || len(texts) == len(a.values)) {
			n.Tag, n.Style = "!!str", yaml.DoubleQuotedStyle
		}
	}
}
