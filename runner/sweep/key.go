package sweep

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/neurolens/neurolens/runner/shellwords"
	"github.com/neurolens/neurolens/schema"
)

// Key describes a key of a sweep file: how its value is read and described, which executors use it, and what is stored. A key
// with an ordinary value needs only an entry in the table, and a field of Point, Worker or Sweep that the entry refers to.
type Key struct {
	Name    string
	Doc     string // its meaning, in one or a few sentences
	Value   Value
	Default string // in the syntax of the file; empty: there is none, or it depends on other keys, as Doc says

	// Executors are those that use the key; nil: all. With other executors it is refused, or has no effect.
	Executors []schema.Executor
	// Whole keys have one value for the whole sweep, and are not allowed under a benchmark or a variant.
	Whole bool
	// Option is the help of the option of bench that overrides the key; empty: there is none.
	Option string
	// Verbatim uses the text of the option as the value, even if a file may have a list or a map there. Alone is the value of the
	// option without a text.
	Verbatim bool
	Alone    string
	// Reproduce: a command that runs a stored run again has the option.
	Reproduce bool
	// Stored: the setting is stored with every run, as the fact runner.NAME. Earlier runs count only if it is equal.
	Stored bool

	point func(*Point) any // points to the value in a point; nil: another function reads the key
	sweep func(*Sweep) any // the same, for settings of the whole sweep
	text  func(*Point) string
}

// Keys lists the keys of a sweep file, in the order of the documentation.
func Keys() []Key { return slices.Concat(keys, layerKeys()) }

// layerKeys are the keys whose values contain other keys.
func layerKeys() []Key {
	overriding := eitherOf(Value{Kind: Object, Keys: slices.DeleteFunc(slices.Clone(keys), func(k Key) bool { return k.Whole })}, nothingValue)
	spreads := []Key{
		{
			Name: "benchmarks", Whole: true, Value: mapOf(1, overriding),
			Doc: "Benchmarks by name, each with the keys that it sets differently.",
		},
		{
			Name: "variants", Whole: true, Value: mapOf(1, overriding),
			Doc: "Different ways to do the same work, by name, each with the keys that it sets differently.",
		},
	}
	return append(spreads, Key{
		Name: "discover", Whole: true, Value: discoverValue,
		Doc: "Find benchmarks and their variants in folders, by a rule.",
	}, Key{
		Name: "presets", Whole: true, Value: mapOf(0, Value{Kind: Object, Keys: slices.Concat(keys, spreads)}),
		Doc: "Named sets of keys. --preset NAME applies one on top of the rest of the file; --quick is --preset quick.",
	})
}

// keyOf returns a key that must be in the table.
func keyOf(name string) Key {
	return keys[slices.IndexFunc(keys, func(k Key) bool { return k.Name == name })]
}

// keyNames lists the names of keys in alphabetical order.
func keyNames(keys []Key) []string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.Name
	}
	slices.Sort(names)
	return names
}

// OptionName is the option of bench that overrides the key.
func (k Key) OptionName() string { return strings.ReplaceAll(k.Name, "_", "-") }

// takes reports whether an executor uses the key.
func (k Key) takes(e schema.Executor) bool {
	return k.Executors == nil || slices.Contains(k.Executors, e)
}

// Settings returns the settings of the point that are stored with its runs, by key. Keys that are not set are missing.
func (p *Point) Settings() map[string]string {
	settings := map[string]string{}
	for _, k := range keys {
		if k.Stored {
			note(&settings, k.Name, shellwords.ToUTF8(k.textAt(p)))
		}
	}
	return settings
}

// textAt is the value of the key at a point, as text; empty: not set.
func (k Key) textAt(p *Point) string {
	if k.text != nil {
		return k.text(p)
	}
	switch v := k.point(p).(type) {
	case *string:
		return *v
	case *bool:
		if *v {
			return "true"
		}
	case *int:
		if *v > 0 {
			return strconv.Itoa(*v)
		}
	case **int64:
		if *v != nil {
			return strconv.FormatInt(**v, 10)
		}
	case *float64:
		if *v > 0 {
			return strconv.FormatFloat(*v, 'g', -1, 64)
		}
	case *time.Duration:
		if *v > 0 {
			return v.String()
		}
	}
	return ""
}

// clear removes the value of the key from a point.
func (k Key) clear(p *Point) {
	switch v := k.point(p).(type) {
	case *string:
		*v = ""
	case *bool:
		*v = false
	case *int:
		*v = 0
	case **int64:
		*v = nil
	case *float64:
		*v = 0
	case *time.Duration:
		*v = 0
	case *map[string]Input:
		*v = nil
	case **Session:
		*v = nil
	}
}

// IsStored reports whether a key of a sweep file is stored with every run.
func IsStored(name string) bool {
	return slices.ContainsFunc(keys, func(k Key) bool { return k.Stored && k.Name == name })
}
