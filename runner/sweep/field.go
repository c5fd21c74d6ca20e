package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// maxDuration and maxMultiplier keep every product of a deadline and its multiplier within an int64 of nanoseconds.
const (
	maxDuration   = 1000 * time.Hour
	maxMultiplier = 1000
)

// maxDigits is the maximum length of a number: no float64 needs more digits to be distinguished from its neighbours.
const maxDigits = 800

// field is a value of a sweep file, with its origin for errors. The zero field represents a key that is not set.
type field struct {
	*yaml.Node
	origin
	what string
	line int // of its key, if it has one
}

func (f field) given() bool { return f.Node != nil }

func (f field) errorf(format string, args ...any) error {
	if f.what != "" {
		format, args = "%s: "+format, append([]any{f.what}, args...)
	}
	return f.origin.errorf(f.line, format, args...)
}

// want returns an error that names the expected and the given value.
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
func (f field) oneOf(known []string) string {
	if f.Kind != yaml.ScalarNode || !slices.Contains(known, f.Value) {
		panic(f.want("one of " + strings.Join(known, " ")))
	}
	return f.Value
}

// boolean reads true or false.
func (f field) boolean() bool {
	if f.Kind != yaml.ScalarNode || f.ShortTag() != "!!bool" {
		panic(f.want("true or false"))
	}
	return strings.EqualFold(f.Value, "true")
}

// fileLine returns the line in the sweep file; 0 for values of the command line.
func (f field) fileLine() int {
	if !f.lines || f.describeLine != nil {
		return 0
	}
	return f.line
}

// with returns a value inside f, or f itself, under another name for its errors.
func (f field) with(n *yaml.Node, what string) field {
	from := f.origin
	if f.others != nil {
		if other, is := f.others.of[n]; is {
			from = other
		}
	}
	return field{n, from, what, n.Line}
}

// items returns the values of a list. Any other value counts as a list of one; a field that is not given has none.
func (f field) items() []field {
	if !f.given() {
		return nil
	}
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

// someItems returns items, and fails if there are none.
func (f field) someItems() []field {
	items := f.items()
	if len(items) == 0 {
		panic(f.errorf("is empty"))
	}
	return items
}

// someMembers returns members, and fails if there are none.
func (f field) someMembers(prefix string) []member {
	members := f.members(prefix)
	if len(members) == 0 {
		panic(f.errorf("is empty"))
	}
	return members
}

// entries returns the items of a key with a limit on their number.
func (f field) entries() []field {
	items := f.items()
	if len(items) > maxEntries {
		panic(f.errorf("more than %d entries", maxEntries))
	}
	return items
}

// members returns the keys and values of a map, in the order of the file. A field that is not given has none. Errors put prefix before the
// key.
func (f field) members(prefix string) []member {
	if !f.given() {
		return nil
	}
	if f.Kind != yaml.MappingNode {
		panic(f.want("a map"))
	}
	var members []member
	for pair := range slices.Chunk(f.Content, 2) {
		key, value := pair[0].Value, f.with(pair[1], prefix+shorten(pair[0].Value))
		if key == "" {
			panic(f.with(pair[0], f.what).errorf("a key is empty"))
		}
		value.line = pair[0].Line
		members = append(members, member{key, value})
	}
	return members
}

// known returns the values of a map that may have only certain keys.
func (f field) known(prefix string, keys []string) map[string]field {
	members := f.members(prefix)
	values := map[string]field{}
	for i, m := range members {
		if !slices.Contains(keys, m.key) {
			panic(f.with(f.Content[2*i], f.what).errorf("unknown key %s: %s", shorten(m.key), remedy(m.key, keys)))
		}
		values[m.key] = m.value
	}
	return values
}

// text reads a text. A number is refused, because it is probably a mistake.
func (f field) text() string {
	switch {
	case f.Kind != yaml.ScalarNode, f.ShortTag() == "!!null":
		panic(f.want("text"))
	case isBinary(f.Node):
		panic(f.refuseBinary())
	case f.ShortTag() != "!!str" && f.ShortTag() != "!!timestamp":
		panic(f.errorf("want text, got %s: quote it", f.got()))
	case f.Value == "":
		panic(f.errorf("is empty"))
	}
	return f.Value
}

// scalar returns the canonical text of a value that is neither a list nor a map.
func (f field) scalar() string {
	if f.Kind != yaml.ScalarNode {
		panic(f.want("one value"))
	}
	return f.canonical()
}

// canonical returns the canonical text of any value; see schema.CanonicalNumber and schema.CanonicalJSON.
func (f field) canonical() string {
	f.checkFraction()
	value := f.decode()
	switch v := value.(type) {
	case nil:
		panic(f.errorf(`is empty: write "" for an empty text`))
	case string:
		return v
	}
	text, err := schema.CanonicalJSON(value)
	if err != nil {
		panic(f.errorf("%v", err))
	}
	return text
}

// decode converts a value into the types that schema.CanonicalJSON takes.
func (f field) decode() any {
	switch f.Kind {
	case yaml.SequenceNode:
		list := []any{}
		for _, item := range f.items() {
			list = append(list, item.decode())
		}
		return list
	case yaml.MappingNode:
		object := map[string]any{}
		for pair := range slices.Chunk(f.Content, 2) {
			object[pair[0].Value] = f.with(pair[1], f.what).decode()
		}
		return object
	}
	switch tag := f.ShortTag(); {
	case tag == binaryTag:
		panic(f.refuseBinary())
	case tag == "!!null":
		return nil
	case tag == "!!bool":
		return strings.EqualFold(f.Value, "true")
	case tag == "!!int", tag == "!!float", f.looksNumeric():
		return f.number()
	}
	return f.Value
}

// looksNumeric finds plain texts that a person means as numbers but YAML does not: nan, inf, 1e400.
func (f field) looksNumeric() bool {
	if f.Kind != yaml.ScalarNode || f.Style&quotedStyle != 0 {
		return false
	}
	_, err := strconv.ParseFloat(f.Value, 64)
	return err == nil || errors.Is(err, strconv.ErrRange)
}

func (f field) number() json.Number {
	if len(f.Value) > maxDigits {
		panic(f.errorf("%s: too long for a number: quote it to keep it as text", shorten(f.Value)))
	}
	if strings.ContainsAny(f.Value, "xXoObB") {
		panic(f.errorf("%s: write the number in decimal, or quote it to keep it as text", shorten(f.Value)))
	}
	text, err := schema.CanonicalNumber(f.Value)
	if err != nil {
		panic(f.errorf("%v", err))
	}
	return json.Number(text)
}

// integer returns a whole number from minimum to maximum. Errors contain expected.
func (f field) integer(minimum, maximum int64, expected string) int64 {
	if f.Kind != yaml.ScalarNode {
		panic(f.want(expected))
	}
	value := f.decode()
	number, ok := value.(json.Number)
	if !ok {
		panic(f.want(expected))
	}
	n, err := number.Int64()
	if err != nil {
		panic(f.errorf("want a whole number, got %s", f.got()))
	}
	if n < minimum && maximum == math.MaxInt64 {
		panic(f.errorf("want a whole number of at least %d, got %d", minimum, n))
	}
	if n < minimum || n > maximum {
		panic(f.errorf("want a whole number from %d to %d, got %d", minimum, maximum, n))
	}
	return n
}

// duration reads a time with a unit.
func (f field) duration() time.Duration {
	const expected = "a time with its unit (500ms, 15s, 10m)"
	if f.Kind != yaml.ScalarNode || f.ShortTag() != "!!str" {
		panic(f.want(expected))
	}
	d, err := time.ParseDuration(f.Value)
	if err != nil {
		panic(f.want(expected))
	}
	if d <= 0 || d > maxDuration {
		panic(f.errorf("want more than 0s and at most %s, got %s", maxDuration, d))
	}
	return d
}

const quotedStyle = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle

// cutFraction matches a number whose fraction ends in a zero that it would lose: 3.10, but not 1.0, which is not mistaken for another
// number than 1.
var cutFraction = regexp.MustCompile(`^[-+]?[0-9]*\.[0-9]*[1-9][0-9]*0(?:[eE][-+]?[0-9]+)?$`)

// checkFraction refuses 3.10, which would be 3.1 wherever values are compared: a version, most likely.
func (f field) checkFraction() {
	for _, n := range f.Content {
		f.with(n, f.what).checkFraction()
	}
	if f.Kind != yaml.ScalarNode || f.Style&quotedStyle != 0 || !cutFraction.MatchString(f.Value) {
		return
	}
	number, err := schema.CanonicalNumber(f.Value)
	if err != nil {
		panic(f.errorf("%v", err))
	}
	panic(f.errorf("%s ends in a zero: quote it to keep it as text, or write %s for the number", shorten(f.Value), number))
}

// written returns a value as in the file, for the arguments of a program: 1e3 and 1.0 are unchanged. A list is JSON.
func (f field) written() string {
	if f.Kind == yaml.ScalarNode {
		return f.Value
	}
	return f.typed()
}

// typed returns a value that was read, as JSON that keeps its type: 1.0 is a float, and a quoted value is text.
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
	value := f.decode() // it was decoded before without an error
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

// isText reports whether a value is text in the file, though it may look like a number.
func (f field) isText() bool {
	return f.Kind == yaml.ScalarNode && (f.ShortTag() == "!!str" || f.ShortTag() == "!!timestamp")
}

// describedValue returns the value of a parameter, with the properties that its canonical text does not contain: that "64" was quoted,
// that 1.0 is no integer, that the text of a list is a text.
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

// quote converts values of the command line, where the shell has removed the quotes, to texts: values that the file has as text in the
// same spelling, and all values if the file has only texts.
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

// variableName is how the value of a variable is written in a shell.
var variableName = regexp.MustCompile(`^\$(\w|\{\w)`)

// ExpandPath returns a path of a file, of a variable or of a flag with the home directory in place of a leading ~. No shell does that
// there. ~USER and a variable at the beginning are refused, because nothing replaces them: a folder of that name would be made, and
// removing it by this name in a shell would remove another one.
func ExpandPath(path string) (string, error) {
	first, rest, _ := strings.Cut(path, "/")
	switch {
	case first == "~":
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("%q begins with the home directory: %w", path, err)
		}
		return filepath.Join(home, rest), nil
	case strings.HasPrefix(first, "~"):
		return "", fmt.Errorf("want ~/ for the home directory, or ./%[1]s for a file of that name, got %[1]q", path)
	case variableName.MatchString(first):
		return "", fmt.Errorf("variables are not replaced in paths: want ~/ for the home directory, or ./%[1]s for a file of that name, got %[1]q", path)
	}
	return path, nil
}

// fillPath fills in a text that is a path: see ExpandPath.
func (t template) fillPath(row []*value) string { return t.at.expandPath(t.fill(row)) }

// expandPath is ExpandPath for a path of f.
func (f field) expandPath(path string) string {
	expanded, err := ExpandPath(path)
	if err != nil {
		panic(f.errorf("%v", err))
	}
	return expanded
}

// remedy returns a suggestion for a name that is not among known.
func remedy(name string, known []string) string {
	if schema.IsAxisColumn(schema.CanonicalAlias(name)) {
		return "put axes under grid"
	}
	if own := foreignKeys[name]; own != "" && slices.Contains(known, own) {
		return "did you mean " + own + "?"
	}
	if near := schema.Nearest(name, known); near != "" {
		return "did you mean " + near + "?"
	}
	if len(known) == 0 {
		return "none is defined"
	}
	return "want one of " + strings.Join(known, " ")
}

// foreignKeys are keys by the names that they have in other tools.
var foreignKeys = map[string]string{
	"matrix": "grid", "axes": "grid", "sweep": "grid", "parameters": "grid", "parameter_list": "grid", "combinations": "grid",
	"runs": "repeats", "reps": "repeats", "num_runs": "repeats", "invocations": "repeats", "iters": "iterations", "loops": "iterations", "num_iterations": "iterations",
	"warmup_iterations": "warmup", "warmup_runs": "warmup", "num_warmup": "warmup", "name": "suite", "cmd": "command", "program": "command", "executable": "command", "exec": "command",
	"script": "file", "path": "file", "function": "benchmark", "labels": "tags", "environment": "env", "workdir": "cwd", "working_directory": "cwd", "seeds": "seed",
	"skip": "skip_if", "if": "skip_if", "threshold": "thresholds", "duration": "budget", "time_limit": "timeout", "metric": "primary",
}
